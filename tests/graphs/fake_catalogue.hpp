#pragma once

#include "graphs/graph.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <stdexcept>

/// Descriptions that look like the shipped ones and do nothing: tests of the graph language depend
/// on no stage and no camera.
namespace hyperframes::fakes {

inline parameter param(std::string name, parameter_type type, std::optional<setting> initial = {}) {
  parameter p;
  p.name = std::move(name);
  p.type = type;
  p.help = "What " + p.name + " means.";
  p.initial = std::move(initial);
  return p;
}

inline parameter required(parameter p) {
  p.required = true;
  return p;
}

inline parameter within(parameter p, double least, double most, std::string unit = {}) {
  p.least = least;
  p.most = most;
  p.unit = std::move(unit);
  return p;
}

inline parameter waits(parameter p) {
  p.causes_wait = true;
  return p;
}

inline parameter one_of(std::string name, std::vector<std::string> choices, std::string initial) {
  auto p = param(std::move(name), parameter_type::choice, initial_value(std::move(initial)));
  p.choices = std::move(choices);
  return p;
}

inline parameter object_of(std::string name, std::vector<parameter> fields) {
  auto p = param(std::move(name), parameter_type::object);
  p.fields = std::move(fields);
  return p;
}

/// What the fake camera says that it gives: `live`, `fps` and `size` are its parameters.
class fake_camera final : public camera {
public:
  explicit fake_camera(const settings& s) : settings_(s) {}
  expected<camera_info> probe() override {
    if (settings_.flag("broken"))
      return make_error(errc::camera_failed, "", "the device does not answer: is it plugged in?");
    const auto size = settings_.size("size");
    camera_info info;
    info.media.video = video_format::packed(pixel_format::bgr24, size.width, size.height);
    info.fps = settings_.number("fps");
    info.live = settings_.flag("live");
    info.frame_bytes = info.media.video.size_bytes();
    info.own_frames = 2;
    info.simulated = settings_.flag("exact");
    if (settings_.has("frames"))
      info.frame_count = static_cast<std::uint64_t>(settings_.integer("frames"));
    return info;
  }
  expected<void> open(const camera_environment&) override { return {}; }
  camera_event read(graph_time) override { return end_of_stream{}; }

private:
  settings settings_;
};

inline camera_description fake_camera_kind() {
  camera_description d;
  d.name = "fake";
  d.summary = "Gives nothing.";
  d.parameters = {
    param("scene", parameter_type::text),
    param("size", parameter_type::size, initial_value(pixel_size{64, 48})),
    within(param("fps", parameter_type::number, initial_value(30.0)), 0, 1000, "Hz"),
    param("live", parameter_type::boolean, initial_value(false)),
    param("broken", parameter_type::boolean, initial_value(false)),
    param("frames", parameter_type::integer),
    param("exact", parameter_type::boolean, initial_value(false)),
    param("path", parameter_type::text)};
  d.parameters[1].least = 16;
  d.parameters[1].most = 4096;
  d.parameters.back().existing_file = true;
  d.make = [](const settings& s, const std::string&) { return std::make_unique<fake_camera>(s); };
  return d;
}

inline stage_description kind(
  std::string name, std::vector<port_type> in, std::vector<port_type> out,
  std::vector<parameter> parameters = {}) {
  stage_description d;
  d.name = std::move(name);
  d.summary = "Fakes the stage " + d.name + ".";
  if (!in.empty())
    d.inputs = {{"in", std::move(in)}};
  if (!out.empty())
    d.outputs = {{"out", std::move(out)}};
  d.parameters = std::move(parameters);
  d.make = [](const stage_plan&) -> std::unique_ptr<stage> { throw std::logic_error("a fake"); };
  return d;
}

inline stage_description fake_capture() {
  auto streams = param(
    "streams", parameter_type::list, initial_value(setting::list{initial_value(std::string{"*"})}));
  auto d = kind(
    "capture", {}, {port_type::frame},
    {streams,
     param(
       "prefetch", parameter_type::duration, initial_value(duration{std::chrono::seconds{1}}))});
  d.holds = [](const settings&) { return stage_holds{1, 1, 0}; };
  return d;
}

inline stage_description fake_align() {
  auto d = kind(
    "align", {port_type::frame}, {port_type::aligned_set},
    {param("tolerance", parameter_type::duration, initial_value(hyperframes::duration{10'000'000})),
     waits(
       param("wait", parameter_type::duration, initial_value(hyperframes::duration{40'000'000}))),
     one_of("missing", {"strict", "partial", "hold_last"}, "strict"),
     one_of("per", {"group"}, "group")});
  d.many_inputs = true;
  d.holds = [](const settings&) { return stage_holds{4, 4, 0}; };
  return d;
}

inline stage_description fake_bundle() {
  auto size = required(within(param("size", parameter_type::integer), 1, 4096, "slots"));
  auto stride = within(param("stride", parameter_type::integer), 1, 4096, "frames");
  auto timeout = waits(within(param("timeout", parameter_type::duration), 0.001, 3600));
  auto d = kind(
    "bundle", {port_type::frame, port_type::aligned_set}, {port_type::hyperframe},
    {one_of("over", {"time", "cameras", "both"}, "time"), size, stride,
     object_of(
       "release", {within(param("count", parameter_type::integer), 1, 4096, "frames"), timeout,
                   param("late", parameter_type::boolean)}),
     param("keep_frames", parameter_type::boolean, initial_value(false)),
     param("stream_first", parameter_type::boolean, initial_value(false))});
  d.many_inputs = true;
  d.holds = [](const settings& s) {
    return stage_holds{
      static_cast<std::uint64_t>(s.integer("size")), s.flag("keep_frames") ? 8U : 1U, 1};
  };
  d.bundle_size = [](const settings& s, std::uint32_t members) {
    const auto size = static_cast<std::uint32_t>(s.integer("size"));
    return s.text("over") == "time" ? size : s.text("over") == "cameras" ? members : size * members;
  };
  d.check = [](const settings& s, const source_mark& where, std::vector<fault>& faults) {
    const auto& release = s.group("release");
    if (release.has("count") && release.integer("count") > s.integer("size"))
      faults.push_back(
        {release.at("count").mark.file.empty() ? where : release.at("count").mark,
         "release.count is above size: it can never be reached"});
  };
  return d;
}

inline stage_description fake_schedule() {
  auto d = kind(
    "schedule", {port_type::hyperframe}, {port_type::batch},
    {one_of("order", {"fifo", "deadline", "priority"}, "fifo"),
     waits(param("ttl", parameter_type::duration))});
  d.own_queue = true;
  d.holds = [](const settings&) { return stage_holds{0, 0, 0}; };
  return d;
}

/// A model whose file name says what it wants: "time4", "whole", "broken", "own_size".
inline expected<stage_resource_ptr> fake_load(const settings& s, const std::string&) {
  const auto& name = s.text("model");
  if (name == "broken")
    return make_error(errc::model_failed, "", "the model cannot be read: expected ONNX");
  auto r = std::make_shared<stage_resource>();
  r->summary = "fake " + name + " [N,3,32,32] float32 -> [N,4]";
  r->tensor = pack_spec{};
  r->tensor->width = r->tensor->height = name == "own_size" ? 0 : name == "wide" ? 64 : 32;
  r->time_axis = name == "time4" ? 4 : 0;
  r->batch_slots = static_cast<std::uint32_t>(s.group("batch").integer("max"));
  r->fixed_batch = name == "fixed6" ? 6 : 0;
  r->result_per_slot = name != "time4" && name != "whole";
  return stage_resource_ptr{r};
}

inline stage_description fake_infer() {
  auto d = kind(
    "infer", {port_type::batch}, {port_type::result},
    {required(param("model", parameter_type::text)),
     within(
       param("workers", parameter_type::integer, initial_value(std::int64_t{1})), 1, 64, "workers"),
     object_of(
       "batch", {within(
                  param("max", parameter_type::integer, initial_value(std::int64_t{8})), 1, 1024,
                  "slots")})});
  d.load = fake_load;
  d.own_queue = true;
  return d;
}

inline stage_description fake_unbundle() {
  auto d = kind(
    "unbundle", {port_type::result}, {port_type::frame_result},
    {within(param("reorder", parameter_type::integer), 1, 1e6, "frames")});
  d.settles = true;
  d.many_inputs = true;
  return d;
}

inline catalogues make_known() {
  using enum port_type;
  catalogues known;
  known.cameras.add(fake_camera_kind());
  auto other = fake_camera_kind();
  other.name = "push";
  known.cameras.add(std::move(other));
  known.stages.add(fake_capture());
  auto select = kind("select", {frame}, {frame});
  known.stages.add(std::move(select));
  known.stages.add(fake_align());
  known.stages.add(fake_bundle());
  known.stages.add(fake_schedule());
  known.stages.add(fake_infer());
  known.stages.add(fake_unbundle());
  auto any = kind(
    "jsonl", {frame, aligned_set, hyperframe, result, frame_result, port_type::outcome}, {},
    {required(param("path", parameter_type::text))});
  any.many_inputs = true;
  any.check_streams = [](
                        const settings&, std::span<const std::string> ids, const source_mark& where,
                        std::vector<fault>& faults) {
    if (ids.size() == 2 && ids[1] == "unwanted")
      faults.push_back({where, "'unwanted' passes here"});
  };
  any.writes = [](const settings& s, std::span<const std::string> ids) {
    const auto& path = s.text("path");
    const auto at = path.find("{stream}");
    if (at == std::string::npos)
      return std::vector{path};
    std::vector<std::string> paths;
    for (const auto& id : ids)
      paths.push_back(std::string{path}.replace(at, 8, id));
    return paths;
  };
  known.stages.add(std::move(any));
  known.stages.add(kind("null", {frame_result}, {}));
  auto split = kind("split", {frame}, {frame});
  split.outputs = {{"small", {frame}}, {"large", {frame}}};
  known.stages.add(std::move(split));
  return known;
}

inline const catalogues& known() {
  static const auto all = make_known();
  return all;
}

/// A graph without a fault; the line numbers are used by tests.
inline const std::string good = R"(hyperframes: 1
name: inspection
latency_budget: 500ms
streams:
  - id: station{1..3}.cam{1..4}
    group: station{1..3}
    camera: { type: fake, scene: parts, size: 64x48, fps: 30 }
stages:
  capture:  { type: capture, streams: "*" }
  align:    { type: align, from: capture, tolerance: 10ms, wait: 40ms, missing: partial }
  bundle:   { type: bundle, from: align, over: time, size: 8, release: { count: 8, timeout: 300ms } }
  schedule: { type: schedule, from: { stage: bundle, capacity: 16, overflow: drop_oldest }, order: deadline, ttl: 100ms }
  infer:    { type: infer, from: schedule, model: parts.onnx, workers: 1, batch: { max: 16 } }
  unbundle: { type: unbundle, from: infer }
  results:  { type: jsonl, from: unbundle, path: results.jsonl }
nodes: {}
)";

inline read_result read(const std::string& text, const graph_options& options = {}) {
  return read_graph_text(text, "g.yaml", known(), options);
}

/// `good` with the first `what` replaced by `by`; `what` must stand in it.
inline std::string with(const std::string& what, const std::string& by, std::string text = good) {
  const auto at = text.find(what);
  if (at == std::string::npos)
    throw std::logic_error("the test's graph has no '" + what + "'");
  return text.replace(at, what.size(), by);
}

/// The faults of a text, a line each.
inline std::string faults_of(const std::string& text, const graph_options& options = {}) {
  return to_string(read(text, options).faults);
}

} // namespace hyperframes::fakes
