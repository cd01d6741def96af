#include "graphs/describe.hpp"
#include "tests/graphs/fake_catalogue.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;
using namespace hyperframes::fakes;

TEST_CASE("the lists name everything") {
  const auto stages = describe_stages(known());
  for (const auto& s : known().stages.all())
    CHECK(stages.find('\n' + s->name + ' ') != std::string::npos);
  CHECK(
    stages.find("bundle    frame, aligned_set  hyperframe    Fakes the stage bundle.\n")
    != std::string::npos);
  const auto cameras = describe_cameras(known());
  CHECK(cameras.find("\nfake    Gives nothing.\n") != std::string::npos);
}

TEST_CASE("one stage in full") {
  const auto text = describe_stage(known(), "bundle").value();
  for (const auto* part :
       {"input, from one stage or several\n  in  frame, aligned_set\n",
        "outputs\n  out  hyperframe\n", "  over  (one of time, cameras, both; default time)\n",
        "  size  (integer, 1 to 4096 slots; required)\n",
        "  release.timeout  (duration, 1ms to 1h; default: unset)\n      What timeout means. A "
        "frame may wait that long.\n",
        "  from.capacity  (integer, 1 to 1000000 items; default: unset)\n",
        "  bundle: { type: bundle, size: 1, from: ... }\n"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  // A source has no edge to describe.
  CHECK(describe_stage(known(), "capture").value().find("from.") == std::string::npos);
  CHECK(describe_stage(known(), "capture").value().find("list of text") != std::string::npos);
}

TEST_CASE("one camera in full") {
  const auto text = describe_camera(known(), "fake").value();
  CHECK(text.find("  size  (size, 16 to 4096; default 64x48)\n") != std::string::npos);
  CHECK(text.find("What path means. Relative to the graph file's folder.\n") != std::string::npos);
  CHECK(text.find("  id  (text; required)\n") != std::string::npos);
}

TEST_CASE("unknown names get the nearest") {
  const auto stage = describe_stage(known(), "bundel");
  REQUIRE(stage.has_error());
  CHECK(stage.error().code == errc::graph_invalid);
  CHECK(stage.error().message == "there is no stage type 'bundel': did you mean 'bundle'?");
  CHECK(
    describe_camera(known(), "gige").error().message
    == "there is no camera 'gige': known are fake and push");
}
