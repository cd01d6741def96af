// Whatever a model file holds: its declarations or a sentence, and never a crash.
#include "actors/infer/onnx_header.hpp"
#include "tests/fuzz/claim.hpp"

#include <cstdint>
#include <sstream>
#include <string>

using namespace hyperframes;
using test::claim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto header = read_onnx_header(in);
  if (!header) {
    claim(!header.error().message.empty(), "an error has a sentence");
    return 0;
  }
  claim(!header->outputs.empty(), "a model has an output");
  std::size_t declared = 0;
  for (const auto* values : {&header->inputs, &header->outputs})
    for (const auto& v : *values) {
      declared += v.name.size() + v.shape.size();
      for (const auto side : v.shape)
        claim(side >= -1 && side <= 0x7fffffff, "a side is open or fits into 31 bits");
      claim(!v.to_string().empty(), "a value can be written");
    }
  for (const auto& name : header->class_names)
    declared += name.size();
  claim(declared <= size, "nothing was declared that is not in the file");
  return 0;
}
