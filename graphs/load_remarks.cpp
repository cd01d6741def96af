#include "actors/infer.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan_times.hpp"
#include "graphs/values.hpp"
#include "runtime/written.hpp"

#include <algorithm>
#include <cmath>

// What a device whose times are known, a simulated one, cannot manage.
namespace hyperframes {

namespace {

/// A stage that infers in simulated time.
struct known_device {
  const checked_stage& stage;
  const model& loaded;
  std::uint32_t workers = 1, slots = 0; ///< of its batches

  duration batch_of(std::uint64_t taken) const {
    return *loaded.simulated_time(static_cast<std::uint32_t>(taken));
  }
};

std::optional<known_device> known_device_at(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  const auto* infer = dynamic_cast<const model_resource*>(s.resource.get());
  if (!infer || !infer->simulated || infer->adaptive)
    return std::nullopt;
  return known_device{s, *infer->loaded, infer->workers, infer->batch_slots};
}

/// The stages above `stage` by whose hyperframes it is fed, nearest first.
std::vector<std::size_t> stages_above(const planning& p, std::size_t stage) {
  std::vector<std::size_t> found{stage};
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const auto e : p.graph.stages[found[next]].inputs) {
      const auto& edge = p.graph.edges[e];
      const bool whole = edge.type == port_type::hyperframe || edge.type == port_type::batch;
      if (whole && std::ranges::find(found, edge.from) == found.end())
        found.push_back(edge.from);
    }
  found.erase(found.begin());
  return found;
}

/// What live streams at their full rates bring to a device.
struct load_of_device {
  double busy = 0;    ///< seconds of device time in a second, in batches as full as can be
  double moments = 0; ///< in a hyperframe of the busiest lane; `size` where count releases it
  std::uint32_t size = 0;
};

/// Moments of one lane in a hyperframe that a rule of time releases, or `count`.
double moments_at_release(const bundle_options& o, const bundle_lane& lane) {
  const auto per_second = lane.fps / o.every;
  const auto bounds = release_bounds(o, lane);
  const auto by_count = static_cast<double>(std::min(o.count, o.stride));
  if (bounds.empty())
    return by_count;
  const bool window = std::string_view{bounds.front().rule} == "release.window";
  const auto within = in_seconds(bounds.front().longest) * per_second;
  // A time-out counts from the first one's arrival; a window holds what falls into it.
  return std::min(by_count, window ? std::max(within, 1.0) : std::floor(within + 1e-9) + 1);
}

std::optional<load_of_device>
load_of(const planning& p, const known_device& d, std::size_t device) {
  load_of_device load;
  double busiest = 0;
  for (const auto i : stages_above(p, device)) {
    const auto times = bundle_times_of(p, i);
    if (!times)
      continue;
    const auto& o = times->options;
    for (const auto& lane : times->lanes) {
      if (!lane.live || !lane.paced || o.pre || o.trigger)
        return std::nullopt; // goes by how fast it is served, or by what nobody knows
      const auto moments = moments_at_release(o, lane);
      const auto slots = o.size * lane.members.size();
      const auto together = std::max<std::uint64_t>(1, d.slots / std::max<std::uint64_t>(1, slots));
      const auto busy = lane.fps / o.every / moments * in_seconds(d.batch_of(together * slots))
                        / static_cast<double>(together);
      load.busy += busy;
      if (busy > busiest)
        busiest = busy, load.moments = moments, load.size = o.size;
    }
  }
  return load;
}

std::string more_than_the_device_manages(const planning& p, std::size_t i) {
  const auto d = known_device_at(p, i);
  const auto load = d ? load_of(p, *d, i) : std::nullopt;
  if (!load || load->busy <= d->workers)
    return {};
  const auto moments = static_cast<std::uint64_t>(std::llround(load->moments));
  return d->stage.name + ": live streams at their full rates take "
         + write_number(std::round(load->busy * 100) / 100) + " s of device time a second, "
         + counted(d->workers, "worker") + (d->workers == 1 ? " has " : " have ")
         + std::to_string(d->workers)
         + " s: hyperframes will be dropped or expire; add workers, take fewer frames (every), or "
         + (moments < load->size ? "let hyperframes fill: their time is over with "
                                     + std::to_string(moments) + " of "
                                     + std::to_string(load->size)
                                     + " moments, and empty slots cost as full ones do"
                                 : "make batches larger");
}

std::string ttl_below_a_batch(const planning& p, std::size_t i) {
  const auto* ttl = duration_at(*p.graph.stages[i].config, "ttl");
  if (!ttl)
    return {};
  for (std::size_t below = 0; below < p.graph.stages.size(); ++below) {
    const auto above = stages_above(p, below);
    const auto d = known_device_at(p, below);
    if (!d || std::ranges::find(above, i) == above.end())
      continue;
    const auto batch = d->batch_of(d->slots);
    if (*ttl < batch)
      return p.graph.stages[i].name + ".ttl " + write_duration(*ttl)
             + " is shorter than a batch of " + counted(d->slots, "slot") + " in " + d->stage.name
             + ", " + write_duration(batch)
             + ": what comes while its workers are busy may expire before one is free";
  }
  return {};
}

} // namespace

void add_load_remarks(planning& p, std::size_t stage) {
  for (const auto rule : {more_than_the_device_manages, ttl_below_a_batch})
    if (auto text = rule(p, stage); !text.empty())
      p.plan.remarks.push_back(std::move(text));
}

} // namespace hyperframes
