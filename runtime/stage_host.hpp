#pragma once

#include "runtime/depth_alarm.hpp"
#include "runtime/ledger.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/outcome_router.hpp"
#include "runtime/outlet.hpp"
#include "runtime/restart_times.hpp"
#include "runtime/stage.hpp"
#include "runtime/telemetry.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hyperframes {

class settled_frames;

/// How a host reaches the others and the machine: actors and threads, or the virtual clock.
class executor {
public:
  virtual ~executor() = default;
  virtual const clock& time() const = 0;
  /// Hands `m` to a stage. From any thread; messages of one sender to one stage keep their order.
  virtual void post(stage_index to, message m) = 0;
  /// Makes `control::wake` reach the stage at `t` or soon after.
  virtual void wake_at(stage_index stage, graph_time t) = 0;
  /// Runs the work off the stage's thread; a `done_message` follows.
  virtual void submit(stage_index stage, std::uint64_t generation, blocking_work work) = 0;
  /// A function that posts `control::poke`; it may be called after the executor is gone.
  virtual std::function<void()> poke(stage_index stage) = 0;
};

enum class stage_state : std::uint8_t { init, warm, ready, running, draining, done, failed };
const char* to_string(stage_state s);

/// Who is told when a stage's state changes. Thread-safe.
class state_listener {
public:
  virtual ~state_listener() = default;
  virtual void state_changed(stage_index stage, stage_state state, const std::string& why) = 0;
  /// A stage that failed has nothing to wait for any more: every frame that it accounts for has its outcome.
  virtual void accounts_closed(stage_index stage) = 0;
};

/// One end-to-end connection of two stages.
struct edge_wiring {
  edge_index edge = 0;
  stage_index from = 0;
  std::size_t from_port = 0;
  stage_index to = 0;
  std::string to_name;
  port_type type = port_type::frame;
  edge_limits limits;
  std::vector<stage_index> settlers; ///< settling stages at or below `to`
  std::vector<credit_message> used{}; ///< of the sender's credit, by whom it follows in another process
};

struct stage_wiring {
  stage_index self = 0;
  stage_plan plan;
  const stage_description* kind = nullptr;
  std::vector<edge_wiring> inputs;
  std::vector<edge_wiring> outputs;
  std::vector<stage_index> settlers; ///< settling stages at or below this one
  bool settles = false;              ///< it ends accounts: an unbundle, or a sink without one above
};

/// What all stages of a graph share.
struct stage_surroundings {
  executor& runs;
  ledger& accounts;
  telemetry& numbers;
  state_listener& listener;
};

/// Drives one stage's logic: mailboxes, credit, policies, outcomes, life cycle, failure. Holds no actor
/// and no thread; whoever owns it calls `handle` for one message after the other.
///
/// An item waits in its mailbox until the logic may have it: never while a blocking edge below has
/// something waiting. Dropping anything makes an outcome in every account below the place of the drop.
class stage_host final : private stage_context {
public:
  stage_host(stage_wiring wiring, const stage_surroundings& surroundings);
  ~stage_host() override;

  void handle(message m);
  /// Items wait that the logic may have: `handle(control::work)` is due.
  bool wants_work() const;
  /// Frames held by the logic, the mailboxes and the outlets.
  std::uint64_t held_frames() const;
  /// Of these, what counts in the accounts of `settler`.
  std::uint64_t held_frames(stage_index settler) const;
  /// Items on the edges below, `stage_wiring::outputs`, whose credit has not come back.
  std::uint64_t under_way(std::size_t output) const { return outlets_[output].under_way(); }
  const stage_wiring& wiring() const { return wiring_; }

private:
  // stage_context
  graph_time now() const override { return env_.runs.time().now(); }
  void emit(item i, std::size_t output) override;
  void emit(const stream_end& end) override;
  void settle(const outcome_range& range) override;
  void discarded(stream_index stream, std::uint64_t frames) override;
  void wake_at(graph_time t) override;
  std::uint32_t credit(std::size_t output, stream_index lane) const override;
  void release(std::uint32_t count) override;
  void submit(blocking_work work) override;
  std::function<void()> poke() override { return env_.runs.poke(wiring_.self); }
  void ready() override { env_.runs.post(wiring_.self, control::ready); }
  void done() override;
  void copied(std::size_t bytes) override;
  void worked(duration cpu) override;
  stream_stats& numbers(stream_index stream) override { return env_.numbers.stream(stream); }
  void injected(const std::string& kind, const std::string& where) override;
  void alarm(std::string sentence) override;

  /// A reading costs more than what it measures: one per message and item serves all that is counted there.
  graph_time read_clock() { return read_at_ = now(); }
  void dispatch(message& m);
  void on_put(put_message& m);
  void on_credit(const credit_message& m);
  void on_outcomes(const outcome_message& m);
  void on_done(done_message& m);
  void on_control(control c);

  // items: stage_host_items.cpp
  void queue_own(mailbox& box, item value);
  /// Bytes of the item that has been in the logic's own queue for longest. Which one has left makes no
  /// difference to the sum.
  std::uint64_t take_own_bytes();
  void give_credit(mailbox& box, stream_index lane, std::uint64_t bytes);
  void set_depth(const mailbox& box, std::uint32_t depth);
  void drop(const item& i, reason why);
  void refuse(mailbox& box, item value);
  /// Whether the logic takes the next entry of this lane.
  bool admits(const mailbox& box, stream_index lane) const;
  void work();
  void give_to_logic(mailbox::entry entry);
  void give_to_logic(const stream_end& end);
  void give_to_logic(item i);
  void send(outlet& out, mailbox::entry entry);

  // accounts
  void account(const outcome_range& range);
  void give_complete_ends();
  void count_result(const frame_result& r);
  void keep_account_alone();
  void flush_outcomes();

  // life: stage_host_life.cpp
  void start();
  void stop();
  void fail(const std::string& why);
  void fail_source(const std::string& why);
  void abandon_logic(outcome what, reason why);
  void emit_ends_in_logic();
  void restart_logic();
  void come_back(const std::string& why);
  void restart();
  /// Between a failure and what comes after it: items wait in their mailboxes.
  bool pauses() const { return restart_at_ != never && !stopped_; }
  void set_state(stage_state state, const std::string& why = {});
  bool accepts() const {
    return state_ == stage_state::running || state_ == stage_state::draining
           || state_ == stage_state::ready;
  }
  mailbox& box_of(edge_index edge);
  outlet& outlet_of(edge_index edge);
  bool is_sink() const { return wiring_.outputs.empty() && wiring_.kind->outputs.empty(); }

  stage_wiring wiring_;
  stage_surroundings env_;
  std::unique_ptr<stage> logic_;
  graph_time read_at_{}; ///< by `read_clock`
  std::vector<mailbox> boxes_;   ///< as `wiring_.inputs`
  std::vector<depth_alarm> alarms_; ///< as `wiring_.inputs`; judged where a live stream passes
  std::vector<outlet> outlets_;  ///< as `wiring_.outputs`
  outcome_router outcomes_;      ///< until the handler ends
  /// Of a sink that ends accounts, and of an unbundle that has failed; otherwise null.
  std::unique_ptr<settled_frames> account_;
  struct emitted {
    frame_position next; ///< what comes next
    std::optional<graph_time> since; ///< the last delivery; before it, the first arrival
  };
  std::vector<std::optional<emitted>> emitted_; ///< by an unbundle, of each stream
  std::size_t streams_closed_ = 0;                 ///< in `account_`
  std::vector<stream_end> ends_in_logic_; ///< given to the logic, not passed on by it yet
  std::vector<stream_end> ends_given_;    ///< to any object of this stage
  bool muted_ = false;                    ///< a new object is told of ends that were passed on already
  outcome_batch in_hand_;        ///< what the logic is working on: its outcomes should it throw
  stage_state state_ = stage_state::init;
  std::string overflow_; ///< of an edge with policy `fail` in this handler
  bool live_ = false; ///< a live stream passes here
  bool stopped_ = false;
  bool done_ = false;
  std::uint64_t generation_ = 0; ///< of the logic object; completions of older ones are ignored
  std::uint32_t own_queued_ = 0; ///< items in the logic's own queue
  recycled_deque<std::uint64_t> own_bytes_; ///< theirs; on edges that are bounded by bytes only
  bool restarts_ = false;               ///< where it fails
  restart_times restart_times_;
  graph_time restart_at_ = never; ///< of a stage that pauses
  std::size_t next_box_ = 0;
  graph_time wake_ = never;      ///< the earliest wish
  graph_time armed_ = never;     ///< what the executor was asked for
};

} // namespace hyperframes
