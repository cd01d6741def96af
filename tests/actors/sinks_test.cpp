#include "actors/sinks/stream_ends.hpp"
#include "tests/actors/sink_context.hpp"

using namespace hyperframes;

namespace {

stage_plan with_program(stage_plan plan, callback_resource program) {
  plan.resource = std::make_shared<const callback_resource>(std::move(program));
  return plan;
}

} // namespace

TEST_CASE("A stream is over when its last epoch has ended") {
  const stream_index streams[] = {0, 3};
  stream_ends ends{streams, false};
  CHECK_FALSE(ends.all_over());
  ends.add(as_item(result_of(0)));
  ends.add(stream_end{0, 0, 5, false});
  ends.add(stream_end{3, 0, 5, true});
  CHECK_FALSE(ends.all_over());
  ends.add(stream_end{0, 1, 0, true});
  CHECK(ends.all_over());
}

TEST_CASE("Where a sink ends accounts, a stream is over when each frame has come or ended") {
  const stream_index streams[] = {0, 1};
  stream_ends ends{streams, true};
  ends.add(item{frame{meta_of(0, 0, 0), {}, {}}});
  ends.add(stream_end{0, 0, 2, false});
  ends.add(stream_end{0, 1, 1, true});
  ends.add(stream_end{1, 0, 2, true});
  CHECK_FALSE(ends.all_over());
  auto h = std::make_shared<hyperframe>();
  h->descriptor.slots = {slot_of(meta_of(1, 0), false, true), slot_of(meta_of(0, 1), true, true),
                         slot_of(meta_of(1, 1), true, false)};
  ends.add(item{hyperframe_ptr{h}});
  CHECK_FALSE(ends.all_over());
  const outcome_range stopped[] = {{0, 1, 0, 1, outcome::dropped, reason::stopped},
                                   {1, 0, 1, 1, outcome::dropped, reason::stopped}};
  ends.add(stopped);
  CHECK(ends.all_over());
}

TEST_CASE("Whether a sink ends accounts is what its plan says, not what it sees") {
  const stream_index streams[] = {0};
  // Every frame ended above, and the end comes first.
  stream_ends last{streams, true};
  last.add(stream_end{0, 0, 2, true});
  CHECK_FALSE(last.all_over());
  const outcome_range expired[] = {{0, 0, 0, 2, outcome::expired, reason::deadline}};
  last.add(expired);
  CHECK(last.all_over());
  // Below an unbundle frames may come as well, of a branch of their own.
  stream_ends branch{streams, false};
  branch.add(item{frame{meta_of(0), {}, {}}});
  branch.add(stream_end{0, 0, 2, true});
  CHECK(branch.all_over());
}

TEST_CASE("null takes everything and is done at the end") {
  const auto kind = describe_null();
  auto sink = kind.make(plan_for(kind, {}, {0, 1}));
  sink_context context;
  CHECK(sink->start(context));
  for (std::uint64_t i = 0; i < 10; ++i)
    sink->on_item(as_item(result_of(i)), context);
  sink->on_end({0, 0, 10}, context);
  CHECK_FALSE(context.is_done);
  sink->on_end({1, 0, 0}, context);
  CHECK(context.is_done);
  CHECK(sink->held_frames() == 0);
}

TEST_CASE("callback hands over items, outcomes and ends in order") {
  std::vector<std::string> seen;
  callback_resource program;
  program.call = [&](const item& i) {
    seen.push_back(to_string(type_of(i)));
    if (const auto* r = std::get_if<outcome_range>(&i))
      seen.back() += ' ' + std::to_string(r->first) + '+' + std::to_string(r->count);
  };
  program.end = [&](const stream_end& e) { seen.push_back("end " + std::to_string(e.frames)); };
  const auto kind = describe_callback();
  auto sink = kind.make(with_program(settling(plan_for(kind, {})), program));
  sink_context context;
  CHECK(sink->start(context));
  sink->on_item(frame{meta_of(0), {}, {}}, context);
  const outcome_range dropped[] = {{0, 0, 1, 2, outcome::dropped, reason::edge_full}};
  sink->on_outcomes(dropped, context);
  CHECK_FALSE(context.is_done);
  sink->on_end({0, 0, 3}, context);
  CHECK(context.is_done);
  CHECK(seen == std::vector<std::string>{"frame", "outcome 1+2", "end 3"});
}

TEST_CASE("callback does without a function for ends") {
  int items = 0;
  callback_resource program;
  program.call = [&](const item&) { ++items; };
  const auto kind = describe_callback();
  auto sink = kind.make(with_program(plan_for(kind, {}), program));
  sink_context context;
  sink->start(context);
  sink->on_item(as_item(result_of(0)), context);
  sink->on_end({0, 0, 1}, context);
  CHECK(context.is_done);
  CHECK(items == 1);
}

TEST_CASE("callback without a function does not start, and what one throws gets out") {
  const auto kind = describe_callback();
  sink_context context;
  const std::string sentence
    = "results: no function of the program is registered under this name; register one before the "
      "graph starts, or use a stage of type `jsonl` or `null`";
  CHECK(failure_of([&] { kind.make(plan_for(kind, {}))->start(context); }) == sentence);
  CHECK(failure_of([&] { kind.make(with_program(plan_for(kind, {}), {}))->start(context); })
        == sentence);
  auto other = plan_for(kind, {});
  other.resource = std::make_shared<const stage_resource>();
  CHECK(failure_of([&] { kind.make(other)->start(context); }) == sentence);

  callback_resource program;
  program.call = [](const item&) { throw std::runtime_error("the program is tired"); };
  auto sink = kind.make(with_program(plan_for(kind, {}), program));
  sink->start(context);
  CHECK_THROWS_WITH(sink->on_item(as_item(result_of(0)), context), "the program is tired");
}
