#include "actors/infer/model_settings.hpp"

#include "actors/infer/model.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hyperframes {

namespace {

/// A choice's words and what they mean; the parameters' descriptions and the reader share them.
template <class T>
using words_of = std::vector<std::pair<const char*, T>>;

const words_of<channel_order> colors{
  {"rgb", channel_order::rgb}, {"bgr", channel_order::bgr}, {"gray", channel_order::gray}};
const words_of<std::optional<tensor_layout>> layouts{
  {"auto", std::nullopt}, {"nchw", tensor_layout::nchw}, {"nhwc", tensor_layout::nhwc}};
const words_of<fit_mode> fits{
  {"stretch", fit_mode::stretch}, {"letterbox", fit_mode::letterbox}, {"crop", fit_mode::crop}};
const words_of<decode_kind> decodes{
  {"auto", decode_kind::automatic}, {"classify", decode_kind::classify}, {"raw", decode_kind::raw},
  {"yolov5", decode_kind::yolov5},  {"yolov8", decode_kind::yolov8},     {"ssd", decode_kind::ssd}};
const words_of<softmax_rule> softmaxes{
  {"auto", softmax_rule::automatic},
  {"always", softmax_rule::always},
  {"never", softmax_rule::never}};
const words_of<box_format> box_formats{
  {"corners", box_format::corners},
  {"corners_yx", box_format::corners_yx},
  {"centre", box_format::centre}};

template <class T>
std::vector<std::string> names(const words_of<T>& words) {
  std::vector<std::string> result;
  for (const auto& [name, value] : words)
    result.emplace_back(name);
  return result;
}

template <class T>
T meaning(const words_of<T>& words, const std::string& name) {
  for (const auto& [word, value] : words)
    if (name == word)
      return value;
  throw failure(make_error(errc::graph_invalid, "infer", "'" + name + "' is not a known choice"));
}

const model_settings built_in{};

std::vector<parameter> input_parameters() {
  using enum parameter_type;
  return {
    {.name = "name",
     .help = "The model's input that takes the frames; by default the one that has the shape of "
             "pictures."},
    {.name = "size",
     .type = size,
     .help = "Width and height that frames are scaled to; by default what the model wants, or the "
             "frames' own where it takes any.",
     .least = 1,
     .most = 16384,
     .unit = "pixels"},
    {.name = "color",
     .type = choice,
     .help = "Order of the channels; by default rgb, or gray where the model has one channel.",
     .choices = names(colors)},
    {.name = "layout",
     .type = choice,
     .help =
       "Whether channels come before or after height and width; `auto` looks at the model's shape.",
     .initial = initial_value(std::string{"auto"}),
     .choices = names(layouts)},
    {.name = "fit",
     .type = choice,
     .help = "How a frame of another shape is fitted in: `letterbox` keeps all of it and pads, "
             "`crop` fills and cuts off. By default letterbox for YOLO, else stretch.",
     .choices = names(fits)},
    {.name = "scale",
     .type = number,
     .help =
       "Pixels (0 to 255) are multiplied by this first; by default 1/255, for uint8 inputs 1."},
    {.name = "mean",
     .type = list,
     .help = "Then this is subtracted: one number, or one per channel in the order of `color`.",
     .element = number},
    {.name = "std",
     .type = list,
     .help = "Then it is divided by this: one number, or one per channel.",
     .element = number},
    {.name = "pad",
     .type = integer,
     .help = "Pixel value around a letterboxed frame and of absent slots.",
     .initial = initial_value(std::int64_t{built_in.input.pad}),
     .least = 0,
     .most = 255},
    {.name = "time",
     .type = integer,
     .help = "Frames that form one sample, where the model's time axis [N,T,C,H,W] leaves it open.",
     .least = 1,
     .most = 4096,
     .unit = "frames"},
    {.name = "values",
     .type = list,
     .help = "Values of the model's further inputs, each as `name=1` or `name=1,2,3`."},
  };
}

std::vector<parameter> output_parameters() {
  using enum parameter_type;
  const auto& o = built_in.output;
  return {
    {.name = "decode",
     .type = choice,
     .help = "What the outputs mean; `auto` goes by their shapes.",
     .initial = initial_value(std::string{"auto"}),
     .choices = names(decodes)},
    {.name = "name",
     .help = "The output to decode where the model has several; by default the first that fits."},
    {.name = "labels",
     .type = list,
     .help = "Names of the classes, or a text file with one a line; by default the file beside the "
             "model that has its name and `.txt`."},
    {.name = "top_k",
     .type = integer,
     .help = "Classes that a result holds.",
     .initial = initial_value(std::int64_t{o.top_k}),
     .least = 1,
     .most = 10000,
     .unit = "classes"},
    {.name = "softmax",
     .type = choice,
     .help = "Whether class scores are turned into probabilities; `auto`: where they are none.",
     .initial = initial_value(std::string{"auto"}),
     .choices = names(softmaxes)},
    {.name = "score",
     .type = number,
     .help = "Boxes with a lower score are dropped.",
     .initial = initial_value(0.25),
     .least = 0,
     .most = 1},
    {.name = "iou",
     .type = number,
     .help = "Of two boxes of one class that overlap by more than this share of their union, the "
             "better one is kept.",
     .initial = initial_value(0.45),
     .least = 0,
     .most = 1},
    {.name = "max",
     .type = integer,
     .help = "Boxes that a result holds.",
     .initial = initial_value(std::int64_t{o.limits.max}),
     .least = 1,
     .most = 100000,
     .unit = "boxes"},
    {.name = "boxes",
     .type = choice,
     .help = "What the four numbers of an SSD's box are.",
     .initial = initial_value(std::string{"corners"}),
     .choices = names(box_formats)},
    {.name = "relative",
     .type = boolean,
     .help = "Whether an SSD's boxes are 0 to 1 of the input's sides rather than pixels.",
     .initial = initial_value(o.ssd.relative)},
    {.name = "background",
     .type = integer,
     .help = "The class of an SSD that means \"nothing here\"; -1: none.",
     .initial = initial_value(std::int64_t{o.ssd.background}),
     .least = -1,
     .most = 1000000},
  };
}

std::vector<parameter> detector_parameters() {
  using enum parameter_type;
  return {
    {.name = "threshold",
     .type = number,
     .help = "hog: distance to the margin that a person must have at least; by default 0."},
    {.name = "stride",
     .type = integer,
     .help = "hog: step of the detection window, a multiple of 8; by default 8.",
     .least = 8,
     .most = 1024,
     .unit = "pixels"},
    {.name = "group",
     .type = number,
     .help = "hog: how many overlapping hits make a person; by default 2.",
     .least = 0,
     .most = 100},
    {.name = "scale",
     .type = number,
     .help =
       "Ratio between the sizes that are looked for; by default 1.05 for hog and 1.1 for cascade.",
     .least = 1.001,
     .most = 4},
    {.name = "neighbours",
     .type = integer,
     .help = "cascade: overlapping hits that make an object; by default 3.",
     .least = 0,
     .most = 1000},
    {.name = "least",
     .type = size,
     .help = "cascade: the smallest object; by default what the cascade was trained on.",
     .least = 1,
     .most = 16384,
     .unit = "pixels"},
    {.name = "most",
     .type = size,
     .help = "cascade: the largest object; by default the whole picture.",
     .least = 1,
     .most = 16384,
     .unit = "pixels"},
  };
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
  template <class T, class To>
  void choice(const char* name, const words_of<T>& words, To& to) const {
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

const char* to_string(decode_kind k) {
  return decodes[static_cast<std::size_t>(k)].first;
}

const std::vector<parameter>& model_parameters() {
  using enum parameter_type;
  static const std::vector<parameter> all{
    {.name = "backend",
     .type = choice,
     .help = "What runs the model; `auto`: onnxruntime where it is built in, else opencv.",
     .initial = initial_value(std::string{"auto"}),
     .choices = {"auto", "onnxruntime", "opencv", "hog", "cascade"}},
    {.name = "model",
     .help = "The network's file (ONNX, or what OpenCV reads), or the cascade's.",
     .existing_file = true},
    {.name = "config",
     .help = "opencv: the second file of formats that have two (prototxt, pbtxt, cfg).",
     .existing_file = true},
    {.name = "input",
     .type = object,
     .help = "How frames become the model's input.",
     .fields = input_parameters()},
    {.name = "output",
     .type = object,
     .help = "How the model's outputs become results.",
     .fields = output_parameters()},
    {.name = "detector",
     .type = object,
     .help = "Settings of the backends hog and cascade.",
     .fields = detector_parameters()},
    {.name = "threads",
     .type = integer,
     .help = "Threads that work on one batch. OpenCV's hold for the whole process.",
     .initial = initial_value(std::int64_t{built_in.threads}),
     .least = 1,
     .most = 256,
     .unit = "threads"},
  };
  return all;
}

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
