#include "actors/infer/model.hpp"
#include "actors/pack.hpp"
#include "cameras/parts_scene.hpp"
#include "session_input.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace hyperframes;

namespace {

constexpr std::uint32_t batch = 16;
constexpr std::uint64_t pictures = 240;

struct answer {
  int truth;
  classification said;
};

/// What the model that the project ships says of pictures of 12 cameras that it was not trained on.
std::vector<answer> answers(const std::string& backend) {
  settings s;
  s.with("backend", backend).with("model", std::string{"models/parts.onnx"});
  const auto loaded = load_model(s, HYPERFRAMES_SOURCE_DIR "/graphs");
  INFO((loaded ? std::string{} : loaded.error().to_string()));
  REQUIRE(loaded.has_value());
  const auto& m = **loaded;
  CHECK(
    m.summary()
    == backend
         + " parts.onnx [N,3,96,96] float32 -> [N,4], decode classify, 4 labels from parts.txt");
  CHECK(*m.labels() == parts_scene::labels());
  auto session = m.make_session();
  REQUIRE(session.has_value());

  const auto format = video_format::packed(pixel_format::bgr24, 640, 480);
  buffer_pool pool(1, format.size_bytes());
  frame f;
  f.media = make_video_type(format);
  f.buffer = pool.acquire();
  packer pack(m.input());
  const auto slot_bytes = m.input().slot_bytes();
  std::vector<std::byte> slots(slot_bytes * batch);
  std::vector<slot_geometry> geometry(batch);
  std::vector<answer> result;
  for (std::uint64_t camera = 0; camera < 12; ++camera) {
    parts_scene scene({640, 480}, 5000 + camera);
    for (std::uint64_t first = 0; first < pictures / 12; first += batch) {
      const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(batch, pictures / 12 - first));
      for (std::uint32_t i = 0; i < count; ++i) {
        const int truth = scene.render(
          first + i, reinterpret_cast<std::uint8_t*>(f.buffer.data()), format.planes[0].stride);
        geometry[i] = pack.pack(f, std::span{slots}.subspan(i * slot_bytes, slot_bytes)).value();
        result.push_back({truth, {}});
      }
      const auto said = (*session)->run(
        {std::span{slots}.first(count * slot_bytes),
         count,
         std::span{geometry}.first(count),
         {},
         0,
         0});
      REQUIRE(said.has_value());
      for (std::uint32_t i = 0; i < count; ++i)
        result[result.size() - count + i].said = (*said)[i]->classes.at(0);
    }
  }
  return result;
}

} // namespace

TEST_CASE("the model that the project ships: right on new pictures, the same in both backends") {
  CHECK(std::filesystem::file_size(HYPERFRAMES_SOURCE_DIR "/graphs/models/parts.onnx") < 2'000'000);
  std::vector<std::vector<answer>> all;
  for (const auto& backend : model_backends())
    if (backend == "onnxruntime" || backend == "opencv")
      all.push_back(answers(backend));
  for (const auto& said : all) {
    std::size_t right = 0;
    for (const auto& a : said)
      right += a.said.label == a.truth;
    CHECK(static_cast<double>(right) / pictures >= 0.99);
  }
  for (std::size_t i = 0; i < pictures; ++i) {
    CHECK(all.front()[i].said.label == all.back()[i].said.label);
    CHECK(std::abs(all.front()[i].said.score - all.back()[i].said.score) < 1e-4);
  }
}
