#pragma once

#include "runtime/time.hpp"

#include <cstdint>
#include <vector>

namespace hyperframes {

/// What a run of the model takes.
struct infer_cost {
  std::uint32_t slots = 1;
  duration time{};
};

/// What the stages take, each on a thread that nothing disturbs.
struct stage_costs {
  duration acquire{};  ///< of a frame: its camera's read
  duration pack{};     ///< of a frame that is alone in its hyperframe
  duration schedule{}; ///< of a hyperframe
  duration deliver{};  ///< of a frame behind inference: order and sinks
  duration other{};    ///< CPU time of a frame that none of the others have: messages, align
  double k = 0.8;      ///< pack in a hyperframe / pack alone; 0.7 to 0.9 as a rule
  std::vector<infer_cost> infer{}; ///< at least one, slots ascending
  bool infer_on_cpu = true;        ///< false: a device of its own works on it
};

/// Where a rate ends.
enum class flow_limit : std::uint8_t { acquire, pack, schedule, infer, deliver, cores, cameras };
const char* to_string(flow_limit l);

/// What frames share.
struct flow_resources {
  std::uint32_t readers = 1; ///< threads that read cameras
  std::uint32_t workers = 1; ///< of infer
  double cores = 1; ///< 1.5: other programs take half of the second one
};

/// The formulas by which hyperframes are planned. B: frames of one stream in a hyperframe; slots:
/// frames of all its streams.
///
///   alone               t_acquire + t_pack + t_schedule + t_infer(1)
///   in a hyperframe     (B t_acquire + B k t_pack + t_schedule + t_infer(B)) / B
///   wait of a frame     0 to (B - 1) / fps, of an event in front of the camera up to B / fps
///   largest B           B <= (budget - align - queue - t_infer(B) - transport) fps
///   queue depth         hyperframes per second x allowed wait, rounded up, at least 1 (Little,
///   1961) ring                latency x fps x 1.5 to 2 throughput          1 / max(cost of a stage
///   / its workers), at most cores / CPU time of a frame
///                       (the bottleneck law; Lazowska et al., Quantitative System Performance,
///                       1984)
///
/// A value; pure.
class cost_model {
public:
  explicit cost_model(stage_costs costs);

  const stage_costs& costs() const { return costs_; }

  /// Of a run with so many slots: on the line through the two neighbours that are known; one known
  /// value alone is taken to grow in proportion. Never below 0.
  duration infer(std::uint32_t slots) const;
  /// Of a frame in a hyperframe of `size`; `pack` itself where the frame is alone.
  duration pack(std::uint32_t size) const;
  /// Of a frame that is a hyperframe of its own.
  duration alone() const;
  /// Of a frame in a hyperframe of `size` frames that is a batch of its own.
  duration in_hyperframe(std::uint32_t size) const;

  struct rate {
    double fps = 0; ///< frames per second; infinite where nothing costs anything
    flow_limit by = flow_limit::infer;
  };
  /// With hyperframes of `slots`, inferred in batches of `batch` slots.
  rate throughput(std::uint32_t slots, std::uint32_t batch, const flow_resources& r) const;
  /// CPU time of a frame.
  duration cpu(std::uint32_t slots, std::uint32_t batch) const;

  /// What a latency is made of, beside the wait for the hyperframe and inference.
  struct fixed_waits {
    duration align{}, queue{}, transport{};
  };
  /// The largest B up to `most`; 0 where not even one frame can be in time.
  /// @param members streams that share a hyperframe.
  std::uint32_t largest_size(
    duration budget, const fixed_waits& w, double fps, std::uint32_t members,
    std::uint32_t most) const;

private:
  stage_costs costs_;
};

/// The longest that a frame waits until its hyperframe is full.
duration frame_wait(std::uint32_t size, double fps);
/// The longest from an event in front of a camera to the hyperframe that shows it.
duration event_wait(std::uint32_t size, double fps);
/// Hyperframes that may wait.
std::uint32_t queue_depth(double hyperframes_per_second, duration allowed_wait);
/// Frames of a stream that a ring must hold while the oldest of them is under way.
/// @param margin 1.5 to 2.
std::uint32_t ring_size(duration latency, double fps, double margin = 2);

} // namespace hyperframes
