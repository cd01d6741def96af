#include "actors/align.hpp"
#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

using namespace hyperframes;
using namespace std::chrono_literals;

namespace {

struct arrival {
  int at; ///< ms on the graph's clock
  std::uint32_t member;
  std::uint64_t id;
  int captured; ///< ms on the time line
  std::uint32_t epoch = 0;
  std::uint64_t device = 0;
};
struct ending {
  int at;
  std::uint32_t member;
  std::uint64_t frames;
  bool last = true;
  std::uint32_t epoch = 0;
};
struct moment {
  int at; ///< timers up to here are met
};
using event = std::variant<arrival, ending, moment>;

graph_time ms(int t) {
  return graph_time{std::chrono::milliseconds{t}};
}

frame make_frame(const arrival& a) {
  frame f;
  f.meta.stream = a.member;
  f.meta.epoch = a.epoch;
  f.meta.frame_id = a.id;
  f.meta.device_id = a.device;
  f.meta.timeline = ms(a.captured);
  f.meta.arrived = as_arrival(ms(a.at));
  return f;
}

/// Runs the events and writes what left, when: "40: [0:0 - 2:0]" is a set without the second
/// member,
/// "(0:1)" a repeated frame, "end 0" an end.
class align_run {
public:
  explicit align_run(const align_options& options, std::uint32_t members = 2)
    : a_(options, 5, streams(members)) {}

  std::string operator()(const std::vector<event>& events) {
    for (const auto& e : events)
      std::visit([this](const auto& value) { take(value); }, e);
    return text_;
  }
  aligner& tested() { return a_; }

private:
  static std::vector<stream_index> streams(std::uint32_t n) {
    std::vector<stream_index> result(n);
    for (std::uint32_t i = 0; i < n; ++i)
      result[i] = i;
    return result;
  }
  void timers_before(graph_time t) {
    while (a_.due() < t) {
      const auto due = a_.due();
      a_.wake(due, out_);
      write(due);
    }
  }
  void take(const arrival& a) {
    timers_before(ms(a.at));
    a_.add(a.member, make_frame(a), ms(a.at), out_);
    write(ms(a.at));
  }
  void take(const ending& e) {
    timers_before(ms(e.at));
    a_.end(e.member, {e.member, e.epoch, e.frames, e.last}, ms(e.at), out_);
    write(ms(e.at));
  }
  void take(const moment& m) { timers_before(ms(m.at) + 1ns); }
  void write(graph_time now) {
    std::ostringstream s;
    for (const auto& sent : out_.sent) {
      s << now.time_since_epoch() / 1ms << ": ";
      if (const auto* end = std::get_if<stream_end>(&sent)) {
        s << "end " << end->stream << "; ";
        continue;
      }
      s << '[';
      const auto& set = *std::get<aligned_set_ptr>(sent);
      CHECK(set.group == 5);
      for (const auto& m : set.members) {
        s << (&m == &set.members.front() ? "" : " ");
        if (!m.item)
          s << '-';
        else if (m.own)
          s << m.item->meta.stream << ':' << m.item->meta.frame_id;
        else
          s << '(' << m.item->meta.stream << ':' << m.item->meta.frame_id << ')';
        CHECK(m.item.has_value() == (m.absent == reason::none));
      }
      s << "]; ";
    }
    for (const auto& r : out_.outcomes)
      s << now.time_since_epoch() / 1ms << ": " << in_words(r) << "; ";
    text_ += s.str();
    out_ = {};
  }

  aligner a_;
  aligner::output out_;
  std::string text_;
};

align_options with(missing_rule missing, std::uint32_t least = 1) {
  align_options o;
  o.missing = missing;
  o.least = least;
  return o;
}

} // namespace

TEST_CASE("a set leaves as soon as it is the best that can come") {
  struct row {
    const char* what;
    std::vector<event> events;
    const char* expected;
  };
  const std::vector<row> rows{
    {"with its last member", {arrival{0, 0, 0, 0}, arrival{3, 1, 0, 2}}, "3: [0:0 1:0]; "},
    {"at the edge of the tolerance", {arrival{0, 0, 0, 0}, arrival{3, 1, 0, 10}}, "3: [0:0 1:0]; "},
    {"when a member shows that it is past",
     {arrival{0, 0, 0, 0}, arrival{12, 1, 0, 11}},
     "12: [0:0 -]; "},
    {"when a member has ended", {arrival{0, 0, 0, 0}, ending{5, 1, 0}}, "5: [0:0 -]; 5: end 1; "},
    {"at once when it ended before",
     {ending{0, 1, 0}, arrival{5, 0, 0, 5}},
     "0: end 1; 5: [0:0 -]; "},
    {"at its wait", {arrival{0, 0, 0, 0}, moment{39}, moment{40}}, "40: [0:0 -]; "},
    {"an arrival comes before the timer of its time",
     {arrival{0, 0, 0, 0}, arrival{40, 1, 0, 0}},
     "40: [0:0 1:0]; "},
    {"the anchor is the earliest capture, not the first arrival",
     {arrival{0, 1, 0, 4}, arrival{2, 0, 0, 0}},
     "2: [0:0 1:0]; "},
    {"no frame waits longer for an anchor that came late",
     {arrival{0, 1, 0, 20}, arrival{30, 0, 0, 0}, arrival{31, 1, 1, 53}, moment{100}},
     "30: [0:0 -]; 40: [- 1:0]; 71: [- 1:1]; "},
    {"a lost frame costs no period",
     {arrival{0, 0, 0, 0}, arrival{0, 1, 0, 0}, arrival{33, 0, 1, 33}, arrival{66, 1, 1, 66},
      arrival{67, 0, 2, 66}},
     "0: [0:0 1:0]; 66: [0:1 -]; 67: [0:2 1:1]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(r.what);
    CHECK(align_run{{}}(r.events) == r.expected);
  }
}

TEST_CASE("what came behind its set is stale, and everything leaves in order") {
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 0}, moment{50}, arrival{55, 1, 0, 2}, arrival{60, 1, 1, 60},
       arrival{61, 0, 1, 61}})
    == "40: [0:0 -]; 55: 1:0 dropped (stale); 61: [0:1 1:1]; ");
  // A frame in front of an anchor that left; its own stream had been in that set.
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 20}, arrival{1, 1, 0, 20}, arrival{2, 0, 1, 12, 1}})
    == "1: [0:0 1:0]; 2: 0:1 dropped (stale); ");
}

TEST_CASE("a clock model that is still learning does not turn frames round") {
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 20}, arrival{1, 0, 1, 19}, arrival{2, 1, 0, 20}, arrival{3, 1, 1, 21}})
    == "2: [0:0 1:0]; 3: [0:1 1:1]; ");
}

TEST_CASE("rules for missing members") {
  const std::vector<event> two_of_three{arrival{0, 0, 0, 0}, arrival{1, 1, 0, 0}, moment{50}};
  const std::vector<event> one_of_three{arrival{0, 0, 0, 0}, moment{50}};
  struct row {
    align_options options;
    const std::vector<event>& events;
    const char* expected;
  };
  const std::vector<row> rows{
    {with(missing_rule::strict), two_of_three,
     "40: 0:0 dropped (incomplete_set); 40: 1:0 dropped (incomplete_set); "},
    {with(missing_rule::strict), one_of_three, "40: 0:0 dropped (unmatched); "},
    {with(missing_rule::at_least, 2), two_of_three, "40: [0:0 1:0 -]; "},
    {with(missing_rule::at_least, 2), one_of_three, "40: 0:0 dropped (unmatched); "},
    {with(missing_rule::at_least, 3), two_of_three,
     "40: 0:0 dropped (incomplete_set); 40: 1:0 dropped (incomplete_set); "},
    {with(missing_rule::partial), two_of_three, "40: [0:0 1:0 -]; "},
    {with(missing_rule::partial), one_of_three, "40: [0:0 - -]; "},
    {with(missing_rule::hold_last), one_of_three, "40: [0:0 - -]; "},
  };
  for (const auto& r : rows) {
    CAPTURE(r.expected);
    CHECK(align_run{r.options, 3}(r.events) == r.expected);
  }
}

TEST_CASE("hold_last repeats the last whole frame as context until the stream ends") {
  buffer_pool pool{4, 8};
  aligner a{with(missing_rule::hold_last), 0, {0, 1}};
  aligner::output out;
  const auto add = [&](std::uint32_t member, std::uint64_t id, int at, std::uint16_t flags = 0) {
    auto f = make_frame({at, member, id, at});
    f.buffer = pool.acquire();
    f.meta.flags = flags;
    a.add(member, std::move(f), ms(at), out);
  };
  add(0, 0, 0);
  add(1, 0, 0);
  add(0, 1, 100);
  a.wake(ms(140), out);
  REQUIRE(out.sent.size() == 2);
  {
    const auto& set = *std::get<aligned_set_ptr>(out.sent[1]);
    CHECK(set.members[0].own);
    CHECK_FALSE(set.members[1].own);
    CHECK(set.members[1].item->meta.frame_id == 0);
    CHECK(set.arrived == ms(100)); // of its own members
  }
  add(1, 1, 200, frame_corrupt); // is not worth repeating
  a.wake(ms(240), out);
  add(0, 2, 300);
  a.wake(ms(340), out);
  CHECK(std::get<aligned_set_ptr>(out.sent.back())->members[1].item->meta.frame_id == 0);
  a.end(1, {1, 0, 2}, ms(400), out);
  add(0, 3, 500);
  CHECK_FALSE(std::get<aligned_set_ptr>(out.sent.back())->members[1].item);
  out = {};
  CHECK(pool.in_use() == 1); // the other stream's last
}

TEST_CASE("matching by the device's counter") {
  align_options o;
  o.match = match_rule::frame_id;
  CHECK(
    align_run{o}(
      {arrival{0, 0, 0, 0, 0, 10}, arrival{5, 1, 0, 90, 0, 10}, arrival{6, 0, 1, 33, 0, 11},
       arrival{7, 1, 1, 120, 0, 12}, arrival{8, 0, 2, 66, 0, 12}, arrival{9, 1, 2, 9, 0, 11}})
    == "5: [0:0 1:0]; 7: [0:1 -]; 8: [0:2 1:1]; 9: 1:2 dropped (stale); ");
  // A device that counts anew is not stale for ever.
  CHECK(
    align_run{o}(
      {arrival{0, 0, 0, 0, 0, 10}, arrival{1, 1, 0, 0, 0, 10}, arrival{2, 0, 0, 33, 1, 0},
       arrival{3, 1, 0, 33, 1, 0}})
    == "1: [0:0 1:0]; 3: [0:0 1:0]; ");
}

TEST_CASE("ends leave behind their stream's frames") {
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 0}, ending{1, 0, 1}, arrival{2, 1, 0, 0}, ending{3, 1, 1}})
    == "2: [0:0 1:0]; 2: end 0; 3: end 1; ");
  // An epoch's end is passed on, and the stream goes on being waited for.
  CHECK(
    align_run{{}}(
      {arrival{0, 0, 0, 0}, ending{1, 0, 1, false}, arrival{2, 1, 0, 0}, arrival{33, 1, 1, 33},
       arrival{35, 0, 0, 33, 1}})
    == "2: [0:0 1:0]; 2: end 0; 35: [0:0 1:1]; ");
  // A mute partner holds an end no longer than a frame.
  CHECK(
    align_run{{}}({arrival{0, 0, 0, 0}, ending{1, 0, 1}, moment{40}})
    == "40: [0:0 -]; 40: end 0; ");
}

TEST_CASE("beyond its depth a live stream forces the oldest set out") {
  align_options o;
  o.depth = 2;
  o.wait = 10s;
  CHECK(
    align_run{o}({arrival{0, 0, 0, 0}, arrival{33, 0, 1, 33}, arrival{66, 0, 2, 66}})
    == "66: [0:0 -]; ");
}

TEST_CASE("files are waited for, and the one that is ahead is held back") {
  align_options o;
  o.live = false;
  o.depth = 2;
  align_run run{o};
  CHECK(run({arrival{0, 0, 0, 0}, moment{5000}}).empty());
  CHECK(run.tested().due() == never);
  CHECK(run.tested().takes(0));
  CHECK(run({arrival{5001, 0, 1, 33}}).empty());
  CHECK_FALSE(run.tested().takes(0));
  CHECK(run.tested().takes(1));
  CHECK(run({arrival{9000, 1, 0, 0}}) == "9000: [0:0 1:0]; ");
  CHECK(run.tested().takes(0));
}

TEST_CASE("every frame leaves align exactly once, in order, and within its wait") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int sequence = 0; sequence < 2000; ++sequence) {
    CAPTURE(sequence);
    align_options o;
    o.match = upto(5) == 0 ? match_rule::frame_id : match_rule::nearest;
    o.missing = static_cast<missing_rule>(upto(4));
    o.least = 1 + static_cast<std::uint32_t>(upto(3));
    o.tolerance = std::chrono::milliseconds{upto(20)};
    o.wait = std::chrono::milliseconds{upto(60)};
    o.depth = 1 + static_cast<std::uint32_t>(upto(6));
    o.live = upto(4) != 0;
    const auto members = 1 + static_cast<std::uint32_t>(upto(4));
    std::vector<stream_index> streams;
    for (std::uint32_t i = 0; i < members; ++i)
      streams.push_back(i);
    aligner a{o, 0, streams};
    aligner::output out;
    frame_accounts accounts;
    std::map<std::pair<stream_index, frame_position>, graph_time> since;
    std::vector<std::uint64_t> next(members, 0);
    std::vector<std::uint32_t> epoch(members, 0);
    std::vector<bool> ended(members, false);
    auto last_moment = graph_time::min();
    std::uint64_t ends_given = 0, ends_sent = 0;
    bool moments_in_order = true, in_time = true;
    const auto drain_output = [&](graph_time now) {
      for (const auto& sent : out.sent) {
        if (std::holds_alternative<stream_end>(sent)) {
          ++ends_sent;
          continue;
        }
        const auto& set = *std::get<aligned_set_ptr>(sent);
        if (o.match == match_rule::nearest)
          moments_in_order = moments_in_order && set.moment >= last_moment;
        last_moment = set.moment;
        for (const auto& m : set.members)
          if (m.own) {
            accounts.sent(m.item->meta);
            const auto key = std::pair{m.stream, m.item->meta.position()};
            in_time = in_time && (!o.live || now <= since.at(key) + o.wait);
          }
      }
      for (const auto& r : out.outcomes)
        accounts.ended(r);
      out = {};
    };
    auto now = graph_time{};
    for (int step = 0; step < 60; ++step) {
      const auto to = now + std::chrono::milliseconds{upto(25)};
      while (a.due() < to) {
        const auto due = a.due();
        a.wake(due, out);
        drain_output(due);
      }
      now = to;
      const auto m = static_cast<std::uint32_t>(upto(static_cast<int>(members)));
      if (ended[m] || !a.takes(m))
        continue;
      const auto what = upto(40);
      if (what == 0) {
        a.end(m, {m, epoch[m], next[m], true}, now, out);
        ended[m] = true;
        ++ends_given;
      } else if (what == 1) {
        a.end(m, {m, epoch[m], next[m], false}, now, out);
        ++epoch[m];
        next[m] = 0;
        ++ends_given;
      } else {
        arrival at{
          static_cast<int>(now.time_since_epoch() / 1ms),
          m,
          next[m]++,
          static_cast<int>(now.time_since_epoch() / 1ms) - upto(80),
          epoch[m],
          0};
        at.device = at.id + static_cast<std::uint64_t>(upto(2));
        auto f = make_frame(at);
        accounts.captured(f.meta);
        since[{m, f.meta.position()}] = now;
        a.add(m, std::move(f), now, out);
      }
      drain_output(now);
      REQUIRE(accounts.in_flight() == a.held_frames());
    }
    if (upto(4) == 0) {
      outcome_batch given_up;
      a.give_up(outcome::dropped, reason::stopped, given_up);
      for (const auto& r : given_up.ranges())
        accounts.ended(r);
    } else {
      for (std::uint32_t m = 0; m < members; ++m)
        if (!ended[m]) {
          a.end(m, {m, epoch[m], next[m], true}, now, out);
          ++ends_given;
        }
      drain_output(now);
      REQUIRE(ends_given == ends_sent);
    }
    REQUIRE(accounts.in_flight() == 0);
    REQUIRE(a.held_frames() == 0);
    REQUIRE(accounts.once());
    REQUIRE(accounts.in_order());
    REQUIRE(moments_in_order);
    REQUIRE(in_time);
  }
}

TEST_CASE("the stage align matches per group and passes ends on") {
  const auto d = describe_align();
  auto graph = cameras(2, 2, true);
  auto s = d.make(plan_with(d, settings{}.with("wait", duration{20ms}), graph));
  fake_context context;
  REQUIRE(s->start(context));
  s->on_item(make_frame({0, 0, 0, 0}), context);
  s->on_item(make_frame({0, 2, 0, 0}), context);
  CHECK(context.sent.empty());
  CHECK(context.wake() == 20_ms);
  context.advance_to(5_ms, *s);
  s->on_item(make_frame({5, 3, 0, 4}), context);
  CHECK(context.items<aligned_set_ptr>().size() == 1);
  CHECK(context.items<aligned_set_ptr>()[0]->group == 1);
  CHECK(s->held_frames() == 1);
  context.advance_to(30_ms, *s);
  REQUIRE(context.items<aligned_set_ptr>().size() == 2);
  CHECK(context.items<aligned_set_ptr>()[1]->members[1].absent == reason::unmatched);
  s->on_end({0, 0, 1, true}, context);
  CHECK(std::holds_alternative<stream_end>(context.sent.back()));
  s->on_item(make_frame({30, 2, 1, 30}), context);
  CHECK(context.wake() == 50_ms);
  outcome_batch batch;
  s->give_up(outcome::dropped, reason::stopped, batch);
  CHECK(batch.frames() == 1);
  CHECK(s->held_frames() == 0);
}

TEST_CASE("align names what is wrong with its settings") {
  const auto d = describe_align();
  CHECK(faults_of(d, {}).empty());
  CHECK(
    faults_of(d, settings{}.with("missing", std::string{"at_least"}))
    == std::vector<std::string>{
      "`missing: at_least` needs `least`, the number of members that a set "
      "must have; add for example `least: 2`"});
  CHECK(
    faults_of(d, settings{}.with("least", std::int64_t{2}))
    == std::vector<std::string>{"`least` has no effect with `missing: partial`; use `missing: "
                                "at_least` or leave it out"});
}

TEST_CASE("what align may hold follows from its wait") {
  const auto d = describe_align();
  const auto plan = plan_with(d, settings{}.with("wait", duration{1s}), cameras(1, 2, true));
  CHECK(d.holds(*plan.config).frames == 64); // 2 + 60 * 1.01 s, and the frame in hand
}
