#include "graphs/plan_times.hpp"

#include "actors/align_interpolate.hpp"
#include "runtime/written.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

std::optional<bundle_times> bundle_times_of(const planning& p, std::size_t stage) {
  const auto& s = p.graph.stages[stage];
  if (s.kind->name != "bundle" || s.streams.empty())
    return std::nullopt;
  return bundle_times{
    bundle_options_of(*s.config),
    bundle_lanes(bundle_over_of(*s.config), *p.plan.facts, s.streams)};
}

std::vector<release_bound> release_bounds(const bundle_options& options, const bundle_lane& lane) {
  std::vector<release_bound> bounds;
  if (!lane.live)
    return bounds;
  if (options.timeout)
    bounds.push_back({"release.timeout", *options.timeout});
  if (options.late)
    bounds.push_back({"release.late", late_after(options, lane)});
  if (options.window)
    bounds.push_back({"release.window", *options.window});
  std::ranges::stable_sort(bounds, {}, &release_bound::longest);
  return bounds;
}

std::vector<matched_group> matched_groups(const planning& p, std::size_t stage) {
  const auto& s = p.graph.stages[stage];
  std::vector<matched_group> groups;
  if (s.kind->name != "align")
    return groups;
  for (const auto& g : p.plan.facts->groups) {
    matched_group found;
    for (const auto k : g.streams)
      if (std::ranges::find(s.streams, k) != s.streams.end()) {
        found.members.push_back(k);
        found.live = found.live || p.plan.facts->streams[k].live;
      }
    if (found.members.size() > 1)
      groups.push_back(std::move(found));
  }
  return groups;
}

std::vector<stream_index>
set_forming(const planning& p, std::size_t stage, const matched_group& g) {
  const auto match = text_at(*p.graph.stages[stage].config, "match");
  const auto& streams = p.plan.facts->streams;
  const auto fastest =
    *std::ranges::max_element(g.members, {}, [&](stream_index k) { return streams[k].fps; });
  if (match == "hold_last")
    return {fastest};
  if (match != "linear")
    return g.members;
  std::vector<stream_index> images;
  for (const auto k : g.members)
    if (!can_interpolate(streams[k].media.get()))
      images.push_back(k);
  return images.empty() ? std::vector{fastest} : images;
}

std::string about_duration(duration d) {
  return write_number(std::round(in_ms(d) * 10) / 10) + "ms";
}

std::optional<duration> period_of(const planning& p, stream_index stream) {
  const auto fps = p.plan.facts->streams[stream].fps;
  return fps > 0 ? std::optional{duration{static_cast<std::int64_t>(1e9 / fps)}} : std::nullopt;
}

} // namespace hyperframes
