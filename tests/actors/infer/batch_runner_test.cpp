#include "actors/infer/batch_runner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace hyperframes;

namespace {

/// Slots of one byte: the model gives each slot's value as its label, and cannot take 255.
class byte_model final : public model {
public:
  explicit byte_model(std::uint32_t time_axis = 0, bool per_slot = true)
    : time_axis_(time_axis), per_slot_(per_slot) {
    spec_.width = spec_.height = 1;
    spec_.channels = channel_order::gray;
    spec_.type = data_type::uint8;
    spec_.scale = 1;
  }
  std::string summary() const override { return "bytes"; }
  const pack_spec& input() const override { return spec_; }
  std::uint32_t fixed_batch() const override { return 0; }
  std::uint32_t time_axis() const override { return time_axis_; }
  bool result_per_slot() const override { return per_slot_; }
  label_names labels() const override { return nullptr; }
  expected<std::unique_ptr<infer_session>> make_session() const override;

  mutable std::vector<std::uint32_t> runs; ///< slots of each run

private:
  pack_spec spec_;
  std::uint32_t time_axis_;
  bool per_slot_;
};

class byte_session final : public infer_session {
public:
  explicit byte_session(const byte_model& m) : model_(m) {}
  expected<recycled_vector<inference_ptr>> run(const infer_input& in) override {
    model_.runs.push_back(in.slots);
    recycled_vector<inference_ptr> result(in.slots);
    const auto unit = model_.result_per_slot() ? 1
                      : model_.time_axis() > 0 ? model_.time_axis()
                                               : in.slots;
    for (std::uint32_t begin = 0; begin < in.slots; begin += unit) {
      std::int32_t sum = 0;
      std::int64_t last = -1;
      for (auto s = begin; s < begin + unit; ++s) {
        if (!in.valid[s])
          continue;
        const auto value = static_cast<std::uint8_t>(in.data[s]);
        if (value == 255)
          return make_error(errc::model_failed, "bytes", "255 is too much");
        if (value == 254)
          throw std::runtime_error("254 throws");
        sum += value;
        last = s;
      }
      if (last >= 0) {
        auto i = std::make_shared<inference>();
        i->classes.push_back({sum, 1});
        result[static_cast<std::size_t>(last)] = std::move(i);
      }
    }
    return result;
  }

private:
  const byte_model& model_;
};

expected<std::unique_ptr<infer_session>> byte_model::make_session() const {
  return std::unique_ptr<infer_session>{std::make_unique<byte_session>(*this)};
}

/// A hyperframe of byte slots; -1 is an empty one.
hyperframe_ptr frames_of(buffer_pool& pool, const std::vector<int>& values) {
  auto h = std::make_shared<hyperframe>();
  h->pack = byte_model{}.input();
  h->tensor = pool.acquire();
  for (std::size_t i = 0; i < values.size(); ++i) {
    slot s;
    s.valid = s.own = values[i] >= 0;
    s.meta.frame_id = i;
    h->descriptor.slots.push_back(s);
    h->tensor.data()[i] = static_cast<std::byte>(std::max(0, values[i]));
  }
  return h;
}

batch batch_of(recycled_vector<batch::part> parts) {
  batch b;
  for (const auto& p : parts)
    b.slots += p.count;
  b.parts = std::move(parts);
  return b;
}

/// Labels by slot; -1: failed, -2: nothing.
std::vector<int> labels(const result& r) {
  std::vector<int> out;
  for (const auto& s : r.slots)
    out.push_back(s.what == outcome::failed ? -1 : s.inferred ? s.inferred->classes[0].label : -2);
  return out;
}

struct rig {
  std::shared_ptr<byte_model> m;
  buffer_pool pool{8, 16};
  batch_runner runner;
  explicit rig(std::uint32_t time_axis = 0, bool per_slot = true)
    : m(std::make_shared<byte_model>(time_axis, per_slot)),
      runner(m, std::move(m->make_session().value())) {}
};

using ints = std::vector<int>;

} // namespace

TEST_CASE("a batch that fails is cut in half until the bad frame stands alone") {
  rig r;
  const auto h = frames_of(r.pool, {1, 2, 255, 4, 5, 6, 7, 8});
  const auto outcome = r.runner.run(batch_of({{h, 0, 8}}));
  CHECK(labels(*outcome.results[0]) == ints{1, 2, -1, 4, 5, 6, 7, 8});
  CHECK(outcome.results[0]->slots[2].why == reason::inference);
  CHECK(outcome.errors == std::vector<std::string>{"bytes: 255 is too much"});
  // 8 fail; 4, 2 and 1 lead to the frame, which is tried twice.
  CHECK(r.m->runs == std::vector<std::uint32_t>{8, 4, 2, 2, 1, 1, 1, 4});
}

TEST_CASE("what a session throws fails its frame alone") {
  rig r;
  const auto outcome = r.runner.run(batch_of({{frames_of(r.pool, {254, 2}), 0, 2}}));
  CHECK(labels(*outcome.results[0]) == ints{-1, 2});
}

TEST_CASE("several hyperframes run as one batch; what is copied for that is counted") {
  rig r;
  auto a = frames_of(r.pool, {1, 2, -1});
  auto b = frames_of(r.pool, {4, 5, 6});
  const auto outcome = r.runner.run(batch_of({{a, 0, 3}, {b, 0, 3}}));
  CHECK(r.m->runs == std::vector<std::uint32_t>{6});
  CHECK(labels(*outcome.results[0]) == ints{1, 2, -2});
  CHECK(labels(*outcome.results[1]) == ints{4, 5, 6});
  CHECK(outcome.bytes_copied == 6);
}

TEST_CASE("one hyperframe runs without a copy, and a part of it owns its slots only") {
  rig r;
  const auto outcome = r.runner.run(batch_of({{frames_of(r.pool, {1, 2, 3, 4}), 1, 2}}));
  CHECK(outcome.bytes_copied == 0);
  CHECK(labels(*outcome.results[0]) == ints{-2, 2, 3, -2});
  const auto& d = outcome.results[0]->descriptor;
  CHECK_FALSE(d.slots[0].own);
  CHECK(d.slots[1].own);
  CHECK_FALSE(d.slots[3].own);
}

TEST_CASE("a result of the whole hyperframe stands on its last slot, the others refer to it") {
  rig r{0, false};
  const auto outcome = r.runner.run(batch_of({{frames_of(r.pool, {1, 2, 3, -1}), 0, 4}}));
  CHECK(labels(*outcome.results[0]) == ints{-2, -2, 6, -2});
  CHECK(outcome.results[0]->slots[0].refers_to == 2);
  CHECK(outcome.results[0]->slots[2].refers_to == -1);
}

TEST_CASE("runs of a time axis are never cut") {
  rig r{2, false};
  const auto outcome = r.runner.run(batch_of({{frames_of(r.pool, {1, 2, 255, 4, 5, 6}), 0, 6}}));
  CHECK(labels(*outcome.results[0]) == ints{-2, 3, -1, -1, -2, 11});
  CHECK(std::ranges::all_of(r.m->runs, [](auto n) { return n % 2 == 0; }));
}

TEST_CASE("a warm-up goes through the whole path") {
  rig r;
  CHECK(r.runner.warm_up(4, 0, 0).has_value());
  CHECK(r.m->runs == std::vector<std::uint32_t>{4});
}
