#include "graphs/continuation.hpp"

#include "actors/sinks/kept_results.hpp"
#include "graphs/files.hpp"

#include <algorithm>
#include <memory>

namespace hyperframes {

namespace {

/// A file whose lines tell what became of each frame.
struct result_sink {
  std::size_t stage = 0;
  std::string path;
};

bool is_replaced(const std::string& path) {
  return path != "-" && special_kind(path).empty();
}

std::vector<result_sink> sinks_of(const checked_graph& graph) {
  std::vector<result_sink> sinks;
  for (std::size_t i = 0; i < graph.stages.size(); ++i) {
    const auto& s = graph.stages[i];
    if (s.kind->name == "jsonl" && graph.edges[s.inputs.front()].type == port_type::frame_result)
      if (const auto path = s.config->text("path"); is_replaced(path))
        sinks.push_back({i, path});
  }
  return sinks;
}

void check_files_go_on(const checked_graph& graph, const std::vector<result_sink>& sinks) {
  for (const auto& file : files_written(graph))
    if (
      is_replaced(file.written)
      && std::ranges::find(sinks, file.written, &result_sink::path) == sinks.end())
      throw failure(make_error(
        errc::graph_invalid, file.mark.to_string(),
        file.what + " names '" + file.written
          + "', which a run that goes on would replace: `--continue` is for "
            "graphs whose only files are those of stages `jsonl` behind an unbundle"));
  if (sinks.empty())
    throw failure(make_error(
      errc::graph_invalid, graph.name,
      "there is nothing to go on with: no stage `jsonl` behind an unbundle writes a file"));
}

/// Takes over where the run before stood: a stream that is not in the graph now may come again.
void follow(const kept_results& before, announced_run& now) {
  if (before.begins())
    return;
  now.run = std::max(now.run, before.run().run + 1);
  for (const auto& at : before.streams()) {
    auto s = std::ranges::find(now.streams, at.id, &announced_run::stream::id);
    if (s == now.streams.end())
      s = now.streams.insert(s, {at.id, false});
    s->first_epoch = std::max(s->first_epoch, at.epoch);
    s->before = std::max(s->before, at.before);
  }
}

} // namespace

void continuation::put_into(graph_facts& facts) const {
  for (const auto& at : begins) {
    facts.streams[at.stream].first_epoch = at.epoch;
    facts.streams[at.stream].frames_before = at.before;
  }
}

void continuation::announce(stream_index stream, frame_position last) const noexcept {
  for (const auto& [stage, resource] : files)
    resource->file->announce(stream, last);
}

std::shared_ptr<const continuation> continue_run(const checked_graph& graph, bool goes_on) {
  const auto sinks = sinks_of(graph);
  if (goes_on)
    check_files_go_on(graph, sinks);
  if (sinks.empty())
    return nullptr;
  auto made = std::make_shared<continuation>();
  announced_run now;
  now.graph = graph.name;
  for (const auto& s : graph.streams)
    now.streams.push_back({s.id});
  if (goes_on) {
    std::vector<std::unique_ptr<kept_results>> kept;
    for (const auto& sink : sinks)
      kept.push_back(std::make_unique<kept_results>(sink.path, graph.name));
    for (const auto& k : kept) {
      follow(*k, now);
      made->news.push_back(k->make_whole());
    }
  }
  made->run = now.run;
  for (stream_index i = 0; i < graph.streams.size(); ++i)
    made->begins.push_back({i, now.streams[i].first_epoch, 0, now.streams[i].before});
  for (const auto& sink : sinks) {
    const auto& passing = graph.stages[sink.stage].streams;
    for (stream_index i = 0; i < now.streams.size(); ++i)
      now.streams[i].written = std::ranges::find(passing, i) != passing.end();
    auto resource = std::make_shared<announced_resource>();
    resource->file = std::make_shared<announced_file>(announced_path(sink.path), now);
    resource->goes_on = goes_on;
    made->files[sink.stage] = std::move(resource);
  }
  return made;
}

} // namespace hyperframes
