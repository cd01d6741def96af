#include "graphs/parameters.hpp"
#include "graphs/plan_times.hpp"
#include "graphs/values.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

/// Each looks at one stage and says what will never happen there; an empty text says nothing.
using remark_rule = std::string (*)(const planning&, std::size_t stage);

std::string ttl_never_fires(const planning& p, std::size_t i) {
  const auto* ttl = duration_at(*p.graph.stages[i].config, "ttl");
  const auto* budget = std::get_if<duration>(&p.graph.latency_budget.value);
  const bool file = std::ranges::any_of(
    p.graph.stages[i].streams, [&](stream_index k) { return !p.plan.facts->streams[k].live; });
  if (!ttl || !budget || *ttl < *budget || file) // files have no deadline
    return {};
  return p.graph.stages[i].name + ".ttl " + write_duration(*ttl) + " is not below latency_budget "
         + write_duration(*budget) + ": the deadline always comes first, ttl never fires";
}

std::string deadline_order_without_deadlines(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (text_at(*s.config, "order") != "deadline")
    return {};
  const bool budget = std::holds_alternative<duration>(p.graph.latency_budget.value);
  const bool live =
    std::ranges::any_of(s.streams, [&](stream_index k) { return p.graph.streams[k].info->live; });
  if (budget && live)
    return {};
  return s.name + ": order: deadline acts as fifo, as "
         + (budget ? "files have no deadline" : "the graph has no latency_budget");
}

std::string equal_priorities(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (text_at(*s.config, "order") != "priority" || s.streams.empty())
    return {};
  const auto first = p.graph.streams[s.streams.front()].priority;
  if (std::ranges::any_of(
        s.streams, [&](stream_index k) { return p.graph.streams[k].priority != first; }))
    return {};
  return s.name + ": order: priority acts as fifo, as all streams have the priority "
         + std::to_string(first);
}

std::string group_of_one(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  const bool aligns = std::ranges::any_of(
    s.outputs, [&](std::size_t e) { return p.graph.edges[e].type == port_type::aligned_set; });
  const bool alone = std::ranges::all_of(
    p.plan.facts->groups, [](const group_facts& g) { return g.streams.size() == 1; });
  if (!aligns || !alone)
    return {};
  return s.name
         + ": every group has one stream, so every set has one member: give streams a common "
           "`group`";
}

std::string drops_of_files(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  std::string text;
  for (const auto e : s.outputs) {
    const auto& policy = std::get<std::string>(p.graph.edges[e].overflow.value);
    const auto file = std::ranges::find_if(
      s.streams, [&](stream_index k) { return !p.graph.streams[k].info->live; });
    if (policy != "block" && file != s.streams.end() && s.inputs.empty())
      text = "the edge " + s.name + " -> " + p.graph.stages[p.graph.edges[e].to].name
             + " has overflow: " + policy
             + ": a file is read faster than it is worked on, so most frames of '"
             + p.graph.streams[*file].id + "' will be dropped";
  }
  return text;
}

std::string other_batches(const planning& p, std::size_t i) {
  const auto& s = p.graph.stages[i];
  if (!s.resource || s.resource->fixed_batch == 0 || s.resource->batch_slots == 0)
    return {};
  const auto run = s.resource->fixed_batch, wanted = s.resource->batch_slots;
  if (wanted % run == 0)
    return {};
  return s.name + ": batch.max " + std::to_string(wanted)
         + " is no multiple of the model's batch of " + std::to_string(run) + ": batches have "
         + counted(std::max(run, wanted / run * run), "slot");
}

constexpr remark_rule remark_rules[]{ttl_never_fires,  deadline_order_without_deadlines,
                                     equal_priorities, group_of_one,
                                     drops_of_files,   other_batches};

} // namespace

void plan_remarks(planning& p) {
  for (std::size_t i = 0; i < p.graph.stages.size(); ++i) {
    add_align_remarks(p, i);
    add_bundle_remarks(p, i);
    add_load_remarks(p, i);
    for (const auto rule : remark_rules)
      if (auto text = rule(p, i); !text.empty())
        p.plan.remarks.push_back(std::move(text));
  }
}

} // namespace hyperframes
