#include "actors/schedule.hpp"
#include "actors/schedule_pace.hpp"
#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

graph_time ms(int t) {
  return graph_time{std::chrono::milliseconds{t}};
}

struct shape {
  stream_index stream = 0;
  std::uint64_t first = 0; ///< frame id
  std::uint32_t slots = 4;
  int deadline = -1; ///< ms; below 0: none
  std::int32_t priority = 0;
  std::uint32_t width = 8;
  std::uint32_t masked = 0; ///< slots at the end without a frame
};

hyperframe_ptr make(const shape& s) {
  auto h = std::make_shared<hyperframe>();
  h->descriptor.group = s.stream;
  h->descriptor.priority = s.priority;
  h->pack.width = s.width;
  h->pack.height = 8;
  for (std::uint32_t i = 0; i < s.slots; ++i) {
    auto& slot = h->descriptor.slots.emplace_back();
    slot.meta.stream = s.stream;
    if (i >= s.slots - s.masked)
      continue;
    slot.meta.frame_id = s.first + i;
    if (s.deadline >= 0)
      slot.meta.deadline = ms(s.deadline + static_cast<int>(i));
    slot.valid = slot.own = true;
  }
  return h;
}

/// "0:0 1:4" is a batch of two hyperframes, by their first frames.
std::string in_words(const batch& b) {
  std::ostringstream s;
  for (const auto& p : b.parts)
    s << (&p == &b.parts.front() ? "" : " ") << p.source->descriptor.slots[0].meta.stream << ':'
      << p.source->descriptor.slots[0].meta.frame_id;
  return s.str();
}

std::vector<std::string> all(scheduler& s) {
  std::vector<std::string> result;
  while (auto b = s.next(ms(0)))
    result.push_back(in_words(*b));
  return result;
}

schedule_options with(schedule_order order, std::uint32_t batch_slots = 4) {
  schedule_options o;
  o.order = order;
  o.batch_slots = batch_slots;
  return o;
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("the order in which hyperframes leave") {
  const std::vector<shape> came{{0, 0, 4, 500, 1}, {1, 0, 4, 300, 0}, {0, 4, 4, 600, 1},
                                {2, 0, 4, -1, 2},  {1, 4, 4, 300, 0}, {0, 8, 4, 200, 0}};
  struct row {
    schedule_order order;
    words expected;
  };
  const std::vector<row> rows{
    {schedule_order::fifo, {"0:0", "1:0", "0:4", "2:0", "1:4", "0:8"}},
    {schedule_order::deadline, {"0:8", "1:0", "1:4", "0:0", "0:4", "2:0"}},
    {schedule_order::priority, {"2:0", "0:0", "0:4", "0:8", "1:0", "1:4"}},
    {schedule_order::fair, {"1:0", "2:0", "0:0", "1:4", "0:4", "0:8"}},
  };
  for (const auto& r : rows) {
    scheduler s{with(r.order)};
    for (const auto& h : came)
      s.add(make(h), ms(0));
    CHECK(all(s) == r.expected);
    CHECK(s.size() == 0);
    CHECK(s.held_frames() == 0);
  }
}

TEST_CASE("under overload no group falls below its share") {
  // Group 0 brings ten times as many as group 1, and larger ones.
  scheduler s{with(schedule_order::fair, 8)};
  for (std::uint64_t i = 0; i < 40; ++i)
    s.add(make({0, 8 * i, 8}), ms(0));
  for (std::uint64_t i = 0; i < 8; ++i)
    s.add(make({1, 4 * i, 4}), ms(0));
  std::map<stream_index, std::uint32_t> slots;
  while (slots[1] < 32) {
    const auto b = s.next(ms(0));
    REQUIRE(b);
    for (const auto& p : b->parts)
      slots[p.source->descriptor.group] += p.count;
    CHECK(slots[0] <= slots[1] + 16);
  }
  // The group that takes the most room makes room.
  s.add(make({1, 32, 4}), ms(0));
  CHECK(s.evict(overflow_policy::drop_oldest)->descriptor.group == 0);
}

TEST_CASE("batches are filled with whole hyperframes of the same shape") {
  struct row {
    const char* what;
    std::uint32_t batch_slots;
    std::vector<shape> came;
    words expected;
  };
  const std::vector<row> rows{
    {"as many as fit", 8, {{0, 0}, {1, 0}, {2, 0}}, {"0:0 1:0", "2:0"}},
    {"a smaller one fills the room", 8, {{0, 0, 6}, {1, 0, 4}, {2, 0, 2}}, {"0:0 2:0", "1:0"}},
    {"one above the batch goes alone and whole", 4, {{0, 0, 9}, {1, 0, 2}}, {"0:0", "1:0"}},
    {"other shapes wait", 8, {{0, 0}, {1, 0, 4, -1, 0, 16}, {2, 0}}, {"0:0 2:0", "1:0"}},
    {"masked slots take their room",
     8,
     {{0, 0, 4, -1, 0, 8, 3}, {1, 0}, {2, 0}},
     {"0:0 1:0", "2:0"}},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    scheduler s{with(schedule_order::fifo, r.batch_slots)};
    for (const auto& h : r.came)
      s.add(make(h), ms(0));
    CHECK(all(s) == r.expected);
  }
  scheduler s{with(schedule_order::fifo, 8)};
  s.add(make({0, 0, 3}), ms(0));
  s.add(make({1, 0, 5}), ms(0));
  const auto b = s.next(ms(17));
  CHECK(b->slots == 8);
  CHECK(b->dispatched == 17_ms);
  CHECK(b->number == 0);
  CHECK(b->parts[1].first == 0);
  CHECK(b->parts[1].count == 5);
}

TEST_CASE("a hyperframe expires at min(deadline of its own slots, entry + ttl)") {
  struct row {
    const char* what;
    std::optional<duration> ttl;
    shape came;
    graph_time due;
    const char* why;
  };
  const std::vector<row> rows{
    {"no bound", std::nullopt, {0, 0, 2}, never, ""},
    {"deadline", std::nullopt, {0, 0, 2, 500}, 500_ms, "0:0-1 expired (deadline)"},
    {"ttl is the smaller", 100ms, {0, 0, 2, 500}, 110_ms, "0:0-1 expired (ttl)"},
    {"deadline is the smaller", 100ms, {0, 0, 2, 50}, 50_ms, "0:0-1 expired (deadline)"},
    {"both at once", 100ms, {0, 0, 2, 110}, 110_ms, "0:0-1 expired (deadline)"},
    {"masked slots have no outcome", 100ms, {0, 0, 4, -1, 0, 8, 3}, 110_ms, "0:0 expired (ttl)"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    schedule_options o;
    o.ttl = r.ttl;
    scheduler s{o};
    s.add(make(r.came), ms(10));
    CHECK(s.due() == r.due);
    if (r.due == never)
      continue;
    scheduler::expired out;
    s.expire(r.due - 1ns, out);
    CHECK(out.hyperframes == 0);
    s.expire(r.due, out);
    CHECK(out.hyperframes == 1);
    REQUIRE(out.outcomes.size() == 1);
    CHECK(in_words(out.outcomes[0]) == r.why);
    CHECK(s.due() == never);
    CHECK(s.held_frames() == 0);
  }
}

TEST_CASE("who makes room") {
  const auto evicted = [](schedule_order order, overflow_policy policy) {
    scheduler s{with(order)};
    s.add(make({0, 0, 4, -1, 5}), ms(0));
    s.add(make({1, 0, 4, -1, 1}), ms(0));
    s.add(make({1, 4, 4, -1, 1}), ms(0));
    s.add(make({2, 0, 4, -1, 9}), ms(0));
    const auto h = s.evict(policy);
    CHECK(s.held_frames() == 12);
    CHECK(s.size() == 3);
    const auto& first = h->descriptor.slots[0].meta;
    return std::to_string(first.stream) + ':' + std::to_string(first.frame_id);
  };
  CHECK(evicted(schedule_order::fifo, overflow_policy::drop_oldest) == "0:0");
  CHECK(evicted(schedule_order::deadline, overflow_policy::drop_oldest) == "0:0");
  CHECK(evicted(schedule_order::priority, overflow_policy::drop_oldest) == "1:0");
  CHECK(evicted(schedule_order::fair, overflow_policy::drop_oldest) == "1:0");
  CHECK(evicted(schedule_order::fifo, overflow_policy::drop_newest) == "2:0");
  scheduler empty{{}};
  CHECK_THROWS_AS(empty.evict(overflow_policy::drop_oldest), std::logic_error);
}

namespace {

/// Two cameras in step, the second one a little later, whose hyperframes of four slots come each
/// 100 ms; a full queue makes room by `drop_oldest`.
struct overload {
  schedule_order order = schedule_order::fifo;
  std::size_t capacity = 4;
  int served_each = 100; ///< ms between two batches
  std::uint32_t batch_slots = 4;
  int budget = -1;         ///< ms; below 0: no deadline
  duration needed{};       ///< as told to `next`
  std::uint32_t group = 1; ///< of the second camera
};

/// What became of each camera's hyperframes.
struct fate {
  std::uint64_t served[2]{}, evicted[2]{}, expired[2]{}, late = 0;
};

fate run(const overload& o) {
  scheduler s{with(o.order, o.batch_slots)};
  fate f;
  for (int now = 0; now < 100'000; ++now) {
    scheduler::expired out;
    s.expire(ms(now), out);
    for (const auto& range : out.outcomes)
      f.expired[range.stream] += range.count / 4;
    for (stream_index stream = 0; stream < 2; ++stream) {
      if (now % 100 != static_cast<int>(stream))
        continue;
      if (s.size() == o.capacity)
        ++f.evicted[s.evict(overflow_policy::drop_oldest)->descriptor.slots[0].meta.stream];
      auto h = std::const_pointer_cast<hyperframe>(
        make({stream, static_cast<std::uint64_t>(now), 4, o.budget < 0 ? -1 : now + o.budget}));
      h->descriptor.group = stream == 0 ? 0 : o.group;
      s.add(std::move(h), ms(now));
    }
    if (now % o.served_each != 50 % o.served_each)
      continue;
    if (const auto b = s.next(ms(now), o.needed))
      for (const auto& p : b->parts) {
        ++f.served[p.source->descriptor.slots[0].meta.stream];
        f.late += p.source->descriptor.deadline() < later_by(ms(now), o.needed) ? 1 : 0;
      }
  }
  return f;
}

bool alike(const std::uint64_t (&of)[2]) {
  const auto [least, most] = std::minmax(of[0], of[1]);
  return most - least <= 2 + most / 20;
}

} // namespace

TEST_CASE("cameras in step are served alike under overload") {
  struct row {
    std::string what;
    overload given;
  };
  const row rows[]{
    {"half is served", {}},
    {"no room but for two", {.capacity = 2}},
    {"an odd capacity", {.capacity = 3}},
    {"a place each and one more, batches of both",
     {.capacity = 3, .served_each = 200, .batch_slots = 8}},
    {"a third is served", {.served_each = 150}},
    {"a worker out of step", {.served_each = 130, .batch_slots = 8}},
    {"by deadline", {.order = schedule_order::deadline, .budget = 1000}},
    {"by deadline, none given", {.order = schedule_order::deadline}},
    {"by priority", {.order = schedule_order::priority, .budget = 1000}},
    {"by turns", {.order = schedule_order::fair}},
    {"by turns, an odd capacity", {.order = schedule_order::fair, .capacity = 5}},
    {"by turns, of one group", {.order = schedule_order::fair, .capacity = 5, .group = 0}},
    {"expiry instead of eviction", {.capacity = 100, .budget = 190, .needed = 100ms}},
    {"expiry, by deadline",
     {.order = schedule_order::deadline, .capacity = 100, .budget = 190, .needed = 100ms}},
    {"expiry, by turns",
     {.order = schedule_order::fair, .capacity = 100, .budget = 190, .needed = 100ms}},
    {"none can be in time", {.capacity = 100, .served_each = 150, .budget = 120, .needed = 150ms}},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    const auto f = run(r.given);
    CAPTURE(f.served[0]);
    CAPTURE(f.served[1]);
    CAPTURE(f.evicted[0]);
    CAPTURE(f.evicted[1]);
    CAPTURE(f.expired[0]);
    CAPTURE(f.expired[1]);
    CHECK(alike(f.served));
    CHECK(f.served[0] + f.served[1] >= 500);
    CHECK(f.served[0] + f.served[1] < 1700);
    CHECK(alike(f.evicted));
    CHECK(alike(f.expired));
  }
}

TEST_CASE("what is oldest by more than half a period makes room, whoever it is") {
  // Stream 0 brings a hyperframe each 100 ms, stream 1 half way between.
  scheduler s{with(schedule_order::fifo)};
  for (int i = 0; i < 4; ++i) {
    s.add(make({0, static_cast<std::uint64_t>(4 * i)}), ms(100 * i));
    s.add(make({1, static_cast<std::uint64_t>(4 * i)}), ms(100 * i + 50));
  }
  words evicted;
  for (int i = 0; i < 8; ++i) {
    const auto h = s.evict(overflow_policy::drop_oldest);
    const auto& first = h->descriptor.slots[0].meta;
    evicted.push_back(std::to_string(first.stream) + ':' + std::to_string(first.frame_id));
  }
  CHECK(evicted == words{"0:0", "1:0", "0:4", "1:4", "0:8", "1:8", "0:12", "1:12"});
}

TEST_CASE("the parts of a hyperframe are one hyperframe where cameras in step are served alike") {
  // Each 100 ms one of each camera, 40 ms apart: its first part, and 90 ms later what follows.
  scheduler s{with(schedule_order::fifo, 1)};
  const auto part = [&](stream_index stream, std::uint64_t id, int at, bool follows) {
    auto h = std::make_shared<hyperframe>(*make({stream, id, 1}));
    h->descriptor.first_slot = follows ? 1 : 0;
    s.add(h, ms(at));
  };
  std::uint64_t id = 0;
  for (int round = 0; round < 6; ++round, id += 2) {
    const auto t = 100 * round;
    part(0, id, t, false);
    part(1, id, t + 40, false);
    if (round == 5)
      break;
    while (s.next(ms(t + 40)))
      ;
    part(0, id + 1, t + 90, true);
    if (round < 4)
      part(1, id + 1, t + 130, true);
    while (s.next(ms(t + 130)))
      ;
  }
  CHECK(in_words(*s.next(ms(540))) == "1:10"); // camera 0 was the last one served
}

TEST_CASE("of the groups with the most hyperframes, the one that has not made room for longest") {
  scheduler s{with(schedule_order::fair)};
  for (stream_index g = 0; g < 3; ++g)
    for (std::uint64_t i = 0; i < 3; ++i)
      s.add(make({g, 4 * i, g == 2 ? 1U : 4U}), ms(static_cast<int>(i)));
  std::vector<std::uint32_t> groups;
  for (int i = 0; i < 6; ++i)
    groups.push_back(s.evict(overflow_policy::drop_oldest)->descriptor.group);
  CHECK(groups == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}); // by number, not by slots
}

TEST_CASE("what cannot be in time is passed over, and never leaves behind a younger one") {
  struct row {
    std::string what;
    schedule_order order;
    std::vector<shape> came;
    words expected; ///< batches of four slots at 100 ms, each of which takes 50 ms
  };
  const std::vector<row> rows{
    {"all can", schedule_order::fifo, {{0, 0, 4, 150}, {0, 4, 4, 160}}, {"0:0", "0:4"}},
    {"the first cannot", schedule_order::fifo, {{0, 0, 4, 149}, {0, 4, 4, 160}}, {"0:4"}},
    {"another lane's can", schedule_order::fifo, {{0, 0, 4, 149}, {1, 4, 4, 160}}, {"1:4", "0:0"}},
    {"none can: the latest",
     schedule_order::fifo,
     {{0, 0, 4, 110}, {0, 4, 4, 120}, {0, 8, 4, 115}},
     {"0:4", "0:8"}},
    {"none can, two lanes",
     schedule_order::fifo,
     {{0, 0, 4, 110}, {1, 0, 4, 115}, {0, 4, 4, 120}},
     {"0:4", "1:0"}},
    {"by deadline",
     schedule_order::deadline,
     {{0, 0, 4, 130}, {1, 0, 4, 170}, {2, 0, 4, 160}, {0, 4, 4, 180}},
     {"2:0", "1:0", "0:4"}},
    {"the highest priority of those that can",
     schedule_order::priority,
     {{0, 0, 4, 130, 9}, {1, 0, 4, 170, 1}, {2, 0, 4, 160, 5}},
     {"2:0", "1:0", "0:0"}},
    {"by turns",
     schedule_order::fair,
     {{0, 0, 4, 130}, {0, 4, 4, 160}, {1, 0, 4, 120}, {1, 4, 4, 170}},
     {"1:4", "0:4"}},
    {"without a deadline always", schedule_order::fifo, {{0, 0}, {0, 4}}, {"0:0", "0:4"}},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    scheduler s{with(r.order)};
    for (const auto& h : r.came)
      s.add(make(h), ms(0));
    words left;
    while (const auto b = s.next(ms(100), 50ms))
      left.push_back(in_words(*b));
    CHECK(left == r.expected);
    // What was passed over is still there, and ends at its time.
    CHECK(s.size() == r.came.size() - left.size());
    scheduler::expired out;
    s.expire(ms(200), out);
    CHECK(out.hyperframes == r.came.size() - left.size());
    CHECK(s.held_frames() == 0);
  }
}

TEST_CASE("how long batches take, by the credit that comes back") {
  struct step {
    int at;     ///< ms
    int change; ///< 1: a batch leaves; below 0: so many come back
    bool free;
    int needed; ///< ms after it, without the deviation of 2 x 1/4
  };
  struct row {
    std::string what;
    std::uint32_t workers;
    std::vector<step> steps;
  };
  const std::vector<row> rows{
    {"one worker, one at a time", 1, {{0, 1, false, 0}, {40, -1, true, 40}, {100, 1, false, 80}}},
    {"one behind the other",
     1,
     {{0, 1, false, 0}, {10, 1, false, 0}, {40, -1, false, 80}, {80, -1, true, 40}}},
    {"two side by side",
     2,
     {{0, 1, true, 0}, {5, 1, false, 0}, {40, -1, true, 40}, {45, -1, true, 40}}},
    {"what never left does not come back",
     1,
     {{0, -3, true, 0}, {0, 1, false, 0}, {40, -3, true, 40}}},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    dispatch_pace pace{r.workers};
    for (const auto& s : r.steps) {
      CAPTURE(s.at);
      if (s.change > 0)
        pace.left({4, true}, ms(s.at));
      for (int i = s.change; i < 0; ++i)
        pace.back(ms(s.at));
      CHECK(pace.worker_free() == s.free);
      const auto needed = std::chrono::milliseconds{s.needed};
      CHECK(pace.needed() >= needed);
      CHECK(pace.needed() <= needed + needed / 2);
      CHECK(!pace.quick());
    }
  }
  dispatch_pace fast{1};
  CHECK(!fast.quick()); // nothing is known
  fast.left({4, true}, ms(0));
  fast.back(ms(3));
  CHECK(fast.quick());
  for (int i = 0; i < 40; ++i) { // and it learns
    fast.left({4, true}, ms(100 * i));
    fast.back(ms(100 * i + 20));
  }
  CHECK(!fast.quick());
  CHECK(fast.needed() > 19ms);
  CHECK(fast.needed() < 22ms);
}

namespace {

struct schedule_run {
  explicit schedule_run(
    const settings& own, std::uint32_t batch_slots = 8, std::uint32_t fixed = 0,
    bool adaptive = false) {
    description = describe_schedule();
    auto plan = plan_with(description, own, cameras(3, 1, true));
    auto below = std::make_shared<stage_resource>();
    below->batch_slots = batch_slots;
    below->fixed_batch = fixed;
    below->adaptive = adaptive;
    plan.below = below;
    tested = description.make(plan);
    tested->start(context);
  }
  words batches() const {
    words result;
    for (const auto& b : context.items<batch_ptr>())
      result.push_back(in_words(*b));
    return result;
  }
  stage_description description;
  std::unique_ptr<stage> tested;
  fake_context context;
};

} // namespace

TEST_CASE("the stage schedule sends as there is credit, and expires without any") {
  buffer_pool pool{4, 64};
  schedule_run run{settings{}.with("ttl", duration{100ms})};
  auto& c = run.context;
  c.credit_left = 1;
  run.tested->on_item(make({0, 0}), c);
  CHECK(run.batches() == words{"0:0"});
  CHECK(c.released == 1);
  auto h = std::const_pointer_cast<hyperframe>(make({0, 4}));
  h->tensor = pool.acquire();
  run.tested->on_item(hyperframe_ptr{std::move(h)}, c);
  c.advance_to(50_ms, *run.tested);
  run.tested->on_item(make({1, 0}), c);
  run.tested->on_item(make({2, 0}), c);
  run.tested->on_end({0, 0, 8, true}, c);
  CHECK(std::holds_alternative<stream_end>(c.sent.back())); // overtakes
  CHECK(c.released == 1);
  CHECK(run.tested->held_frames() == 12);
  c.advance_to(120_ms, *run.tested);
  CHECK(c.released == 2); // at 100 ms, although nobody can take it
  REQUIRE(c.outcomes.size() == 1);
  CHECK(in_words(c.outcomes[0]) == "0:4-7 expired (ttl)");
  CHECK(pool.in_use() == 0);
  c.credit_left = 1;
  run.tested->on_credit(0, c);
  CHECK(run.batches() == words{"0:0", "1:0 2:0"});
  CHECK(c.released == 4);
  CHECK(run.tested->held_frames() == 0);
  c.advance_to(1000_ms, *run.tested);
  CHECK(c.outcomes.size() == 1);
}

TEST_CASE("what can expire waits in schedule and not behind another batch, but for quick ones") {
  schedule_run run{settings{}.with("ttl", duration{1s}), 4};
  auto& c = run.context;
  c.credit_left = 2;
  for (std::uint64_t i = 0; i < 4; ++i)
    run.tested->on_item(make({0, 4 * i}), c);
  CHECK(run.batches() == words{"0:0"}); // one worker: the second place is for quick batches
  const auto comes_back = [&](graph_time t) {
    c.advance_to(t, *run.tested);
    ++c.credit_left;
    run.tested->on_credit(0, c);
  };
  comes_back(50_ms);
  CHECK(run.batches() == words{"0:0", "0:4"});
  for (int i = 0; i < 20; ++i) { // they turn quick
    run.tested->on_item(make({1, static_cast<std::uint64_t>(4 * i)}), c);
    comes_back(ms(52 + i));
  }
  CHECK(c.credit_left == 0);
  CHECK(run.tested->held_frames() > 0);

  // Nothing can expire: all that the edge holds is sent.
  schedule_run files{{}, 4};
  files.context.credit_left = 2;
  for (std::uint64_t i = 0; i < 4; ++i)
    files.tested->on_item(make({0, 4 * i}), files.context);
  CHECK(files.batches() == words{"0:0", "0:4"});
}

TEST_CASE("what comes past its time expires at once") {
  schedule_run run{{}};
  run.context.advance_to(80_ms, *run.tested);
  run.tested->on_item(make({0, 0, 4, 70}), run.context);
  CHECK(run.batches().empty());
  CHECK(in_words(run.context.outcomes.at(0)) == "0:0-3 expired (deadline)");
}

TEST_CASE("batches follow the stage below") {
  const auto slots_of_first = [](std::uint32_t wanted, std::uint32_t fixed, bool adaptive = false) {
    schedule_run run{{}, wanted, fixed, adaptive};
    run.context.credit_left = 0;
    for (std::uint64_t i = 0; i < 40; ++i)
      run.tested->on_item(make({0, i, 1}), run.context);
    run.context.credit_left = 1;
    run.tested->on_credit(0, run.context);
    return run.context.items<batch_ptr>().at(0)->slots;
  };
  CHECK(slots_of_first(16, 0) == 16);
  CHECK(slots_of_first(16, 6) == 12); // whole runs
  CHECK(slots_of_first(4, 6) == 6);
  CHECK(slots_of_first(0, 0) == 8);
  CHECK(slots_of_first(16, 0, true) == 1); // begins with one hyperframe
  CHECK(slots_of_first(16, 6, true) == 6); // or one run
  CHECK(slots_of_first(4, 6, true) == 6);
}

TEST_CASE("eviction and a stop leave nothing behind") {
  schedule_run run{{}};
  run.context.credit_left = 0;
  for (std::uint64_t i = 0; i < 3; ++i)
    run.tested->on_item(make({0, 4 * i}), run.context);
  CHECK(own_frames(run.tested->evict(overflow_policy::drop_oldest).value()) == 4);
  outcome_batch batch;
  run.tested->give_up(outcome::dropped, reason::stopped, batch);
  REQUIRE(batch.ranges().size() == 1);
  CHECK(in_words(batch.ranges()[0]) == "0:4-11 dropped (stopped)");
  CHECK(run.tested->held_frames() == 0);
}

TEST_CASE("every hyperframe leaves schedule exactly once, whole and in time") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int sequence = 0; sequence < 2000; ++sequence) {
    CAPTURE(sequence);
    const words orders{"fifo", "deadline", "priority", "fair"};
    settings own;
    const auto order = orders[static_cast<std::size_t>(upto(4))];
    own.with("order", order);
    const int ttl = upto(2) == 0 ? 1 + upto(80) : 0;
    if (ttl > 0)
      own.with("ttl", duration{std::chrono::milliseconds{ttl}});
    const auto capacity = 1 + upto(6);
    schedule_run run{own, static_cast<std::uint32_t>(1 + upto(12))};
    run.context.credit_left = static_cast<std::uint32_t>(upto(2));
    frame_accounts accounts;
    std::vector<std::uint64_t> next(3, 0);
    std::map<std::pair<stream_index, std::uint64_t>, graph_time> expires;
    std::uint32_t in_queue = 0;
    bool in_time = true;
    std::size_t seen = 0;
    std::uint32_t released = 0;
    const auto look = [&] {
      for (; seen < run.context.sent.size(); ++seen) {
        const auto& b = *std::get<batch_ptr>(std::get<item>(run.context.sent[seen]));
        std::uint32_t slots = 0;
        for (const auto& p : b.parts) {
          REQUIRE(p.count == p.source->descriptor.slots.size());
          slots += p.count;
          for (const auto& s : p.source->descriptor.slots)
            if (s.own) {
              accounts.sent(s.meta);
              in_time = in_time && b.dispatched < expires.at({s.meta.stream, s.meta.frame_id});
            }
        }
        REQUIRE(slots == b.slots);
      }
      for (const auto& o : run.context.outcomes)
        accounts.ended(o);
      run.context.outcomes.clear();
      in_queue -= run.context.released - released;
      released = run.context.released;
      REQUIRE(accounts.in_flight() == run.tested->held_frames());
    };
    int now = 0;
    for (int step = 0; step < 60; ++step) {
      now += upto(15);
      run.context.advance_to(ms(now), *run.tested);
      look();
      if (upto(3) == 0) {
        run.context.credit_left = std::min(2U, run.context.credit_left + 1);
        run.tested->on_credit(0, run.context);
      } else {
        if (in_queue == static_cast<std::uint32_t>(capacity)) {
          outcome_batch dropped;
          add_outcomes(
            run.tested
              ->evict(upto(2) == 0 ? overflow_policy::drop_oldest : overflow_policy::drop_newest)
              .value(),
            outcome::dropped, reason::edge_full, dropped);
          for (const auto& r : dropped.ranges())
            accounts.ended(r);
          --in_queue;
        }
        shape s;
        s.stream = static_cast<stream_index>(upto(3));
        s.slots = 1 + 2 * s.stream; // a stream's hyperframes are of one size
        s.first = next[s.stream];
        s.deadline = upto(2) == 0 ? now + 20 : -1;
        s.priority = static_cast<std::int32_t>(s.stream);
        s.masked = static_cast<std::uint32_t>(upto(static_cast<int>(s.slots)));
        next[s.stream] += s.slots;
        auto h = make(s);
        for (const auto& slot : h->descriptor.slots)
          if (slot.own) {
            accounts.captured(slot.meta);
            expires[{s.stream, slot.meta.frame_id}] =
              std::min(h->descriptor.deadline(), ttl > 0 ? ms(now + ttl) : never);
          }
        ++in_queue;
        run.tested->on_item(std::move(h), run.context);
      }
      look();
    }
    outcome_batch given_up;
    run.tested->give_up(outcome::dropped, reason::stopped, given_up);
    for (const auto& r : given_up.ranges())
      accounts.ended(r);
    REQUIRE(accounts.in_flight() == 0);
    REQUIRE(accounts.once());
    REQUIRE(in_time);
    if (order == "fifo")
      REQUIRE(accounts.in_order());
  }
}
