#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace hyperframes::test {

/// The text of a graph that depends on nothing but the seed: random streams, rates, stages, devices and
/// faults.
class random_graph {
public:
  explicit random_graph(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    const auto groups = 1 + upto(3), members = 1 + upto(3);
    const bool aligned = members > 1 && upto(3) > 0;
    const bool live = upto(3) > 0;
    std::string t = "hyperframes: 1\nname: random\nseed: " + std::to_string(upto(1000)) + "\n";
    if (live && upto(2) == 0)
      t += "latency_budget: " + std::to_string(500 + 100 * upto(10)) + "ms\n";
    t += "streams:\n";
    for (int g = 0; g < groups; ++g)
      for (int m = 0; m < members; ++m)
        t += "  - { id: g" + std::to_string(g) + ".c" + std::to_string(m) + ", group: g"
             + std::to_string(g) + ", camera: { type: synthetic, scene: counter, size: 16x16, fps: "
             + pick({"10", "25", "30"}) + ", frames: " + std::to_string(1 + upto(60))
             + ", realtime: " + (live ? "true" : "false") + faults(camera_fault_kinds) + " } }\n";
    t += "stages:\n  capture: { type: capture }\n";
    std::string from = "capture";
    if (aligned) {
      t += "  align: { type: align, from: capture, tolerance: " + pick({"5ms", "20ms"})
           + ", wait: " + pick({"40ms", "100ms"}) + ", missing: "
           + pick({"strict", "hold_last", "partial", "at_least, least: 1"}) + " }\n";
      from = "align";
    }
    const auto over = aligned ? pick({"time", "cameras", "both"}) : std::string{"time"};
    const auto size = 1 + upto(8);
    t += "  bundle: { type: bundle, from: " + from + ", over: " + over
         + (over == "cameras" ? "" : ", size: " + std::to_string(size))
         + (over != "cameras" && size > 1 && upto(3) == 0 ? ", stream_first: true" : "")
         + ", release: { timeout: " + pick({"100ms", "300ms"}) + " } }\n";
    t += "  schedule: { type: schedule, from: { stage: bundle, capacity: "
         + std::to_string(1 + upto(16))
         + ", overflow: " + (live ? pick({"drop_oldest", "drop_newest"}) : std::string{"block"})
         + " }, order: " + pick({"fifo", "deadline", "priority", "fair"}) + " }\n";
    const auto device =
      "fixed: " + std::to_string(upto(30)) + "ms, per_slot: " + std::to_string(upto(10)) + "ms";
    t += "  infer: { type: infer, from: schedule, backend: simulated, simulated: { " + device
         + " }, workers: " + std::to_string(1 + upto(3)) + ", hang_after: 2s, batch: { max: "
         + std::to_string(1 + upto(16)) + " }" + faults(worker_fault_kinds) + " }\n";
    t += "  unbundle: { type: unbundle, from: infer }\n"
         "  program: { type: callback, from: unbundle }\n";
    return t;
  }

private:
  static inline const std::vector<std::string> camera_fault_kinds{
    "kind: skew, by: 20ms, drift: 200",  "kind: jitter, rate: 0.2, by: 30ms",
    "kind: gap, rate: 0.05, count: 3",   "kind: duplicate, rate: 0.05",
    "kind: jump_back, at: [20], by: 5s", "kind: jump_forward, at: [25], by: 60s",
    "kind: lying_rate, fps: 60",         "kind: corrupt, rate: 0.1",
    "kind: silence, at: [10], for: 2s"};
  static inline const std::vector<std::string> worker_fault_kinds{
    "kind: slow, rate: 0.1, by: 200ms",
    "kind: throw, rate: 0.1",
    "kind: hang, at: [2]",
    "kind: vanish, rate: 0.05",
    "kind: wrong_shape, rate: 0.1",
    "kind: vanish, at: [1], tries: 2"};

  int upto(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + upto(static_cast<int>(words.size())));
  }
  std::string faults(const std::vector<std::string>& kinds) {
    std::string text;
    for (const auto& k : kinds)
      if (upto(8) == 0)
        text += (text.empty() ? ", faults: [ { " : ", { ") + k + " }";
    return text.empty() ? "" : text + " ]";
  }

  std::mt19937 random_;
};

} // namespace hyperframes::test
