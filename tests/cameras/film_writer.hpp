#pragma once

#include <doctest/doctest.h>
#include <opencv2/imgcodecs.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include <libavformat/avformat.h>
}

namespace hyperframes::test {

/// Writes a film whose frames are JPEG or PNG pictures with any presentation times, for films that
/// no camera makes.
class film_writer {
public:
  /// @param container "matroska" or "avi"; times are in ms.
  film_writer(
    const std::string& path, const char* container, AVCodecID codec, int width, int height) {
    REQUIRE(avformat_alloc_output_context2(&out_, nullptr, container, path.c_str()) >= 0);
    stream_ = avformat_new_stream(out_, nullptr);
    auto& p = *stream_->codecpar;
    p.codec_type = AVMEDIA_TYPE_VIDEO;
    p.codec_id = codec;
    p.width = width;
    p.height = height;
    stream_->time_base = {1, 1000};
    REQUIRE(avio_open(&out_->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0);
    REQUIRE(avformat_write_header(out_, nullptr) >= 0);
  }
  film_writer(const film_writer&) = delete;
  film_writer& operator=(const film_writer&) = delete;
  ~film_writer() {
    av_write_trailer(out_);
    avio_closep(&out_->pb);
    avformat_free_context(out_);
  }

  void add(const std::vector<std::uint8_t>& bytes, std::int64_t ms) { add(bytes, ms, ms, true); }
  /// @param dts in the order of decoding.
  void add(const std::vector<std::uint8_t>& bytes, std::int64_t pts, std::int64_t dts, bool key) {
    auto* packet = av_packet_alloc();
    REQUIRE(av_new_packet(packet, static_cast<int>(bytes.size())) >= 0);
    std::memcpy(packet->data, bytes.data(), bytes.size());
    packet->pts = av_rescale_q(pts, AVRational{1, 1000}, stream_->time_base);
    packet->dts = av_rescale_q(dts, AVRational{1, 1000}, stream_->time_base);
    packet->flags |= key ? AV_PKT_FLAG_KEY : 0;
    packet->stream_index = 0;
    REQUIRE(av_write_frame(out_, packet) >= 0);
    av_packet_free(&packet);
  }

private:
  AVFormatContext* out_ = nullptr;
  AVStream* stream_ = nullptr;
};

inline std::vector<std::uint8_t> encoded(const char* ending, const cv::Mat& picture) {
  std::vector<std::uint8_t> bytes;
  REQUIRE(cv::imencode(ending, picture, bytes));
  return bytes;
}

} // namespace hyperframes::test
