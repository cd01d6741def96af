// What a part of a graph and the rest of it write to each other, and what they make of what is none of it.
#include "runtime/net/part_counts.hpp"
#include "runtime/net/stage_wire.hpp"
#include "runtime/shared_memory.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

using namespace hyperframes;

namespace {

std::shared_ptr<hyperframe> some_hyperframe(buffer_pool& pool) {
  auto h = std::make_shared<hyperframe>();
  h->pack.width = h->pack.height = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    slot s;
    s.meta.stream = 3;
    s.meta.frame_id = 40 + i;
    s.valid = s.own = true;
    h->descriptor.slots.push_back(s);
  }
  h->descriptor.sequence = {1, 2, 3};
  h->tensor = pool.acquire();
  REQUIRE(h->tensor);
  std::memset(h->tensor.data(), 7, h->tensor.size());
  return h;
}

constexpr std::size_t tensor_bytes = 2 * 2 * 2 * 3 * 4;

struct both_ends {
  shared_importer importer;
  loan_returner returned =
    std::make_shared<const std::function<void(std::uint64_t)>>([](std::uint64_t) {});

  /// What arrives of `m`, with contents as bytes.
  std::optional<item> pass(const put_message& m) {
    content_sender contents{nullptr, 0};
    const auto head = write_message(stage_parcel{5, m}, contents);
    auto read = read_part_message(head);
    REQUIRE(read);
    auto* put = std::get_if<wire_put>(&*read);
    REQUIRE(put);
    CHECK(put->to == 5);
    CHECK(put->edge == m.edge);
    return from_wire(std::move(put->value), contents.take_bulk(), importer, returned);
  }
};

part_message pass(const part_message& m) {
  content_sender contents{nullptr, 0};
  const auto head = write_message(m, contents);
  CHECK(is_part_message(head));
  auto read = read_part_message(head);
  REQUIRE(read);
  CHECK(contents.take_bulk().empty());
  return std::get<part_message>(std::move(*read));
}

} // namespace

TEST_CASE("a hyperframe arrives with its tensor and its frames") {
  buffer_pool pool{1, tensor_bytes}, pixels{2, 4 * 2 * 3};
  const auto h = some_hyperframe(pool);
  for (int i = 0; i < 2; ++i) {
    frame f;
    f.meta.frame_id = 40 + static_cast<std::uint64_t>(i);
    f.media = make_video_type(video_format::packed(pixel_format::bgr24, 4, 2));
    f.buffer = pixels.acquire();
    f.buffer.data()[5] = std::byte{9};
    h->frames.push_back(f);
  }
  both_ends ends;
  const auto got = ends.pass({1, item{hyperframe_ptr{h}}});
  REQUIRE(got);
  const auto& g = *std::get<hyperframe_ptr>(*got);
  CHECK(g.descriptor.sequence == h->descriptor.sequence);
  CHECK(g.descriptor.slots[1].meta.frame_id == 41);
  CHECK(std::memcmp(g.tensor.data(), h->tensor.data(), tensor_bytes) == 0);
  REQUIRE(g.frames.size() == 2);
  CHECK(g.frames[1].meta.frame_id == 41);
  CHECK(g.frames[1].media->video.width == 4);
  CHECK(g.frames[1].buffer.data()[5] == std::byte{9});
}

TEST_CASE("a batch arrives with each hyperframe once, whatever its parts") {
  buffer_pool pool{2, tensor_bytes};
  const hyperframe_ptr one = some_hyperframe(pool), two = some_hyperframe(pool);
  auto b = std::make_shared<batch>();
  b->number = 12;
  b->slots = 3;
  b->parts = {{one, 1, 1}, {two, 0, 1}, {one, 0, 1}};
  both_ends ends;
  const auto got = ends.pass({1, item{batch_ptr{b}}});
  REQUIRE(got);
  const auto& g = *std::get<batch_ptr>(*got);
  CHECK(g.number == 12);
  REQUIRE(g.parts.size() == 3);
  CHECK(g.parts[0].source == g.parts[2].source);
  CHECK(g.parts[0].source != g.parts[1].source);
  CHECK(g.parts[0].first == 1);
}

TEST_CASE("what is lent is not copied, and frames stay where their camera is") {
  buffer_pool pool{1, tensor_bytes, nullptr, shared_backing()};
  const hyperframe_ptr h = some_hyperframe(pool);
  loan_book loans;
  const auto borrower = loans.join();
  content_sender contents{&loans, borrower};
  write_message(stage_parcel{5, put_message{1, item{h}}}, contents);
  CHECK(contents.take_bulk().empty());
  CHECK(loans.lent() == 1);
  CHECK_THROWS_AS(write_message(stage_parcel{5, put_message{1, item{frame{}}}}, contents), std::logic_error);
}

TEST_CASE("an item that does not fit its buffers is refused") {
  buffer_pool pool{1, tensor_bytes}, small{1, tensor_bytes - 1}, pixels{1, 23};
  const auto passes = [](const std::function<void(wire_item&)>& change, buffer_pool& from) {
    const auto h = some_hyperframe(from);
    content_sender contents{nullptr, 0};
    auto w = to_wire(item{hyperframe_ptr{h}}, contents);
    change(w);
    shared_importer importer;
    const loan_returner returned =
      std::make_shared<const std::function<void(std::uint64_t)>>([](std::uint64_t) {});
    return from_wire(std::move(w), contents.take_bulk(), importer, returned).has_value();
  };
  CHECK(passes([](wire_item&) {}, pool));
  CHECK_FALSE(passes([](wire_item&) {}, small));
  CHECK_FALSE(passes([](wire_item& w) { w.hyperframes[0].pack.width = 0xffffffff; }, pool));
  CHECK_FALSE(passes([](wire_item& w) { w.hyperframes[0].descriptor.slots.emplace_back(); }, pool));
  CHECK_FALSE(passes([](wire_item& w) { w.hyperframes[0].tensor.index = 3; }, pool));
  CHECK_FALSE(passes([](wire_item& w) { w.hyperframes.clear(); }, pool));
  CHECK_FALSE(passes([](wire_item& w) { w.hyperframes[0].frames.emplace_back(); }, pool));
  CHECK_FALSE(passes([](wire_item& w) { w.type = port_type::batch; }, pool));
  CHECK_FALSE(passes(
    [](wire_item& w) {
      w.type = port_type::batch;
      w.parts = {{1, 0, 1}};
    },
    pool));
  CHECK_FALSE(passes(
    [](wire_item& w) {
      w.type = port_type::batch;
      w.parts = {{0, 1, 2}};
    },
    pool));
  CHECK_FALSE(passes([](wire_item& w) { w.type = port_type::frame; }, pool));
}

TEST_CASE("the words of a part") {
  part_begin begin;
  begin.run = 3;
  begin.turn = 2;
  begin.now = graph_time{std::chrono::seconds{9}};
  begin.used = {{1, 2, 3, 4}};
  begin.streams = {{1, 2, 3, 4, true}};
  const auto b = std::get<part_begin>(pass(begin));
  CHECK(b.now == begin.now);
  CHECK(b.used.at(0).bytes == 4);
  CHECK(b.streams.at(0).before == 4);
  CHECK(b.streams.at(0).ended);
  const auto end = std::get<stage_parcel>(pass(stage_parcel{4, end_message{1, {2, 3, 5, false}}}));
  CHECK(end.to == 4);
  CHECK(std::get<end_message>(end.what).end.frames == 5);
  CHECK(std::get<control>(std::get<stage_parcel>(pass(stage_parcel{4, control::drain})).what) == control::drain);
  CHECK(std::get<stage_changed>(pass(stage_changed{1, stage_state::failed, "why"})).why == "why");
  CHECK(std::get<event>(pass(event{begin.now, "a", "b", true})).failed);
  CHECK(std::get<camera_asked>(pass(camera_asked{7, true})).attach);
  CHECK(std::get<part_refused>(pass(part_refused{"no"})).why == "no");
  CHECK(std::get<captured_frames>(pass(captured_frames{{{1, 0, 2, 3, outcome::lost, reason::none}}})).ranges[0].count == 3);
}

TEST_CASE("items, ends and captured frames keep their order among each other") {
  CHECK(behind_items(stage_parcel{1, end_message{}}));
  CHECK(behind_items(stage_parcel{1, put_message{}}));
  CHECK(behind_items(captured_frames{}));
  CHECK_FALSE(behind_items(stage_parcel{1, credit_message{}}));
  CHECK_FALSE(behind_items(stage_parcel{1, control::run}));
  CHECK_FALSE(behind_items(part_begin{}));
}

TEST_CASE("what a part counts arrives once, and adds up") {
  telemetry there{2, 1, 1}, here{2, 1, 1};
  stage_description source;
  stage_wiring w;
  w.self = 1;
  w.kind = &source;
  w.plan.streams = {0};
  w.outputs.push_back({});
  part_counts counts{{&w}, there};
  there.stage(1).items_out += 5;
  there.edge(0).drops += 2;
  there.stream(0).device_lost += 3;
  there.stage(1).service.record(std::chrono::milliseconds{3});
  there.injected("cam", "gap");
  here.edge(0).drops += 1; // of the other end
  add_numbers(std::get<part_numbers>(pass(counts.take())), here);
  there.stage(1).items_out += 1;
  there.injected("cam", "gap");
  add_numbers(std::get<part_numbers>(pass(counts.take())), here);
  add_numbers(std::get<part_numbers>(pass(counts.take())), here);
  CHECK(here.stage(1).items_out == 6);
  CHECK(here.edge(0).drops == 3);
  CHECK(here.stream(0).device_lost == 3);
  CHECK(here.stage(1).service.count() == 1);
  CHECK(here.stage(1).service.longest() == std::chrono::milliseconds{3});
  CHECK(here.injected().at({"cam", "gap"}) == 2);
}

TEST_CASE("bytes that are no message of a part") {
  content_sender none{nullptr, 0};
  auto head = write_message(stage_parcel{4, end_message{1, {2, 3, 5, false}}}, none);
  for (std::size_t n = 0; n < head.size(); ++n)
    CHECK_FALSE(read_part_message(std::span{head}.first(n)));
  head.push_back({});
  CHECK_FALSE(read_part_message(head));
  std::mt19937 random{1};
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random() % 64 + 1);
    for (auto& b : bytes)
      b = static_cast<std::byte>(random());
    bytes[0] = static_cast<std::byte>(128 + random() % 12);
    static_cast<void>(read_part_message(bytes)); // must not crash, nor take much memory
  }
}
