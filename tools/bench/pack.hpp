#pragma once

#include "actors/pack.hpp"
#include "runtime/frame.hpp"
#include "tools/bench/benchmark.hpp"

#include <memory>
#include <span>
#include <vector>

namespace hyperframes::bench {

/// One frame, 1920x1080 I420 of the range that cameras send, that becomes a tensor of 640x640 RGB,
/// planar, float32 divided by 255, stretched, in several ways on the calling thread. Whatever is
/// allocated is kept from one frame to the next.
class pack_work {
public:
  pack_work();
  ~pack_work();

  void hyperframes();
  void opencv(); ///< cvtColor, resize (INTER_LINEAR), blobFromImage
  /// The planes by resize (INTER_LINEAR), then cvtColor, blobFromImage.
  void opencv_planes_first();
  void read_and_write(); ///< each byte of the frame, then a constant into each of the tensor

  /// What the last one wrote, [3, 640, 640].
  std::span<const float> tensor() const;

private:
  struct images;
  frame frame_;
  packer packer_;
  buffer_ref slot_; // aligned, as tensors are
  std::unique_ptr<images> images_;
  const float* last_ = nullptr;
};

/// Milliseconds a frame: of HyperFrames, OpenCV, OpenCV with the planes first, reading and writing.
report pack_report(const std::vector<samples>& ms);

} // namespace hyperframes::bench
