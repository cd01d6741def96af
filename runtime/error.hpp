#pragma once

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace hyperframes {

enum class errc {
  graph_invalid, ///< the graph or an argument is wrong; nothing was started
  camera_failed,
  model_failed,
  stage_failed,
  out_of_memory, ///< a fixed bound of a pool was met
  io_failed,
  stopped,
};

/// What went wrong, as a sentence, and the name of the thing at fault.
///
/// The sentence says what was expected, what was found and the likely fix; `where` is the
/// stage, stream or `file:line:col`.
struct error {
  errc code = errc::stage_failed;
  std::string where;
  std::string message;

  std::string to_string() const {
    return where.empty() ? message : where + ": " + message;
  }
};

/// What the library throws at its public border.
class failure : public std::runtime_error {
public:
  explicit failure(error e) : std::runtime_error(e.to_string()), error_(std::move(e)) {}
  const error& what_failed() const noexcept { return error_; }

private:
  error error_;
};

[[noreturn]] inline void throw_exception_from_error(const error& e, const boost::source_location&) {
  throw failure(e);
}

/// A `T`, or the error that stands in its way. `value()` throws `failure`.
template <class T>
using expected = boost::system::result<T, error>;

inline error make_error(errc code, std::string where, std::string message) {
  return {code, std::move(where), std::move(message)};
}

} // namespace hyperframes
