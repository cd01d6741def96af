#pragma once

#include "runtime/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Times, numbers and lists as they are written in files, on the command line and in sentences.
namespace hyperframes {

/// A time: a decimal number and one of the units ns, us (or µs), ms, s, min and h, as in "40ms",
/// "1.5 s" and "-3ms"; blanks around either do not matter.
/// @param bare what 1 without a unit is; none: only 0 may lack its unit.
/// @returns none where `text` is wholly no such time, or one beyond 64 bits of nanoseconds.
std::optional<duration>
read_duration(std::string_view text, std::optional<duration> bare = std::nullopt);
/// @returns true where `text` is written as a time, but beyond 64 bits of nanoseconds.
bool is_endless_duration(std::string_view text);

/// In the largest unit that is exact: 250000000ns is "250ms"; `read_duration` reads it as the same.
std::string write_duration(duration d);
std::string write_number(double n); ///< as short as it can be read back

/// "1 stream", "2 streams", "2 batches": `what` is the singular.
std::string counted(std::uint64_t n, std::string_view what);

/// "a", "a and b", "a, b and c".
std::string join_words(const std::vector<std::string>& words, std::string_view last = " and ");

} // namespace hyperframes
