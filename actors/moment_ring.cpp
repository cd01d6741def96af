#include "actors/moment_ring.hpp"

namespace hyperframes {

moment_ring::moment_ring(std::uint32_t size, std::size_t members) : slots_(size) {
  for (auto& m : slots_)
    m.entries.resize(members);
}

moment_ring::moment& moment_ring::push() {
  return at(end_++);
}

void moment_ring::pop() {
  for (auto& e : at(begin_).entries)
    e = {};
  ++begin_;
}

std::uint64_t moment_ring::first_from(graph_time t) const {
  auto n = begin_;
  while (n < end_ && at(n).place < t)
    ++n;
  return n;
}

} // namespace hyperframes
