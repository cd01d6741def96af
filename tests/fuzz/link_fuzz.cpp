// Whatever comes on a connection of a link: a hello, a welcome and messages that are whole, or a
// refusal, and never more memory than was agreed on.
#include "runtime/net/link_wire.hpp"
#include "tests/fuzz/claim.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace hyperframes;
using namespace hyperframes::link_wire;
using test::claim;

namespace {

constexpr std::size_t slots = 4, slot_bytes = 4096;

/// Has room for what fits into its pool.
struct receiver final : link_user {
  void up(std::uint32_t) override {}
  void down(const std::string&) override {}
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override {
    claim(head.size() <= link_head_bytes, "a head has its bound");
    claim(!sizes.empty() && sizes.size() <= link_bulk_parts, "parts have their bound");
    for (const auto size : sizes) {
      into.push_back(size == 0 ? buffer_ref{} : pool.acquire());
      if (size > 0 && !into.back())
        return false;
    }
    return true;
  }
  void received(lane, std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
    const auto header = encode_header(head.size(), bulk);
    again.insert(again.end(), header.begin(), header.end());
    again.insert(again.end(), head.begin(), head.end());
    for (const auto& part : bulk) {
      claim(part.bytes <= part.buffer.size(), "a part lies in its buffer");
      if (part.bytes > 0)
        again.insert(again.end(), part.buffer.data(), part.buffer.data() + part.bytes);
    }
  }
  buffer_pool pool{slots, slot_bytes};
  std::vector<std::byte> again; ///< what was received, written as it is sent
};

/// Whether `again` is `bytes` without the heartbeats that stand between its messages.
bool is_without_heartbeats(std::span<const std::byte> bytes, std::span<const std::byte> again) {
  const auto beat = heartbeat();
  while (!bytes.empty()) {
    const bool is_beat =
      bytes.size() >= beat.size() && std::ranges::equal(bytes.first(beat.size()), beat);
    if (is_beat) {
      bytes = bytes.subspan(beat.size());
      continue;
    }
    if (again.size() < header_bytes || bytes.size() < header_bytes)
      return again.empty() && bytes.empty();
    // Of the message that both begin with.
    std::uint32_t head = 0, parts = 0;
    std::memcpy(&head, again.data() + 4, 4);
    std::memcpy(&parts, again.data() + 8, 4);
    std::size_t size = header_bytes + head + std::size_t{parts} * 8;
    for (std::uint32_t i = 0; i < parts; ++i) {
      std::uint64_t part = 0;
      std::memcpy(&part, again.data() + header_bytes + std::size_t{i} * 8, 8);
      size += part;
    }
    if (
      again.size() < size || bytes.size() < size
      || !std::ranges::equal(again.first(size), bytes.first(size)))
      return false;
    again = again.subspan(size);
    bytes = bytes.subspan(size);
  }
  return again.empty();
}

void read_frames(std::span<const std::byte> bytes) {
  receiver user;
  std::size_t whole = 0; ///< bytes up to the end of the last message
  {
    frame_reader reader{lane::data, user};
    for (std::size_t at = 0;;) {
      std::size_t wanted = 0;
      for (const auto part : reader.wanted()) {
        claim(!part.empty(), "what is asked for is something");
        wanted += part.size();
      }
      claim(wanted > 0, "something is always asked for");
      claim(wanted <= link_head_bytes + link_bulk_parts * 8 + slots * slot_bytes, "it is bounded");
      if (wanted > bytes.size() - at)
        break;
      for (const auto part : reader.wanted()) {
        std::ranges::copy(bytes.subspan(at, part.size()), part.begin());
        at += part.size();
      }
      const auto before = reader.messages();
      if (const auto wrong = reader.filled()) {
        claim(!wrong->empty(), "what is wrong has a sentence");
        break;
      }
      if (reader.messages() > before)
        whole = at;
    }
  }
  claim(is_without_heartbeats(bytes.first(whole), user.again), "what is received is what was sent");
  claim(user.pool.in_use() == 0, "every buffer comes back");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  if (size >= hello_bytes) {
    hello h;
    const auto first = bytes.first<hello_bytes>();
    if (!decode(first, h))
      claim(std::ranges::equal(encode(h), first), "a hello has one form");
  }
  if (size >= welcome_bytes)
    if (const auto why = decode_welcome(bytes.first<welcome_bytes>()))
      claim(!why->empty(), "a refusal has a sentence");
  read_frames(bytes);
  return 0;
}
