#include "cameras/source_file.hpp"

#include <system_error>

namespace hyperframes {

std::string kind_of_special_file(const std::filesystem::path& path) {
  using enum std::filesystem::file_type;
  std::error_code ignored;
  switch (std::filesystem::status(path, ignored).type()) {
    case fifo:
      return "a named pipe";
    case character:
    case block:
      return "a device";
    case socket:
      return "a socket";
    default:
      return {};
  }
}

std::optional<error> refuse_special_file(const std::string& path) {
  const auto kind = kind_of_special_file(path);
  if (kind.empty())
    return std::nullopt;
  return make_error(
    errc::io_failed, path,
    "this is not a regular file but " + kind
      + ", which cannot be read twice: once to see what it holds, once to play it; save it to a file");
}

} // namespace hyperframes
