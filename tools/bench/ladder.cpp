#include "tools/bench/ladder.hpp"

#include "actors/pack.hpp"
#include "cameras/camera.hpp"
#include "graphs/hyperframes.hpp"
#include "runtime/process_memory.hpp"
#include "tools/bench/ladder_rungs.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/part.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace hyperframes::bench {

namespace {

settings defaults_of(const std::vector<parameter>& parameters) {
  settings s;
  for (const auto& p : parameters)
    s.set(p.name, p.initial.value_or(setting{}));
  return s;
}

struct rung {
  std::string name;
  std::function<std::uint64_t(const ladder_work&, const begin_counting&)> run;
};

const std::vector<rung>& all_rungs() {
  static const std::vector<rung> all{
    {"one by one", one_by_one},
    {"prefetch", prefetch},
    {"batch", batch},
    {"pipeline", pipeline},
    {"hyperframes",
     [](const auto& w, const auto& begin) { return with_hyperframes(w, begin, ladder_batch); }},
    {single_frames,
     [](const auto& w, const auto& begin) { return with_hyperframes(w, begin, 1); }}};
  return all;
}

/// Reads the whole film as the camera of a graph does. @returns a frame of it, with memory of its
/// own.
captured_frame read_film(const std::string& film, double& seconds, double& frames) {
  camera_catalogue known;
  add_cameras(known);
  const auto& kind = *known.find("video");
  auto config = defaults_of(kind.parameters);
  config.set("path", {film, {}});
  const auto source = kind.make(config, {});
  if (const auto opened = source->open({"film", 2, {}}); opened.has_error())
    throw failure(opened.error());
  captured_frame kept;
  const auto before = cpu_seconds();
  for (;;) {
    auto e = source->read(graph_time{});
    if (std::holds_alternative<end_of_stream>(e))
      break;
    auto* frame = std::get_if<captured_frame>(&e);
    if (!frame || !frame->buffer)
      throw failure(make_error(errc::io_failed, film, "holds a frame that cannot be decoded"));
    kept = std::move(*frame);
    ++frames;
  }
  seconds = cpu_seconds() - before;
  return kept;
}

} // namespace

classifier::classifier(const std::string& model, unsigned threads, unsigned slots) {
  auto config = defaults_of(model_parameters());
  config.set("model", {model, {}});
  config.set("threads", {std::int64_t{threads}, {}});
  auto loaded = load_model(config, {});
  if (!loaded)
    throw failure(loaded.error());
  model_ = *loaded;
  auto session = model_->make_session();
  if (!session)
    throw failure(session.error());
  session_ = std::move(*session);
  const std::vector<std::byte> nothing(input().slot_bytes() * slots);
  run(nothing, slots);
}

cv::Size classifier::size() const {
  return {static_cast<int>(input().width), static_cast<int>(input().height)};
}

std::size_t classifier::run(const cv::Mat& blob) {
  return run(
    {reinterpret_cast<const std::byte*>(blob.data), blob.total() * blob.elemSize()},
    static_cast<std::uint32_t>(blob.size[0]));
}

std::size_t classifier::run(std::span<const std::byte> slots, std::uint32_t count) {
  geometry_.resize(count);
  valid_.assign(count, 1);
  const auto found = session_->run({slots, count, geometry_, valid_});
  if (!found)
    throw failure(found.error());
  return static_cast<std::size_t>(
    std::ranges::count_if(*found, [](const auto& i) { return i != nullptr; }));
}

std::uint64_t
with_hyperframes(const ladder_work& work, const begin_counting& begin, unsigned size) {
  const auto cores = std::to_string(work.threads), slots = std::to_string(size);
  const auto g = graph::from_text(
    "hyperframes: 1\n"
    "name: ladder\n"
    "streams: [{ id: film, camera: { type: video, path: \""
    + work.film + "\", threads: " + cores
    + " } }]\n"
      "stages:\n"
      "  capture:  { type: capture }\n"
      "  bundle:   { type: bundle, from: capture, size: "
    + slots
    + " }\n"
      "  schedule: { type: schedule, from: bundle }\n"
      "  infer:    { type: infer, from: schedule, model: \""
    + work.model + "\", workers: " + cores + ", batch: { max: " + slots
    + " } }\n"
      "  unbundle: { type: unbundle, from: infer }\n"
      "  program:  { type: callback, from: unbundle }\n");
  std::uint64_t done = 0;
  running run{g, {.callbacks = {{"program", [&](const item& i) {
                                   const auto* r = std::get_if<frame_result_ptr>(&i);
                                   done += r && (*r)->what == outcome::delivered;
                                 }}}}};
  begin(); // cameras are read from when every stage is ready, which is when the constructor returns
  run.wait(std::chrono::hours{1});
  if (!run.finish().closed())
    throw failure(make_error(errc::stage_failed, "hyperframes", "the ledger is open"));
  return done;
}

const std::vector<std::string>& rungs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& r : all_rungs())
      if (r.name != single_frames)
        result.push_back(r.name);
    return result;
  }();
  return names;
}

std::vector<double> climb_once(const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find(all_rungs(), arguments.at(0), &rung::name);
  if (found == all_rungs().end())
    throw std::invalid_argument("no rung is called " + arguments.at(0));
  const ladder_work work{
    arguments.at(1), arguments.at(2), static_cast<unsigned>(std::stoul(arguments.at(3)))};
  double begin = 0, cpu = 0;
  const auto frames = found->run(work, [&] {
    begin = wall_seconds();
    cpu = cpu_seconds();
  });
  return {static_cast<double>(frames), wall_seconds() - begin, cpu_seconds() - cpu,
          static_cast<double>(memory_of_process().peak)};
}

std::vector<double> steps_once(const std::vector<std::string>& arguments) {
  const auto& film = arguments.at(0);
  double seconds = 0, frames = 0;
  const auto last = read_film(film, seconds, frames);
  classifier c{arguments.at(1), 1, ladder_batch};
  packer pack{c.input()};
  const frame f{.meta = {}, .media = last.media, .buffer = last.buffer};
  constexpr unsigned rounds = 12; // the first one warms up
  std::vector<std::byte> slots(c.input().slot_bytes() * ladder_batch);
  double packing = 0, inferring = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    const auto begin = cpu_seconds();
    for (unsigned i = 0; i < ladder_batch; ++i)
      if (auto done = pack.pack(
            f, std::span{slots}.subspan(i * c.input().slot_bytes(), c.input().slot_bytes()));
          !done)
        throw failure(done.error());
    const auto packed = cpu_seconds();
    c.run(slots, ladder_batch);
    if (r == 0)
      continue;
    packing += packed - begin;
    inferring += cpu_seconds() - packed;
  }
  const double runs = (rounds - 1) * ladder_batch;
  return {seconds / frames, packing / runs, inferring / runs};
}

ladder_cost climb(const std::string& rung, const ladder_work& work) {
  const auto v =
    in_new_process("ladder", {rung, work.film, work.model, std::to_string(work.threads)});
  return {v.at(0), v.at(1), v.at(2), v.at(3)};
}

ladder_steps measure_steps(const ladder_work& work) {
  const auto v = in_new_process("ladder steps", {work.film, work.model});
  return {v.at(0), v.at(1), v.at(2)};
}

void climb_in_turns(
  const ladder_work& work, const std::vector<std::string>& names, const context& c,
  std::vector<std::vector<ladder_cost>>& rounds, std::vector<ladder_steps>& steps) {
  for (std::size_t round = 0; round <= least_rounds; ++round) { // the first one warms up
    std::vector<ladder_cost> costs(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto which = (round + i) % names.size();
      c.progress(round, names[which]);
      costs[which] = climb(names[which], work);
      if (costs[which].frames != costs[round % names.size()].frames)
        throw failure(make_error(
          errc::stage_failed, names[which],
          "brought " + std::to_string(costs[which].frames) + " frames through, others "
            + std::to_string(costs[round % names.size()].frames)));
    }
    c.progress(round, "each step alone");
    const auto alone = measure_steps(work);
    if (round == 0)
      continue;
    rounds.push_back(std::move(costs));
    steps.push_back(alone);
  }
}

} // namespace hyperframes::bench
