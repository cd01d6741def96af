#include "actors/infer/model.hpp"
#include "actors/infer/model_words.hpp"

namespace hyperframes {

namespace {

using namespace model_words;

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
     .initial = initial_value(std::int64_t{model_settings{}.input.pad}),
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
  const model_settings::output_settings o;
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

} // namespace

const char* to_string(decode_kind k) {
  return model_words::decodes[static_cast<std::size_t>(k)].first;
}

const std::vector<parameter>& model_parameters() {
  using enum parameter_type;
  static const std::vector<parameter> all{
    {.name = "backend",
     .type = choice,
     .help = "What runs the model; `auto`: onnxruntime where it is built in, else opencv. `simulated` runs "
             "none: it takes the time that a device would, for plans, tests and the virtual clock.",
     .initial = initial_value(std::string{"auto"}),
     .choices = {"auto", "onnxruntime", "opencv", "hog", "cascade", "simulated"}},
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
    {.name = "simulated",
     .type = object,
     .help = "Settings of the backend simulated: a batch takes `fixed` and `per_slot` for each slot.",
     .fields = {{.name = "fixed",
                 .type = parameter_type::duration,
                 .help = "Time of a batch, whatever its size.",
                 .initial = initial_value(model_settings{}.simulated.fixed),
                 .least = 0,
                 .most = 3600},
                {.name = "per_slot",
                 .type = parameter_type::duration,
                 .help = "Time of each slot.",
                 .initial = initial_value(model_settings{}.simulated.per_slot),
                 .least = 0,
                 .most = 3600}}},
    {.name = "threads",
     .type = integer,
     .help = "Threads that work on one batch. OpenCV's hold for the whole process.",
     .initial = initial_value(std::int64_t{1}),
     .least = 1,
     .most = 256,
     .unit = "threads"},
  };
  return all;
}

} // namespace hyperframes
