#pragma once

#include "actors/camera_reader.hpp"
#include "actors/stream_numbering.hpp"
#include "runtime/defaults.hpp"
#include "runtime/message.hpp"
#include "runtime/stage.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace hyperframes {

/// Cameras that come and go while the graph runs: asked for by any thread, obeyed by `capture`.
class camera_requests {
public:
  struct request {
    stream_index stream = 0;
    bool attach = false; ///< false: the camera goes
  };
  void add(const request& r) {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(r);
  }
  std::vector<request> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(waiting_, {});
  }

private:
  std::mutex mutex_;
  std::vector<request> waiting_; ///< guarded by `mutex_`
};

/// What the builder hands to `capture`.
struct capture_resource : stage_resource {
  struct source {
    stream_index stream = 0;
    camera_info info;
    std::function<std::unique_ptr<camera>()> make;
    std::size_t frames_ahead = 0;
    std::uint32_t prefetch = 1; ///< frames read ahead of what the graph has taken; files only
    bool attached = true;       ///< from the start
    /// Silent when it gives no frame for so long, and for `defaults::silent_periods` of its periods.
    duration silent_after = defaults::silent_after;
    std::string when_silent{}; ///< what follows then, for the sentence that tells of it
    std::shared_ptr<pool_stats> pool{}; ///< where the camera's pools are counted
    /// Of a stream that another process, or an earlier run, has captured so far: where it stands.
    std::optional<captured_position> follows{};
  };
  std::vector<source> sources;
  std::function<void(const frame_meta&)> captured; ///< counts a frame in the ledger
  std::shared_ptr<camera_requests> requests = std::make_shared<camera_requests>();
};

/// Frames that a stream may have read ahead.
std::uint32_t prefetch_of(const camera_info& info);

stage_description describe_capture();

} // namespace hyperframes
