#include "tests/actors/align_run.hpp"

#include <random>

using namespace hyperframes;

TEST_CASE("every frame leaves align exactly once, in order, and within its wait") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto type = std::make_shared<media_type>();
  type->what = media_type::kind::tensor;
  type->tensor = {data_type::float32, {3}};
  const media_type_ptr vector = type;
  buffer_pool pool{400, 12};
  for (int sequence = 0; sequence < 2000; ++sequence) {
    CAPTURE(sequence);
    align_options o;
    o.match = upto(2) == 0 ? match_rule::nearest : static_cast<match_rule>(upto(4));
    o.missing = static_cast<missing_rule>(upto(4));
    o.least = 1 + static_cast<std::uint32_t>(upto(3));
    o.tolerance = std::chrono::milliseconds{upto(20)};
    o.wait = std::chrono::milliseconds{upto(60)};
    o.depth = 1 + static_cast<std::uint32_t>(upto(6));
    o.live = upto(4) != 0;
    o.max_age = std::chrono::milliseconds{upto(200)};
    o.silent_after = std::chrono::milliseconds{1 + upto(200)};
    const auto members = 1 + static_cast<std::uint32_t>(upto(4));
    std::vector<align_member> streams;
    for (std::uint32_t i = 0; i < members; ++i)
      streams.push_back({i, upto(2) * 30.0, upto(2) == 0});
    aligner a{o, 0, streams};
    aligner::output out;
    frame_accounts accounts;
    std::map<std::pair<stream_index, frame_position>, graph_time> since;
    std::vector<std::uint64_t> next(members, 0);
    std::vector<std::uint32_t> epoch(members, 0);
    std::vector<bool> ended(members, false);
    auto last_moment = graph_time::min();
    std::uint64_t ends_given = 0, ends_sent = 0;
    bool moments_in_order = true, in_time = true, silence_told = true;
    std::vector<bool> silent(members, false);
    const auto drain_output = [&](graph_time now) {
      for (const auto& sent : out.sent) {
        if (std::holds_alternative<stream_end>(sent)) {
          ++ends_sent;
          continue;
        }
        const auto& set = *std::get<aligned_set_ptr>(sent);
        if (o.match != match_rule::frame_id)
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
      for (const auto& c : out.silences) {
        silence_told = silence_told && o.live && silent[c.member] != c.silent && !ended[c.member];
        silent[c.member] = c.silent;
      }
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
        const bool away = upto(2) == 0;
        a.end(m, {m, epoch[m], next[m], false, away}, now, out);
        silent[m] = silent[m] && !away; // not there is not silent
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
        if (upto(8) != 0) {
          f.buffer = pool.acquire();
          f.media = vector;
        }
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
    REQUIRE(silence_told);
  }
}
