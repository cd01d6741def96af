#include "actors/infer.hpp"
#include "graphs/batch_plan_report.hpp"
#include "graphs/calibrate.hpp"
#include "graphs/values.hpp"
#include "tools/commands.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

namespace hyperframes::command {

namespace {

[[noreturn]] void wrong(const std::string& what, const std::string& sentence) {
  throw failure(make_error(errc::graph_invalid, what, sentence));
}

/// Costs that the arguments give, and which they are.
struct given_costs {
  stage_costs costs;
  std::set<std::string> names;
  std::vector<infer_cost> infer;
};

duration time_in(const std::string& argument, const std::string& value) {
  const auto t = read_duration(value);
  if (!t || *t < duration{0})
    wrong("--cost " + argument, "expected a time such as 0.5ms, found '" + value + "'");
  return *t;
}

void add_cost(const std::string& argument, given_costs& to) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos)
    wrong(
      "--cost " + argument, "expected name=time, such as --cost pack=1ms or --cost infer.8=7ms");
  const auto name = argument.substr(0, equals), value = argument.substr(equals + 1);
  auto& c = to.costs;
  const std::pair<const char*, duration*> times[] = {
    {"acquire", &c.acquire}, {"pack", &c.pack}, {"schedule", &c.schedule}, {"deliver", &c.deliver}};
  for (const auto& [known, time] : times)
    if (name == known) {
      *time = time_in(argument, value);
      to.names.insert(name);
      return;
    }
  if (name == "k") {
    const auto k = read_number(value);
    if (!k || *k <= 0)
      wrong("--cost " + argument, "expected a number above 0, 0.7 to 0.9 as a rule");
    c.k = *k;
    to.names.insert(name);
    return;
  }
  const auto slots = name == "infer"              ? std::optional<std::int64_t>{1}
                     : name.starts_with("infer.") ? read_integer(name.substr(6))
                                                  : std::nullopt;
  if (!slots || *slots < 1 || *slots > 4096)
    wrong(
      "--cost " + argument,
      "is no cost: "
        + suggestion(name, {"acquire", "pack", "schedule", "infer", "infer.8", "deliver", "k"}));
  std::erase_if(to.infer, [&](const infer_cost& i) { return i.slots == *slots; });
  to.infer.push_back({static_cast<std::uint32_t>(*slots), time_in(argument, value)});
  std::ranges::sort(to.infer, {}, &infer_cost::slots);
  to.names.insert("infer");
}

/// What a simulated device takes is known.
void add_device(const checked_graph& graph, const batch_task& task, given_costs& to) {
  to.costs.infer_on_cpu = !task.simulated;
  for (const auto& s : graph.stages) {
    const auto* model = dynamic_cast<const model_resource*>(s.resource.get());
    if (!model || s.name != task.infer || to.names.contains("infer"))
      continue;
    for (const auto slots : {1U, 8U})
      if (const auto time = model->loaded->simulated_time(slots)) {
        to.infer.push_back({slots, *time});
        to.names.insert("infer");
      }
  }
}

void take(stage_costs& measured, const given_costs& given) {
  const auto& c = given.costs;
  const auto put = [&](const char* name, auto& to, const auto& value) {
    if (given.names.contains(name))
      to = value;
  };
  put("acquire", measured.acquire, c.acquire);
  put("pack", measured.pack, c.pack);
  put("schedule", measured.schedule, c.schedule);
  put("deliver", measured.deliver, c.deliver);
  put("k", measured.k, c.k);
  put("infer", measured.infer, given.infer);
}

void check_known(const given_costs& given) {
  std::vector<std::string> missing;
  for (const auto* name : {"acquire", "pack", "schedule", "infer"})
    if (!given.names.contains(name))
      missing.emplace_back(name);
  if (!missing.empty())
    wrong(
      "plan", "the cost of " + join_words(missing)
                + " is not known: measure with --calibrate, or give it, as in --cost "
                + missing.front() + "=0.5ms");
}

plan_wishes wishes_of(const plan_arguments& a) {
  plan_wishes w;
  w.cores = std::max(1U, std::thread::hardware_concurrency());
  if (a.target) {
    w.target = read_duration(*a.target);
    if (!w.target || *w.target <= duration{0})
      wrong("--target-latency " + *a.target, "expected a time above 0, such as 200ms");
  }
  if (a.cameras && (*a.cameras < 1 || *a.cameras > 10000))
    wrong("--cameras " + std::to_string(*a.cameras), "expected 1 to 10000");
  if (a.cameras)
    w.cameras = static_cast<std::uint32_t>(*a.cameras);
  if (a.fps && !(*a.fps > 0 && *a.fps <= 100000))
    wrong("--fps", "expected frames per second above 0, at most 100000");
  w.fps = a.fps;
  return w;
}

/// Of the graph as it would be; 0 where it does not take these values, with the faults in `why`.
std::uint64_t memory_with(const plan_arguments& a, const plan_report& r, std::string& why) {
  auto options = options_of(a.graph);
  override_with(options, values_of(r.plan, r.task));
  try {
    return graph::from_file(a.graph.path, options).plan().memory_total;
  } catch (const graph_error& e) {
    why = "\nthe graph does not take these values:\n" + to_string(e.faults());
    return 0;
  }
}

void write_picture(const plan_report& r, const std::string& path) {
  std::ofstream file{path};
  file << draw_sweep(r);
  file.close();
  if (!file)
    throw failure(make_error(errc::io_failed, path, "the picture could not be written"));
}

} // namespace

int plan(const plan_arguments& a) {
  const auto g = load(a.graph);
  const auto task = batch_task_of(g.checked(), g.plan(), wishes_of(a));
  given_costs given;
  for (const auto& cost : a.costs)
    add_cost(cost, given);
  add_device(g.checked(), task, given);
  auto costs = given.costs;
  costs.infer = given.infer;
  if (a.calibrate) {
    costs = calibrate(a.graph.path, options_of(a.graph), task, [](const std::string& sentence) {
      std::cerr << sentence << '\n';
    });
    take(costs, given);
  } else {
    check_known(given);
  }
  const cost_model model{costs};
  const auto plan = plan_batches(model, task);
  plan_report report{
    plan,
    task,
    model,
    !a.calibrate      ? "given"
    : a.costs.empty() ? "measured"
                      : "measured and given",
    g.plan().memory_total,
    0};
  std::string why_not;
  report.memory_planned = memory_with(a, report, why_not);
  std::cout << to_text(report) << "\nin the graph file\n\n"
            << to_yaml(report) << "\nas arguments\n\n"
            << to_arguments(report) << '\n'
            << why_not;
  if (a.sweep) {
    std::cout << '\n' << sweep_table(report);
    write_picture(report, *a.sweep);
  }
  return done;
}

} // namespace hyperframes::command
