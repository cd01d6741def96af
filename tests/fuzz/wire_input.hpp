#pragma once

#include "runtime/net/link.hpp"
#include "runtime/net/receive_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hyperframes::test {

/// A message of a link as one input:
///   [u8 parts] [u16 size] * parts [u16 head] head bulk
/// Sizes may claim more than there is.
struct wire_input {
  std::span<const std::byte> head;
  std::vector<std::uint64_t> sizes;   ///< of the bulk's parts
  std::span<const std::byte> content; ///< of the bulk, one part behind the other
};

/// Nothing where `bytes` are too few.
inline std::optional<wire_input> read_wire_input(std::span<const std::byte> bytes) {
  constexpr std::size_t most_parts = 8;
  wire_input in;
  const auto number = [&](std::size_t size) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes.data(), size);
    bytes = bytes.subspan(size);
    return n;
  };
  if (bytes.empty())
    return std::nullopt;
  const auto parts = number(1) % (most_parts + 1);
  if (bytes.size() < (parts + 1) * 2)
    return std::nullopt;
  for (std::uint64_t i = 0; i < parts; ++i)
    in.sizes.push_back(number(2));
  const auto claimed = number(2);
  const auto head = std::min<std::uint64_t>(claimed, bytes.size());
  in.head = bytes.first(head);
  in.content = bytes.subspan(head);
  return in;
}

inline std::string
write_wire_input(std::span<const std::byte> head, const std::vector<bulk_part>& bulk = {}) {
  std::string text;
  const auto add = [&](const void* from, std::size_t bytes) {
    text.append(static_cast<const char*>(from), bytes);
  };
  const auto number = [&](std::uint64_t n, std::size_t bytes) { add(&n, bytes); };
  number(bulk.size(), 1);
  for (const auto& part : bulk)
    number(part.bytes, 2);
  number(head.size(), 2);
  add(head.data(), head.size());
  for (const auto& part : bulk)
    if (part.bytes > 0)
      add(part.buffer.data() + part.offset, part.bytes);
  return text;
}

/// What a link would have received into `placed`, which has a buffer for each size.
inline std::vector<bulk_part> received_bulk(const wire_input& in, std::vector<buffer_ref> placed) {
  std::vector<bulk_part> bulk;
  auto left = in.content;
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    const auto bytes = in.sizes[i];
    const auto given = left.first(std::min<std::size_t>(left.size(), bytes));
    left = left.subspan(given.size());
    if (bytes > 0) {
      std::ranges::copy(given, placed[i].data());
      std::fill_n(placed[i].data() + given.size(), bytes - given.size(), std::byte{});
    }
    bulk.push_back({std::move(placed[i]), bytes, 0});
  }
  return bulk;
}

} // namespace hyperframes::test
