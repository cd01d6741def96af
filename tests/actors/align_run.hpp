#pragma once

#include "actors/align.hpp"
#include "tests/actors/stage_context.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <sstream>

/// What the tests of align share: tables of events, and what left when, in words.
namespace hyperframes {

using namespace std::chrono_literals;

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
  bool away = false;
};
struct moment {
  int at; ///< timers up to here are met
};
using happening = std::variant<arrival, ending, moment>;

inline graph_time ms(int t) {
  return graph_time{std::chrono::milliseconds{t}};
}

inline frame make_frame(const arrival& a) {
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
/// "(0:1)" a repeated frame, "0:1~" an interpolated one, "end 0" an end, "1 silent since 3" and
/// "1 back" what is told of a member.
class align_run {
public:
  explicit align_run(const align_options& options, std::uint32_t members = 2)
    : align_run(options, streams(members)) {}
  align_run(const align_options& options, const std::vector<align_member>& members)
    : a_(options, 5, members) {}

  std::string operator()(const std::vector<happening>& events) {
    for (const auto& e : events)
      std::visit([this](const auto& value) { take(value); }, e);
    return text_;
  }
  aligner& tested() { return a_; }

  std::function<void(const arrival&, frame&)> make{}; ///< gives a frame its content
  std::vector<aligned_set_ptr> sets;                  ///< that have left

private:
  static std::vector<align_member> streams(std::uint32_t n) {
    std::vector<align_member> result(n);
    for (std::uint32_t i = 0; i < n; ++i)
      result[i].stream = i;
    return result;
  }
  static std::string word(const aligned_set::member& m) {
    if (!m.item)
      return "-";
    auto text = std::to_string(m.item->meta.stream) + ':' + std::to_string(m.item->meta.frame_id);
    if (m.item->meta.flags & frame_interpolated)
      text += '~';
    return m.own ? text : '(' + text + ')';
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
    auto f = make_frame(a);
    if (make)
      make(a, f);
    a_.add(a.member, std::move(f), ms(a.at), out_);
    write(ms(a.at));
  }
  void take(const ending& e) {
    timers_before(ms(e.at));
    a_.end(e.member, {e.member, e.epoch, e.frames, e.last, e.away}, ms(e.at), out_);
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
      sets.push_back(std::get<aligned_set_ptr>(sent));
      for (const auto& m : set.members) {
        s << (&m == &set.members.front() ? "" : " ") << word(m);
        CHECK(m.item.has_value() == (m.absent == reason::none));
      }
      s << "]; ";
    }
    for (const auto& c : out_.silences) {
      s << now.time_since_epoch() / 1ms << ": " << c.member << (c.silent ? " silent" : " back");
      if (c.silent && c.since)
        s << " since " << c.since->time_since_epoch() / 1ms;
      s << "; ";
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

inline align_options with(missing_rule missing, std::uint32_t least = 1) {
  align_options o;
  o.missing = missing;
  o.least = least;
  return o;
}

} // namespace hyperframes
