// Whatever comes between the stage that infers and its workers on nodes: calls whose tensors are
// there, answers that are whole, or nothing; never more memory than was agreed on, and each loan
// goes back once.
#include "runtime/net/batch_wire.hpp"
#include "runtime/shared_memory.hpp"
#include "tests/fuzz/claim.hpp"
#include "tests/fuzz/heap.hpp"
#include "tests/fuzz/wire_input.hpp"

#include <cstdint>

using namespace hyperframes;
using test::claim;

namespace {

constexpr std::uint64_t bound = 1 << 17; ///< of what is received at once

/// Memory that a call may speak of: a large pool of this process, as a coordinator has them.
struct lender {
  buffer_pool pool{1, std::size_t{16} << 20, nullptr, shared_backing()};
  buffer_ref buffer = pool.acquire();
  shared_handle handle = *handle_of(buffer);
};

void look_at_call(const test::wire_input& in) {
  static const lender& lends = *new lender;
  auto call = read_call(in.head);
  if (!call)
    return;
  receive_memory memory;
  memory.allow(bound);
  std::vector<buffer_ref> into; // as a node's seats take it
  for (const auto bytes : in.sizes) {
    into.push_back(bytes > 0 ? memory.take(bytes) : buffer_ref{});
    if (bytes > 0 && into.back().size() < bytes)
      return;
  }
  const auto bulk = test::received_bulk(in, std::move(into));
  std::size_t lent = 0, returned = 0;
  {
    shared_importer importer;
    const loan_returner back = std::make_shared<const std::function<void(std::uint64_t)>>(
      [&](std::uint64_t) { ++returned; });
    std::vector<content> tensors;
    for (auto& p : call->parts) {
      if (p.tensor.how == content_place::way::shared) {
        ++lent;
        // The right address cannot be guessed.
        if (p.tensor.loan % 4 > 0)
          p.tensor.handle = lends.handle;
        else
          p.tensor.handle.segment = lends.handle.segment;
      }
      tensors.push_back(content_at(p.tensor, bulk, importer, back));
    }
    const auto work = batch_of(*call, std::move(tensors));
    if (work) {
      claim(work->parts.size() == call->parts.size(), "every part is there");
      std::uint64_t slots = 0;
      for (std::size_t i = 0; i < work->parts.size(); ++i) {
        const auto& p = work->parts[i];
        claim(p.count == call->parts[i].slots.size(), "with every slot");
        claim(
          p.source->descriptor.slots.size() == p.first + std::uint64_t{p.count}, "in its place");
        claim(
          (p.first + std::uint64_t{p.count}) * p.source->pack.slot_bytes()
            <= p.source->tensor.size(),
          "within its tensor");
        slots += p.count;
      }
      claim(work->slots == slots, "slots are counted");
    }
  }
  claim(lent == returned, "what is lent goes back, once");
}

void look_at_answer(const test::wire_input& in) {
  receive_memory memory;
  memory.allow(bound);
  std::vector<buffer_ref> into;
  if (!in.sizes.empty() && !place_answer(in.head, in.sizes, memory, into))
    return;
  const auto bulk = test::received_bulk(in, std::move(into));
  const auto answer = read_answer(in.head, bulk);
  if (!answer)
    return;
  for (const auto& part : answer->parts)
    for (const auto& slot : part) {
      claim(
        slot.refers_to >= -1 && slot.refers_to < static_cast<std::int64_t>(part.size()),
        "a slot refers to one of its part");
      if (!slot.inferred)
        continue;
      for (const auto& t : slot.inferred->raw) {
        auto bytes = static_cast<long double>(size_of(t.type));
        for (const auto n : t.shape)
          bytes *= static_cast<long double>(n);
        claim(bytes == static_cast<long double>(t.bytes.size()), "an output is as its shape says");
      }
    }
  receive_memory again;
  again.allow(answer_bytes);
  const auto written = write_answer(*answer, again);
  const auto second = read_answer(written.head, written.bulk);
  claim(second.has_value(), "what is written can be read");
  claim(write_answer(*second, again).head == written.head, "what is read is what was written");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto in = test::read_wire_input(std::as_bytes(std::span{data, size}));
  if (!in)
    return 0;
  // Parts that are read lie in the bulk: what is received there was agreed on.
  const test::bounded_heap heap{size + bound};
  look_at_call(*in);
  look_at_answer(*in);
  if (const auto loans = read_loans(in->head))
    claim(write_loans(*loans).size() <= in->head.size(), "nothing was made up");
  if (const auto probe = read_probe(in->head))
    claim(may_borrow(*probe) || read_probe(write_probe(*probe)), "a probe is an address");
  return 0;
}
