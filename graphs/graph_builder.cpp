#include "graphs/graph_builder.hpp"

#include "graphs/check.hpp"
#include "graphs/document.hpp"
#include "graphs/values.hpp"

namespace hyperframes {

namespace {

using kind = document_node::kind;

source_mark mark_of(const std::string& path) {
  return {path, 0, 0};
}

/// The entry `key` of a map, added where it is missing.
document_node& child(document_node& map, const std::string& key, const std::string& path) {
  map.what = kind::map;
  if (auto* e = map.find(key))
    return e->value;
  document_node n;
  n.mark = mark_of(path);
  n.source = value_source::program;
  map.entries.push_back({key, mark_of(path), std::move(n)});
  return map.entries.back().value;
}

} // namespace

graph_value::graph_value(double n) : text_(write_number(n)) {}
graph_value::graph_value(duration d) : text_(write_duration(d)) {}
graph_value::graph_value(pixel_size size)
  : text_(std::to_string(size.width) + 'x' + std::to_string(size.height)) {}

graph_builder::graph_builder(std::string name)
  : name_(std::move(name)), root_(std::make_unique<document_node>()) {
  root_->mark = mark_of("graph " + name_);
  root_->source = value_source::program;
  put("hyperframes", 1);
  put("name", name_);
}
graph_builder::graph_builder(graph_builder&&) noexcept = default;
graph_builder& graph_builder::operator=(graph_builder&&) noexcept = default;
graph_builder::~graph_builder() = default;

/// The value at a path of keys and positions; what is missing is added.
document_node& graph_builder::at(const std::string& path) {
  auto* n = root_.get();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const auto end = std::min(path.find('.', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (n->what == kind::scalar)
      faults_.push_back(
        {mark_of(path.substr(0, begin - 1)),
         "this value is set twice, whole and in part: remove one of them"});
    const auto position = n->what == kind::list ? read_integer(part) : std::nullopt;
    if (position && *position >= 0 && *position < std::ssize(n->items))
      n = &n->items[static_cast<std::size_t>(*position)];
    else
      n = &child(*n, part, path.substr(0, end));
    begin = end + 1;
  }
  return *n;
}

void graph_builder::put(const std::string& path, const graph_value& value) {
  auto& n = at(path);
  if (n.what != kind::null) {
    faults_.push_back({mark_of(path), "this value is set twice: remove one of them"});
    return;
  }
  if (!value.is_list_) {
    n = document_node::scalar(value.text_, mark_of(path), value_source::program);
    return;
  }
  n.what = kind::list;
  for (std::size_t i = 0; i < value.list_.size(); ++i)
    n.items.push_back(document_node::scalar(
      value.list_[i].text_, mark_of(path + '.' + std::to_string(i)), value_source::program));
}

graph_builder& graph_builder::set(const std::string& path, const graph_value& value) {
  put(path, value);
  return *this;
}

graph_builder::stream_entry graph_builder::stream(std::string id, std::string camera) {
  auto& streams = child(*root_, "streams", "streams");
  streams.what = kind::list;
  const auto index = streams.items.size();
  const auto path = "streams." + std::to_string(index);
  document_node entry;
  entry.what = kind::map;
  entry.mark = mark_of(path);
  entry.source = value_source::program;
  streams.items.push_back(std::move(entry));
  put(path + ".id", std::move(id));
  put(path + ".camera.type", std::move(camera));
  return {*this, index};
}

graph_builder::stage_entry graph_builder::stage(std::string name, std::string type) {
  auto& stages = child(*root_, "stages", "stages");
  const auto path = "stages." + name;
  if (stages.find(name))
    faults_.push_back(
      {mark_of(path), "the stage '" + name + "' is added twice: give one another name"});
  else
    child(child(stages, name, path), "type", path + ".type") =
      document_node::scalar(std::move(type), mark_of(path + ".type"), value_source::program);
  return {*this, std::move(name)};
}

graph_builder::stream_entry& graph_builder::stream_entry::group(std::string name) {
  builder_->put("streams." + std::to_string(index_) + ".group", std::move(name));
  return *this;
}

graph_builder::stream_entry& graph_builder::stream_entry::priority(std::int32_t p) {
  builder_->put("streams." + std::to_string(index_) + ".priority", p);
  return *this;
}

graph_builder::stream_entry&
graph_builder::stream_entry::set(const std::string& path, const graph_value& value) {
  builder_->put("streams." + std::to_string(index_) + ".camera." + path, value);
  return *this;
}

graph_builder::stage_entry&
graph_builder::stage_entry::set(const std::string& path, const graph_value& value) {
  builder_->put("stages." + name_ + '.' + path, value);
  return *this;
}

graph_builder::stage_entry& graph_builder::stage_entry::from(std::string stage) {
  return from(std::move(stage), {});
}

graph_builder::stage_entry& graph_builder::stage_entry::from(std::string stage, edge how) {
  auto& list = builder_->at("stages." + name_ + ".from");
  list.what = kind::list;
  const auto path = "stages." + name_ + ".from." + std::to_string(list.items.size());
  list.items.emplace_back();
  list.items.back().mark = mark_of(path);
  list.items.back().what = kind::map;
  builder_->put(path + ".stage", std::move(stage));
  if (!how.port.empty())
    builder_->put(path + ".port", std::move(how.port));
  if (how.capacity > 0)
    builder_->put(path + ".capacity", how.capacity);
  if (how.capacity_bytes > 0)
    builder_->put(path + ".capacity_bytes", how.capacity_bytes);
  if (!how.overflow.empty())
    builder_->put(path + ".overflow", std::move(how.overflow));
  return *this;
}

read_result graph_builder::check(
  const catalogues& known, const std::string& folder, const graph_options& options) const {
  return check_document(*root_, {name_, folder}, known, options, faults_);
}

} // namespace hyperframes
