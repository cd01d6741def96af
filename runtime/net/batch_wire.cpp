#include "runtime/net/batch_wire.hpp"

#include "runtime/net/inspect.hpp"
#include "runtime/net/wire_bytes.hpp"

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

template <class Inspector>
bool inspect(Inspector& f, batch_answer& a) {
  return f.object(a).fields(
    f.field("seat", a.seat), f.field("ticket", a.ticket), f.field("parts", a.parts),
    f.field("bytes_copied", a.bytes_copied), f.field("errors", a.errors), f.field("lost", a.lost));
}

namespace {

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

std::vector<std::byte> write_answer(const batch_answer& answer) {
  return write_as(batch_message::answer, answer);
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
  if (head.empty() || head[0] > static_cast<std::byte>(batch_message::borrows))
    return std::nullopt;
  return static_cast<batch_message>(head[0]);
}

std::optional<batch_call> read_call(std::span<const std::byte> head) {
  return read_as<batch_call>(batch_message::call, head);
}

std::optional<batch_answer> read_answer(std::span<const std::byte> head) {
  return read_as<batch_answer>(batch_message::answer, head);
}

std::optional<std::vector<std::uint64_t>> read_loans(std::span<const std::byte> head) {
  return read_as<std::vector<std::uint64_t>>(batch_message::loans, head);
}

std::optional<segment_address> read_probe(std::span<const std::byte> head) {
  return read_as<segment_address>(batch_message::probe, head);
}

batch_ptr batch_of(const batch_call& call, std::vector<content> tensors) {
  auto work = make_recycled<batch>();
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
    const auto first = static_cast<std::uint32_t>(tensor.offset / each);
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
