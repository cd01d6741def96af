#pragma once

#include "runtime/error.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace hyperframes {

/// @returns "a named pipe", "a device" or "a socket" where `path` is one; otherwise nothing. Opens nothing.
std::string kind_of_special_file(const std::filesystem::path& path);

/// Pipes, devices and sockets cannot be read twice (once to see what they hold, once to play it), and
/// opening one may wait for ever: a camera asks here first.
/// @returns why `path` cannot be read; nothing where it is a regular file, a folder, or not there.
std::optional<error> refuse_special_file(const std::string& path);

} // namespace hyperframes
