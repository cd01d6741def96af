#pragma once

#include "runtime/net/link.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The bytes of a link. All numbers are little-endian.
///
///   the opener says     hello     magic 8, version 2, lane 1, zeros 5, token 16, opener 4,
///                                 acceptor 4, incarnation 4, zeros 4
///   the acceptor says   welcome   magic 8, version 2, answer 1, zeros 5
///   from then on, both  frames    kind 1, zeros 3, head size 4, parts 4, zeros 4,
///                                 a size of 8 for each part, head, parts
namespace hyperframes::link_wire {

inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t hello_bytes = 48;
inline constexpr std::size_t welcome_bytes = 16;
inline constexpr std::size_t header_bytes = 16;

struct hello {
  link_id id;
  lane on = lane::control;
  std::uint32_t incarnation = 0;
};

enum class answer : std::uint8_t { welcome, other_version, unknown_link, open_already };

enum class hello_fault { not_ours, other_version, malformed };

std::array<std::byte, hello_bytes> encode(const hello& h);
/// @returns what is wrong with it; `into` is whole where nothing is.
std::optional<hello_fault> decode(std::span<const std::byte, hello_bytes> bytes, hello& into);

std::array<std::byte, welcome_bytes> encode(answer a);
/// @returns why the link is not opened, as a sentence; none: it is.
std::optional<std::string> decode_welcome(std::span<const std::byte, welcome_bytes> bytes);

/// What stands before head and parts of a message.
std::vector<std::byte> encode_header(std::size_t head_bytes, std::span<const bulk_part> bulk);
std::array<std::byte, header_bytes> heartbeat();

/// Takes the frames of a lane apart, as they come: asks for bytes, and checks every size before it
/// takes memory. Holds a head and a table of sizes of the largest allowed size, at most.
///
///   while (ok) { read into all of reader.wanted(); ok = !reader.filled(); }
class frame_reader {
public:
  frame_reader(lane on, link_user& user) : lane_(on), user_(user) { expect_header(); }

  /// Where the next bytes belong, in order, none of them empty. Valid until `filled`.
  std::span<const std::span<std::byte>> wanted() const { return wanted_; }
  /// All of `wanted` has come. Calls the user's `place` and `received`.
  /// @returns what is wrong with what came, as a sentence: then the reader is at its end.
  std::optional<std::string> filled();

  std::uint64_t messages() const { return messages_; } ///< received
  std::uint64_t bytes() const { return bytes_; }       ///< of their heads and parts

private:
  enum class step { header, head, bulk };

  void expect_header();
  std::optional<std::string> on_header();
  std::optional<std::string> on_head();
  std::optional<std::string> place();
  void deliver();
  std::span<const std::byte> head() const { return std::span{head_}.first(head_bytes_); }

  lane lane_;
  link_user& user_;
  step step_ = step::header;
  std::array<std::byte, header_bytes> header_{};
  std::vector<std::byte> head_, table_; ///< grow to the largest that came
  std::size_t head_bytes_ = 0, parts_ = 0;
  std::vector<std::uint64_t> sizes_;
  std::vector<buffer_ref> placed_;
  std::vector<std::span<std::byte>> wanted_;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

} // namespace hyperframes::link_wire
