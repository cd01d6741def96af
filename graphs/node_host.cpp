#include "graphs/node_host.hpp"

#include "actors/infer.hpp"
#include "actors/infer/node_seats.hpp"
#include "graphs/node_look.hpp"
#include "graphs/part_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <unistd.h>

namespace hyperframes {

namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& folder, const fs::path& file) {
  const auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// A graph comes from another machine: it may name files of the node's folder and no others.
void check_files(const settings& config, const fs::path& folder, const std::string& stage);

void check_files(const setting& value, const fs::path& folder, const std::string& what) {
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    const bool path = text->find('/') != std::string::npos || text->starts_with("..");
    std::error_code ignored;
    if (const auto file = fs::weakly_canonical(folder / *text, ignored);
        !lies_in(folder, file) && (path || fs::exists(folder / *text, ignored)))
      throw failure(make_error(
        errc::graph_invalid, what,
        "'" + *text + "' lies outside of the folder that this node allows, " + folder.string()
          + ": put it there, and name it from there"));
  } else if (const auto* list = std::get_if<setting::list>(&value.value)) {
    for (const auto& one : *list)
      check_files(one, folder, what);
  } else if (const auto* object = std::get_if<std::shared_ptr<settings>>(&value.value)) {
    check_files(**object, folder, what);
  }
}

void check_files(const settings& config, const fs::path& folder, const std::string& stage) {
  for (const auto& [name, value] : config.all())
    check_files(value, folder, stage + '.' + name);
}

/// The models of one run's stages, each loaded once.
class run_models {
public:
  run_models(checked_graph graph, std::shared_ptr<const catalogues> kinds, fs::path folder)
    : graph_(std::move(graph)), kinds_(std::move(kinds)), folder_(std::move(folder)) {}

  expected<seat_model> of(const std::string& name) {
    const std::lock_guard lock{mutex_};
    if (const auto found = loaded_.find(name); found != loaded_.end())
      return found->second;
    const auto stage = std::ranges::find(graph_.stages, name, &checked_stage::name);
    if (stage == graph_.stages.end() || !stage->kind->load)
      return make_error(errc::graph_invalid, name, "is no stage of the graph that can run here");
    check_files(*stage->config, folder_, name);
    const auto resource = stage->kind->load(*stage->config, folder_.string());
    if (!resource)
      return resource.error();
    const auto model = std::dynamic_pointer_cast<const model_resource>(*resource);
    if (!model || !model->loaded)
      return make_error(errc::graph_invalid, name, "has no model");
    seat_model made{
      local_workers(model->loaded, stage->config->has("faults")), model->summary,
      model->loaded->labels()};
    return loaded_.emplace(name, std::move(made)).first->second;
  }

private:
  checked_graph graph_;
  std::shared_ptr<const catalogues> kinds_; ///< that `graph_` refers to
  fs::path folder_;
  std::mutex mutex_; ///< guards `loaded_`, and lets one load after the other
  std::map<std::string, seat_model> loaded_;
};

class host final : public node_host {
public:
  host(node_options options, const catalogues& kinds)
    : options_(std::move(options)), kinds_(std::make_shared<const catalogues>(kinds)) {
    std::error_code failed;
    folder_ = fs::canonical(options_.folder, failed);
    if (failed)
      throw failure(make_error(
        errc::graph_invalid, options_.folder,
        "is no folder that can be read: " + failed.message()));
    slots_->offered = options_.slots;
  }

  node_facts facts() const override {
    node_facts f;
    f.name = options_.name;
    f.version = options_.version;
    f.protocol = node_protocol;
    f.slots = slots_->offered;
    f.taken = slots_->taken;
    f.leaving = slots_->leaving;
    double load[1] = {};
    if (::getloadavg(load, 1) == 1)
      f.load = load[0];
    f.process = ::getpid();
    return f;
  }

  std::vector<std::byte> look(const deployment_order& order) override {
    return look_here(graph_of(order), order.stages);
  }

  std::shared_ptr<node_deployment> deploy(const deployment_order& order) override {
    auto graph = graph_of(order);
    if (!order.stages.empty())
      return make_part_host(std::move(graph), kinds_, order);
    auto models = std::make_shared<run_models>(std::move(graph), kinds_, folder_);
    auto made =
      make_node_seats(slots_, [models](const std::string& stage) { return models->of(stage); });
    const std::lock_guard lock{mutex_};
    std::erase_if(runs_, [](const auto& r) { return r.expired(); });
    runs_.push_back(made);
    return made;
  }

  void leave() override {
    slots_->leaving = true;
    const std::lock_guard lock{mutex_};
    for (const auto& r : runs_)
      if (const auto run = r.lock())
        run->leave();
  }

  std::uint32_t taken() const override { return slots_->taken; }

private:
  /// The graph of an order, whose stages use no file outside of the folder. Throws `failure`.
  checked_graph graph_of(const deployment_order& order) const {
    graph_options options;
    options.folder = folder_.string();
    options.overrides = order.overrides;
    options.environment.insert(order.environment.begin(), order.environment.end());
    auto read = read_graph_text(order.text, order.graph, *kinds_, options);
    if (!read.graph)
      throw failure(make_error(
        errc::graph_invalid, "node '" + options_.name + "'",
        "does not understand the graph: " + to_string(read.faults)));
    for (const auto& stage : read.graph->stages) {
      if (std::ranges::count(order.stages, stage.name) == 0)
        continue;
      check_files(*stage.config, folder_, stage.name);
      if (stage.kind->inputs.empty())
        for (const auto s : stage.streams)
          check_files(*read.graph->streams[s].config, folder_, "camera of " + read.graph->streams[s].id);
    }
    return std::move(*read.graph);
  }

  node_options options_;
  std::shared_ptr<const catalogues> kinds_;
  fs::path folder_;
  std::shared_ptr<node_slots> slots_ = std::make_shared<node_slots>();
  std::mutex mutex_;
  std::vector<std::weak_ptr<node_deployment>> runs_; ///< guarded by `mutex_`
};

} // namespace

std::shared_ptr<node_host> make_node_host(node_options options, const catalogues& kinds) {
  return std::make_shared<host>(std::move(options), kinds);
}

} // namespace hyperframes
