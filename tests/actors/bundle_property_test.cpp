#include "tests/actors/bundle_run.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace hyperframes;
using namespace hyperframes::test;

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
    const auto over = sets ? upto(3) : 0;
    const bool fires = upto(3) == 0;
    const bool ring = fires && upto(2) == 0;
    settings r;
    std::optional<duration> timeout;
    if (upto(2) == 0)
      r.with("timeout", *(timeout = duration{std::chrono::milliseconds{1 + upto(120)}}));
    if (upto(4) == 0 && !ring)
      r.with("window", duration{std::chrono::milliseconds{20 + upto(100)}});
    if (fires)
      r.with("trigger", true);
    if (ring)
      r.with("pre", std::int64_t{upto((over == 1 ? 1 : size) + 1)});
    auto options = release(r);
    options.with("over", std::string{over == 0 ? "time" : over == 1 ? "cameras" : "both"});
    if (over != 1)
      options.with("size", std::int64_t{size});
    if (upto(2) == 0 && !ring)
      options.with("stride", std::int64_t{1 + upto(9)});
    options.with("every", std::int64_t{1 + (upto(4) == 0 ? upto(3) : 0)});
    if (
      over != 1 && size > 1 && (!options.has("stride") || options.integer("stride") >= size)
      && upto(3) == 0)
      options.with("stream_first", true);
    const bool keep = upto(5) == 0;
    options.with("keep_frames", keep);
    bundle_run run{options, cameras(1, static_cast<std::uint32_t>(members), live), true, 16};
    frame_accounts accounts;
    std::vector<std::uint64_t> next(static_cast<std::size_t>(members), 0);
    std::vector<std::uint32_t> epoch(static_cast<std::size_t>(members), 0);
    bool in_time = true;
    std::uint64_t counter = 0;
    bool numbered = true;
    std::map<stream_index, hyperframe_descriptor> ahead; ///< by first stream
    const auto drain_output = [&] {
      for (const auto& h : run.sent()) {
        const auto& d = h->descriptor;
        if (d.first_slot == 0) {
          numbered = numbered && d.sequence.counter == counter++;
          ahead[d.slots.front().meta.stream] = d;
        } else {
          const auto& head = ahead[d.slots.front().meta.stream];
          numbered = numbered && d.sequence == head.sequence && d.opened <= head.opened
                     && head.released_by == release_reason::first
                     && d.first_slot == head.slots.size();
          REQUIRE(d.first_slot + d.slots.size() == static_cast<std::size_t>(size) * d.members);
        }
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
      if (fires && upto(4) == 0) {
        run.fire(now - 60 + upto(120), upto(2) == 0);
        drain_output();
      }
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
      if (!keep && !ring)
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
