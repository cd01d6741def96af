#pragma once

#include "graphs/hyperframes.hpp"

#include <mutex>
#include <set>
#include <string>

namespace hyperframes::command {

/// One line on a terminal that is written over again and again; events go above it.
/// Where standard error is no terminal there is no line, and events stand on their own. Thread-safe.
class progress_line {
public:
  explicit progress_line(bool quiet);
  ~progress_line();
  void show(const run_progress& p);
  void tell(const event& e);
  /// @returns true where an event has told this failure ("results: the disk is full") already.
  bool has_told(const std::string& failure);

private:
  void clear();
  std::mutex mutex_;
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  std::set<std::string> told_; ///< failures
  double last_seconds_ = 0;
  std::uint64_t last_ended_ = 0;
  double fps_ = 0;
};

/// "1234 frames, 360.1 fps, depth 3, 0 dropped, 4 s left".
std::string progress_text(const run_progress& p, double fps);

} // namespace hyperframes::command
