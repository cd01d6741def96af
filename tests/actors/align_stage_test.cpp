#include "tests/actors/align_run.hpp"

using namespace hyperframes;

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

TEST_CASE("the stage align tells who is silent, and who is back, where capture cannot") {
  const auto d = describe_align();
  for (const bool known_to_capture : {false, true}) {
    auto s = d.make(plan_with(
      d, settings{}.with("silent_after", duration{500ms}),
      cameras(1, 3, true, known_to_capture ? 30 : 0)));
    fake_context context;
    REQUIRE(s->start(context));
    const auto give = [&](std::uint32_t member, int at) {
      context.advance_to(ms(at), *s);
      s->on_item(make_frame({at, member, static_cast<std::uint64_t>(at), at}), context);
    };
    give(1, 0);
    for (int at = 0; at < 900; at += 30)
      give(0, at);
    give(1, 905);
    const std::string follows =
      "; while others of its group go on, the sets of align leave without it";
    const std::vector<std::string> told{
      "stream group0.cam1 is silent since 0.000 s" + follows,
      "stream group0.cam2 has given no frame yet" + follows,
      "stream group0.cam1 is back after 0.905 s"};
    CHECK(context.alarms == (known_to_capture ? std::vector<std::string>{} : told));
  }
}

TEST_CASE("each match rule is read from its word") {
  const auto d = describe_align();
  for (const auto& [word, sets] : std::map<std::string, std::size_t>{
         {"nearest", 1}, {"linear", 1}, {"frame_id", 0}, {"hold_last", 2}}) {
    CAPTURE(word);
    auto s = d.make(plan_with(
      d, settings{}.with("match", word).with("tolerance", duration{1ms}), cameras(1, 2, true)));
    fake_context context;
    s->on_item(make_frame({0, 0, 0, 0, 0, 4}), context);
    s->on_item(make_frame({1, 1, 0, 1, 0, 5}), context);
    s->on_item(make_frame({33, 0, 1, 33, 0, 5}), context);
    // `frame_id` has found its pair behind a frame that is alone.
    CHECK(context.items<aligned_set_ptr>().size() == (word == "frame_id" ? 2 : sets));
  }
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
  const auto rides =
    plan_with(d, settings{}.with("match", std::string{"hold_last"}), cameras(1, 2, true));
  CHECK(d.holds(*rides.config).frames == 11); // and two of a stream that rides
  CHECK(d.holds(*rides.config).buffers == 12);
}
