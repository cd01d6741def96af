// Whatever a coordinator and a node say to each other: a message that is written again as it was
// read, or none.
#include "runtime/net/node_wire.hpp"
#include "tests/fuzz/claim.hpp"
#include "tests/fuzz/heap.hpp"

#include <cstdint>
#include <span>

using namespace hyperframes;
using test::claim;

namespace {

/// What was read is what is written. Of one thing there may be more than one form: a list's length
/// may come with zeros in front.
template <class Read, class Write>
bool look_at(std::span<const std::byte> head, Read read, Write write) {
  const auto value = read(head);
  if (!value)
    return false;
  const auto again = write(*value);
  claim(again.size() <= head.size(), "nothing was made up");
  const auto second = read(again);
  claim(second.has_value(), "what is written can be read");
  claim(write(*second) == again, "what is read is what was written");
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto head = std::as_bytes(std::span{data, size});
  const test::bounded_heap bound{size};
  const auto write = [](const auto& m) { return write_message(m); };
  int kinds = 0;
  kinds += look_at(head, read_facts, write);
  kinds += look_at(head, read_deploy, write);
  kinds += look_at(head, read_deployed, write_deployed);
  kinds += look_at(head, read_open_seat, write);
  kinds += look_at(head, read_seat, write);
  kinds += look_at(head, read_close_seat, write_close_seat);
  kinds += look_at(head, read_look, write_look);
  kinds += look_at(head, read_looked, write);
  claim(kinds <= 1, "a message is of one kind");
  claim(kinds == 0 || node_message_of(head), "it has a kind");
  return 0;
}
