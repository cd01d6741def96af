// What is known here of a part of the graph that runs elsewhere.
#include "runtime/part_account.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hyperframes;

namespace {

constexpr stage_index source = 0, bundler = 1, scheduler = 2, settler = 4;
constexpr edge_index frames_edge = 0, in_edge = 1, out_edge = 2;

/// capture -> bundle -> schedule -> infer (3), and `settler` below.
struct graph {
  stage_description with_input, without_input;
  std::vector<stage_wiring> stages{3};

  explicit graph(std::uint64_t capacity_bytes = 0) {
    with_input.inputs = {{"in", {port_type::hyperframe}}};
    edge_limits limits;
    limits.capacity_bytes = capacity_bytes;
    const edge_wiring frames{frames_edge, source, 0, bundler, "bundle", port_type::frame, limits, {settler}};
    const edge_wiring in{in_edge, bundler, 0, scheduler, "schedule", port_type::hyperframe, limits, {settler}};
    const edge_wiring out{out_edge, scheduler, 0, 3, "infer", port_type::batch, limits, {settler}};
    for (stage_index i = 0; i < stages.size(); ++i) {
      stages[i].self = i;
      stages[i].kind = i == source ? &without_input : &with_input;
      stages[i].plan.streams = {0, 1};
      stages[i].settlers = {settler};
    }
    stages[source].outputs = {frames};
    stages[bundler].inputs = {frames};
    stages[bundler].outputs = {in};
    stages[scheduler].inputs = {in};
    stages[scheduler].outputs = {out};
  }
  part_account cameras() const { return part_account{{&stages[source], &stages[bundler]}}; }
  part_account schedule() const { return part_account{{&stages[scheduler]}}; }
};

hyperframe_ptr frames(std::uint64_t first, std::uint64_t count, std::uint32_t epoch = 0, stream_index stream = 0) {
  auto h = std::make_shared<hyperframe>();
  for (std::uint64_t i = 0; i < count; ++i) {
    slot s;
    s.meta.stream = stream;
    s.meta.epoch = epoch;
    s.meta.frame_id = first + i;
    s.valid = s.own = true;
    h->descriptor.slots.push_back(s);
  }
  return h;
}

put_message put(edge_index edge, hyperframe_ptr h) {
  return {edge, item{std::move(h)}};
}

outcome_range range(std::uint64_t first, std::uint64_t count, std::uint32_t epoch = 0) {
  return {0, epoch, first, count, outcome::dropped, reason::edge_full};
}

template <class Ranges>
std::string in_words(const Ranges& ranges) {
  std::string text;
  for (const auto& r : ranges)
    text += (text.empty() ? "" : " ") + std::to_string(r.epoch) + ':' + std::to_string(r.first) + '+'
            + std::to_string(r.count);
  return text;
}

std::string lost_by(part_account& a) {
  const auto lost = a.take_lost();
  if (lost.empty())
    return {};
  CHECK(lost.size() == 1);
  CHECK(lost[0].first == settler);
  for (const auto& r : lost[0].second.ranges) {
    CHECK(r.what == outcome::lost);
    CHECK(r.why == reason::worker_lost);
  }
  return in_words(lost[0].second.ranges);
}

} // namespace

TEST_CASE("a part holds what has entered and neither left nor got its outcome") {
  const graph g;
  auto a = g.schedule();
  a.entered(put(in_edge, frames(0, 8)));
  a.entered(put(in_edge, frames(8, 8)));
  CHECK(a.held(settler) == 16);
  CHECK(a.left(put(out_edge, frames(0, 8))).empty());
  a.left(settler, {{range(10, 2)}});
  CHECK(a.held(settler) == 6);
  CHECK(a.held(settler + 1) == 0);
  CHECK(lost_by(a) == "0:8+2 0:12+4");
  CHECK(a.held() == 0);
  CHECK(lost_by(a) == "");
}

TEST_CASE("a camera's frame is known of from the first message that shows it") {
  const graph g;
  auto a = g.cameras();
  CHECK(in_words(a.captured(range(0, 3))) == "0:0+3");
  CHECK(in_words(a.captured(range(1, 2))) == ""); // again
  // A hyperframe overtakes what says that its frames were captured, and so does an outcome.
  CHECK(in_words(a.left(put(in_edge, frames(2, 4)))) == "0:3+3");
  CHECK(in_words(a.left(settler, {{range(8, 1)}})) == "0:6+3");
  CHECK(in_words(a.captured(range(3, 6))) == "");
  CHECK(in_words(a.captured(range(0, 2, 1))) == "1:0+2");
  CHECK(lost_by(a) == "0:0+2 0:6+2 1:0+2");
}

TEST_CASE("frames of streams that others capture enter with their items only") {
  const graph g;
  auto a = g.schedule();
  CHECK(a.captured(range(0, 3)).empty());
  CHECK(a.held() == 0);
}

TEST_CASE("whoever follows knows where each stream stands") {
  const graph g;
  auto a = g.cameras();
  const auto at = [&](stream_index stream) {
    const auto all = a.positions();
    REQUIRE(all.size() == 2);
    const auto& p = all[stream];
    CHECK(p.stream == stream);
    return std::to_string(p.epoch) + ':' + std::to_string(p.frames) + " after " + std::to_string(p.before)
           + (p.ended ? " ended" : "");
  };
  CHECK(at(0) == "0:0 after 0");
  a.captured(range(0, 7));
  CHECK(at(0) == "0:7 after 0");
  CHECK(a.left(end_message{in_edge, {0, 0, 7, false}}));
  CHECK(at(0) == "1:0 after 7"); // nothing is known of the next epoch
  a.captured(range(0, 2, 1));
  CHECK(at(0) == "1:2 after 7");
  CHECK(a.left(end_message{in_edge, {0, 1, 2, true}}));
  CHECK(at(0) == "1:2 after 7 ended");
  CHECK(at(1) == "0:0 after 0");
}

TEST_CASE("a run that goes on begins where the one before stood") {
  graph g;
  auto facts = std::make_shared<graph_facts>();
  facts->streams.resize(2);
  facts->streams[1].first_epoch = 3;
  facts->streams[1].frames_before = 40;
  g.stages[source].plan.graph = facts;
  auto a = g.cameras();
  auto at = a.positions().at(1);
  CHECK(at.stream == 1);
  CHECK(at.epoch == 3);
  CHECK(at.frames == 0);
  CHECK(at.before == 40);
  a.captured({1, 3, 0, 2, outcome::lost, reason::none});
  at = a.positions().at(1);
  CHECK(at.epoch == 3);
  CHECK(at.frames == 2);
  CHECK(at.before == 40);
  CHECK(a.positions().at(0).epoch == 0);
}

TEST_CASE("credit of what a part had is owed to those above, and its own goes on to whoever follows") {
  const graph g;
  auto a = g.schedule();
  for (int i = 0; i < 3; ++i)
    a.entered(put(in_edge, frames(8 * i, 8)));
  a.left(credit_message{in_edge, 0, 1, 0});
  a.left(put(out_edge, frames(0, 8)));
  a.left(put(out_edge, frames(8, 8)));
  a.entered(credit_message{out_edge, 0, 1, 0});
  REQUIRE(a.used().size() == 1);
  CHECK(a.used()[0].edge == out_edge);
  CHECK(a.used()[0].items == 1);
  const auto owed = a.take_owed();
  REQUIRE(owed.size() == 1);
  CHECK(owed[0].first == bundler);
  CHECK(owed[0].second.edge == in_edge);
  CHECK(owed[0].second.items == 2);
  CHECK(a.take_owed().empty());
  CHECK(a.used().size() == 1);
}

TEST_CASE("more credit than was used is a fault, and so is an edge of others") {
  const graph g;
  auto a = g.schedule();
  CHECK_THROWS_AS(a.left(credit_message{in_edge, 0, 1, 0}), failure);
  CHECK_THROWS_AS(a.entered(credit_message{out_edge, 0, 1, 0}), failure);
  CHECK_THROWS_AS(a.left(put(in_edge, frames(0, 1))), failure);
  CHECK_THROWS_AS(a.left(put(99, frames(0, 1))), failure);
  CHECK_THROWS_AS(a.left(end_message{in_edge, {0, 0, 1, true}}), failure);
  CHECK_THROWS_AS(a.into(out_edge), failure);
}

TEST_CASE("bytes count where an edge is bounded by them, and nowhere else") {
  buffer_pool pool{1, 64};
  const auto with_tensor = [&] {
    auto h = std::make_shared<hyperframe>(*frames(0, 1));
    h->tensor = pool.acquire();
    return h;
  };
  const graph bounded{1000}, open{0};
  auto a = bounded.schedule(), b = open.schedule();
  {
    const auto h = with_tensor();
    a.entered(put(in_edge, h));
    b.entered(put(in_edge, h));
  }
  CHECK(a.take_owed()[0].second.bytes == 64);
  CHECK(b.take_owed()[0].second.bytes == 0);
}

TEST_CASE("an end comes out once, whoever says it, and enters again until it has") {
  const graph g;
  auto a = g.schedule();
  a.entered(end_message{in_edge, {0, 0, 8, false}});
  a.entered(end_message{in_edge, {0, 1, 8, false}});
  CHECK(a.ends().size() == 2);
  CHECK(a.left(end_message{out_edge, {0, 0, 8, false}}));
  CHECK(a.ends().size() == 1);
  CHECK_FALSE(a.left(end_message{out_edge, {0, 0, 8, false}})); // of the one that follows
  a.entered(end_message{in_edge, {0, 2, 8, true}});
  CHECK(a.left(end_message{out_edge, {0, 1, 8, false}}));
  CHECK(a.left(end_message{out_edge, {0, 2, 8, true}}));
  REQUIRE(a.ends().size() == 1); // whoever follows must know that the stream is over
  CHECK(a.ends()[0].end.last_epoch);
}

TEST_CASE("where nobody follows, those below get the ends that they wait for") {
  const graph g;
  auto a = g.schedule();
  a.entered(end_message{in_edge, {0, 0, 8, true}});
  a.entered(end_message{in_edge, {1, 0, 4, false}});
  CHECK(a.left(end_message{out_edge, {0, 0, 8, true}}));
  auto missing = a.take_missing_ends();
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].first == 3);
  CHECK(missing[0].second.edge == out_edge);
  CHECK(missing[0].second.end.stream == 1);
  CHECK(a.take_missing_ends().empty());
  a.entered(end_message{in_edge, {1, 1, 2, true}});
  missing = a.take_missing_ends();
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].second.end.last_epoch);

  auto cameras = g.cameras();
  cameras.captured(range(0, 5));
  missing = cameras.take_missing_ends();
  REQUIRE(missing.size() == 2); // also of the stream that has given nothing
  CHECK(missing[0].second.end.frames == 5);
  CHECK(missing[0].second.end.last_epoch);
  CHECK(missing[1].second.end.frames == 0);
}
