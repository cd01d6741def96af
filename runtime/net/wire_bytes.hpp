#pragma once

#include "runtime/actor_system.hpp"
#include "runtime/caf.hpp"
#include "runtime/error.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Values as bytes and back, by their `inspect` functions.
namespace hyperframes {

/// @returns `kind`, and then `value`.
template <class T>
std::vector<std::byte> write_bytes(std::uint8_t kind, const T& value) {
  init_actor_types();
  caf::byte_buffer bytes;
  bytes.push_back(static_cast<caf::byte>(kind));
#if CAF_VERSION >= 10000
  caf::binary_serializer sink{bytes};
#else
  caf::binary_serializer sink{nullptr, bytes};
#endif
  sink.seek(1);
  if (!sink.apply(value))
    throw failure(
      make_error(errc::io_failed, "message", "cannot be written: " + to_string(sink.get_error())));
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// @returns the value that `bytes` are, no more and no less; nothing where they are none.
template <class T>
std::optional<T> read_bytes(std::span<const std::byte> bytes) {
  init_actor_types();
#if CAF_VERSION >= 10000
  caf::binary_deserializer source{bytes};
#else
  caf::binary_deserializer source{nullptr, bytes.data(), bytes.size()};
#endif
  std::optional<T> value{std::in_place};
  if (!source.apply(*value) || source.remaining() > 0)
    return std::nullopt;
  return value;
}

} // namespace hyperframes
