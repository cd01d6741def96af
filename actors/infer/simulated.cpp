#include "actors/infer/backends.hpp"

#include <cstdio>

namespace hyperframes {

namespace {

/// Says nothing of a frame; what it is for is the time that it takes.
class simulated_session final : public infer_session {
public:
  expected<recycled_vector<inference_ptr>> run(const infer_input& input) override {
    static const auto nothing = std::make_shared<const inference>();
    recycled_vector<inference_ptr> result(input.slots);
    for (std::uint32_t s = 0; s < input.slots; ++s)
      if (input.valid.empty() || input.valid[s])
        result[s] = nothing;
    return result;
  }
};

class simulated_model final : public model {
public:
  explicit simulated_model(const model_settings& s)
    : times_(s.simulated) {
    const auto size = s.input.size.value_or(pixel_size{64, 64});
    pack_.width = size.width;
    pack_.height = size.height;
    pack_.channels = s.input.color.value_or(channel_order::rgb);
    pack_.layout = s.input.layout.value_or(tensor_layout::nchw);
    pack_.fit = s.input.fit.value_or(fit_mode::stretch);
    pack_.pad_value = s.input.pad;
  }

  std::string summary() const override {
    char text[96];
    std::snprintf(text, sizeof text, "a simulated device, %.4g ms and %.4g ms a slot", in_ms(times_.fixed),
                  in_ms(times_.per_slot));
    return text;
  }
  const pack_spec& input() const override { return pack_; }
  std::uint32_t fixed_batch() const override { return 0; }
  std::uint32_t time_axis() const override { return 0; }
  bool result_per_slot() const override { return true; }
  label_names labels() const override { return nullptr; }
  std::optional<duration> simulated_time(std::uint32_t slots) const override {
    return times_.fixed + times_.per_slot * static_cast<std::int64_t>(slots);
  }
  expected<std::unique_ptr<infer_session>> make_session() const override {
    return std::unique_ptr<infer_session>{std::make_unique<simulated_session>()};
  }

private:
  model_settings::simulated_settings times_;
  pack_spec pack_;
};

} // namespace

expected<model_ptr> load_simulated(const model_settings& s) {
  return model_ptr{std::make_shared<simulated_model>(s)};
}

} // namespace hyperframes
