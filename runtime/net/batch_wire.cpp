#include "runtime/net/batch_wire.hpp"

#include "runtime/net/inspect.hpp"
#include "runtime/net/wire_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

template <class Inspector>
bool inspect(Inspector& f, batch_call::part& p) {
  return f.object(p).fields(
    f.field("slots", p.slots), f.field("pack", p.pack), f.field("tensor", p.tensor));
}

template <class Inspector>
bool inspect(Inspector& f, batch_call& c) {
  return f.object(c).fields(
    f.field("seat", c.seat), f.field("ticket", c.ticket), f.field("fault", c.fault),
    f.field("parts", c.parts));
}

namespace {

/// An answer without the bytes of its raw outputs, and how many those are, in order.
struct answer_facts {
  batch_answer answer;
  std::vector<std::uint64_t> raw;
};

template <class Inspector>
bool inspect(Inspector& f, answer_facts& facts) {
  auto& a = facts.answer;
  return f.object(facts).fields(
    f.field("seat", a.seat), f.field("ticket", a.ticket), f.field("parts", a.parts),
    f.field("bytes_copied", a.bytes_copied), f.field("errors", a.errors), f.field("lost", a.lost),
    f.field("raw", facts.raw));
}

/// @returns whether `t` has as many bytes as its shape says.
bool is_whole(const tensor& t) {
  std::uint64_t left = t.bytes.size();
  if (std::ranges::find(t.shape, 0) != t.shape.end())
    return left == 0;
  for (const auto n : t.shape)
    if (n < 0 || left % static_cast<std::uint64_t>(n) != 0)
      return false;
    else
      left /= static_cast<std::uint64_t>(n);
  return left == size_of(t.type);
}

/// @returns whether every slot that refers to another one finds it in its part.
bool refers_within(const batch_answer& answer) {
  return std::ranges::all_of(answer.parts, [](const auto& part) {
    const auto slots = static_cast<std::int64_t>(part.size());
    return std::ranges::all_of(
      part, [&](const auto& s) { return s.refers_to >= -1 && s.refers_to < slots; });
  });
}

/// Puts the raw outputs back into their places. @returns whether `bytes` are just them.
bool fill(answer_facts& facts, std::span<const std::byte> bytes) {
  std::size_t next = 0;
  for (auto& part : facts.answer.parts)
    for (auto& slot : part) {
      if (!slot.inferred || slot.inferred->raw.empty())
        continue;
      auto whole = make_recycled<inference>(*slot.inferred);
      for (auto& t : whole->raw) {
        if (next == facts.raw.size() || facts.raw[next] > bytes.size() || !t.bytes.empty())
          return false;
        const auto own = bytes.first(facts.raw[next++]);
        t.bytes.assign(own.begin(), own.end());
        if (!is_whole(t))
          return false;
        bytes = bytes.subspan(own.size());
      }
      slot.inferred = std::move(whole);
    }
  return next == facts.raw.size() && bytes.empty();
}

std::span<const std::byte> content_of(const bulk_part& part) {
  return part.bytes > 0 ? std::span<const std::byte>{part.buffer.data() + part.offset, part.bytes}
                        : std::span<const std::byte>{};
}

template <class T>
std::optional<T> read_as(batch_message expected, std::span<const std::byte> head) {
  if (kind_of(head) != expected)
    return std::nullopt;
  return read_bytes<T>(head.subspan(1));
}

template <class T>
std::vector<std::byte> write_as(batch_message kind, const T& value) {
  return write_bytes(static_cast<std::uint8_t>(kind), value);
}

} // namespace

std::vector<std::byte> write_call(
  std::uint32_t seat, std::uint64_t ticket, std::optional<std::uint8_t> fault, const batch& work,
  content_sender& contents) {
  batch_call call;
  call.seat = seat;
  call.ticket = ticket;
  call.fault = fault;
  for (const auto& p : work.parts) {
    const auto& d = p.source->descriptor;
    const auto each = p.source->pack.slot_bytes();
    call.parts.push_back(
      {{d.slots.begin() + p.first, d.slots.begin() + p.first + p.count},
       p.source->pack,
       contents.add(p.source->tensor, p.first * each, p.count * each)});
  }
  return write_as(batch_message::call, call);
}

written_answer write_answer(batch_answer answer, receive_memory& memory) {
  answer_facts facts{std::move(answer), {}};
  std::vector<inference_ptr> with_raw; ///< keeps the bytes
  std::uint64_t raw_bytes = 0;
  for (auto& part : facts.answer.parts)
    for (auto& slot : part) {
      if (!slot.inferred || slot.inferred->raw.empty())
        continue;
      auto without = make_recycled<inference>();
      without->classes = slot.inferred->classes;
      without->boxes = slot.inferred->boxes;
      for (const auto& t : slot.inferred->raw) {
        without->raw.push_back({t.name, t.type, t.shape, {}});
        facts.raw.push_back(t.bytes.size());
        raw_bytes += t.bytes.size();
      }
      with_raw.push_back(std::exchange(slot.inferred, std::move(without)));
    }
  written_answer written{write_as(batch_message::answer, facts), {}};
  const auto facts_bytes = written.head.size();
  if (facts_bytes > answer_facts_bytes || raw_bytes > answer_bytes - facts_bytes)
    throw failure(make_error(
      errc::io_failed, "an answer",
      "has " + std::to_string(facts_bytes) + " bytes and " + std::to_string(raw_bytes)
        + " of raw outputs; a node's may have " + std::to_string(answer_facts_bytes) + ", and "
        + std::to_string(answer_bytes) + " together: lower batch.max"));
  const auto add = [&](std::uint64_t bytes) {
    auto buffer = memory.take(bytes);
    if (!buffer)
      throw failure(make_error(
        errc::out_of_memory, "an answer",
        "of " + std::to_string(bytes) + " bytes finds no memory: those before it are still there"));
    written.bulk.push_back({buffer, bytes, 0});
    return buffer.data();
  };
  if (facts_bytes > link_head_bytes) {
    std::ranges::copy(written.head, add(facts_bytes));
    written.head = write_word(batch_message::long_answer);
  }
  if (raw_bytes > 0) {
    auto* at = add(raw_bytes);
    for (const auto& i : with_raw)
      for (const auto& t : i->raw)
        at = std::ranges::copy(t.bytes, at).out;
  }
  return written;
}

std::vector<std::byte> write_loans(std::span<const std::uint64_t> loans) {
  return write_as(batch_message::loans, std::vector<std::uint64_t>(loans.begin(), loans.end()));
}

std::vector<std::byte> write_probe(const segment_address& probe) {
  return write_as(batch_message::probe, probe);
}

std::vector<std::byte> write_word(batch_message kind) {
  return {static_cast<std::byte>(kind)};
}

std::optional<batch_message> kind_of(std::span<const std::byte> head) {
  if (head.empty() || head[0] > static_cast<std::byte>(batch_message::long_answer))
    return std::nullopt;
  return static_cast<batch_message>(head[0]);
}

std::optional<batch_call> read_call(std::span<const std::byte> head) {
  return read_as<batch_call>(batch_message::call, head);
}

bool place_answer(
  std::span<const std::byte> head, std::span<const std::uint64_t> sizes, receive_memory& memory,
  std::vector<buffer_ref>& into) {
  const auto kind = kind_of(head);
  const bool is_long = kind == batch_message::long_answer;
  if ((!is_long && kind != batch_message::answer) || sizes.size() > (is_long ? 2U : 1U))
    return false;
  if (is_long && sizes[0] > answer_facts_bytes)
    return false;
  for (const auto bytes : sizes)
    if (!into.emplace_back(memory.take(bytes)))
      return false;
  return true;
}

std::optional<batch_answer>
read_answer(std::span<const std::byte> head, std::span<const bulk_part> bulk) {
  if (kind_of(head) == batch_message::long_answer) {
    if (head.size() > 1 || bulk.empty())
      return std::nullopt;
    head = content_of(bulk[0]);
    bulk = bulk.subspan(1);
  }
  auto facts = read_as<answer_facts>(batch_message::answer, head);
  if (!facts || bulk.size() > 1 || !refers_within(facts->answer))
    return std::nullopt;
  if (!fill(*facts, bulk.empty() ? std::span<const std::byte>{} : content_of(bulk[0])))
    return std::nullopt;
  return std::move(facts->answer);
}

std::optional<std::vector<std::uint64_t>> read_loans(std::span<const std::byte> head) {
  return read_as<std::vector<std::uint64_t>>(batch_message::loans, head);
}

std::optional<segment_address> read_probe(std::span<const std::byte> head) {
  return read_as<segment_address>(batch_message::probe, head);
}

batch_ptr batch_of(const batch_call& call, std::vector<content> tensors) {
  auto work = make_recycled<batch>();
  std::uint64_t places = 0; ///< of slots, and of those before them
  for (std::size_t i = 0; i < call.parts.size(); ++i) {
    const auto& p = call.parts[i];
    // Sizes of a peer's: no product of them may wrap.
    if (p.slots.empty() || p.pack.width > 16384 || p.pack.height > 16384)
      return nullptr;
    const auto each = p.pack.slot_bytes();
    auto& tensor = tensors[i];
    // As a part of a hyperframe whose other slots are not here.
    if (each == 0 || tensor.bytes / each != p.slots.size() || tensor.offset % each != 0)
      return nullptr;
    if (tensor.offset / each + p.slots.size() > call_slots - places)
      return nullptr;
    const auto first = static_cast<std::uint32_t>(tensor.offset / each);
    places += first + p.slots.size();
    auto h = make_recycled<hyperframe>();
    h->descriptor.slots.resize(first);
    h->descriptor.slots.insert(h->descriptor.slots.end(), p.slots.begin(), p.slots.end());
    h->pack = p.pack;
    h->tensor = std::move(tensor.buffer);
    const auto count = static_cast<std::uint32_t>(p.slots.size());
    work->parts.push_back({std::move(h), first, count});
    work->slots += count;
  }
  return work;
}

} // namespace hyperframes
