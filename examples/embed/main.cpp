// A program hands frames in from its own loop, as a camera's SDK would call back, and gets each
// frame's result in order.
#include <hyperframes/hyperframes.hpp>

#include <cstdio>
#include <vector>

namespace hf = hyperframes;

int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "graphs/models/parts.onnx";
  const auto graph = hf::graph::from_text(R"(
hyperframes: 1
name: embedded
streams:
  - id: line1
    camera: { type: push, size: 640x480, format: bgr24, live: false }
stages:
  capture:  { type: capture }
  bundle:   { type: bundle, from: capture, size: 8 }
  schedule: { type: schedule, from: bundle }
  infer:    { type: infer, from: schedule, model: )" + model + R"( }
  unbundle: { type: unbundle, from: infer }
  program:  { type: callback, from: unbundle }
)");

  std::size_t seen = 0;
  hf::running run{graph, {.callbacks = {{"program", [&](const hf::item& i) {
    const auto& r = *std::get<hf::frame_result_ptr>(i);
    if (++seen % 50 == 0)
      std::printf("frame %llu: %s\n", static_cast<unsigned long long>(r.meta.frame_id),
                  hf::to_string(r.what));
  }}}}};

  const auto line1 = run.input("line1");
  std::vector<std::byte> pixels(640 * 480 * 3);
  for (int n = 0; n < 200; ++n) {
    std::fill(pixels.begin(), pixels.end(), static_cast<std::byte>(n));
    const hf::capture_time taken{std::chrono::milliseconds{33 * n}};
    // The stream is not live: while the graph has no room, it holds us back.
    if (line1->push_for(pixels, taken, std::chrono::seconds{10}) != hf::push_result::taken)
      break; // the graph has ended, or stands still
  }
  line1->close();

  const auto summary = run.finish();
  std::printf("%zu results, ledger %s\n", seen, summary.closed() ? "closed" : "open");
  return summary.closed() && seen == 200 ? 0 : 1;
}
