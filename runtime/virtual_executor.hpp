#pragma once

#include "runtime/stage_host.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace hyperframes {

/// Runs stages on a virtual clock: one thread, no actors, the same order every time.
///
/// Messages are handled in the order in which they were sent; when none is left, time jumps to the
/// next timer. At equal times those of sources come first, then those that were asked for first.
class virtual_executor final : public executor {
public:
  void open(const std::vector<stage_host*>& hosts) { hosts_ = hosts; }

  /// Runs until nothing is left to do or the clock would pass `until`.
  /// @param between called whenever no message is under way, before time moves.
  void run(graph_time until = never, const std::function<void()>& between = {});
  /// Moves time on to `t`, up to which it must have run: for who acts from outside at that moment.
  void stand_at(graph_time t) { clock_.advance_to(t); }

  const clock& time() const override { return clock_; }
  void post(stage_index to, message m) override { messages_.emplace_back(to, std::move(m)); }
  void wake_at(stage_index stage, graph_time t) override;
  void submit(stage_index stage, std::uint64_t generation, blocking_work work) override;
  std::function<void()> poke(stage_index stage) override;

private:
  struct moment {
    graph_time when{};
    bool source = false;
    std::uint64_t number = 0;
    friend bool operator<(const moment& a, const moment& b) {
      if (a.when != b.when)
        return a.when < b.when;
      if (a.source != b.source)
        return a.source;
      return a.number < b.number;
    }
  };
  void handle(stage_index to, message m);
  void settle_messages();

  virtual_clock clock_;
  std::vector<stage_host*> hosts_;
  std::deque<std::pair<stage_index, message>> messages_;
  std::map<moment, std::pair<stage_index, message>> timers_;
  std::map<std::uint64_t, graph_time> lanes_free_; ///< when each lane of work is free again
  std::uint64_t number_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace hyperframes
