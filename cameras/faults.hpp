#pragma once

#include "cameras/camera.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

/// Faults on request: what a camera in a graph file does wrong because it carries `faults:`.
///
///   camera: { type: synthetic, faults: [
///     { kind: gap, at: [100, 200], count: 5 },
///     { kind: jitter, rate: 0.1, by: 8ms, seed: 3 } ] }
namespace hyperframes {

enum class fault_kind : std::uint8_t {
  skew,         ///< the clock is off by `by` and drifts by `drift`
  lying_rate,   ///< capture times say `fps`
  jitter,       ///< the frame comes late, by up to `by`
  gap,          ///< the device loses `count` frames
  duplicate,    ///< the frame comes again, `count` times
  jump_back,    ///< the clock is set back by `by`
  jump_forward, ///< the clock is set forward by `by`
  corrupt,      ///< the content of `count` frames is damaged
  resize,       ///< the pictures have `size`, for `count` frames or from there on
  silence,      ///< nothing comes for a time
};
inline constexpr std::size_t fault_kinds = 10;
const char* to_string(fault_kind k);

/// How often each kind has happened: a gap of five frames is one, each late frame is one.
/// Thread-safe.
class fault_counts {
public:
  void add(fault_kind k) noexcept {
    counts_[static_cast<std::size_t>(k)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t of(fault_kind k) const noexcept {
    return counts_[static_cast<std::size_t>(k)].load(std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<std::uint64_t>, fault_kinds> counts_{};
};

/// One entry of `faults`, checked.
struct injected_fault {
  fault_kind kind = fault_kind::skew;
  std::vector<std::uint64_t> at{}; ///< device ids, rising
  std::optional<double> rate{}; ///< share of frames; neither this nor `at`: from the first frame on
  duration by{};                ///< offset, delay or jump; a silence's length
  double drift = 0;             ///< ppm
  double fps = 0;               ///< Hz
  pixel_size size{};
  std::uint64_t count = 1;             ///< frames; 0: all from there on
  std::optional<std::uint64_t> seed{}; ///< none: the graph's
};

/// The entries in `faults` of a camera's settings, in their order; none where it has none.
std::vector<injected_fault> faults_of(const settings& config);

/// The parameter `faults`, and the rules between its fields.
parameter faults_parameter();
void check_faults(const settings& config, std::vector<fault>& faults);

/// The same kind of camera that takes `faults` too. Its cameras are `faulty_camera`s where the
/// settings name some, and as they were otherwise.
camera_description with_faults(camera_description d);

/// A camera with something wrong: hands on what the camera inside gives, changed by one entry after
/// the other, each seeing what the ones before it have left.
///
/// An entry happens at the first frame whose device id has reached the next of its `at`, or at a
/// share `rate` of the frames: those with u(seed, stream, entry, device id) < rate, u in [0, 1). So
/// the same frames are hit each time, however the machine is loaded. `skew` and `lying_rate` happen
/// once, with their `at` or with the first frame. From there on, with t0 and n0 as that frame's
/// time and device id,
///   skew:        captured' = captured + by + (captured - t0) * drift / 1e6
///   lying_rate:  captured' = t0 + (device id - n0) / fps
///   jumps:       captured' = captured + by or - by, added up
/// `jitter` is late delivery: the frame is given at read time + v * by, v in [0, 1), those behind
/// it not before it. A live camera that does not block goes on meanwhile, for by * fps + 1 frames.
/// What a gap or a live camera's silence takes was never captured: the device id jumps and the next
/// frame has `frame_gap_before`. A camera that is not live waits through a silence instead. A
/// duplicate has the device id, time and buffer of the frame that it repeats, and
/// `frame_duplicate`. A corrupt frame keeps its content. `resize` scales video by the nearest
/// pixel, in a pool of its own.
///
/// It is simulated, live, or blocks, where the camera inside is or does.
class faulty_camera final : public camera {
public:
  faulty_camera(std::unique_ptr<camera> inside, std::vector<injected_fault> faults);
  ~faulty_camera() override;

  /// Fails where a fault does not go with what the camera gives: `resize` without pictures.
  expected<camera_info> probe() override;
  expected<void> open(const camera_environment& environment) override;
  camera_event read(graph_time now) override;
  void set_wake(std::function<void()> wake) override { inside_->set_wake(std::move(wake)); }
  void interrupt() noexcept override { inside_->interrupt(); }
  camera& innermost() noexcept override { return inside_->innermost(); }
  std::shared_ptr<const fault_counts> injected() const override { return counts_; }

private:
  class entry;
  struct passing; ///< a frame on its way through the entries
  struct held {
    captured_frame frame;
    graph_time ready{};
    std::uint64_t copies = 0; ///< to be given after it
  };

  std::size_t most_held(const camera_info& info) const;
  bool wants_more() const;
  void pass(captured_frame f, graph_time now);
  camera_event give();

  std::unique_ptr<camera> inside_;
  std::vector<injected_fault> faults_;
  std::shared_ptr<fault_counts> counts_;
  std::vector<entry> entries_;
  bool live_ = false;
  bool ahead_ = false; ///< reads on while it holds a frame back
  std::vector<held> held_;
  std::size_t most_held_ = 1;
  std::optional<camera_event> last_; ///< the end or an error, for after what is held
  bool lost_ = false;                ///< something since the last frame that was handed on
};

} // namespace hyperframes
