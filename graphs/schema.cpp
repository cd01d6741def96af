#include "graphs/schema.hpp"

#include "graphs/document.hpp"
#include "graphs/parameters.hpp"
#include "graphs/values.hpp"

#include <nlohmann/json.hpp>

namespace hyperframes {

namespace {

// Keeps the order in which things were described.
using json = nlohmann::ordered_json;

constexpr const char* duration_pattern = R"(^([0-9.]+ ?(ns|us|µs|ms|s|min|h)|0)$)";
constexpr const char* bytes_pattern = R"(^[0-9.]+ ?(B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)?$)";
constexpr const char* size_pattern = "^[0-9]+x[0-9]+$";
/// What is filled in before the check: any value may be written so.
constexpr const char* filled_in_pattern = R"(\$\{.+\}|\{[0-9]+\.\.[0-9]+\})";

json to_json(const setting& s) {
  if (const auto* b = std::get_if<bool>(&s.value))
    return *b;
  if (const auto* i = std::get_if<std::int64_t>(&s.value))
    return *i;
  if (const auto* d = std::get_if<double>(&s.value))
    return *d;
  if (const auto* l = std::get_if<setting::list>(&s.value)) {
    auto list = json::array();
    for (const auto& entry : *l)
      list.push_back(to_json(entry));
    return list;
  }
  return write_value(s);
}

json properties_of(const std::vector<parameter>& parameters);
json required_of(const std::vector<parameter>& parameters);

/// A whole number stays one: editors show 8, not 8.0.
json bound(const parameter& p, double value) {
  return p.type == parameter_type::integer || p.type == parameter_type::bytes
           ? json(static_cast<std::int64_t>(value))
           : json(value);
}

/// A number of some type, or a text that will become one.
json number_of(const parameter& p, const char* type) {
  json number{{"type", type}};
  if (p.least)
    number["minimum"] = bound(p, *p.least);
  if (p.most)
    number["maximum"] = bound(p, *p.most);
  return {{"anyOf", {number, {{"type", "string"}, {"pattern", filled_in_pattern}}}}};
}

json text_of(const char* pattern) {
  return {
    {"type", "string"}, {"anyOf", {{{"pattern", pattern}}, {{"pattern", filled_in_pattern}}}}};
}

json type_of(const parameter& p) {
  switch (p.type) {
    case parameter_type::boolean:
      return {
        {"anyOf", {{{"type", "boolean"}}, {{"type", "string"}, {"pattern", filled_in_pattern}}}}};
    case parameter_type::integer:
      return number_of(p, "integer");
    case parameter_type::number:
      return number_of(p, "number");
    case parameter_type::text:
      return {{"type", {"string", "number", "boolean"}}};
    case parameter_type::duration:
      return {{"anyOf", {text_of(duration_pattern), {{"const", 0}}}}};
    case parameter_type::bytes:
      return {{"anyOf", {number_of(p, "integer"), text_of(bytes_pattern)}}};
    case parameter_type::size:
      return text_of(size_pattern);
    case parameter_type::choice:
      return {
        {"anyOf", {{{"enum", p.choices}}, {{"type", "string"}, {"pattern", filled_in_pattern}}}}};
    case parameter_type::object: {
      json object{
        {"type", "object"},
        {"properties", properties_of(p.fields)},
        {"additionalProperties", false}};
      if (auto required = required_of(p.fields); !required.empty())
        object["required"] = std::move(required);
      return object;
    }
    case parameter_type::list:
      break;
  }
  auto element = p;
  element.type = p.element;
  const auto one = type_of(element);
  return {{"anyOf", {{{"type", "array"}, {"items", one}}, one}}};
}

json schema_of(const parameter& p) {
  auto text = p.help;
  if (const auto range = range_in_words(p); !range.empty())
    text += (text.empty() ? "" : " ") + std::string{"("} + range + ')';
  json s{{"description", text}};
  s.update(type_of(p));
  if (p.initial)
    s["default"] = to_json(*p.initial);
  return s;
}

json properties_of(const std::vector<parameter>& parameters) {
  auto properties = json::object();
  for (const auto& p : parameters)
    properties[p.name] = schema_of(p);
  return properties;
}

json required_of(const std::vector<parameter>& parameters) {
  auto required = json::array();
  for (const auto& p : parameters)
    if (p.required)
      required.push_back(p.name);
  return required;
}

/// A name as a value. YAML reads a bare `null` as no value at all, which an editor then checks: the
/// stage of that name is meant.
json name_in_yaml(const std::string& name) {
  return name == "null" ? json{{"enum", {name, nullptr}}} : json{{"const", name}};
}

void add_name(json& names, const std::string& name) {
  names.push_back(name);
  if (name == "null")
    names.push_back(nullptr);
}

/// One type's keys, beside `more` keys that every type has.
template <class Description>
json variant_of(const Description& d, const json& more) {
  json properties{{"type", name_in_yaml(d.name)}};
  properties["type"]["description"] = d.summary;
  properties.update(properties_of(d.parameters));
  properties.update(more);
  auto required = json::array({"type"});
  for (const auto& name : required_of(d.parameters))
    required.push_back(name);
  return {{"properties", properties}, {"required", required}, {"additionalProperties", false}};
}

/// Picks by `type`, so that an editor shows the faults of the one type that was meant.
template <class Description>
json choose_by_type(const catalogue<Description>& known, const std::string& prefix) {
  auto names = json::array();
  auto rules = json::array();
  for (const auto& d : known.all()) {
    add_name(names, d->name);
    rules.push_back(
      {{"if", {{"properties", {{"type", name_in_yaml(d->name)}}}, {"required", {"type"}}}},
       {"then", {{"$ref", "#/$defs/" + prefix + d->name}}}});
  }
  return {
    {"type", "object"},
    {"properties", {{"type", {{"enum", names}}}}},
    {"required", {"type"}},
    {"allOf", rules}};
}

json edge_schema() {
  json object{
    {"type", "object"},
    {"properties", properties_of(edge_parameters())},
    {"additionalProperties", false},
    {"required", required_of(edge_parameters())}};
  const json one{{"anyOf", {{{"type", "string"}}, object}}};
  return {
    {"description",
     "The stage that items come from; with an object, the edge's capacity and policy."},
    {"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
}

json stage_keys(const stage_description& d) {
  auto keys = json::object();
  if (!d.inputs.empty())
    keys["from"] = {{"$ref", "#/$defs/from"}};
  if (d.on_nodes != node_use::none)
    keys["node"] = {
      {"description", "The nodes that it runs on: a name, a list of names, or any."},
      {"anyOf",
       {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}}};
  return keys;
}

json stream_schema(const catalogues& known) {
  auto properties = properties_of(stream_parameters());
  auto names = json::array();
  for (const auto& d : known.cameras.all())
    add_name(names, d->name);
  properties["camera"] = {
    {"description", "Where the frames come from."},
    {"anyOf", {{{"enum", names}}, {{"$ref", "#/$defs/camera"}}}}};
  auto required = required_of(stream_parameters());
  required.push_back("camera");
  return {
    {"type", "object"},
    {"properties", properties},
    {"required", required},
    {"additionalProperties", false}};
}

} // namespace

std::string graph_schema(const catalogues& known) {
  auto defs = json::object();
  defs["from"] = edge_schema();
  defs["stream"] = stream_schema(known);
  defs["camera"] = choose_by_type(known.cameras, "camera_");
  for (const auto& d : known.cameras.all())
    defs["camera_" + d->name] = variant_of(*d, json::object());
  defs["stage"] = choose_by_type(known.stages, "stage_");
  for (const auto& d : known.stages.all())
    defs["stage_" + d->name] = variant_of(*d, stage_keys(*d));

  json properties{
    {"hyperframes", {{"description", "Version of the graph language."}, {"const", 1}}}};
  properties.update(properties_of(graph_parameters()));
  properties["streams"] = {
    {"description", "Sources of frames in time order."},
    {"type", "array"},
    {"minItems", 1},
    {"items", {{"$ref", "#/$defs/stream"}}}};
  properties["stages"] = {
    {"description", "What is done with the frames, each stage under its name."},
    {"type", "object"},
    {"minProperties", 1},
    {"propertyNames", {{"pattern", "^[^.\\s]+$"}}},
    {"additionalProperties", {{"$ref", "#/$defs/stage"}}}};
  properties["nodes"] = {
    {"description", "Processes that stages can run on, each under its name, by host:port."},
    {"type", {"object", "null"}},
    {"additionalProperties", {{"type", "string"}}}};

  const json schema{
    {"$schema", "https://json-schema.org/draft/2020-12/schema"},
    {"title", "HyperFrames graph"},
    {"description", "Streams of frames and the stages that they pass."},
    {"type", "object"},
    {"properties", properties},
    {"required", {"hyperframes", "streams", "stages"}},
    {"additionalProperties", false},
    {"$defs", defs}};
  return schema.dump(2) + '\n';
}

} // namespace hyperframes
