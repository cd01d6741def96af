#pragma once

#include <string>

namespace hyperframes::test {

/// Tells red, green and blue pictures apart; 8x8 pixels, any batch size.
inline const std::string small_model = HYPERFRAMES_TEST_DATA "/models/means_dynamic.onnx";

/// A file camera of small pictures, as fast as they are taken.
inline std::string file_camera(const std::string& id, int frames, const std::string& more = {}) {
  return "  - { id: " + id
         + ", camera: { type: synthetic, scene: counter, size: 32x32, realtime: false, frames: "
         + std::to_string(frames) + more + " } }\n";
}

/// From capture to a callback named `program`; every stage has a line that a test may replace.
inline std::string chain(const std::string& streams) {
  return "hyperframes: 1\n"
         "name: test\n"
         "streams:\n"
         + streams
         + "stages:\n"
           "  capture:  { type: capture }\n"
           "  bundle:   { type: bundle, from: capture, size: 8 }\n"
           "  schedule: { type: schedule, from: bundle }\n"
           "  infer:    { type: infer, from: schedule, model: "
         + small_model
         + " }\n"
           "  unbundle: { type: unbundle, from: infer }\n"
           "  program:  { type: callback, from: unbundle }\n";
}

} // namespace hyperframes::test
