#pragma once

#include "runtime/clock.hpp"
#include "runtime/description.hpp"
#include "runtime/item.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hyperframes {

struct stream_stats;
class pool_stats;

/// No frame of `stream` follows in `epoch`: its ids were 0 to `frames - 1`. `last_epoch` closes the
/// stream. Travels in the data lane, behind the frames, and needs no credit.
struct stream_end {
  stream_index stream = 0;
  std::uint32_t epoch = 0;
  std::uint64_t frames = 0;
  bool last_epoch = true;
  bool away = false; ///< its camera has gone: nobody waits for the stream until a frame comes again
};

/// What all stages know of a stream.
struct stream_facts {
  std::string id;
  std::uint32_t group = 0;  ///< index into `graph_facts::groups`
  std::uint32_t member = 0; ///< its place in its group
  media_type_ptr media;     ///< what it said that it gives
  double fps = 0;           ///< declared; 0 unknown or variable
  bool live = false;
  bool attached = true; ///< its camera is there from the start
  std::int32_t priority = 0;
  std::vector<std::string> truth_labels;
  std::uint32_t first_epoch = 0;   ///< of this run; those before were earlier runs'
  std::uint64_t frames_before = 0; ///< that those have captured
};

struct group_facts {
  std::string name; ///< a stream without a group forms one under its own id
  std::vector<stream_index> streams;
};

struct graph_facts {
  std::string name;
  std::vector<stream_facts> streams;
  std::vector<group_facts> groups;
  duration latency_budget = duration::max();
  std::uint16_t node = 0;
  std::uint32_t run = 0; ///< part of every hyperframe's sequence number
  std::uint64_t seed = 0;
  /// The counter of hyperframe sequence numbers; all bundlers of the graph draw from it.
  std::shared_ptr<std::atomic<std::uint64_t>> hyperframes
    = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// What a factory gets to make a stage's logic from.
struct stage_plan {
  std::string name;
  std::shared_ptr<const settings> config;
  std::string folder; ///< that relative paths start from
  std::shared_ptr<const graph_facts> graph;
  std::vector<stream_index> streams; ///< that pass here
  stage_resource_ptr resource;       ///< what `load` gave
  stage_resource_ptr below;          ///< of the nearest stage below that wants tensors; may be null
  std::uint64_t reorder = 0;         ///< frames per stream that may wait for an earlier one (settling stages)
  std::uint64_t tensors = 0;         ///< tensors that may be in use below this stage at once (bundlers)
  std::uint64_t first_tensors = 0;   ///< the same, of first moments that go ahead
  std::shared_ptr<pool_stats> pool{}; ///< where those are counted; may be null
  std::shared_ptr<pool_stats> first_pool{}; ///< the same for `first_tensors`
  bool settles = false;              ///< it ends the accounts of the streams that pass here
  bool threads = true;               ///< false on the virtual clock: nothing may block or start threads
};

/// Work that may block, done on a thread of ours; what it returns comes back as `stage::on_done`.
struct blocking_work {
  std::uint32_t lane = 0; ///< lanes work side by side, each in order
  recycled_function<std::shared_ptr<void>> run;
  std::optional<duration> simulated{}; ///< how long it takes on the virtual clock
};

/// What a stage may do while one of its functions runs. Not to be kept.
class stage_context {
public:
  virtual ~stage_context() = default;
  virtual graph_time now() const = 0;
  /// Sends `i` to every edge of the output. Never blocks: what an edge has no credit for waits in
  /// its outlet or is dropped by its policy, and no item is handed to the stage while a blocking
  /// edge has something waiting.
  virtual void emit(item i, std::size_t output = 0) = 0;
  /// Passes on an end, behind everything emitted so far.
  virtual void emit(const stream_end& end) = 0;
  /// Gives frames their final outcome in every account below this stage.
  virtual void settle(const outcome_range& range) = 0;
  void settle(const frame_meta& meta, outcome what, reason why) {
    settle({meta.stream, meta.epoch, meta.frame_id, 1, what, why});
  }
  /// Settling stages: counts frames that already had an outcome when they got another one.
  virtual void discarded(stream_index stream, std::uint64_t frames) = 0;
  /// Asks for `on_wake` at `t`; the earliest wish counts, and is forgotten when it was met.
  virtual void wake_at(graph_time t) = 0;
  /// Items of `lane` (a stream on frame edges, otherwise 0) that the output takes now without waiting:
  /// the least of its edges that do not drop; the largest number there is where all drop.
  virtual std::uint32_t credit(std::size_t output = 0, stream_index lane = 0) const = 0;
  /// For stages with `own_queue`: `count` items have left the queue.
  virtual void release(std::uint32_t count) = 0;
  virtual void submit(blocking_work work) = 0;
  /// @returns a function that makes `on_poke` run soon; callable from any thread, also after the end.
  virtual std::function<void()> poke() = 0;
  /// Says that `start` is finished, for stages whose `start` returned false.
  virtual void ready() = 0;
  /// Settling stages and sinks: everything was written and closed.
  virtual void done() = 0;
  /// Counts pixels that were written once more than needed (ingest and packing are the two needed).
  virtual void copied(std::size_t bytes) = 0;
  /// Counts CPU time that a thread of the stage's own took for an item; what was submitted is counted.
  virtual void worked(duration cpu) = 0;
  /// The numbers of a stream that passes here, for the stage that finds them out.
  virtual stream_stats& numbers(stream_index stream) = 0;
  /// Counts a fault of this kind that the graph file asked for; `where`: by default the stage.
  virtual void injected(const std::string& kind, const std::string& where = {}) = 0;
  /// Tells the user of something that is no error of a frame.
  virtual void alarm(std::string sentence) = 0;
};

/// The logic of a stage as the runtime drives it. Single-threaded: its functions run one after the
/// other, each for no longer than one frame's work.
///
/// A function that throws fails the stage: the item in hand and what `give_up` names end as
/// `failed (stage_failed)`, and a new object takes over behind the same mailboxes.
class stage {
public:
  virtual ~stage() = default;

  /// Takes memory, opens files, warms up. @returns true when ready; false: `ready()` follows.
  virtual bool start(stage_context&) { return true; }
  /// The graph is ready: sources begin.
  virtual void run(stage_context&) {}
  virtual void on_item(item i, stage_context&) = 0;
  /// False: the next frame of `stream` stays in its mailbox for now, which holds a file back. Asked
  /// before each frame, and again after each handler; not where the stage has a queue of its own.
  /// A stage that settles is asked before every item, with lane 0 where it is no frame.
  virtual bool takes(stream_index /*stream*/) const { return true; }
  /// Behind the frames of the epoch. Sinks that end accounts get it when all of them have their outcome.
  virtual void on_end(const stream_end& end, stage_context& context) { context.emit(end); }
  /// Outcomes of frames that ended above; settling stages only.
  virtual void on_outcomes(std::span<const outcome_range>, stage_context&) {}
  virtual void on_wake(stage_context&) {}
  virtual void on_poke(stage_context&) {}
  /// An edge below has got credit back, of `lane` as in `stage_context::credit`.
  virtual void on_credit(stream_index /*lane*/, stage_context&) {}
  virtual void on_done(std::uint32_t /*lane*/, std::shared_ptr<void>, stage_context&) {}
  /// Sources: captures no more and ends its streams. Others have nothing to do: ends follow.
  virtual void drain(stage_context&) {}
  /// For stages with `own_queue`: removes one item by the policy. @returns the item; nothing where all
  /// are in work already: the newcomer is dropped then.
  virtual std::optional<item> evict(overflow_policy) { throw std::logic_error("no queue of its own"); }
  /// Names every frame that it holds, and forgets it; its work in hand is not waited for. A source is
  /// poked afterwards and ends its streams.
  virtual void give_up(outcome what, reason why, outcome_batch& into) noexcept = 0;
  /// Frames whose outcome this object owes; counted, not derived.
  virtual std::uint64_t held_frames() const noexcept = 0;
};

} // namespace hyperframes
