#include "actors/sinks/to_bgr.hpp"

namespace hyperframes {

namespace {

pack_spec picture_of(std::uint32_t width, std::uint32_t height) {
  pack_spec spec;
  spec.width = width;
  spec.height = height;
  spec.channels = channel_order::bgr;
  spec.layout = tensor_layout::nhwc;
  spec.type = data_type::uint8;
  spec.scale = 1;
  return spec;
}

} // namespace

cv::Mat bgr_converter::convert(const frame& f) {
  if (!f.media || f.media->what != media_type::kind::video)
    throw failure(make_error(errc::stage_failed, "", "a frame without a picture cannot be drawn: it holds "
                                                       + (f.media ? f.media->to_string() : "nothing")));
  const auto& v = f.media->video;
  if (!packer_ || packer_->spec().width != v.width || packer_->spec().height != v.height)
    packer_.emplace(picture_of(v.width, v.height));
  cv::Mat picture(static_cast<int>(v.height), static_cast<int>(v.width), CV_8UC3);
  packer_->pack(f, {reinterpret_cast<std::byte*>(picture.data), packer_->spec().slot_bytes()}).value();
  return picture;
}

} // namespace hyperframes
