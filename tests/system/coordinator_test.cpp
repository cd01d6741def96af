// The process that runs a graph is killed: its nodes let go of what they had for it, and take the
// next.
#include "tests/system/held_by.hpp"
#include "tests/system/placed.hpp"

using namespace hyperframes;
using namespace hyperframes::test;

namespace {

/// Within which a node has let go of everything: its connections end with the process at the other
/// end, and what hangs is left behind after half a second.
constexpr std::chrono::seconds let_go{10};

/// Cameras on `a`, a worker on `b`, results in a file.
std::string spread(const std::string& streams, const node_process& a, const node_process& b) {
  auto text = placed(streams, 1, {a.entry(), b.entry()});
  text = with(text, "node: any", "node: b");
  text = with(text, "type: capture", "type: capture, node: a");
  text = with(text, "type: bundle", "type: bundle, node: a");
  return with(
    text, "{ type: callback, from: unbundle }",
    "{ type: jsonl, from: unbundle, flush: 0s, path: results.jsonl }");
}

} // namespace

TEST_CASE("a run that is killed leaves its nodes as they were: cameras, seats and memory are free, "
          "the next run works") {
  test_folder folder;
  const auto certs = make_certificates(folder);
  node_process a{folder, "a"}, b{folder, "b"};
  constexpr std::size_t frames = 80;
  write_file(folder / "whole.yaml", spread(file_camera("cam", frames), a, b));
  const auto run_whole = [&] {
    std::filesystem::remove(folder / "results.jsonl");
    const auto run = finish({HYPERFRAMES_COMMAND, "run", "whole.yaml", "--quiet"}, folder.path());
    CHECK(run.err == "");
    CHECK(run.status == 0);
    CHECK(lines_of(content_of(folder / "results.jsonl")).size() == frames);
  };
  const auto network = network_of(certs);
  const auto taken = [&](const node_process& n) {
    const auto facts = network->ask(n.address(), std::chrono::seconds{10});
    REQUIRE(facts.has_value());
    return facts->taken;
  };

  const held_by a_before{a.id()}, b_before{b.id()};
  const auto is_idle = [&] {
    const held_by at_a{a.id()}, at_b{b.id()};
    return at_a.files <= a_before.files && at_b.files <= b_before.files && at_a.mappings == 0
           && at_b.mappings == 0;
  };
  run_whole();
  wait_for("idle nodes", is_idle);

  for (const auto* camera : {"fps: 100", "realtime: false"}) {
    INFO(camera);
    std::filesystem::remove(folder / "results.jsonl");
    write_file(
      folder / "endless.yaml",
      spread(
        std::string{"  - { id: cam, camera: { type: synthetic, scene: counter, size: 64x64, "}
          + camera + " } }\n",
        a, b));
    process run{{HYPERFRAMES_COMMAND, "run", "endless.yaml", "--quiet"}, folder.path()};
    wait_for(
      "results", [&] { return lines_of(content_of(folder / "results.jsonl")).size() > 100; });
    CHECK(held_by{a.id()}.segments > 0);
    CHECK(taken(b) == 1);
    const auto killed = std::chrono::steady_clock::now();
    run.signal(SIGKILL);
    CHECK(run.wait() == 1000 + SIGKILL);
    wait_for("idle nodes", is_idle);
    CHECK(std::chrono::steady_clock::now() - killed < let_go);
    CHECK(taken(b) == 0);
  }
  run_whole();
  CHECK(a.leave() == 0);
  CHECK(b.leave() == 0);
  CHECK(b.err().find("in use") == std::string::npos);
}
