#include "actors/infer/network_plan.hpp"

#include "actors/infer/network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace hyperframes {

namespace {

constexpr std::int64_t open = -1;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += i ? "," : "";
    text += shape[i] >= 0 ? std::to_string(shape[i]) : i == 0 ? "N" : "?";
  }
  return text + ']';
}

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + 'x' + std::to_string(height);
}

/// Makes a plan step by step; each step throws `failure` with its sentence.
class planner {
public:
  planner(network_facts facts, const model_settings& from) : from_(from) {
    plan_.facts = std::move(facts);
    plan_.threads = from.threads;
    plan_.output = from.output;
  }

  planned_network make() {
    choose_frames_input();
    read_input_shape();
    read_normalisation();
    read_further_inputs();
    const bool shapes_open = plan_outputs(plan_, from_);
    if (from_.input.fit)
      plan_.pack.fit = *from_.input.fit;
    else if (plan_.decode == decode_kind::yolov5 || plan_.decode == decode_kind::yolov8)
      plan_.pack.fit = fit_mode::letterbox; // what YOLO networks are trained with
    return {std::move(plan_), shapes_open};
  }

private:
  [[noreturn]] void refuse(const std::string& sentence) const { refuse_network(plan_, sentence); }
  const network_value& frames_input() const { return plan_.facts.inputs[plan_.frames_input]; }

  // --- input

  void choose_frames_input() {
    const auto& inputs = plan_.facts.inputs;
    const auto pictures = [](const network_value& v) {
      return v.shape.size() == 4 || v.shape.size() == 5;
    };
    auto found = from_.input.name.empty()
                   ? std::find_if(inputs.begin(), inputs.end(), pictures)
                   : std::find_if(inputs.begin(), inputs.end(), [&](const auto& v) {
                       return v.name == from_.input.name;
                     });
    if (found == inputs.end())
      refuse(
        from_.input.name.empty()
          ? "has no input of the shape [N,C,H,W], [N,H,W,C] or [N,T,C,H,W], found "
              + list_of(inputs)
          : "has no input named '" + from_.input.name + "', found " + list_of(inputs));
    if (!pictures(*found))
      refuse(
        "input " + found->to_string()
        + " cannot take frames, expected [N,C,H,W], [N,H,W,C] or [N,T,C,H,W]");
    plan_.frames_input = static_cast<std::size_t>(found - inputs.begin());
  }

  void read_input_shape() {
    const auto& in = frames_input();
    const bool timed = in.shape.size() == 5;
    const auto* picture = in.shape.data() + (timed ? 2 : 1);
    auto& pack = plan_.pack;
    pack.layout = layout_of(picture);
    const bool nchw = pack.layout == tensor_layout::nchw;
    read_channels(picture[nchw ? 0 : 2]);
    pack.width = side_of(picture[nchw ? 2 : 1], from_.input.size ? from_.input.size->width : 0);
    pack.height = side_of(picture[nchw ? 1 : 0], from_.input.size ? from_.input.size->height : 0);
    if ((pack.width == 0) != (pack.height == 0))
      refuse("input " + in.to_string() + " leaves one side open: set `input.size`");

    if (timed)
      read_time(in.shape[1]);
    else if (from_.input.time)
      refuse("`input.time` is set but input " + in.to_string() + " has no time axis");
    if (in.shape[0] > 0)
      plan_.fixed_samples = static_cast<std::uint32_t>(in.shape[0]);
    else if (in.shape[0] == 0)
      refuse("input " + in.to_string() + " takes no samples at all");

    plan_.input_shape = {in.shape[0]};
    if (timed)
      plan_.input_shape.push_back(plan_.time_axis);
    const std::int64_t c = pack.channel_count();
    const auto side = [](std::uint32_t s) { return s ? std::int64_t{s} : open; };
    if (nchw)
      plan_.input_shape.insert(plan_.input_shape.end(), {c, side(pack.height), side(pack.width)});
    else
      plan_.input_shape.insert(plan_.input_shape.end(), {side(pack.height), side(pack.width), c});
  }

  tensor_layout layout_of(const std::int64_t* picture) const {
    const auto& in = frames_input();
    if (from_.input.layout)
      return *from_.input.layout;
    const auto channels = [](std::int64_t n) { return n == 1 || n == 3; };
    if (channels(picture[0]))
      return tensor_layout::nchw;
    if (channels(picture[2]))
      return tensor_layout::nhwc;
    if (in.shape.size() == 5 && channels(in.shape[1]))
      refuse(
        "input " + in.to_string()
        + " has its time axis behind the channels, expected [N,T,C,H,W]: export the model with the "
          "two axes exchanged");
    if (picture[0] == open || picture[2] == open)
      refuse(
        "input " + in.to_string()
        + " does not tell where its channels are: set `input.layout` to nchw or nhwc");
    refuse("input " + in.to_string() + " has neither 1 nor 3 channels, frames have");
  }

  void read_channels(std::int64_t declared) {
    auto& pack = plan_.pack;
    pack.channels =
      from_.input.color.value_or(declared == 1 ? channel_order::gray : channel_order::rgb);
    if (declared != open && declared != pack.channel_count())
      refuse(
        "input " + frames_input().to_string() + " has " + std::to_string(declared)
        + " channels, `input.color` gives " + std::to_string(pack.channel_count())
        + ": set `input.color` or `input.layout`");
  }

  std::uint32_t side_of(std::int64_t declared, std::uint32_t wanted) const {
    if (declared == open)
      return wanted;
    if (declared < 1 || declared > 16384)
      refuse("input " + frames_input().to_string() + " has a side outside of 1 to 16384 pixels");
    if (wanted != 0 && wanted != declared)
      refuse(
        "`input.size` is " + size_text(from_.input.size->width, from_.input.size->height)
        + " but the model takes " + frames_input().to_string()
        + ": remove it, or export the model for that size");
    return static_cast<std::uint32_t>(declared);
  }

  void read_time(std::int64_t declared) {
    if (declared == open && from_.input.time == 0)
      refuse(
        "input " + frames_input().to_string() + " leaves its time axis open: set `input.time`");
    if (declared == 0 || declared > 4096)
      refuse(
        "input " + frames_input().to_string() + " has a time axis outside of 1 to 4096 frames");
    if (declared != open && from_.input.time != 0 && declared != from_.input.time)
      refuse(
        "`input.time` is " + std::to_string(from_.input.time) + " but the model takes "
        + frames_input().to_string() + ": remove it, or export the model for that many frames");
    plan_.time_axis = declared == open ? from_.input.time : static_cast<std::uint32_t>(declared);
  }

  void read_normalisation() {
    const auto& in = frames_input();
    auto& pack = plan_.pack;
    if (
      !in.type
      || (*in.type != data_type::float32 && *in.type != data_type::float16 && *in.type != data_type::uint8))
      refuse(
        "input " + in.to_string()
        + " has a type that frames cannot be packed as, expected float32, float16 or uint8");
    pack.type = *in.type;
    pack.pad_value = from_.input.pad;
    const bool whole = pack.type == data_type::uint8;
    pack.scale = from_.input.scale.value_or(whole ? 1.0F : 1.0F / 255);
    const auto spread = [&](const std::vector<float>& values, std::array<float, 3>& to) {
      if (!values.empty() && values.size() != 1 && values.size() != pack.channel_count())
        refuse(
          "`input.mean` and `input.std` have " + std::to_string(values.size()) + " numbers for "
          + std::to_string(pack.channel_count()) + " channels");
      for (std::size_t c = 0; c < 3 && !values.empty(); ++c)
        to[c] = values[std::min(c, values.size() - 1)];
    };
    spread(from_.input.mean, pack.mean);
    spread(from_.input.std, pack.deviation);
    if (whole && (pack.scale != 1 || !from_.input.mean.empty() || !from_.input.std.empty()))
      refuse(
        "input " + in.to_string()
        + " is uint8 and takes pixels as they are: remove `scale`, `mean` and `std`");
  }

  void read_further_inputs() {
    auto given = from_.input.values;
    for (std::size_t i = 0; i < plan_.facts.inputs.size(); ++i) {
      if (i == plan_.frames_input)
        continue;
      const auto& in = plan_.facts.inputs[i];
      const auto text = std::find_if(given.begin(), given.end(), [&](const std::string& v) {
        return v.compare(0, in.name.size() + 1, in.name + '=') == 0;
      });
      if (text == given.end())
        refuse(
          "has a further input " + in.to_string()
          + " that no frames go to: give it a value, `input: { values: [\"" + in.name + "=1\"] }`");
      plan_.further.push_back(further(in, text->substr(in.name.size() + 1)));
      given.erase(text);
    }
    if (!given.empty())
      refuse(
        "`input.values` has '" + given.front() + "' but the model's inputs are "
        + list_of(plan_.facts.inputs));
  }

  further_input further(const network_value& in, const std::string& text) const {
    if (!in.type)
      refuse("input " + in.to_string() + " has a type that values cannot be given for");
    further_input result{in.name, *in.type, in.shape, {}};
    for (const char *at = text.data(), *end = at + text.size(); at <= end;) {
      float value = 0;
      const auto [next, fault] = std::from_chars(at, end, value);
      if (fault != std::errc{} || (next != end && *next != ','))
        refuse(
          "`input.values` has '" + in.name + '=' + text
          + "', expected numbers with commas between");
      result.values.push_back(value);
      at = next + 1;
    }
    const auto samples = plan_.fixed_samples ? std::int64_t{plan_.fixed_samples} : open;
    const bool per_sample = !in.shape.empty() && in.shape[0] == samples;
    if (per_sample)
      result.shape[0] = open;
    std::int64_t wanted = 1;
    for (std::size_t i = per_sample ? 1 : 0; i < in.shape.size(); ++i) {
      if (in.shape[i] < 0)
        refuse(
          "input " + in.to_string()
          + " leaves sides open that only the model's author knows: export it with fixed ones");
      wanted *= in.shape[i];
    }
    if (result.values.size() == 1)
      result.values.assign(static_cast<std::size_t>(wanted), result.values[0]);
    if (result.values.size() != static_cast<std::size_t>(wanted))
      refuse(
        "`input.values` has " + std::to_string(result.values.size()) + " numbers for input "
        + in.to_string() + ", expected 1 or " + std::to_string(wanted));
    return result;
  }

  const model_settings& from_;
  network_plan plan_;
};

} // namespace

void refuse_network(const network_plan& plan, const std::string& sentence) {
  throw failure(make_error(errc::model_failed, plan.facts.file, sentence));
}

std::string list_of(const std::vector<network_value>& values) {
  std::string text;
  for (const auto& v : values)
    text += (text.empty() ? "" : ", ") + v.to_string();
  return text.empty() ? "none" : text;
}

std::string network_value::to_string() const {
  return name + ' ' + shape_text(shape);
}

std::string network_plan::summary() const {
  std::string text = facts.backend + ' ' + std::filesystem::path{facts.file}.filename().string()
                     + ' ' + shape_text(facts.inputs[frames_input].shape) + ' '
                     + to_string(pack.type) + " ->";
  for (const auto& out : facts.outputs)
    text += (&out == facts.outputs.data() ? " " : ", ") + shape_text(out.shape);
  text += std::string{", decode "} + to_string(decode);
  if (labels)
    text += ", " + std::to_string(labels->size()) + " labels from " + labels_from;
  return text;
}

expected<planned_network> plan_network(network_facts facts, const model_settings& from) try {
  return planner(std::move(facts), from).make();
} catch (const failure& e) {
  return e.what_failed();
}

} // namespace hyperframes
