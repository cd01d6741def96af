#include "cameras/source_file.hpp"

#include <filesystem>
#include <system_error>

namespace hyperframes {

namespace {

const char* special_kind(std::filesystem::file_type type) {
  using enum std::filesystem::file_type;
  switch (type) {
    case fifo:
      return "a named pipe";
    case character:
    case block:
      return "a device";
    case socket:
      return "a socket";
    default:
      return nullptr;
  }
}

} // namespace

std::optional<error> refuse_special_file(const std::string& path) {
  std::error_code ignored;
  const auto* kind = special_kind(std::filesystem::status(path, ignored).type());
  if (!kind)
    return std::nullopt;
  return make_error(
    errc::io_failed, path,
    std::string{"this is not a regular file but "} + kind
      + ", which cannot be read twice: once to see what it holds, once to play it; save it to a file");
}

} // namespace hyperframes
