#include "graphs/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperframes {

namespace {

double ns(duration d) {
  return static_cast<double>(d.count());
}

duration rounded(double nanoseconds) {
  return duration{std::llround(nanoseconds)};
}

/// Rounded up; what the arithmetic adds to a whole number does not count.
std::uint32_t whole_above(double n) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(n - 1e-9), 1.0, 1e9));
}

} // namespace

const char* to_string(flow_limit l) {
  switch (l) {
    case flow_limit::acquire:
      return "acquire";
    case flow_limit::pack:
      return "pack";
    case flow_limit::schedule:
      return "schedule";
    case flow_limit::infer:
      return "infer";
    case flow_limit::deliver:
      return "deliver";
    case flow_limit::cores:
      return "cores";
    case flow_limit::cameras:
      return "cameras";
  }
  return "";
}

cost_model::cost_model(stage_costs costs) : costs_(std::move(costs)) {}

duration cost_model::infer(std::uint32_t slots) const {
  const auto& known = costs_.infer;
  if (known.size() == 1)
    return rounded(ns(known[0].time) * slots / known[0].slots);
  auto right = std::ranges::find_if(known, [&](const infer_cost& c) { return c.slots >= slots; });
  right = std::clamp(right, known.begin() + 1, known.end() - 1);
  const auto& a = *(right - 1);
  const auto& b = *right;
  const auto slope = (ns(b.time) - ns(a.time)) / (double(b.slots) - double(a.slots));
  return rounded(std::max(0.0, ns(a.time) + slope * (double(slots) - double(a.slots))));
}

duration cost_model::pack(std::uint32_t size) const {
  return size > 1 ? rounded(costs_.k * ns(costs_.pack)) : costs_.pack;
}

duration cost_model::alone() const {
  return costs_.acquire + costs_.pack + costs_.schedule + infer(1);
}

duration cost_model::in_hyperframe(std::uint32_t size) const {
  const double n = size;
  return rounded(
    (n * ns(costs_.acquire) + n * ns(pack(size)) + ns(costs_.schedule) + ns(infer(size))) / n);
}

duration cost_model::cpu(std::uint32_t slots, std::uint32_t batch) const {
  return rounded(
    ns(costs_.acquire) + ns(pack(slots)) + ns(costs_.schedule) / slots + ns(costs_.deliver)
    + ns(costs_.other) + (costs_.infer_on_cpu ? ns(infer(batch)) / batch : 0));
}

cost_model::rate
cost_model::throughput(std::uint32_t slots, std::uint32_t batch, const flow_resources& r) const {
  const rate costs[] = {
    {ns(costs_.acquire) / r.readers, flow_limit::acquire},
    {ns(pack(slots)), flow_limit::pack},
    {ns(costs_.schedule) / slots, flow_limit::schedule},
    {ns(infer(batch)) / batch / r.workers, flow_limit::infer},
    {ns(costs_.deliver), flow_limit::deliver},
    {ns(cpu(slots, batch)) / r.cores, flow_limit::cores}};
  const auto& most = *std::ranges::max_element(costs, {}, &rate::fps);
  return {most.fps > 0 ? 1e9 / most.fps : std::numeric_limits<double>::infinity(), most.by};
}

std::uint32_t cost_model::largest_size(
  duration budget, const fixed_waits& w, double fps, std::uint32_t members,
  std::uint32_t most) const {
  const auto left = budget - w.align - w.queue - w.transport;
  for (auto size = most; size > 0; --size)
    if (size <= in_seconds(left - infer(size * members)) * fps + 1e-9)
      return size;
  return 0;
}

duration frame_wait(std::uint32_t size, double fps) {
  return rounded((size - 1) / fps * 1e9);
}

duration event_wait(std::uint32_t size, double fps) {
  return rounded(size / fps * 1e9);
}

std::uint32_t queue_depth(double hyperframes_per_second, duration allowed_wait) {
  return whole_above(hyperframes_per_second * in_seconds(allowed_wait));
}

std::uint32_t ring_size(duration latency, double fps, double margin) {
  return whole_above(in_seconds(latency) * fps * margin);
}

} // namespace hyperframes
