#include "cameras/decoder_pool.hpp"
#include "runtime/pool_stats.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace hyperframes;

namespace {

/// A decoder that is opened but given nothing: its side of the contract is played by the tests.
struct decoder {
  explicit decoder(decoder_pool& pool, AVCodecID id = AV_CODEC_ID_MPEG4)
    : context(avcodec_alloc_context3(avcodec_find_decoder(id))) {
    context->width = 50;
    context->height = 30;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->opaque = &pool;
    context->get_buffer2 = decoder_pool::get_buffer2;
    REQUIRE(avcodec_open2(context, nullptr, nullptr) == 0);
  }
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  ~decoder() { avcodec_free_context(&context); }

  AVFrame* frame(int width = 50, int height = 30, AVPixelFormat format = AV_PIX_FMT_YUV420P) {
    auto* f = av_frame_alloc();
    f->width = width;
    f->height = height;
    f->format = format;
    REQUIRE(context->get_buffer2(context, f, 0) == 0);
    return f;
  }

  AVCodecContext* context;
};

} // namespace

TEST_CASE("decoder_pool: which formats pass unchanged") {
  CHECK(direct_format(AV_PIX_FMT_YUV420P) == pixel_format::i420);
  CHECK(direct_format(AV_PIX_FMT_YUVJ420P) == pixel_format::i420);
  CHECK(direct_format(AV_PIX_FMT_NV12) == pixel_format::nv12);
  CHECK(direct_format(AV_PIX_FMT_GRAY8) == pixel_format::gray8);
  CHECK(direct_format(AV_PIX_FMT_BGR24) == pixel_format::bgr24);
  CHECK(direct_format(AV_PIX_FMT_RGB24) == pixel_format::rgb24);
  CHECK_FALSE(direct_format(AV_PIX_FMT_YUV422P));
  CHECK_FALSE(direct_format(AV_PIX_FMT_NONE));
}

TEST_CASE("decoder_pool: a lent slot is found again, is read-only, and comes back") {
  decoder_pool pool{2, 3};
  decoder d{pool};
  auto* f = d.frame();
  CHECK_FALSE(av_frame_is_writable(f));
  auto p = pool.find(*f);
  REQUIRE(p);
  CHECK(p.format.format == pixel_format::i420);
  CHECK(p.format.width == 50);
  CHECK(p.format.height == 30);
  CHECK(reinterpret_cast<std::uint8_t*>(p.slot.data()) == f->data[0]);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    CHECK(p.format.planes[plane].offset % 64 == 0);
    CHECK(p.format.planes[plane].stride >= (plane == 0 ? 50 : 25));
    CHECK(
      p.format.planes[plane].offset + p.format.planes[plane].stride * (plane == 0 ? 30 : 15)
      <= p.slot.size());
  }
  CHECK_FALSE(p.starved);
  CHECK_FALSE(p.slot.unique());
  av_frame_free(&f);
  CHECK(p.slot.unique());
  CHECK(pool.peak_in_use() == 1);
}

TEST_CASE("decoder_pool: knows when the graph holds all that it may") {
  decoder_pool pool{2, 3};
  decoder d{pool};
  std::vector<buffer_ref> graph;
  std::vector<AVFrame*> references;
  for (int i = 0; i < 3; ++i) {
    auto* f = d.frame();
    auto p = pool.find(*f);
    CHECK(p.starved == (i == 2));
    if (i < 2)
      graph.push_back(p.slot);
    references.push_back(f); // the decoder holds them too
  }
  for (auto* f : references)
    av_frame_free(&f);
  CHECK(pool.misses() == 0);
}

TEST_CASE("decoder_pool: without a free slot the decoder still gets memory") {
  decoder_pool pool{1, 1};
  decoder d{pool};
  std::vector<AVFrame*> frames;
  for (int i = 0; i < 3; ++i)
    frames.push_back(d.frame());
  CHECK(pool.find(*frames[0]));
  CHECK(pool.find(*frames[1]));
  CHECK_FALSE(pool.find(*frames[2]));
  CHECK(pool.misses() == 1);
  CHECK(pool.peak_in_use() == 2);
  CHECK_FALSE(pool.acquire(pixel_format::i420, 50, 30));
  av_frame_free(&frames[0]);
  CHECK(pool.acquire(pixel_format::i420, 50, 30));
  for (std::size_t i = 1; i < 3; ++i)
    av_frame_free(&frames[i]);
}

TEST_CASE(
  "decoder_pool: pictures that change between sizes and formats do not bring pool after pool") {
  decoder_pool pool{20, 3};
  decoder d{pool};
  std::vector<buffer_ref> graph;
  for (int i = 0; i < 20; ++i) {
    auto* f = i % 3 == 1 ? d.frame(200, 100)
                         : d.frame(50, 30, i % 3 == 0 ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_GRAY8);
    auto p = pool.find(*f);
    REQUIRE(p);
    CHECK(p.format.width == static_cast<std::uint32_t>(f->width));
    av_frame_free(&f);
    graph.push_back(std::move(p.slot));
  }
  for (std::size_t i = 2; i < graph.size(); ++i) // all in the large picture's pool
    CHECK(graph[i].size() == graph[1].size());
  CHECK(graph[0].size() < graph[1].size());
  CHECK(pool.peak_in_use() == 19);
  const auto copy = pool.acquire(pixel_format::bgr24, 60, 40);
  CHECK(copy.slot.size() == graph[1].size());
  CHECK(copy.format.planes[0].stride >= 60 * 3);
}

TEST_CASE("decoder_pool: a larger picture brings a new pool; the old one goes when it is empty") {
  decoder_pool pool{2, 3};
  decoder d{pool};
  auto *small = d.frame(), *large = d.frame(200, 100), *small_again = d.frame();
  for (const auto* f : {small, large, small_again}) {
    const auto p = pool.find(*f);
    REQUIRE(p);
    CHECK(p.format.width == static_cast<std::uint32_t>(f->width));
  }
  av_frame_free(&small);
  auto p = pool.find(*large);
  av_frame_free(&large);
  auto* other = d.frame(300, 100);
  CHECK(p.slot.size() > 200 * 100);
  p.slot.data()[p.slot.size() - 1] = std::byte{1}; // still there
  av_frame_free(&other);
  av_frame_free(&small_again);
}

TEST_CASE("decoder_pool: formats that need converting stay FFmpeg's") {
  decoder_pool pool{2, 3};
  decoder d{pool};
  auto* f = d.frame(50, 30, AV_PIX_FMT_YUV422P);
  CHECK_FALSE(pool.find(*f));
  av_frame_free(&f);
  const auto p = pool.acquire(pixel_format::bgr24, 50, 30);
  REQUIRE(p);
  CHECK(p.format.planes[0].stride % 64 == 0);
  CHECK(p.slot.size() == decoder_pool::slot_bytes(nullptr, AV_PIX_FMT_BGR24, 50, 30));
}

TEST_CASE(
  "decoder_pool: old pools go with their last slot, and all of them stay within the memory") {
  const auto bytes_of = [](int width, int height) {
    decoder_pool any{1, 1};
    const decoder d{any};
    return (decoder_pool::slot_bytes(d.context, AV_PIX_FMT_YUV420P, width, height) + 63) / 64 * 64;
  };
  constexpr std::size_t slots = 5;
  const auto small = slots * bytes_of(50, 30), large = slots * bytes_of(200, 100);
  const auto reserve = std::make_shared<memory_reserve>(large);
  const auto stats = std::make_shared<pool_stats>("pool", "capture", small, reserve);
  decoder_pool pool{2, 3, stats};
  decoder d{pool};
  const auto given = [&](int width, int height) {
    auto* f = d.frame(width, height);
    auto p = pool.find(*f);
    av_frame_free(&f);
    return p;
  };
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    auto held = given(50, 30);
    REQUIRE(held);
    auto larger = given(200, 100);
    REQUIRE(larger);
    if (turn == 0) {
      CHECK(stats->now().bytes == small + large);
      CHECK(reserve->left() == 0);
    }
    // A third size has no room beside these: FFmpeg's memory stands in, and a copy finds none
    // either.
    CHECK_FALSE(given(300, 100));
    CHECK(pool.acquire(pixel_format::i420, 300, 100).refused);
    CHECK(given(200, 100)); // the pool in use stays
    held = {};
    CHECK(given(50, 30));
    CHECK(stats->now().bytes == large);
    CHECK(stats->now().peak_bytes <= small + large);
  }
  CHECK(pool.misses() == 3);
  auto other = given(200, 120); // in the place of the pool that nobody holds
  CHECK(other);
  CHECK(stats->now().in_use == 1);
  CHECK(stats->now().bytes <= small + large);
}
