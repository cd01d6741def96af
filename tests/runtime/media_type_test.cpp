#include "runtime/media_type.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

TEST_CASE("planes of packed formats") {
  struct row {
    pixel_format format;
    std::uint32_t width, height;
    std::size_t alignment, planes, bytes, stride;
  };
  const row rows[] = {
    {pixel_format::gray8, 5, 3, 1, 1, 15, 5},     {pixel_format::bgr24, 5, 3, 1, 1, 45, 15},
    {pixel_format::rgb24, 5, 3, 16, 1, 48, 16},   {pixel_format::i420, 4, 2, 1, 3, 12, 4},
    {pixel_format::i420, 5, 3, 1, 3, 15 + 12, 5}, {pixel_format::nv12, 5, 3, 1, 2, 15 + 12, 5},
  };
  for (const auto& r : rows) {
    CAPTURE(to_string(r.format));
    CAPTURE(r.width);
    const auto f = video_format::packed(r.format, r.width, r.height, r.alignment);
    CHECK(f.plane_count() == r.planes);
    CHECK(f.size_bytes() == r.bytes);
    CHECK(f.planes[0].stride == r.stride);
  }
}

TEST_CASE("a media type says what it is") {
  CHECK(make_video_type(video_format::packed(pixel_format::nv12, 640, 480))->to_string()
        == "video nv12 640x480");
  media_type t;
  t.what = media_type::kind::tensor;
  t.tensor.shape = {1, 3};
  CHECK(t.to_string() == "tensor float32 [1,3]");
}
