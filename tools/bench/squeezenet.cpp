#include "tools/bench/squeezenet.hpp"

#include "runtime/error.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

namespace hyperframes::bench {

namespace {

/// A message of Protocol Buffers as it stands in a file; the numbers are those of onnx.proto.
class message {
public:
  message& number(unsigned field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  message& text(unsigned field, const std::string& value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  message& inner(unsigned field, const message& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

private:
  void key(unsigned field, unsigned wire) { varint(std::uint64_t{field} << 3 | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes_ += static_cast<char>(value % 128 + 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

message list_attribute(const std::string& name, const std::vector<std::uint64_t>& values) {
  message m;
  m.text(1, name);
  for (const auto v : values)
    m.number(8, v);
  return m.number(20, 7); // INTS
}

message number_attribute(const std::string& name, std::uint64_t value) {
  return message{}.text(1, name).number(3, value).number(20, 2); // INT
}

/// @param sides the first one open where it is 0.
message value(const std::string& name, const std::vector<std::uint64_t>& sides) {
  message shape;
  for (const auto s : sides)
    shape.inner(1, s == 0 ? message{}.text(2, "N") : message{}.number(1, s));
  const auto tensor = message{}.number(1, 1).inner(2, shape); // float
  return message{}.text(1, name).inner(2, message{}.inner(1, tensor));
}

class network {
public:
  /// @returns the name of what it gives.
  std::string convolution(
    const std::string& from, std::uint64_t channels, std::uint64_t filters, std::uint64_t side,
    std::uint64_t stride = 1) {
    const auto name = "conv" + std::to_string(++count_);
    weights(
      name + ".weight", {filters, channels, side, side},
      std::sqrt(2.0F / static_cast<float>(channels * side * side)));
    weights(name + ".bias", {filters}, 0.01F);
    const auto pad = side == 3 && stride == 1 ? 1U : 0U;
    const auto out = node(
      "Conv", {from, name + ".weight", name + ".bias"},
      {list_attribute("kernel_shape", {side, side}), list_attribute("strides", {stride, stride}),
       list_attribute("pads", {pad, pad, pad, pad})});
    return node("Relu", {out});
  }
  std::string halved(const std::string& from) {
    return node(
      "MaxPool", {from},
      {list_attribute("kernel_shape", {3, 3}), list_attribute("strides", {2, 2}),
       number_attribute("ceil_mode", 1)});
  }
  std::string fire(
    const std::string& from, std::uint64_t channels, std::uint64_t squeezed,
    std::uint64_t expanded) {
    const auto few = convolution(from, channels, squeezed, 1);
    const auto ones = convolution(few, squeezed, expanded, 1);
    const auto threes = convolution(few, squeezed, expanded, 3);
    return node("Concat", {ones, threes}, {number_attribute("axis", 1)});
  }
  std::string node(
    const std::string& kind, const std::vector<std::string>& from,
    const std::vector<message>& attributes = {}) {
    const auto out = "t" + std::to_string(++values_);
    message n;
    for (const auto& f : from)
      n.text(1, f);
    n.text(2, out).text(4, kind);
    for (const auto& a : attributes)
      n.inner(5, a);
    graph_.inner(1, n);
    return out;
  }
  std::string model(const std::string& out) {
    graph_.text(2, "squeezenet1.1").inner(11, value("data", {0, 3, 224, 224}));
    graph_.inner(12, value(out, {0, 1000}));
    return message{}
      .number(1, 6)
      .text(2, "hyperframes bench")
      .inner(7, graph_)
      .inner(8, message{}.text(1, "").number(2, 11))
      .bytes();
  }

private:
  void weights(const std::string& name, const std::vector<std::uint64_t>& sides, float scale) {
    std::uint64_t count = 1;
    message tensor;
    for (const auto s : sides) {
      tensor.number(1, s);
      count *= s;
    }
    // Not a normal distribution of the library: those differ between libraries.
    std::string raw(count * sizeof(float), '\0');
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto u = static_cast<float>(draw_()) / static_cast<float>(std::mt19937::max());
      const auto w = (2 * u - 1) * scale * std::sqrt(3.0F);
      std::memcpy(raw.data() + i * sizeof w, &w, sizeof w);
    }
    graph_.inner(5, tensor.number(2, 1).text(8, name).text(9, raw));
  }

  message graph_;
  std::mt19937 draw_{1602};
  unsigned count_ = 0, values_ = 0;
};

} // namespace

void write_squeezenet(const std::string& path) {
  network n;
  auto x = n.halved(n.convolution("data", 3, 64, 3, 2));
  x = n.fire(n.fire(x, 64, 16, 64), 128, 16, 64);
  x = n.halved(x);
  x = n.fire(n.fire(x, 128, 32, 128), 256, 32, 128);
  x = n.halved(x);
  x = n.fire(n.fire(x, 256, 48, 192), 384, 48, 192);
  x = n.fire(n.fire(x, 384, 64, 256), 512, 64, 256);
  x = n.node("GlobalAveragePool", {n.convolution(x, 512, 1000, 1)});
  std::ofstream file{path, std::ios::binary};
  file << n.model(n.node("Flatten", {x}));
  file.close();
  if (!file)
    throw failure(make_error(errc::io_failed, path, "the model could not be written"));
}

} // namespace hyperframes::bench
