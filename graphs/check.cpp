#include "graphs/check.hpp"

#include "graphs/nodes.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <filesystem>

namespace hyperframes {

namespace {

using kind = document_node::kind;

constexpr const char* known_version = "1";

/// Names end in metrics, results and paths of `--set`: they must be readable there.
void check_name(
  const std::string& name, std::string_view others, const std::string& what,
  const source_mark& where, graph_check& check) {
  const bool good = is_plain_name(name, others);
  if (const auto problem = range_problem(name); !problem.empty())
    check.fail(where, what + " '" + name + "': " + problem);
  else if (!good)
    check.fail(
      where, what + " '" + name + "' may hold letters, digits and the signs " + std::string{others}
               + " only");
}

void check_version(const document_node& root, graph_check& check) {
  const auto* e = root.find("hyperframes");
  if (!e)
    check.fail(
      root.mark,
      std::string{"the key 'hyperframes' is missing: a graph file begins with hyperframes: "}
        + known_version);
  else if (!e->value.unknown
           && (e->value.what != kind::scalar || e->value.text != known_version))
    check.fail(
      e->value.mark,
      "hyperframes is " + in_words(e->value) + ": this build reads version " + known_version);
}

void check_top(const document_node& root, const std::string& name, graph_check& check) {
  check_version(root, check);
  for (const auto& e : root.entries)
    if (std::ranges::count(top_level_keys(), e.key) == 0)
      check.fail(
        e.mark, "a graph has no key '" + e.key + "': " + suggestion(e.key, top_level_keys()));

  const std::vector<std::string>& reserved = top_level_keys();
  // Unknown keys were told above, with words of their own.
  document_node known = root;
  std::erase_if(known.entries, [&](const document_entry& e) {
    return std::ranges::count(reserved, e.key) == 0;
  });
  const auto values = check_parameters(graph_parameters(), known, "", reserved, check.faults);
  check.graph.name =
    values->has("name") ? values->text("name") : std::filesystem::path{name}.stem().string();
  check.graph.latency_budget = values->at("latency_budget");
  check.graph.memory = values->at("memory");
  check.graph.seed = values->at("seed");

  if (const auto* nodes = root.find("nodes"))
    check_nodes(nodes->value, check);
}

/// One camera type's parameters, or a fault where the type is unknown.
void check_camera(const document_node& entry, checked_stream& stream, graph_check& check) {
  const auto* e = entry.find("camera");
  if (!e)
    return check.fail(entry.mark, "stream needs 'camera': expected camera: { type: ... }");
  auto camera = e->value;
  if (camera.what == kind::scalar) { // `camera: synthetic`
    auto type = std::exchange(camera, {});
    camera.mark = type.mark;
    camera.what = kind::map;
    camera.entries.push_back({"type", type.mark, std::move(type)});
  }
  std::vector<std::string> types;
  for (const auto& c : check.known.cameras.all())
    types.push_back(c->name);
  const auto* type = camera.find("type");
  if (camera.what != kind::map || !type || type->value.what != kind::scalar)
    return check.fail(
      camera.mark, "camera has no type: expected type: with one of " + join_words(types, " or "));
  stream.camera = check.known.cameras.find(type->value.text);
  if (type->value.unknown)
    return;
  if (!stream.camera)
    return check.fail(
      type->value.mark,
      "there is no camera '" + type->value.text + "': " + suggestion(type->value.text, types));

  const std::vector<std::string> reserved{"type"};
  const auto before = check.faults.size();
  stream.config =
    check_parameters(stream.camera->parameters, camera, "camera", reserved, check.faults);
  if (has_unknown(camera))
    return;
  if (stream.camera->complete)
    stream.camera->complete(*stream.config, stream.id);
  if (stream.camera->check && check.faults.size() == before)
    stream.camera->check(*stream.config, camera.mark, check.faults);
  stream.sound = check.faults.size() == before;
}

void check_stream(const document_node& entry, graph_check& check) {
  checked_stream stream;
  stream.sound = false;
  stream.mark = entry.mark;
  const std::vector<std::string> reserved{"camera"};
  const auto values =
    check_parameters(stream_parameters(), entry, "stream", reserved, check.faults);
  stream.entry = values;
  if (values->has("id")) {
    stream.id = values->text("id");
    stream.mark = values->at("id").mark;
    check_name(stream.id, "_-./", "the stream id", stream.mark, check);
  } else {
    check.streams_known = false;
  }
  stream.group = values->has("group") ? values->text("group") : stream.id;
  if (values->has("group"))
    check_name(stream.group, "_-./", "the group", values->at("group").mark, check);
  if (values->has("attached"))
    stream.attached = values->flag("attached");
  if (values->has("priority"))
    stream.priority = static_cast<std::int32_t>(values->integer("priority"));
  check_camera(entry, stream, check);
  if (const auto [first, is_new] = check.ids.emplace(stream.id, stream.mark);
      !is_new && !stream.id.empty())
    check.fail(stream.mark, "the stream id '" + stream.id + "' stands twice" +
                                (first->second.to_string() == stream.mark.to_string()
                                     ? ": its ranges do not make the ids differ"
                                     : ", first at " + first->second.to_string()));
  check.graph.streams.push_back(std::move(stream));
}

written_input written_from(
  const document_node& entry, const std::string& stage, graph_check& check, bool& known) {
  document_node map = entry;
  if (entry.what == kind::scalar) {
    map = {};
    map.what = kind::map;
    map.mark = entry.mark;
    map.entries.push_back({"stage", entry.mark, entry});
  } else if (entry.what != kind::map) {
    check.fail(
      entry.mark, stage + ".from is " + in_words(entry)
                    + ": expected the name of a stage, or { stage: name, capacity: 8 }");
    known = false;
    return {};
  }
  const auto before = check.faults.size();
  const auto values = check_parameters(edge_parameters(), map, stage + ".from", {}, check.faults);
  written_input in;
  in.mark = entry.mark;
  if (values->has("stage")) {
    in.stage = values->text("stage");
    in.mark = values->at("stage").mark;
  }
  if (values->has("port"))
    in.port = values->text("port");
  in.capacity = values->at("capacity");
  in.capacity_bytes = values->at("capacity_bytes");
  in.overflow = values->at("overflow");
  known = known && !in.stage.empty() && (check.faults.size() == before || !in.stage.empty());
  return in;
}

void check_stage(const document_entry& entry, graph_check& check) {
  const auto& name = entry.key;
  const auto& n = entry.value;
  checked_stage stage;
  stage.sound = false;
  stage.name = name;
  stage.mark = entry.mark;
  stage.config = std::make_shared<settings>();
  std::vector<written_input> inputs;
  bool known = true;
  check_name(name, "_-", "the stage name", entry.mark, check);
  std::vector<std::string> types;
  for (const auto& d : check.known.stages.all())
    types.push_back(d->name);

  if (n.what != kind::map) {
    check.fail(
      n.mark, name + " is " + in_words(n) + ": expected keys and values such as { type: "
                + (types.empty() ? "..." : types.front()) + " }");
    known = false;
  } else {
    const std::vector<std::string> reserved{"type", "from", "node"};
    const auto* type = n.find("type");
    if (!type || type->value.what != kind::scalar)
      check.fail(
        type ? type->value.mark : entry.mark,
        name + " has no type: expected type: with one of " + join_words(types, " or "));
    else if (stage.kind = check.known.stages.find(type->value.text);
             !stage.kind && !type->value.unknown)
      check.fail(
        type->value.mark, "there is no stage type '" + type->value.text
                            + "': " + suggestion(type->value.text, types));
    if (const auto* node = n.find("node"))
      check_placement(node->value, name, stage, check);
    if (stage.kind) {
      const auto before = check.faults.size();
      document_node map = n;
      map.mark = entry.mark;
      stage.config = check_parameters(stage.kind->parameters, map, name, reserved, check.faults);
      const bool good = check.faults.size() == before && !has_unknown(n);
      if (stage.kind->check && good)
        stage.kind->check(*stage.config, entry.mark, check.faults);
      stage.sound = good && check.faults.size() == before;
    }
    if (const auto* from = n.find("from")) {
      if (from->value.what == kind::list)
        for (const auto& i : from->value.items)
          inputs.push_back(written_from(i, name, check, known));
      else
        inputs.push_back(written_from(from->value, name, check, known));
    }
  }
  std::erase_if(inputs, [](const written_input& in) { return in.stage.empty(); });
  check.graph.stages.push_back(std::move(stage));
  check.written.push_back(std::move(inputs));
  check.inputs_known.push_back(known);
}

document_node
child(const document_node& root, const char* key, graph_check& check, const char* expected) {
  if (const auto* e = root.find(key))
    return e->value;
  check.fail(root.mark, std::string{"the key '"} + key + "' is missing: expected " + expected);
  return {};
}

} // namespace

bool is_plain_name(std::string_view name, std::string_view others) {
  return !name.empty() && std::ranges::all_of(name, [&](char letter) {
    const auto c = static_cast<unsigned char>(letter);
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80
           || others.find(letter) != std::string_view::npos;
  });
}

void check_streams(const document_node& streams, graph_check& check) {
  if (streams.what != kind::list || streams.items.empty()) {
    check.streams_known = false;
    check.fail(
      streams.mark,
      "streams is "
        + (streams.what == kind::list ? std::string{"an empty list"} : in_words(streams))
        + ": expected a list, each entry with id and camera");
    return;
  }
  for (const auto& item : streams.items) {
    if (item.what != kind::map) {
      check.streams_known = false;
      check.fail(
        item.mark, "this stream is " + in_words(item)
                     + ": expected keys and values such as { id: cam1, camera: { type: ... } }");
      continue;
    }
    for (const auto& entry : expand_ranges(item, check.faults))
      check_stream(entry, check);
  }
}

void check_stages(const document_node& stages, graph_check& check) {
  if (stages.what != kind::map || stages.entries.empty()) {
    check.fail(
      stages.mark, "stages is "
                     + (stages.what == kind::map ? std::string{"empty"} : in_words(stages))
                     + ": expected keys and values, each stage under its name");
    return;
  }
  for (const auto& e : stages.entries)
    check_stage(e, check);
}

read_result check_document(
  document_node root, document_origin origin, const catalogues& known,
  const graph_options& options, std::vector<fault> faults) {
  read_result result;
  result.faults = std::move(faults);
  if (root.what != kind::map) {
    result.faults.push_back(
      {root.mark,
       "the graph is " + in_words(root) + ": expected the keys hyperframes, streams and stages"});
    return result;
  }
  apply_overrides(root, options.overrides, result.faults);
  expand_variables(root, options.environment, result.faults);
  graph_check check{known, result.faults};
  check.graph.folder = std::move(origin.folder);
  check.graph.file = std::move(origin.file);
  check_top(root, origin.name, check);
  if (const auto streams = child(root, "streams", check, "a list, each entry with id and camera");
      root.find("streams"))
    check_streams(streams, check);
  else
    check.streams_known = false;
  if (const auto stages =
        child(root, "stages", check, "keys and values, each stage under its name");
      root.find("stages"))
    check_stages(stages, check);
  check_wiring(check);
  if (result.faults.empty())
    check_places(check);
  if (result.faults.empty())
    result.graph = std::move(check.graph);
  else {
    if (options.network)
      leave_to_nodes(check.graph);
    check_resources(check.graph, result.faults);
  }
  sort_faults(result.faults);
  return result;
}

} // namespace hyperframes
