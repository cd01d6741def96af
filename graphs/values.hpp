#pragma once

#include "runtime/description.hpp"
#include "runtime/settings.hpp"
#include "runtime/written.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Values as they are written in graph files, beside those of runtime/written.hpp, and the words for
/// them in sentences.
namespace hyperframes {

/// @returns none where `text` is not wholly such a value.
std::optional<std::int64_t> read_integer(std::string_view text);
std::optional<double> read_number(std::string_view text);     ///< finite
std::optional<std::int64_t> read_bytes(std::string_view text);
std::optional<pixel_size> read_size(std::string_view text);

/// @returns true where `text` is written as such a value has to be, but the number is too large for
/// any, or below 0 where there is nothing below.
bool is_out_of_range(const parameter& p, std::string_view text);

/// Back into text that the functions above read as the same value.
std::string write_bytes(std::uint64_t bytes); ///< in the largest unit that is exact
std::string write_value(const setting& s); ///< "unset" where it has no value

/// For reading only: "1.2 GB", "880 kB", rounded.
std::string about_bytes(std::uint64_t bytes);

/// "a whole number", "a duration such as 40ms", "one of count, timeout".
std::string type_in_words(const parameter& p);
/// "1 to 4096 frames", "at least 0"; empty where there is no bound.
std::string range_in_words(const parameter& p);
const char* to_string(parameter_type type); ///< "integer", "duration", ...

/// The known name that `found` was most likely meant to be; empty where none is near.
std::string nearest_name(std::string_view found, const std::vector<std::string>& known);
/// "did you mean 'x'?", or else "known are a, b and c" or "the only one is 'a'"; at most 20 names,
/// each once.
std::string suggestion(std::string_view found, const std::vector<std::string>& known);

} // namespace hyperframes
