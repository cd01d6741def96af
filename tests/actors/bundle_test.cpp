#include "actors/bundle.hpp"
#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <sstream>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

graph_time ms(int t) {
  return graph_time{std::chrono::milliseconds{t}};
}

/// A frame of 4 x 2 grey pixels of value `id`.
struct frame_source {
  buffer_pool pool{256, 8};
  media_type_ptr media = make_video_type(video_format::packed(pixel_format::gray8, 4, 2));

  frame operator()(
    stream_index stream, std::uint64_t id, int arrived = 0, std::uint32_t epoch = 0,
    std::uint16_t flags = 0) {
    frame f;
    f.meta.stream = stream;
    f.meta.epoch = epoch;
    f.meta.frame_id = id;
    f.meta.flags = flags;
    f.meta.timeline = ms(arrived);
    f.meta.arrived = as_arrival(ms(arrived));
    f.meta.deadline = ms(arrived + 500);
    f.media = media;
    f.buffer = pool.acquire();
    std::memset(f.buffer.data(), static_cast<int>(id), 8);
    return f;
  }
};

pack_spec gray_as_it_is() {
  pack_spec p;
  p.channels = channel_order::gray;
  p.type = data_type::uint8;
  p.scale = 1;
  p.pad_value = 0;
  return p;
}

/// "count 0:0 0:1 (0:2) x -": own, context, masked with its reason, empty slots.
std::string in_words(const hyperframe& h) {
  std::ostringstream s;
  s << to_string(h.descriptor.released_by);
  for (const auto& slot : h.descriptor.slots) {
    s << ' ';
    const auto id = std::to_string(slot.meta.stream) + ':' + std::to_string(slot.meta.frame_id);
    if (slot.valid)
      s << (slot.own ? id : '(' + id + ')');
    else if (slot.absent != reason::none)
      s << to_string(slot.absent);
    else
      s << '-';
  }
  return s.str();
}

/// The stage with its settings, on a time line of its own.
class bundle_run {
public:
  bundle_run(
    const settings& own, std::shared_ptr<const graph_facts> graph, bool tensors = true,
    std::uint64_t slots = 64)
    : description_(describe_bundle()) {
    auto plan = plan_with(description_, own, std::move(graph));
    plan.tensors = slots;
    auto below = std::make_shared<stage_resource>();
    if (tensors)
      below->tensor = gray_as_it_is();
    plan.below = below;
    stage_ = description_.make(plan);
    stage_->start(context);
  }
  void at(int t) { context.advance_to(ms(t), *stage_); }
  void take(frame f) {
    at(static_cast<int>(f.meta.arrived.time_since_epoch() / 1ms));
    stage_->on_item(std::move(f), context);
  }
  void take(aligned_set set, int t) {
    at(t);
    stage_->on_item(std::make_shared<const aligned_set>(std::move(set)), context);
  }
  void end(stream_index stream, bool last = true, std::uint32_t epoch = 0) {
    stage_->on_end({stream, epoch, 0, last}, context);
  }
  std::vector<hyperframe_ptr> sent() const { return context.items<hyperframe_ptr>(); }
  std::vector<std::string> words() const {
    std::vector<std::string> result;
    for (const auto& h : sent())
      result.push_back(in_words(*h));
    return result;
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> result;
    for (const auto& r : context.outcomes)
      result.push_back(hyperframes::in_words(r));
    return result;
  }
  stage& tested() { return *stage_; }

  fake_context context;

private:
  stage_description description_;
  std::unique_ptr<stage> stage_;
};

settings release(const settings& r) {
  return settings{}.with("release", std::make_shared<settings>(r));
}
settings with_size(std::int64_t size) {
  return settings{}.with("size", size);
}

/// A set of one group; `ids` below 0 are absent members.
aligned_set make_set(
  frame_source& frames, const std::vector<int>& ids, int arrived,
  const std::vector<bool>& repeats = {}) {
  aligned_set set;
  set.moment = ms(arrived);
  set.arrived = ms(arrived);
  for (std::size_t m = 0; m < ids.size(); ++m) {
    auto& member = set.members.emplace_back();
    member.stream = static_cast<stream_index>(m);
    if (ids[m] < 0) {
      member.absent = reason::unmatched;
      continue;
    }
    member.item = frames(member.stream, static_cast<std::uint64_t>(ids[m]), arrived);
    member.own = repeats.empty() || !repeats[m];
  }
  return set;
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("over time: size frames of one stream, an open hyperframe per stream, a padded tail") {
  frame_source frames;
  bundle_run run{with_size(8), cameras(1, 2, false)};
  for (std::uint64_t i = 0; i < 21; ++i) {
    run.take(frames(0, i, static_cast<int>(33 * i)));
    if (i < 3)
      run.take(frames(1, i, static_cast<int>(33 * i)));
  }
  CHECK(run.tested().held_frames() == 5 + 3);
  run.end(0);
  CHECK(
    run.words()
    == words{
      "count 0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7", "count 0:8 0:9 0:10 0:11 0:12 0:13 0:14 0:15",
      "flush 0:16 0:17 0:18 0:19 0:20 - - -"});
  CHECK(std::holds_alternative<stream_end>(run.context.sent.back()));
  CHECK(run.tested().held_frames() == 3);
  run.end(1);
  CHECK(run.words().back() == "flush 1:0 1:1 1:2 - - - - -");
  CHECK(run.outcomes().empty());
  CHECK(frames.pool.in_use() == 0); // pixels went into the tensors at once
}

TEST_CASE("the descriptor says what is in it, and the tensor holds it") {
  frame_source frames;
  bundle_run run{with_size(4), cameras(1, 1, false)};
  run.take(frames(0, 7, 100));
  run.take(frames(0, 8, 133));
  run.take(frames(0, 10, 199));
  run.end(0);
  const auto h = run.sent().at(0);
  const auto& d = h->descriptor;
  CHECK(d.sequence == hyperframe_sequence{2, 7, 0});
  CHECK(d.group == 0);
  CHECK(d.members == 1);
  CHECK(d.opened == 100_ms);
  CHECK(d.released == 199_ms);
  CHECK(d.span == 99ms);
  CHECK_FALSE(d.consecutive);
  CHECK((d.slots[2].meta.flags & frame_gap_before) != 0);
  CHECK((d.slots[1].meta.flags & frame_gap_before) == 0);
  CHECK(d.slots[3].meta.stream == 0);
  CHECK(d.valid_count() == 3);
  CHECK(d.own_count() == 3);
  CHECK(d.deadline() == 600_ms);
  CHECK(d.slots[0].geometry.frame_width == 4);
  CHECK(h->pack.width == 4);
  CHECK(h->pack.height == 2);
  CHECK(h->frames.empty());
  const auto* pixels = reinterpret_cast<const unsigned char*>(h->tensor.data());
  CHECK(pixels[0] == 7);
  CHECK(pixels[8] == 8);
  CHECK(pixels[16] == 10);
  CHECK(pixels[24] == 0); // padding
}

TEST_CASE("over cameras: an aligned set, a slot per member") {
  frame_source frames;
  bundle_run run{settings{}.with("over", std::string{"cameras"}), cameras(1, 3, true)};
  run.take(make_set(frames, {0, 0, 0}, 0), 5);
  run.take(make_set(frames, {1, -1, 1}, 33), 73);
  CHECK(run.words() == words{"count 0:0 1:0 2:0", "count 0:1 unmatched 2:1"});
  const auto& d = run.sent()[1]->descriptor;
  CHECK(d.members == 3);
  CHECK(d.opened == 33_ms);
  CHECK(d.released == 73_ms);
  CHECK(d.consecutive);
  CHECK(d.slots[1].meta.stream == 1);
}

TEST_CASE("over both: size sets, time first; a member's end flushes what holds its frames") {
  frame_source frames;
  bundle_run run{with_size(2).with("over", std::string{"both"}), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, -1}, 33), 33);
  run.take(make_set(frames, {2, 1}, 66), 66);
  CHECK(run.words() == words{"count 0:0 1:0 0:1 unmatched"});
  run.end(1);
  CHECK(run.words().back() == "flush 0:2 1:1 - -");
  run.take(make_set(frames, {3, -1}, 99), 99);
  run.end(1, false, 1); // owns nothing that is open
  run.take(make_set(frames, {4, -1}, 133), 133);
  CHECK(run.words().back() == "count 0:3 unmatched 0:4 unmatched");
}

TEST_CASE("over time behind align: sets go to their streams' hyperframes") {
  frame_source frames;
  bundle_run run{with_size(2), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, 0}, 33, {false, true}), 33);
  run.take(make_set(frames, {-1, 1}, 66), 66);
  CHECK(run.words() == words{"count 0:0 0:1", "count 1:0 1:1"});
}

TEST_CASE("stride below size: own are the frames newer than the last hyperframe's newest") {
  frame_source frames;
  bundle_run run{with_size(4).with("stride", std::int64_t{2}), cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 7; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i)));
  CHECK(run.tested().held_frames() == 1);
  run.end(0);
  CHECK(
    run.words()
    == words{"count 0:0 0:1 0:2 0:3", "count (0:2) (0:3) 0:4 0:5", "flush (0:4) (0:5) 0:6 -"});
  CHECK(run.context.bytes_copied == 2 * 2 * 8);
  const auto h = run.sent()[1];
  const auto* pixels = reinterpret_cast<const unsigned char*>(h->tensor.data());
  for (int i = 0; i < 4; ++i)
    CHECK(pixels[8 * i] == i + 2);
  CHECK(h->descriptor.opened == 132_ms); // of its own
  CHECK(h->descriptor.span == 99ms);
  CHECK(h->descriptor.consecutive);
  CHECK(run.outcomes().empty());
}

TEST_CASE("context alone is never sent, nor does it hold a tensor after the end") {
  frame_source frames;
  bundle_run run{with_size(2).with("stride", std::int64_t{1}), cameras(1, 1, true), true, 2};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33));
  run.at(5000);
  CHECK(run.words() == words{"count 0:0 0:1"});
  run.end(0);
  CHECK(run.words().size() == 1);
  run.context.sent.clear();
  run.take(frames(0, 0, 5033, 1)); // both tensors are free again
  run.take(frames(0, 1, 5066, 1));
  CHECK(run.words() == words{"count 0:0 0:1"});
}

TEST_CASE("stride above size and every: the frames between are skipped") {
  frame_source frames;
  {
    bundle_run run{with_size(2).with("stride", std::int64_t{5}), cameras(1, 1, false)};
    for (std::uint64_t i = 0; i < 8; ++i)
      run.take(frames(0, i, static_cast<int>(33 * i)));
    CHECK(run.words() == words{"count 0:0 0:1", "count 0:5 0:6"});
    CHECK(
      run.outcomes()
      == words{
        "0:2 skipped (stride)", "0:3 skipped (stride)", "0:4 skipped (stride)",
        "0:7 skipped (stride)"});
  }
  {
    bundle_run run{with_size(2).with("every", std::int64_t{3}), cameras(1, 1, false)};
    for (std::uint64_t i = 0; i < 7; ++i)
      run.take(frames(0, i, static_cast<int>(33 * i)));
    CHECK(run.words() == words{"count 0:0 0:3"});
    CHECK(run.sent()[0]->descriptor.consecutive); // passed over by wish
    CHECK(
      run.outcomes()
      == words{
        "0:1 skipped (every)", "0:2 skipped (every)", "0:4 skipped (every)",
        "0:5 skipped (every)"});
    for (std::uint64_t i = 8; i < 11; ++i) // 7 got lost
      run.take(frames(0, i, static_cast<int>(33 * i)));
    REQUIRE(run.words().back() == "count 0:6 0:10");
    CHECK_FALSE(run.sent()[1]->descriptor.consecutive);
  }
}

TEST_CASE("hold_last: own in its first set, context after") {
  frame_source frames;
  bundle_run run{with_size(2).with("over", std::string{"both"}), cameras(1, 2, true)};
  run.take(make_set(frames, {0, 0}, 0), 0);
  run.take(make_set(frames, {1, 0}, 33, {false, true}), 33);
  CHECK(run.words() == words{"count 0:0 1:0 0:1 (1:0)"});
  CHECK(run.sent()[0]->descriptor.own_count() == 3);
  CHECK(run.context.bytes_copied == 8); // packed a second time
}

TEST_CASE("a bad frame leaves a masked slot and fails alone") {
  frame_source frames;
  bundle_run run{with_size(4), cameras(1, 1, false)};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33, 0, frame_corrupt));
  auto empty = frames(0, 2, 66);
  empty.buffer = {};
  run.take(std::move(empty));
  auto sound = frames(0, 3, 99);
  auto audio = std::make_shared<media_type>();
  audio->what = media_type::kind::audio;
  sound.media = audio;
  run.take(std::move(sound));
  CHECK(run.words() == words{"count 0:0 corrupt pack pack"});
  CHECK(run.sent()[0]->descriptor.consecutive);
  CHECK(run.outcomes() == words{"0:1 failed (corrupt)", "0:2 failed (pack)", "0:3 failed (pack)"});
  CHECK(run.sent()[0]->descriptor.own_count() == 1);
  // Where all fail, there is nothing to send.
  for (std::uint64_t i = 4; i < 8; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i), 0, frame_corrupt));
  CHECK(run.words().size() == 1);
  run.take(frames(0, 8, 264));
  run.end(0);
  CHECK(run.words().back() == "flush 0:8 - - -");
}

TEST_CASE("release by count, timeout, window and lateness") {
  struct row {
    const char* what;
    settings options;
    std::vector<int> arrivals;                 ///< ms
    std::vector<std::pair<int, int>> expected; ///< released at, frames
    release_reason why;
  };
  const std::vector<row> rows{
    {"the last frame at the timeout's instant counts",
     release(settings{}.with("timeout", duration{99ms})),
     {0, 33, 66, 99},
     {{99, 4}},
     release_reason::count},
    {"timeout since the oldest member arrived",
     release(settings{}.with("timeout", duration{33ms})),
     {10, 40, 50},
     {{43, 2}, {83, 1}},
     release_reason::timeout},
    {"timeout, honoured as given",
     release(settings{}.with("timeout", duration{1500ms})),
     {7},
     {{1507, 1}},
     release_reason::timeout},
    {"count below size",
     release(settings{}.with("count", std::int64_t{2})),
     {0, 33, 66, 99},
     {{33, 2}, {99, 2}},
     release_reason::count},
    {"window edges lie on the clock",
     release(settings{}.with("window", duration{50ms})),
     {10, 49, 50, 99, 101},
     {{50, 3}, {100, 1}, {150, 1}},
     release_reason::window},
    {"lateness is the default: 1.5 * 4 / 30 Hz", {}, {100}, {{300, 1}}, release_reason::late},
    {"late in front of a longer timeout",
     release(settings{}.with("timeout", duration{600ms}).with("late", true)),
     {0},
     {{200, 1}},
     release_reason::late},
    {"a timeout alone is not cut short",
     release(settings{}.with("timeout", duration{600ms})),
     {0},
     {{600, 1}},
     release_reason::timeout},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    frame_source frames;
    auto options = r.options;
    bundle_run run{options.with("size", std::int64_t{4}), cameras(1, 1, true)};
    std::uint64_t id = 0;
    for (auto t : r.arrivals)
      run.take(frames(0, id++, t));
    run.at(10000);
    const auto sent = run.sent();
    REQUIRE(sent.size() == r.expected.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(sent[i]->descriptor.released == ms(r.expected[i].first));
      CHECK(sent[i]->descriptor.own_count() == static_cast<std::size_t>(r.expected[i].second));
      CHECK(sent[i]->descriptor.released_by == r.why);
    }
  }
}

TEST_CASE("a frame on the edge of a window that has passed belongs to the next one") {
  // The timer of 50 ms was served late: the frame that arrived at 60 ms is seen first.
  frame_source frames;
  const auto options =
    release(settings{}.with("window", duration{50ms})).with("size", std::int64_t{4});
  bundle_run run{options, cameras(1, 1, true)};
  run.take(frames(0, 0, 10));
  auto late = frames(0, 1, 60);
  run.tested().on_item(std::move(late), run.context);
  CHECK(run.words() == words{"window 0:0 - - -"});
}

TEST_CASE("files are not cut by the time that passes") {
  frame_source frames;
  bundle_run run{
    release(settings{}.with("timeout", duration{20ms})).with("size", std::int64_t{3}),
    cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 3; ++i)
    run.take(frames(0, i, static_cast<int>(1000 * i)));
  CHECK(run.words() == words{"count 0:0 0:1 0:2"});
  // A window goes by the frames' own times.
  bundle_run windows{
    release(settings{}.with("window", duration{100ms})).with("size", std::int64_t{8}),
    cameras(1, 1, false)};
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto f = frames(0, i, 0);
    f.meta.timeline = ms(static_cast<int>(40 * i));
    windows.take(std::move(f));
  }
  windows.end(0);
  CHECK(windows.words() == words{"window 0:0 0:1 0:2 - - - - -", "flush 0:3 0:4 - - - - - -"});
}

TEST_CASE("a new epoch releases early, once, and takes no context along") {
  frame_source frames;
  bundle_run run{with_size(4).with("stride", std::int64_t{2}), cameras(1, 1, true)};
  for (std::uint64_t i = 0; i < 5; ++i)
    run.take(frames(0, i, static_cast<int>(33 * i)));
  run.end(0, false);
  run.take(frames(0, 0, 200, 1));
  run.take(frames(0, 0, 210, 2)); // an end is not needed
  run.at(1000);
  CHECK(
    run.words()
    == words{
      "count 0:0 0:1 0:2 0:3", "flush (0:2) (0:3) 0:4 -", "flush 0:0 - - -", "late 0:0 - - -"});
}

TEST_CASE("frames are kept where that is asked for, without a tensor where nobody wants one") {
  frame_source frames;
  bundle_run run{with_size(2).with("keep_frames", true), cameras(1, 1, false), false};
  run.take(frames(0, 0, 0));
  run.take(frames(0, 1, 33));
  REQUIRE(run.sent().size() == 1);
  CHECK_FALSE(run.sent()[0]->tensor);
  REQUIRE(run.sent()[0]->frames.size() == 2);
  CHECK(run.sent()[0]->frames[1].meta.frame_id == 1);
  CHECK(frames.pool.in_use() == 2);
}

TEST_CASE("priority and sequence") {
  frame_source frames;
  auto graph = cameras(2, 1, false);
  graph->streams[1].priority = 3;
  bundle_run run{with_size(1), graph};
  run.take(frames(0, 0));
  run.take(frames(1, 0));
  CHECK(run.sent()[0]->descriptor.priority == 0);
  CHECK(run.sent()[1]->descriptor.priority == 3);
  CHECK(run.sent()[1]->descriptor.sequence == hyperframe_sequence{2, 7, 1});
  CHECK(run.sent()[1]->descriptor.group == 1);
  bundle_run fixed{with_size(1).with("priority", std::int64_t{5}), graph};
  fixed.take(frames(1, 0));
  CHECK(fixed.sent()[0]->descriptor.priority == 5);
}

TEST_CASE("bundle says what is wrong") {
  frame_source frames;
  const auto sentence = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const failure& f) {
      return f.what();
    }
    return "(nothing)";
  };
  {
    bundle_run run{with_size(1), cameras(1, 1, false), true, 1};
    run.take(frames(0, 0));
    CHECK(
      sentence([&] { run.take(frames(0, 1)); })
      == "bundle: all 1 tensors are in use although the plan says that more cannot be open, queued "
         "and inferred at once; this is a defect of the plan and not of the graph file");
  }
  {
    bundle_run run{settings{}.with("over", std::string{"cameras"}), cameras(1, 2, true)};
    CHECK(
      sentence([&] { run.take(frames(0, 1)); })
      == "bundle: `over: cameras` and `over: both` need aligned sets, and single frames came; put "
         "an "
         "`align` stage in front");
    CHECK(
      sentence([&] { run.take(make_set(frames, {0}, 0), 0); })
      == "bundle: a set of 1 frames came where 2 streams of the group pass; send all of a group's "
         "streams through one `align`");
  }
  {
    auto graph = cameras(1, 1, true);
    graph->streams[0].media = nullptr;
    CHECK(
      sentence([&] {
        bundle_run{{}, graph};
      })
      == "bundle: the model takes frames of any size, and the size of group0.cam0 is not known; "
         "give "
         "the model's input a size");
  }
  const auto d = describe_bundle();
  CHECK(faults_of(d, {}).empty());
  CHECK(
    faults_of(d, settings{}.with("over", std::string{"cameras"}).with("size", std::int64_t{4}))
    == words{
      "`over: cameras` makes a hyperframe of one set, and `size` is 4; leave `size` out, or use "
      "`over: both` for several sets"});
  CHECK(
    faults_of(d, release(settings{}.with("count", std::int64_t{9})))
    == words{
      "`count: 9` is more than a hyperframe of 8 can hold; use at most 8 or a larger `size`"});
  CHECK(
    faults_of(d, release(settings{}.with("count", std::int64_t{4})).with("stride", std::int64_t{2}))
    == words{
      "`count: 4` with `stride: 2`: hyperframes that overlap are released when they are full; "
      "leave `count` out or make it 8"});
  CHECK(d.bundle_size(*plan_with(d, with_size(5), cameras(1, 1, true)).config, 3) == 5);
  CHECK(
    d.bundle_size(
      *plan_with(d, with_size(5).with("over", std::string{"both"}), cameras(1, 1, true)).config, 3)
    == 15);
}

TEST_CASE("every frame leaves bundle exactly once, in order, and within its timeout") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  frame_source frames;
  for (int sequence = 0; sequence < 2000; ++sequence) {
    CAPTURE(sequence);
    const auto members = 1 + upto(3);
    const bool sets = upto(2) == 0;
    const auto size = 1 + upto(6);
    const bool live = upto(3) != 0;
    settings r;
    std::optional<duration> timeout;
    if (upto(2) == 0)
      r.with("timeout", *(timeout = duration{std::chrono::milliseconds{1 + upto(120)}}));
    if (upto(4) == 0)
      r.with("window", duration{std::chrono::milliseconds{20 + upto(100)}});
    auto options = release(r);
    const auto over = sets ? upto(3) : 0;
    options.with("over", std::string{over == 0 ? "time" : over == 1 ? "cameras" : "both"});
    if (over != 1)
      options.with("size", std::int64_t{size});
    if (upto(2) == 0)
      options.with("stride", std::int64_t{1 + upto(9)});
    options.with("every", std::int64_t{1 + (upto(4) == 0 ? upto(3) : 0)});
    const bool keep = upto(5) == 0;
    options.with("keep_frames", keep);
    bundle_run run{options, cameras(1, static_cast<std::uint32_t>(members), live), true, 16};
    frame_accounts accounts;
    std::vector<std::uint64_t> next(static_cast<std::size_t>(members), 0);
    std::vector<std::uint32_t> epoch(static_cast<std::size_t>(members), 0);
    bool in_time = true;
    std::uint64_t counter = 0;
    bool numbered = true;
    const auto drain_output = [&] {
      for (const auto& h : run.sent()) {
        const auto& d = h->descriptor;
        numbered = numbered && d.sequence.counter == counter++;
        in_time = in_time && (!live || !timeout || d.released <= d.opened + *timeout);
        REQUIRE(d.own_count() > 0);
        for (std::size_t i = 0; i < d.slots.size(); ++i) {
          const auto& s = d.slots[i];
          if (s.own)
            accounts.sent(s.meta);
          if (s.valid)
            REQUIRE(static_cast<std::uint64_t>(h->tensor.data()[i * 8]) == s.meta.frame_id % 256);
        }
      }
      for (const auto& o : run.context.outcomes)
        accounts.ended(o);
      run.context.sent.clear();
      run.context.outcomes.clear();
    };
    const auto make_frame = [&](stream_index s, int now) {
      next[s] += upto(8) == 0 ? 1 : 0; // one that an edge dropped
      auto f = frames(s, next[s]++, now, epoch[s], upto(12) == 0 ? frame_corrupt : 0);
      if (upto(20) == 0)
        f.buffer = {};
      accounts.captured(f.meta);
      return f;
    };
    int now = 0;
    for (int step = 0; step < 50; ++step) {
      now += upto(40);
      run.at(now);
      drain_output();
      const auto m = static_cast<stream_index>(upto(members));
      if (upto(25) == 0) {
        run.end(m, false, epoch[m]);
        ++epoch[m];
        next[m] = 0;
      } else if (sets) {
        aligned_set set;
        set.arrived = ms(now);
        for (stream_index s = 0; s < static_cast<stream_index>(members); ++s) {
          auto& entry = set.members.emplace_back();
          entry.stream = s;
          if (upto(5) == 0 && s != m) {
            entry.absent = reason::unmatched;
            continue;
          }
          entry.item = make_frame(s, now);
          entry.own = true;
        }
        run.take(std::move(set), now);
      } else {
        run.take(make_frame(m, now));
      }
      drain_output();
      REQUIRE(accounts.in_flight() == run.tested().held_frames());
      if (!keep)
        REQUIRE(frames.pool.in_use() == 0);
    }
    if (upto(4) == 0) {
      outcome_batch given_up;
      run.tested().give_up(outcome::dropped, reason::stopped, given_up);
      for (const auto& o : given_up.ranges())
        accounts.ended(o);
    } else {
      for (stream_index s = 0; s < static_cast<stream_index>(members); ++s)
        run.end(s, true, epoch[s]);
    }
    drain_output();
    REQUIRE(accounts.in_flight() == 0);
    REQUIRE(run.tested().held_frames() == 0);
    REQUIRE(accounts.once());
    REQUIRE(accounts.in_order());
    REQUIRE(in_time);
    REQUIRE(numbered);
  }
}
