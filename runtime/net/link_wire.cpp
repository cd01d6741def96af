#include "runtime/net/link_wire.hpp"

#include <algorithm>
#include <concepts>

namespace hyperframes::link_wire {

namespace {

constexpr std::array<char, 8> magic{'H', 'F', 'L', 'I', 'N', 'K', '\r', '\n'};

enum class kind : std::uint8_t { message = 1, heartbeat = 2 };

template <std::unsigned_integral T>
void put(std::span<std::byte> into, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    into[at + i] = static_cast<std::byte>(value >> (8 * i));
}

template <std::unsigned_integral T>
T get(std::span<const std::byte> from, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(
      value | static_cast<T>(T{std::to_integer<std::uint8_t>(from[at + i])} << (8 * i)));
  return value;
}

bool zeros(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

void put_magic(std::span<std::byte> into) {
  std::ranges::copy(std::as_bytes(std::span{magic}), into.begin());
  put(into, 8, version);
}

bool has_magic(std::span<const std::byte> bytes) {
  return std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span{magic}));
}

} // namespace

std::array<std::byte, hello_bytes> encode(const hello& h) {
  std::array<std::byte, hello_bytes> bytes{};
  put_magic(bytes);
  put(bytes, 10, static_cast<std::uint8_t>(h.on));
  std::ranges::copy(h.id.token, bytes.begin() + 16);
  put(bytes, 32, h.id.opener);
  put(bytes, 36, h.id.acceptor);
  put(bytes, 40, h.incarnation);
  return bytes;
}

std::optional<hello_fault> decode(std::span<const std::byte, hello_bytes> bytes, hello& into) {
  if (!has_magic(bytes))
    return hello_fault::not_ours;
  if (get<std::uint16_t>(bytes, 8) != version)
    return hello_fault::other_version;
  const auto on = get<std::uint8_t>(bytes, 10);
  if (on >= lanes || !zeros(bytes.subspan(11, 5)) || !zeros(bytes.subspan(44)))
    return hello_fault::malformed;
  into.on = static_cast<lane>(on);
  std::ranges::copy(bytes.subspan(16, into.id.token.size()), into.id.token.begin());
  into.id.opener = get<std::uint32_t>(bytes, 32);
  into.id.acceptor = get<std::uint32_t>(bytes, 36);
  into.incarnation = get<std::uint32_t>(bytes, 40);
  return into.incarnation == 0 ? std::optional{hello_fault::malformed} : std::nullopt;
}

std::array<std::byte, welcome_bytes> encode(answer a) {
  std::array<std::byte, welcome_bytes> bytes{};
  put_magic(bytes);
  put(bytes, 10, static_cast<std::uint8_t>(a));
  return bytes;
}

std::optional<std::string> decode_welcome(std::span<const std::byte, welcome_bytes> bytes) {
  if (!has_magic(bytes))
    return "what answers there is no HyperFrames link; check host and port";
  if (const auto theirs = get<std::uint16_t>(bytes, 8); theirs != version)
    return "the other side speaks version " + std::to_string(theirs)
           + " of the link protocol, this one " + std::to_string(version)
           + "; run the same release at both ends";
  switch (static_cast<answer>(get<std::uint8_t>(bytes, 10))) {
    case answer::welcome:
      return std::nullopt;
    case answer::unknown_link:
      return "the other side does not expect this link; it ended there, or belongs to another run";
    case answer::open_already:
      return "the other side has this link open already";
    default:
      return "the other side refused the link";
  }
}

std::vector<std::byte> encode_header(std::size_t head_bytes, std::span<const bulk_part> bulk) {
  std::vector<std::byte> bytes(header_bytes + bulk.size() * sizeof(std::uint64_t));
  put(bytes, 0, static_cast<std::uint8_t>(kind::message));
  put(bytes, 4, static_cast<std::uint32_t>(head_bytes));
  put(bytes, 8, static_cast<std::uint32_t>(bulk.size()));
  for (std::size_t i = 0; i < bulk.size(); ++i)
    put(bytes, header_bytes + i * sizeof(std::uint64_t), bulk[i].bytes);
  return bytes;
}

std::array<std::byte, header_bytes> heartbeat() {
  std::array<std::byte, header_bytes> bytes{};
  put(bytes, 0, static_cast<std::uint8_t>(kind::heartbeat));
  return bytes;
}

void frame_reader::expect_header() {
  step_ = step::header;
  wanted_.assign(1, header_);
}

std::optional<std::string> frame_reader::filled() {
  switch (step_) {
    case step::header:
      return on_header();
    case step::head:
      return on_head();
    case step::bulk:
      deliver();
  }
  return std::nullopt;
}

std::optional<std::string> frame_reader::on_header() {
  const auto what = static_cast<kind>(get<std::uint8_t>(header_, 0));
  const auto head = get<std::uint32_t>(header_, 4);
  const auto parts = get<std::uint32_t>(header_, 8);
  const std::span bytes{header_};
  const bool reserved = zeros(bytes.subspan(1, 3)) && zeros(bytes.subspan(12));
  if (what == kind::heartbeat && reserved && head == 0 && parts == 0)
    return std::nullopt; // the next header comes to the same place
  if (what != kind::message || !reserved)
    return "what came is no message of the link protocol";
  if (head > link_head_bytes)
    return "a message's head claims " + std::to_string(head) + " bytes; at most "
           + std::to_string(link_head_bytes) + " are allowed";
  if (parts > link_bulk_parts)
    return "a message claims " + std::to_string(parts) + " parts; at most "
           + std::to_string(link_bulk_parts) + " are allowed";
  head_bytes_ = head;
  parts_ = parts;
  if (head == 0 && parts == 0) {
    deliver();
    return std::nullopt;
  }
  head_.resize(std::max(head_.size(), head_bytes_));
  table_.resize(std::max(table_.size(), parts_ * sizeof(std::uint64_t)));
  wanted_.clear();
  if (parts_ > 0)
    wanted_.push_back(std::span{table_}.first(parts_ * sizeof(std::uint64_t)));
  if (head_bytes_ > 0)
    wanted_.push_back(std::span{head_}.first(head_bytes_));
  step_ = step::head;
  return std::nullopt;
}

std::optional<std::string> frame_reader::on_head() {
  if (parts_ > 0) {
    if (auto wrong = place())
      return wrong;
    if (!wanted_.empty()) {
      step_ = step::bulk;
      return std::nullopt;
    }
  }
  deliver();
  return std::nullopt;
}

std::optional<std::string> frame_reader::place() {
  sizes_.clear();
  for (std::size_t i = 0; i < parts_; ++i)
    sizes_.push_back(get<std::uint64_t>(table_, i * sizeof(std::uint64_t)));
  placed_.clear();
  if (!user_.place(head(), sizes_, placed_)) {
    placed_.clear();
    return "a message with " + std::to_string(parts_) + " parts, the first of "
           + std::to_string(sizes_.front()) + " bytes, is more than was agreed on";
  }
  wanted_.clear();
  for (std::size_t i = 0; i < parts_; ++i) {
    const auto room = i < placed_.size() ? placed_[i].size() : 0;
    if (sizes_[i] > room) {
      wanted_.clear();
      placed_.clear();
      return "part " + std::to_string(i) + " of a message claims " + std::to_string(sizes_[i])
             + " bytes; there is room for " + std::to_string(room);
    }
    if (sizes_[i] > 0)
      wanted_.push_back(std::span{placed_[i].data(), static_cast<std::size_t>(sizes_[i])});
  }
  return std::nullopt;
}

void frame_reader::deliver() {
  std::vector<bulk_part> bulk;
  bulk.reserve(parts_);
  bytes_ += head_bytes_;
  for (std::size_t i = 0; i < parts_; ++i) {
    bulk.push_back({i < placed_.size() ? std::move(placed_[i]) : buffer_ref{}, sizes_[i]});
    bytes_ += sizes_[i];
  }
  placed_.clear();
  ++messages_;
  expect_header();
  user_.received(lane_, head(), std::move(bulk));
}

} // namespace hyperframes::link_wire
