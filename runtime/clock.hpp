#pragma once

#include "runtime/time.hpp"

namespace hyperframes {

/// The only reader of time. Thread-safe.
class clock {
public:
  virtual ~clock() = default;
  /// @returns the time since the graph's start.
  virtual graph_time now() const noexcept = 0;
  /// @returns the CPU time that the calling thread has taken so far; always 0 where time is virtual.
  virtual duration thread_cpu() const noexcept { return {}; }
};

/// Reads the steady clock of the machine; zero is its construction, or what is said.
class system_clock final : public clock {
public:
  system_clock() noexcept;
  explicit system_clock(std::chrono::steady_clock::time_point zero) noexcept : start_(zero) {}
  graph_time now() const noexcept override;
  duration thread_cpu() const noexcept override;

private:
  std::chrono::steady_clock::time_point start_;
};

/// Stands still until it is told otherwise. Not thread-safe: everything that runs on it runs on
/// one thread.
class virtual_clock final : public clock {
public:
  graph_time now() const noexcept override { return now_; }
  /// Moves to `t`; never backwards.
  void advance_to(graph_time t) noexcept {
    if (t > now_)
      now_ = t;
  }

private:
  graph_time now_{};
};

} // namespace hyperframes
