#include "actors/infer/network_plan.hpp"

#include <algorithm>
#include <filesystem>

namespace hyperframes {

namespace {

constexpr std::int64_t open = -1;

class output_planner {
public:
  output_planner(network_plan& plan, const model_settings& from) : plan_(plan), from_(from) {}

  bool complete() {
    read_slot_axis();
    choose_decode();
    read_labels();
    return shapes_open_;
  }

private:
  [[noreturn]] void refuse(const std::string& sentence) const { refuse_network(plan_, sentence); }

  /// [1,1,K,7] rows name their picture: they have a slot axis of their own.
  static bool names_pictures(const network_value& v) {
    return v.shape.size() == 4 && v.shape[3] == 7 && v.shape[1] == 1;
  }

  bool has_sample_axis(const network_value& v) const {
    if (v.shape.empty())
      return false;
    const std::int64_t samples = plan_.fixed_samples ? std::int64_t{plan_.fixed_samples} : open;
    return v.shape[0] == samples || v.shape[0] == open;
  }

  void read_slot_axis() {
    const auto& outputs = plan_.facts.outputs;
    if (outputs.empty())
      refuse("has no outputs");
    for (const auto& out : outputs)
      if (!out.type)
        refuse(
          "output " + out.to_string()
          + " has a type that results cannot hold, expected float32, float16, uint8, int32 or "
            "int64");
    const auto with = std::count_if(outputs.begin(), outputs.end(), [&](const auto& v) {
      return has_sample_axis(v) || names_pictures(v);
    });
    if (with != 0 && with != static_cast<std::ptrdiff_t>(outputs.size()))
      refuse(
        "some outputs have the samples' axis and others do not, found " + list_of(outputs)
        + " for input " + plan_.facts.inputs[plan_.frames_input].to_string());
    plan_.result_per_sample = with != 0;
  }

  /// The shape of what one sample gets.
  std::vector<std::int64_t> sample_shape(std::size_t output) const {
    auto shape = plan_.facts.outputs[output].shape;
    if (!shape.empty() && (plan_.result_per_sample || (shape.size() > 1 && shape[0] == 1)))
      shape.erase(shape.begin());
    return shape;
  }

  /// [C], or [C,1,1] as networks without a last flattening give it.
  bool fits_classes(std::size_t output) const {
    const auto shape = sample_shape(output);
    return !shape.empty()
           && std::all_of(shape.begin() + 1, shape.end(), [](auto n) { return n == 1; });
  }
  bool fits_rows(std::size_t output) const { return names_pictures(plan_.facts.outputs[output]); }
  bool fits_yolo(std::size_t output) const { return sample_shape(output).size() == 2; }

  /// How many places a YOLO network looks at: one per cell of its three grids, or four of P6
  /// models.
  bool is_cells(std::int64_t n) const {
    std::int64_t cells = 0;
    for (std::int64_t stride : {8, 16, 32, 64}) {
      cells += (plan_.pack.width / stride) * (plan_.pack.height / stride);
      if (stride >= 32 && n == cells && n > 0)
        return true;
    }
    return false;
  }

  decode_kind decode_by_shape() {
    const auto& outputs = plan_.facts.outputs;
    const auto named = from_.output.name.empty() ? outputs.size() : output_named();
    const auto considered = [&](std::size_t i) { return named == outputs.size() || i == named; };
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!considered(i))
        continue;
      const auto shape = sample_shape(i);
      if (fits_rows(i))
        return decode_kind::ssd;
      if (shape.size() == 2 && shape[0] >= 5 && is_cells(shape[1]))
        return decode_kind::yolov8;
      if (shape.size() == 2 && shape[1] >= 6 && shape[0] % 3 == 0 && is_cells(shape[0] / 3))
        return decode_kind::yolov5;
    }
    if (outputs.size() == 2 && ssd_pair())
      return decode_kind::ssd;
    if (
      (outputs.size() == 1 || named != outputs.size())
      && fits_classes(named == outputs.size() ? 0 : named))
      return decode_kind::classify;
    return decode_kind::raw;
  }

  std::size_t output_named() const {
    const auto& outputs = plan_.facts.outputs;
    const auto found = std::find_if(
      outputs.begin(), outputs.end(), [&](const auto& v) { return v.name == from_.output.name; });
    if (found == outputs.end())
      refuse("has no output named '" + from_.output.name + "', found " + list_of(outputs));
    return static_cast<std::size_t>(found - outputs.begin());
  }

  /// Boxes [n,4] and scores [n,C], in either order. Two that both end in 4: the first has the
  /// boxes.
  bool ssd_pair() {
    const auto& outputs = plan_.facts.outputs;
    for (std::size_t boxes = 0; boxes < outputs.size(); ++boxes)
      for (std::size_t scores = 0; scores < outputs.size(); ++scores) {
        const auto b = sample_shape(boxes), s = sample_shape(scores);
        if (
          boxes != scores && b.size() == 2 && b[1] == 4 && s.size() == 2 && s[0] == b[0]
          && s[1] != 0) {
          plan_.decoded_output = boxes;
          plan_.scores_output = scores;
          return true;
        }
      }
    return false;
  }

  template <class Fits>
  void choose_output(Fits fits, const char* expected_shape) {
    const auto& outputs = plan_.facts.outputs;
    if (!from_.output.name.empty()) {
      plan_.decoded_output = output_named();
      if (fits(plan_.decoded_output))
        return;
    } else {
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (fits(i)) {
          plan_.decoded_output = i;
          return;
        }
    }
    refuse(
      std::string{"`output.decode: "} + to_string(plan_.decode) + "` expects an output "
      + expected_shape + ", found " + list_of(outputs)
      + ": set `output.decode` to another, raw takes all");
  }

  void choose_decode() {
    plan_.decode = from_.output.decode;
    if (plan_.decode == decode_kind::automatic) {
      plan_.decode = decode_by_shape();
      for (std::size_t i = 0; i < plan_.facts.outputs.size() && plan_.decode == decode_kind::raw;
           ++i) {
        const auto shape = sample_shape(i);
        shapes_open_ = shapes_open_ || std::count(shape.begin(), shape.end(), open) > 0;
      }
    }
    switch (plan_.decode) {
      case decode_kind::classify:
        return choose_output([this](auto i) { return fits_classes(i); }, "[N,classes]");
      case decode_kind::yolov5:
        return choose_output(
          [this](auto i) { return fits_yolo(i) && columns(i, 1) >= 6; }, "[N,boxes,5+classes]");
      case decode_kind::yolov8:
        return choose_output(
          [this](auto i) { return fits_yolo(i) && columns(i, 0) >= 5; }, "[N,4+classes,boxes]");
      case decode_kind::ssd:
        if (ssd_pair())
          return;
        choose_output(
          [this](auto i) { return fits_rows(i); },
          "[1,1,K,7], or two [N,boxes,4] and [N,boxes,classes]");
        plan_.scores_output = plan_.decoded_output;
        return;
      case decode_kind::raw:
      case decode_kind::automatic:
        return;
    }
  }

  /// An open side may have any length.
  std::int64_t columns(std::size_t output, std::size_t axis) const {
    const auto n = sample_shape(output)[axis];
    return n == open ? 1 << 30 : n;
  }

  // --- labels

  std::int64_t class_count() const {
    const auto shape = [&](std::size_t output) { return sample_shape(output); };
    switch (plan_.decode) {
      case decode_kind::classify:
        return shape(plan_.decoded_output)[0];
      case decode_kind::yolov5:
        return std::max(open, shape(plan_.decoded_output)[1] - 5);
      case decode_kind::yolov8:
        return std::max(open, shape(plan_.decoded_output)[0] - 4);
      case decode_kind::ssd:
        return plan_.scores_output == plan_.decoded_output ? open : shape(plan_.scores_output)[1];
      default:
        return open;
    }
  }

  void read_labels() {
    const auto classes = class_count();
    const auto fits = [&](const std::vector<std::string>& names) {
      return !names.empty()
             && (classes == open || static_cast<std::int64_t>(names.size()) == classes);
    };
    std::vector<std::string> names;
    if (from_.output.labels) {
      auto read = hyperframes::read_labels(*from_.output.labels, from_.folder);
      if (!read)
        refuse(read.error().message);
      names = std::move(*read);
      if (!names.empty() && !fits(names))
        refuse(
          "`output.labels` has " + std::to_string(names.size()) + " names, the model has "
          + std::to_string(classes) + " classes");
      plan_.labels_from = "output.labels";
    } else if (plan_.decode != decode_kind::raw) {
      if (fits(plan_.facts.class_names)) {
        names = plan_.facts.class_names;
        plan_.labels_from = "the model's metadata";
      } else {
        const auto beside = std::filesystem::path{plan_.facts.file}.replace_extension(".txt");
        std::error_code code;
        if (std::filesystem::is_regular_file(beside, code))
          if (auto read = hyperframes::read_labels({beside.string()}, ""); read && fits(*read)) {
            names = std::move(*read);
            plan_.labels_from = beside.filename().string();
          }
      }
    }
    if (!names.empty())
      plan_.labels = std::make_shared<const std::vector<std::string>>(std::move(names));
  }

  network_plan& plan_;
  const model_settings& from_;
  bool shapes_open_ = false;
};

} // namespace

bool plan_outputs(network_plan& plan, const model_settings& from) {
  return output_planner(plan, from).complete();
}

} // namespace hyperframes
