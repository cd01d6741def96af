#pragma once

#include "runtime/stage_host.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

/// Brings the stages of a graph up together, and knows when they are finished.
///
/// Sources begin when every stage is ready. The graph is finished when every stage that settles
/// frames and every sink is done; one that failed is done when its accounts are closed. A stage that fails for good makes the sources drain: what is under
/// way still gets its outcomes. Thread-safe; never blocks but in `wait`.
class supervisor final : public state_listener {
public:
  struct member {
    std::string name;
    bool source = false;
    bool end = false; ///< settles frames, or is a sink
    bool settles = false; ///< frames: must close its accounts, also when it has failed
  };
  supervisor(executor& runs, telemetry& numbers, std::vector<member> members);

  void start();
  void drain(); ///< sources capture no more, what they captured goes on
  void stop();  ///< everything under way ends as `dropped (stopped)`

  /// Waits until every stage is ready. @returns false where one failed before.
  bool wait_ready();
  /// @returns true when the graph is finished; false after `patience`.
  bool wait(duration patience);
  bool finished() const;
  stage_state state(stage_index stage) const;
  /// The first stage that failed for good, and why.
  std::optional<error> failed() const;

  void state_changed(stage_index stage, stage_state state, const std::string& why) override;
  void accounts_closed(stage_index stage) override;

private:
  void post_to_all(control c);
  bool all(bool (*has)(const member&, stage_state)) const;
  bool all_over() const;

  executor& runs_;
  telemetry& numbers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<member> members_;
  std::vector<stage_state> states_;
  std::vector<bool> closed_; ///< `accounts_closed` was called
  bool running_ = false;
  bool drained_ = false;
  bool finished_ = false;
  std::optional<error> failed_;
};

} // namespace hyperframes
