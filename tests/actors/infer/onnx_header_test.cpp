#include "actors/infer/onnx_header.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace hyperframes;

namespace {

std::string content_of(const std::string& name) {
  std::ifstream in(std::string{HYPERFRAMES_TEST_DATA "/models/"} + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("declarations of an ONNX file: inputs without weights, outputs, class names") {
  struct row {
    const char* file;
    std::vector<std::string> inputs, outputs;
    data_type type;
  };
  const row table[] = {
    {"means_dynamic.onnx", {"image [N,3,8,8]"}, {"logits [N,3]"}, data_type::float32},
    {"means_batch4.onnx", {"image [4,3,8,8]"}, {"logits [4,3]"}, data_type::float32},
    {"means_uint8_nhwc.onnx", {"image [N,8,8,3]"}, {"logits [N,3]"}, data_type::uint8},
    {"means_float16.onnx", {"image [N,3,8,8]"}, {"logits [N,3]"}, data_type::float16},
    {"gain.onnx",
     {"image [N,3,8,8]", "gain [1,3]"},
     {"plain [N,3]", "scaled [N,3]"},
     data_type::float32},
    {"brightest_of_t.onnx", {"clip [N,?,3,8,8]"}, {"logits [N,?]"}, data_type::float32},
    {"ssd.onnx", {"image [N,3,8,8]"}, {"scores [N,2,3]", "boxes [N,2,4]"}, data_type::float32},
  };
  for (const auto& r : table) {
    std::istringstream in(content_of(r.file));
    const auto header = read_onnx_header(in);
    REQUIRE(header.has_value());
    std::vector<std::string> inputs, outputs;
    for (const auto& v : header->inputs)
      inputs.push_back(v.to_string());
    for (const auto& v : header->outputs)
      outputs.push_back(v.to_string());
    CHECK(inputs == r.inputs);
    CHECK(outputs == r.outputs);
    CHECK(header->inputs[0].type == r.type);
  }
}

TEST_CASE("a file that is cut off or changed anywhere is refused or read, never more") {
  const auto whole = content_of("gain.onnx");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::istringstream in(whole.substr(0, length));
    const auto header = read_onnx_header(in);
    if (!header)
      CHECK(header.error().code == errc::model_failed);
  }
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      std::istringstream in(changed);
      (void)read_onnx_header(in);
    }
  std::istringstream empty("");
  CHECK(
    read_onnx_header(empty).error().message
    == "is empty or cannot be read, expected an ONNX model");
  std::istringstream text("hello, this is no model");
  CHECK(read_onnx_header(text).error().message == "is not an ONNX model, or is damaged");
}

TEST_CASE("class names in metadata") {
  CHECK(
    names_in_metadata("{0: 'person', 1: \"fire hydrant\", 2: 'x'}")
    == std::vector<std::string>{"person", "fire hydrant", "x"});
  CHECK(names_in_metadata("['a', 'b']") == std::vector<std::string>{"a", "b"});
  CHECK(names_in_metadata("{0: 'open").empty());
  CHECK(names_in_metadata("").empty());
}
