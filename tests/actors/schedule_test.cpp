#include "actors/schedule.hpp"
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

struct schedule_run {
  explicit schedule_run(
    const settings& own, std::uint32_t batch_slots = 8, std::uint32_t fixed = 0) {
    description = describe_schedule();
    auto plan = plan_with(description, own, cameras(3, 1, true));
    auto below = std::make_shared<stage_resource>();
    below->batch_slots = batch_slots;
    below->fixed_batch = fixed;
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
  run.tested->on_credit(c);
  CHECK(run.batches() == words{"0:0", "1:0 2:0"});
  CHECK(c.released == 4);
  CHECK(run.tested->held_frames() == 0);
  c.advance_to(1000_ms, *run.tested);
  CHECK(c.outcomes.size() == 1);
}

TEST_CASE("what comes past its time expires at once") {
  schedule_run run{{}};
  run.context.advance_to(80_ms, *run.tested);
  run.tested->on_item(make({0, 0, 4, 70}), run.context);
  CHECK(run.batches().empty());
  CHECK(in_words(run.context.outcomes.at(0)) == "0:0-3 expired (deadline)");
}

TEST_CASE("batches follow the stage below") {
  const auto slots_of_first = [](std::uint32_t wanted, std::uint32_t fixed) {
    schedule_run run{{}, wanted, fixed};
    run.context.credit_left = 0;
    for (std::uint64_t i = 0; i < 40; ++i)
      run.tested->on_item(make({0, i, 1}), run.context);
    run.context.credit_left = 1;
    run.tested->on_credit(run.context);
    return run.context.items<batch_ptr>().at(0)->slots;
  };
  CHECK(slots_of_first(16, 0) == 16);
  CHECK(slots_of_first(16, 6) == 12); // whole runs
  CHECK(slots_of_first(4, 6) == 6);
  CHECK(slots_of_first(0, 0) == 8);
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
        run.tested->on_credit(run.context);
      } else {
        if (in_queue == static_cast<std::uint32_t>(capacity)) {
          outcome_batch dropped;
          add_outcomes(
            run.tested->evict(
              upto(2) == 0 ? overflow_policy::drop_oldest : overflow_policy::drop_newest).value(),
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
