#include "actors/capture.hpp"

#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace hyperframes;
using std::chrono::milliseconds;

namespace {

captured_frame at(std::int64_t ms, std::uint64_t device_id = 0) {
  captured_frame f;
  f.captured = capture_time{milliseconds{ms}};
  f.device_id = device_id;
  return f;
}

arrival_time arrived(std::int64_t ms) {
  return arrival_time{milliseconds{ms}};
}

} // namespace

TEST_CASE("ids are contiguous, and a jump of the device's counter is marked") {
  stream_numbering numbering{2, true, duration::max()};
  const auto a = numbering.stamp(at(0, 7), arrived(0));
  const auto b = numbering.stamp(at(33, 8), arrived(33));
  const auto c = numbering.stamp(at(99, 10), arrived(99));
  CHECK(a.frame_id == 0);
  CHECK(c.frame_id == 2);
  CHECK(a.stream == 2);
  CHECK((a.flags & frame_gap_before) == 0);
  CHECK((b.flags & frame_gap_before) == 0);
  CHECK((c.flags & frame_gap_before) != 0);
  CHECK(a.trace_id != b.trace_id);
  CHECK(numbering.end().frames == 3);
}

TEST_CASE("a frame that comes again is no gap; a counter that is set back is one") {
  stream_numbering numbering{2, true, duration::max()};
  numbering.stamp(at(0, 7), arrived(0));
  auto again = at(0, 7);
  again.flags = frame_duplicate;
  CHECK(numbering.stamp(again, arrived(1)).flags == frame_duplicate);
  CHECK(numbering.stamp(at(33, 8), arrived(33)).flags == 0);
  CHECK(numbering.stamp(at(66, 3), arrived(66)).flags == frame_gap_before);
}

TEST_CASE("what the device lost is counted, where its counter tells") {
  struct row {
    std::int64_t ms;
    std::uint64_t device_id;
    std::uint64_t lost;
  };
  stream_numbering numbering{0, true, duration::max()};
  std::int64_t arrival = 0;
  // In turn: the first, one more, two lost, the counter starts anew, one lost, a new epoch, one lost.
  for (const auto& [ms, id, lost] : {row{0, 7, 0}, row{33, 8, 0}, row{132, 11, 2}, row{165, 0, 2}, row{231, 2, 3},
                                     row{60'000, 900, 3}, row{60'066, 902, 4}}) {
    CAPTURE(ms);
    const auto f = at(ms, id);
    arrival += 33;
    numbering.epoch_before(f, arrived(arrival));
    numbering.stamp(f, arrived(arrival));
    CHECK(numbering.device_lost() == lost);
  }
}

TEST_CASE("a live stream's time line never runs ahead of its arrivals") {
  stream_numbering numbering{0, true, milliseconds{500}};
  struct row {
    std::int64_t captured, arrived, timeline;
  };
  // The offset is the least delay that was seen: arrival - capture.
  for (const auto& r : {row{1000, 30, 30}, row{1033, 53, 53}, row{1066, 186, 86}, row{1100, 120, 120}}) {
    CAPTURE(r.captured);
    const auto meta = numbering.stamp(at(r.captured), arrived(r.arrived));
    CHECK(meta.timeline == graph_time{milliseconds{r.timeline}});
    CHECK(meta.deadline == graph_time{milliseconds{r.timeline + 500}});
    CHECK(meta.timeline <= as_graph(meta.arrived));
  }
}

TEST_CASE("a file's time line begins at its first frame and has no deadline") {
  stream_numbering numbering{0, false, milliseconds{500}};
  numbering.stamp(at(4000), arrived(10));
  const auto meta = numbering.stamp(at(4040), arrived(11));
  CHECK(meta.timeline == graph_time{milliseconds{40}});
  CHECK(meta.deadline == never);
}

TEST_CASE("an epoch of a file goes on where the last one ended") {
  stream_numbering numbering{0, false, duration::max(), 25};
  std::vector<std::int64_t> places;
  for (const auto captured : {1000, 1040, 1080, 500, 540, 520, 580}) {
    numbering.epoch_before(at(captured), arrived(0));
    places.push_back(numbering.stamp(at(captured), arrived(0)).timeline.time_since_epoch() / milliseconds{1});
  }
  CHECK(places == std::vector<std::int64_t>{0, 40, 80, 120, 160, 140, 200});
  CHECK(numbering.clock().jumps_back == 1);
  CHECK(numbering.clock().fps == doctest::Approx(3 / 0.08));
  CHECK_FALSE(numbering.take_news());
}

TEST_CASE("whoever goes on with a stream ends its epoch, and repeats no number") {
  for (const bool live : {false, true}) {
    CAPTURE(live);
    stream_numbering first{0, live, duration::max(), 25}, next{0, live, duration::max(), 25};
    first.stamp(at(1000), arrived(0));
    const auto last = first.stamp(at(1040), arrived(40));
    next.follow({0, 3, 2, 10, false});
    const auto end = next.end_epoch();
    CHECK(end.epoch == 3);
    CHECK(end.frames == 2);
    CHECK_FALSE(end.last_epoch);
    if (!live) { // the file is read from its beginning: two frames have their number
      next.pass(at(1000));
      next.pass(at(1040));
    }
    const auto meta = next.stamp(at(1080), arrived(80));
    CHECK(meta.epoch == 4);
    CHECK(meta.frame_id == 0);
    CHECK((meta.trace_id & 0xffffffffff) == 12);
    CHECK(meta.trace_id != last.trace_id);
    if (!live)
      CHECK(meta.timeline == graph_time{milliseconds{80}});
  }
}

TEST_CASE("what a live stream's clock does is told, and counted") {
  stream_numbering numbering{0, true, duration::max(), 30};
  const auto give = [&](std::int64_t captured, std::int64_t arrival) {
    numbering.epoch_before(at(captured), arrived(arrival));
    return numbering.stamp(at(captured), arrived(arrival));
  };
  for (int i = 0; i < 100; ++i)
    give(5000 + 33 * i, 10 + 33 * i);
  CHECK_FALSE(numbering.take_news());
  CHECK(numbering.clock().offset == milliseconds{-4990});
  const auto meta = give(1000, 3310);
  CHECK(meta.epoch == 1);
  CHECK(meta.frame_id == 0);
  CHECK(meta.timeline == graph_time{milliseconds{3310}});
  CHECK(numbering.clock().jumps_back == 1);
  CHECK(numbering.take_news() == "its clock jumped back by 7.300 s; a new epoch begins");
}

TEST_CASE("a jump of the clock begins an epoch") {
  struct row {
    const char* what;
    bool live;
    std::int64_t second;
    bool new_epoch;
  };
  const row rows[] = {{"forward", true, 1033, false},
                      {"a little back", true, 900, false},
                      {"back", true, 700, true},
                      {"far forward", true, 20000, true},
                      {"far forward in a file", false, 20000, false},
                      {"back in a file", false, 0, true}};
  for (const auto& r : rows) {
    CAPTURE(r.what);
    stream_numbering numbering{0, r.live, duration::max()};
    CHECK_FALSE(numbering.epoch_before(at(1000), arrived(0)));
    numbering.stamp(at(1000), arrived(0));
    const auto end = numbering.epoch_before(at(r.second), arrived(5));
    CHECK(end.has_value() == r.new_epoch);
    if (end) {
      CHECK(end->epoch == 0);
      CHECK(end->frames == 1);
      CHECK_FALSE(end->last_epoch);
    }
    const auto meta = numbering.stamp(at(r.second), arrived(5));
    CHECK(meta.epoch == (r.new_epoch ? 1 : 0));
    CHECK(meta.frame_id == (r.new_epoch ? 0 : 1));
  }
}

namespace {

/// A camera that plays a list of events.
class listed_camera final : public camera {
public:
  explicit listed_camera(std::vector<camera_event> events) : events_(std::move(events)) {}
  expected<camera_info> probe() override { return camera_info{}; }
  expected<void> open(const camera_environment&) override {
    ++opened;
    return {};
  }
  camera_event read(graph_time) override {
    if (next_ == events_.size())
      return end_of_stream{};
    return events_[next_++];
  }
  static inline int opened = 0;

private:
  std::vector<camera_event> events_;
  std::size_t next_ = 0;
};

struct settable_clock final : clock {
  graph_time t{};
  graph_time now() const noexcept override { return t; }
};

/// "frame", the sentence of a note, "end".
reader_events taken_from(camera_reader& reader) {
  reader_events events;
  reader.take(events);
  return events;
}

std::vector<std::string> words_of(const reader_events& events) {
  std::vector<std::string> words;
  for (const auto& e : events)
    if (std::holds_alternative<arrived_frame>(e))
      words.emplace_back("frame");
    else if (const auto* note = std::get_if<reader_note>(&e))
      words.push_back(note->sentence);
    else
      words.emplace_back("end");
  return words;
}

camera_reader reader_of(std::vector<camera_event> events, bool live, std::uint32_t permits) {
  camera_info info;
  info.live = live;
  return {std::make_unique<listed_camera>(std::move(events)), info, {"cam1", ".", 4, permits}, [] {}};
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("a file is read while there are permits, a live source always") {
  settable_clock time;
  for (const bool live : {false, true}) {
    CAPTURE(live);
    auto reader = reader_of({at(0), at(1), at(2)}, live, 2);
    reader.step(time, 10);
    CHECK(words_of(taken_from(reader)) == (live ? words{"frame", "frame", "frame", "end"} : words{"frame", "frame"}));
    reader.give_permits(1);
    reader.step(time, 10);
    CHECK(words_of(taken_from(reader)) == (live ? words{} : words{"frame"}));
    reader.give_permits(1);
    reader.step(time, 10);
    CHECK(reader.finished());
  }
}

TEST_CASE("what reading a frame took of its thread's CPU time comes with it")  {
  struct busy_clock final : clock { // 3 ms a look
    mutable duration cpu{};
    graph_time now() const noexcept override { return {}; }
    duration thread_cpu() const noexcept override { return cpu += milliseconds{3}; }
  } time;
  auto reader = reader_of({at(0), at(1)}, true, 2);
  reader.step(time, 10);
  for (const auto& e : taken_from(reader))
    if (const auto* f = std::get_if<arrived_frame>(&e))
      CHECK(f->cpu == milliseconds{3});
  settable_clock virtual_time;
  auto other = reader_of({at(0)}, true, 2);
  other.step(virtual_time, 10);
  CHECK(std::get<arrived_frame>(taken_from(other).front()).cpu == duration{});
}

TEST_CASE("a reader comes back when its camera says so, and takes turns") {
  settable_clock time;
  auto reader = reader_of({at(0), not_before{70_ms}, at(1), at(2)}, true, 1);
  CHECK(reader.step(time, 10) == 70_ms);
  time.t = 70_ms;
  CHECK(reader.step(time, 1) == 70_ms); // its turn is over, and more is due
  CHECK(words_of(taken_from(reader)) == words{"frame", "frame"});
}

TEST_CASE("after an error a live source is opened again, later each time; a file ends") {
  settable_clock time;
  const auto broken = make_error(errc::camera_failed, "cam1", "no signal");
  auto live = reader_of({at(0), broken, broken, at(1)}, true, 1);
  listed_camera::opened = 0;
  CHECK(live.step(time, 10) == graph_time{std::chrono::seconds{1}});
  time.t = graph_time{std::chrono::seconds{1}};
  CHECK(live.step(time, 10) == graph_time{std::chrono::seconds{3}});
  time.t = graph_time{std::chrono::seconds{3}};
  live.step(time, 10);
  CHECK(listed_camera::opened == 3);
  CHECK(words_of(taken_from(live))
        == words{"frame", "no signal; it is opened again in 1 s", "no signal; it is opened again in 2 s",
                 "frame", "end"});

  auto file = reader_of({at(0), broken, at(1)}, false, 5);
  file.step(time, 10);
  CHECK(file.finished());
  CHECK(words_of(taken_from(file)) == words{"frame", "no signal; the stream ends here", "end"});
}

TEST_CASE("a reader that is told to finish ends its stream") {
  settable_clock time;
  auto reader = reader_of({at(0), at(1)}, false, 1);
  reader.step(time, 10);
  reader.finish();
  reader.step(time, 10);
  CHECK(words_of(taken_from(reader)) == words{"frame", "end"});
}

TEST_CASE("what a camera throws is an error of the camera, not the end of the process") {
  class throwing_camera final : public camera {
  public:
    expected<camera_info> probe() override { return camera_info{}; }
    expected<void> open(const camera_environment&) override {
      if (opened_++ == 0)
        throw std::runtime_error("no driver");
      return {};
    }
    camera_event read(graph_time) override { throw failure(make_error(errc::camera_failed, "cam1", "no signal")); }

  private:
    int opened_ = 0;
  };
  settable_clock time;
  camera_info info;
  info.live = true;
  camera_reader reader{std::make_unique<throwing_camera>(), info, {"cam1", ".", 4, 1}, [] {}};
  time.t = reader.step(time, 10);
  reader.step(time, 10);
  CHECK(words_of(taken_from(reader))
        == words{"no driver; it is opened again in 1 s", "no signal; it is opened again in 2 s"});
}

namespace {

/// Gives a frame each time that it is woken, and counts how often it was read.
class woken_camera final : public camera {
public:
  struct shared {
    std::atomic<int> due{0}, reads{0};
    std::function<void()> wake;
  };
  explicit woken_camera(std::shared_ptr<shared> s) : shared_(std::move(s)) {}
  expected<camera_info> probe() override { return camera_info{}; }
  expected<void> open(const camera_environment&) override { return {}; }
  void set_wake(std::function<void()> wake) override { shared_->wake = std::move(wake); }
  camera_event read(graph_time) override {
    camera_event event = not_before{never};
    if (shared_->due > 0) {
      --shared_->due;
      event = at(id_++);
    }
    ++shared_->reads;
    return event;
  }

private:
  std::shared_ptr<shared> shared_;
  int id_ = 0;
};

} // namespace

TEST_CASE("cameras tell once that frames are there, until the stage has taken them all") {
  constexpr std::uint32_t count = 3;
  auto resource = std::make_shared<capture_resource>();
  std::vector<std::shared_ptr<woken_camera::shared>> cams;
  for (std::uint32_t i = 0; i < count; ++i) {
    cams.push_back(std::make_shared<woken_camera::shared>());
    camera_info info;
    info.live = true;
    info.blocks = true; // a thread each
    capture_resource::source source{
      i, info, [c = cams.back()] { return std::make_unique<woken_camera>(c); }};
    resource->sources.push_back(std::move(source));
  }
  resource->captured = [](const frame_meta&) {};
  auto plan = plan_with(describe_capture(), {}, cameras(1, count, true));
  plan.resource = resource;
  fake_context context;
  const auto stage = describe_capture().make(plan);
  stage->run(context);
  // Who is read again has told of the frame before.
  const auto all_read = [&](int times) {
    for (const auto& c : cams)
      while (c->reads < times)
        std::this_thread::yield();
  };
  const auto another_frame = [&] {
    for (const auto& c : cams) {
      ++c->due;
      c->wake();
    }
  };
  const auto frames = [&] { return context.outcomes.size(); }; // they have no content
  all_read(1); // `run` has taken what there was
  another_frame();
  all_read(3);
  CHECK(*context.pokes == 1);
  stage->on_poke(context);
  CHECK(frames() == count);

  another_frame();
  all_read(5);
  CHECK(*context.pokes == 2);
  resource->requests->add({count, true}); // for nobody: it looks at every camera
  stage->on_poke(context);
  CHECK(frames() == 2 * count);

  another_frame();
  all_read(7);
  CHECK(*context.pokes == 3);
  stage->on_poke(context);
  CHECK(frames() == 3 * count);
  stage->drain(context);
}

TEST_CASE("a stream that others have captured so far ends behind them, also where it is stopped before it ran") {
  struct row {
    captured_position follows;
    bool runs;
    std::vector<std::string> ends;
  };
  const row rows[] = {
    {{0, 4, 0, 9}, false, {"4: 0 last"}}, // an earlier run
    {{0, 4, 7, 9}, false, {"4: 7 last"}}, // another process, in the middle of an epoch
    {{0, 4, 7, 9}, true, {"4: 7", "5: 0 last"}},
    {{0, 4, 0, 9}, true, {"4: 0 last"}},
    {{0, 4, 7, 9, true}, false, {}}, // has ended
  };
  for (const auto& r : rows) {
    auto resource = std::make_shared<capture_resource>();
    capture_resource::source source{
      0, camera_info{}, [] { return std::make_unique<woken_camera>(std::make_shared<woken_camera::shared>()); }};
    source.follows = r.follows;
    source.attached = false;
    resource->sources.push_back(std::move(source));
    resource->captured = [](const frame_meta&) {};
    auto plan = plan_with(describe_capture(), {}, cameras(1, 1, true));
    plan.resource = resource;
    fake_context context;
    const auto stage = describe_capture().make(plan);
    if (r.runs) {
      stage->run(context);
      stage->drain(context);
    } else {
      outcome_batch none;
      stage->give_up(outcome::dropped, reason::stopped, none);
      stage->run(context);
    }
    std::vector<std::string> ends;
    for (const auto& sent : context.sent)
      if (const auto* end = std::get_if<stream_end>(&sent))
        ends.push_back(
          std::to_string(end->epoch) + ": " + std::to_string(end->frames) + (end->last_epoch ? " last" : ""));
    CHECK(ends == r.ends);
  }
}
