// Whatever a part of a graph and the rest of it say to each other: messages, and items that fit
// their buffers, or nothing; never more memory than was agreed on, and each loan goes back once.
#include "runtime/net/stage_link.hpp"
#include "runtime/net/stage_wire.hpp"
#include "runtime/shared_memory.hpp"
#include "tests/fuzz/claim.hpp"
#include "tests/fuzz/heap.hpp"
#include "tests/fuzz/wire_input.hpp"

#include <cstdint>

using namespace hyperframes;
using test::claim;

namespace {

constexpr std::uint64_t bound = 1 << 17; ///< of what is received at once

/// Memory that an item may speak of: a tensor that every hyperframe of the seeds fits.
struct lender {
  buffer_pool pool{1, 64, nullptr, shared_backing()};
  buffer_ref buffer = pool.acquire();
  shared_handle handle = *handle_of(buffer);
};

struct no_link final : link {
  void send(std::uint32_t, lane, std::vector<std::byte>, std::vector<bulk_part>) override {}
  std::uint32_t incarnation() const override { return 1; }
  std::string trouble() const override { return {}; }
  std::uint64_t queued_bytes() const override { return 0; }
  link_counters counters() const override { return {}; }
  void close() override {}
};

void look_at(const hyperframe& h) {
  const auto slots = h.descriptor.slots.size();
  claim(
    !h.tensor || slots * h.pack.slot_bytes() <= h.tensor.size(), "a hyperframe fits its tensor");
  claim(h.frames.empty() || h.frames.size() == slots, "it has all its frames or none");
  for (const auto& f : h.frames) {
    if (!f.buffer || !f.media || f.media->what != media_type::kind::video)
      continue;
    const auto& v = f.media->video;
    for (std::size_t p = 0; p < v.plane_count(); ++p)
      claim(
        v.planes[p].offset + v.planes[p].stride * (v.plane_rows(p) - 1) + v.row_bytes(p)
          <= f.buffer.size(),
        "a plane lies in its buffer");
  }
}

/// Written again, sent as bytes, and read again it is the same.
template <class Message>
void look_at_again(std::span<const std::byte> head, const Message& m) {
  content_sender contents{nullptr, 0};
  const auto again = write_message(m, contents);
  claim(!contents.take_bulk().empty() || again.size() <= head.size(), "nothing was made up");
  const auto second = read_part_message(again);
  claim(second.has_value(), "what is written can be read");
  if (const auto* read = std::get_if<part_message>(&*second)) {
    content_sender none{nullptr, 0};
    claim(write_message(*read, none) == again, "what is read is what was written");
  }
}

void look_at_put(
  std::span<const std::byte> head, wire_put put, const std::vector<bulk_part>& bulk) {
  static const lender& lends = *new lender;
  std::size_t returned = 0, lent = 0;
  const auto borrow = [&](content_place& c) {
    if (c.how != content_place::way::shared)
      return;
    ++lent;
    // The right address cannot be guessed.
    if (c.loan % 4 > 0)
      c.handle = lends.handle;
    else
      c.handle.segment = lends.handle.segment;
  };
  for (auto& h : put.value.hyperframes) {
    borrow(h.tensor);
    for (auto& f : h.frames)
      borrow(f.content);
  }
  {
    shared_importer importer;
    const loan_returner back = std::make_shared<const std::function<void(std::uint64_t)>>(
      [&](std::uint64_t) { ++returned; });
    const auto read = from_wire(std::move(put.value), bulk, importer, back);
    if (read) {
      claim(crosses_processes(type_of(*read)), "frames stay where they are");
      if (const auto* h = std::get_if<hyperframe_ptr>(&*read))
        look_at(**h);
      if (const auto* b = std::get_if<batch_ptr>(&*read)) {
        claim(!(*b)->parts.empty(), "a batch has parts");
        std::uint64_t slots = 0;
        for (const auto& p : (*b)->parts) {
          look_at(*p.source);
          claim(
            p.first + std::uint64_t{p.count} <= p.source->descriptor.slots.size(),
            "a part lies in its hyperframe");
          slots += p.count;
        }
        claim((*b)->slots <= slots, "a batch has its slots");
      }
      look_at_again(head, part_message{stage_parcel{put.to, put_message{put.edge, *read}}});
      claim(returned <= lent, "what is lent is kept");
    }
  }
  claim(returned <= lent, "no loan goes back twice");
}

/// As it comes on a link, whatever that is.
void receive(const test::wire_input& in) {
  stage_link at{bound};
  at.up(std::make_shared<no_link>(), 1);
  std::vector<buffer_ref> into;
  if (!in.sizes.empty() && !at.place(in.head, in.sizes, into))
    return;
  auto bulk = test::received_bulk(in, std::move(into));
  auto read = read_part_message(in.head);
  if (read) {
    claim(is_part_message(in.head), "it has a kind");
    if (auto* put = std::get_if<wire_put>(&*read))
      look_at_put(in.head, std::move(*put), bulk);
    else
      look_at_again(in.head, std::get<part_message>(*read));
  }
  try {
    const auto m = at.read(in.head, std::move(bulk));
    claim(!m || read, "who reads it finds the same");
  } catch (const failure& e) {
    claim(*e.what() != 0, "a refusal has a sentence");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto in = test::read_wire_input(std::as_bytes(std::span{data, size}));
  if (!in)
    return 0;
  const test::bounded_heap heap{size + bound};
  receive(*in);
  return 0;
}
