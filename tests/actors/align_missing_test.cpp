#include "tests/actors/align_run.hpp"

using namespace hyperframes;

TEST_CASE("rules for missing members") {
  const std::vector<happening> two_of_three{arrival{0, 0, 0, 0}, arrival{1, 1, 0, 0}, moment{50}};
  const std::vector<happening> one_of_three{arrival{0, 0, 0, 0}, moment{50}};
  struct row {
    align_options options;
    const std::vector<happening>& events;
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
  aligner a{with(missing_rule::hold_last), 0, {{0}, {1}}};
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
