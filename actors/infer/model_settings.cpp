#include "actors/infer/model_settings.hpp"

#include "actors/infer/model.hpp"
#include "actors/infer/model_words.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hyperframes {

namespace {

using namespace model_words;

template <class T, std::size_t N>
T meaning(const word<T> (&words)[N], const std::string& name) {
  for (const auto& [word, value] : words)
    if (name == word)
      return value;
  throw failure(make_error(errc::graph_invalid, "infer", "'" + name + "' is not a known choice"));
}

/// A group of settings that may be absent as a whole; each `take` leaves its target alone where
/// the value was not given.
class group_reader {
public:
  group_reader(const settings& all, const char* name)
    : group_(all.has(name) ? &all.group(name) : nullptr) {}

  bool has(const char* name) const { return group_ && group_->has(name); }
  void take(const char* name, std::string& to) const {
    if (has(name))
      to = group_->text(name);
  }
  template <class T>
  void number(const char* name, T& to) const {
    if (has(name))
      assign(to, group_->number(name));
  }
  void size(const char* name, std::optional<pixel_size>& to) const {
    if (has(name))
      to = group_->size(name);
  }
  void flag(const char* name, bool& to) const {
    if (has(name))
      to = group_->flag(name);
  }
  template <class T, std::size_t N, class To>
  void choice(const char* name, const word<T> (&words)[N], To& to) const {
    if (has(name))
      to = meaning(words, group_->text(name));
  }
  std::vector<std::string> texts(const char* name) const {
    return has(name) ? group_->texts(name) : std::vector<std::string>{};
  }
  std::vector<float> floats(const char* name) const {
    std::vector<float> result;
    if (has(name))
      for (double v : group_->numbers(name))
        result.push_back(static_cast<float>(v));
    return result;
  }

private:
  template <class T>
  static void assign(T& to, double v) {
    to = static_cast<T>(v);
  }
  template <class T>
  static void assign(std::optional<T>& to, double v) {
    to = static_cast<T>(v);
  }

  const settings* group_;
};

void read_input(const group_reader& from, model_settings::input_settings& to) {
  from.take("name", to.name);
  from.size("size", to.size);
  from.choice("color", colors, to.color);
  from.choice("layout", layouts, to.layout);
  from.choice("fit", fits, to.fit);
  from.number("scale", to.scale);
  to.mean = from.floats("mean");
  to.std = from.floats("std");
  from.number("pad", to.pad);
  from.number("time", to.time);
  to.values = from.texts("values");
}

void read_output(const group_reader& from, model_settings::output_settings& to) {
  from.choice("decode", decodes, to.decode);
  from.take("name", to.name);
  if (from.has("labels"))
    to.labels = from.texts("labels");
  from.number("top_k", to.top_k);
  from.choice("softmax", softmaxes, to.softmax);
  from.number("score", to.limits.score);
  from.number("iou", to.limits.iou);
  from.number("max", to.limits.max);
  from.choice("boxes", box_formats, to.ssd.format);
  from.flag("relative", to.ssd.relative);
  from.number("background", to.ssd.background);
}

void read_detector(const group_reader& from, model_settings::detector_settings& to) {
  from.number("threshold", to.threshold);
  from.number("stride", to.stride);
  from.number("group", to.group);
  from.number("scale", to.scale);
  from.number("neighbours", to.neighbours);
  from.size("least", to.least);
  from.size("most", to.most);
}

std::string in_folder(const std::string& folder, const std::string& path) {
  const std::filesystem::path p{path};
  return (p.is_absolute() || folder.empty() ? p : std::filesystem::path{folder} / p).string();
}

/// @returns a sentence where `path` cannot be read as a file, or nothing.
std::string fault_of_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return "the file '" + path + "' does not exist";
  if (std::filesystem::is_directory(path, code))
    return "'" + path + "' is a folder, expected a file";
  return std::ifstream(path, std::ios::binary) ? "" : "the file '" + path + "' cannot be read";
}

bool is_detector(const std::string& backend) {
  return backend == "hog" || backend == "cascade";
}

std::string contradiction(const model_settings& s) {
  const auto& available = model_backends();
  if (std::find(available.begin(), available.end(), s.backend) == available.end())
    return "backend '" + s.backend
           + "' is not in this build: use auto or opencv, or build with ONNX Runtime (tools/setup "
             "brings it)";
  if (s.backend == "simulated")
    return s.model.empty() ? "" : "backend 'simulated' runs no model: remove `model`, or choose another backend";
  if (s.model.empty() && s.backend != "hog")
    return "backend '" + s.backend + "' needs `model`, the path of a file";
  if (!s.model.empty() && s.backend == "hog")
    return "backend 'hog' holds its own model: remove `model`, or use backend cascade, opencv or "
           "onnxruntime";
  for (const auto& path : {s.model, s.config})
    if (!path.empty())
      if (auto fault = fault_of_file(path); !fault.empty())
        return fault;
  for (const auto* values : {&s.input.mean, &s.input.std})
    if (!values->empty() && values->size() != 1 && values->size() != 3)
      return "`mean` and `std` of `input` take one number, or one per channel, found "
             + std::to_string(values->size());
  if (std::find(s.input.std.begin(), s.input.std.end(), 0.0F) != s.input.std.end())
    return "`input.std` must not be 0: pixels are divided by it";

  const auto& d = s.detector;
  const std::pair<const char*, bool> hog_only[] = {
    {"threshold", d.threshold.has_value()},
    {"stride", d.stride.has_value()},
    {"group", d.group.has_value()}};
  const std::pair<const char*, bool> cascade_only[] = {
    {"neighbours", d.neighbours.has_value()},
    {"least", d.least.has_value()},
    {"most", d.most.has_value()}};
  for (auto [name, given] : hog_only)
    if (given && s.backend != "hog")
      return std::string{"`detector."} + name + "` is for backend hog, found backend " + s.backend;
  for (auto [name, given] : cascade_only)
    if (given && s.backend != "cascade")
      return std::string{"`detector."} + name + "` is for backend cascade, found backend "
             + s.backend;
  if (d.scale && !is_detector(s.backend))
    return "`detector.scale` is for the backends hog and cascade, found backend " + s.backend;
  if (d.stride && *d.stride % 8 != 0)
    return "`detector.stride` must be a multiple of 8, found " + std::to_string(*d.stride);
  return "";
}

} // namespace

expected<model_settings> read_model_settings(const settings& from, const std::string& folder) try {
  model_settings s;
  s.folder = folder;
  s.backend = from.has("backend") ? from.text("backend") : "auto";
  if (s.backend == "auto")
    s.backend = model_backends().front();
  if (from.has("model"))
    s.model = in_folder(folder, from.text("model"));
  if (from.has("config"))
    s.config = in_folder(folder, from.text("config"));
  if (from.has("threads"))
    s.threads = static_cast<int>(from.integer("threads"));
  read_input({from, "input"}, s.input);
  read_output({from, "output"}, s.output);
  read_detector({from, "detector"}, s.detector);
  if (from.has("simulated")) {
    const auto& group = from.group("simulated");
    s.simulated = {group.time("fixed"), group.time("per_slot")};
    if (s.backend != "simulated")
      for (const auto& [name, value] : group.all())
        if (value.source != value_source::built_in)
          return make_error(errc::graph_invalid, "model",
                            "`simulated." + name + "` is for backend simulated, found backend " + s.backend);
  }
  if (is_detector(s.backend) && from.has("output"))
    for (const auto& [name, value] : from.group("output").all())
      if (name != "labels" && name != "max" && value.source != value_source::built_in)
        return make_error(
          errc::graph_invalid, "model",
          "`output." + name + "` has no meaning for backend " + s.backend
            + ", only `labels` and `max` of `output` have");
  if (auto sentence = contradiction(s); !sentence.empty())
    return make_error(errc::graph_invalid, "model", std::move(sentence));
  return s;
} catch (const failure& e) {
  return e.what_failed();
}

expected<std::vector<std::string>>
read_labels(const std::vector<std::string>& given, const std::string& folder) {
  if (given.size() != 1)
    return given;
  const auto path = in_folder(folder, given[0]);
  const bool names_file = given[0].find_first_of("./") != std::string::npos;
  std::error_code code;
  if (!names_file && !std::filesystem::is_regular_file(path, code))
    return given;
  if (auto fault = fault_of_file(path); !fault.empty())
    return make_error(errc::graph_invalid, "output.labels", std::move(fault));
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  if (lines.empty())
    return make_error(
      errc::graph_invalid, "output.labels", "the file '" + path + "' holds no names");
  return lines;
}

} // namespace hyperframes
