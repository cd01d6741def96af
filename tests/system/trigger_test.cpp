// Triggers through whole graphs: from the program, from a stream and from messages.
#include "tests/system/folder.hpp"
#include "tests/system/summary_checks.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <condition_variable>
#include <mutex>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;

std::string synthetic(const std::string& id, const std::string& more) {
  return "  - { id: " + id + ", camera: { type: synthetic, scene: counter, size: 32x32, " + more
         + " } }\n";
}

/// `streams`, a stage `trigger` and a bundle that it releases.
std::string triggered(
  const std::string& streams, const std::string& capture, const std::string& trigger,
  const std::string& release, const std::string& sink) {
  return "hyperframes: 1\nname: triggered\nstreams:\n" + streams + "stages:\n" + capture
         + "  trigger: { type: trigger" + trigger
         + " }\n"
           "  bundle:  { type: bundle, from: [capture, trigger], size: 4, release: "
         + release + " }\n" + sink;
}

const std::string capture_all = "  capture: { type: capture }\n";
const std::string program = "  program: { type: callback, from: bundle }\n";

/// The hyperframes that come to a callback, and a way to wait for them.
struct released {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<hyperframe_ptr> all;
  std::string port; ///< that the trigger stage has taken

  run_options options() {
    run_options o;
    o.callbacks["program"] = [this](const item& i) {
      const std::lock_guard lock{mutex};
      if (const auto* h = std::get_if<hyperframe_ptr>(&i))
        all.push_back(*h);
      changed.notify_all();
    };
    o.on_event = [this](const event& e) {
      const std::lock_guard lock{mutex};
      if (e.sentence.starts_with("listens for "))
        port = e.sentence.substr(e.sentence.rfind(' ') + 1);
      changed.notify_all();
    };
    return o;
  }
  template <class Condition>
  bool wait(Condition reached, duration patience = 30s) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, patience, reached);
  }
  /// Repeats `step` until a hyperframe has come, for which it need not be the first time that counts.
  template <class Step>
  bool wait_repeating(Step step) {
    for (int i = 0; i < 3000; ++i) {
      step(i);
      if (wait([this] { return !all.empty(); }, 10ms))
        return true;
    }
    return false;
  }
};

/// A stream whose frames the test hands in.
const std::string pushed =
  "  - { id: cam, camera: { type: push, size: 32x32, format: gray8, live: true } }\n";

void push(running& run, int number) {
  const std::vector<std::byte> pixels(32 * 32);
  REQUIRE(
    run.input("cam")->push_for(pixels, capture_time{number * 10ms}, 30s) == push_result::taken);
}

} // namespace

TEST_CASE("a stream's frames fire on the virtual clock: the frames around each, all others skipped") {
  const auto g = graph::from_text(triggered(
    synthetic("cam", "fps: 20, frames: 100") + synthetic("button", "fps: 1, frames: 5"),
    "  capture: { type: capture, streams: cam }\n  buttons: { type: capture, streams: button }\n",
    ", from: buttons", "{ trigger: true, pre: 2 }", program));
  std::string lines[2];
  for (auto& text : lines) {
    released seen;
    const auto summary = run_virtually(g, never, seen.options());
    check_ledger(summary);
    REQUIRE(seen.all.size() >= 4);
    std::uint64_t own = 0;
    for (const auto& h : seen.all) {
      const auto& d = h->descriptor;
      CHECK(d.released_by != release_reason::count);
      own += d.own_count();
      for (const auto& s : d.slots)
        text += std::to_string(s.meta.frame_id) + (s.valid ? " " : "- ");
    }
    CHECK(count_of(summary.streams[0].sums, outcome::delivered) == own);
    CHECK(count_of(summary.streams[0].sums, reason::untriggered) == 100 - own);
    CHECK(count_of(summary.streams[1].sums, outcome::delivered) == 5);
  }
  CHECK(lines[0] == lines[1]);
}

TEST_CASE("the program fires from a callback, also on the virtual clock") {
  const auto g = graph::from_text(triggered(
    synthetic("cam", "fps: 20, frames: 40"), capture_all, "", "{ trigger: true, timeout: 150ms }",
    program));
  released seen;
  auto options = seen.options();
  options.triggers["trigger"] = std::make_shared<trigger_port>();
  const auto collect = options.callbacks["program"];
  options.callbacks["program"] = [&, port = options.triggers["trigger"]](const item& i) {
    collect(i);
    if (std::holds_alternative<hyperframe_ptr>(i))
      port->fire();
  };
  const auto summary = run_virtually(g, never, options);
  check_ledger(summary);
  CHECK(count_of(summary.ledger, outcome::delivered) == 40);
  CHECK(options.triggers["trigger"]->fired() == seen.all.size());
  CHECK(options.triggers["trigger"]->fire() == trigger_result::closed);
}

TEST_CASE("the program fires a running graph") {
  const auto g =
    graph::from_text(triggered(pushed, capture_all, "", "{ trigger: true }", program));
  released seen;
  running run{g, seen.options()};
  CHECK_THROWS_WITH_AS(
    run.trigger("bundle"),
    doctest::Contains("bundle: is no stage of type `trigger`: there is nothing to fire"), failure);
  CHECK(run.trigger("trigger", "nobody") == trigger_result::unknown);
  push(run, 0);
  // Where the frame is still on its way, a trigger finds nothing to release.
  REQUIRE(seen.wait_repeating(
    [&](int) { CHECK(run.trigger("trigger", "cam") == trigger_result::taken); }));
  CHECK(seen.all.at(0)->descriptor.released_by == release_reason::trigger);
  run.input("cam")->close();
  const auto summary = run.finish();
  check_ledger(summary);
  CHECK(run.trigger("trigger") == trigger_result::closed);
}

TEST_CASE("the graph that docs/triggers.md shows runs") {
  const auto page = content_of(HYPERFRAMES_SOURCE_DIR "/docs/triggers.md");
  const std::string fence = "```yaml\n";
  const auto begin = page.find(fence);
  REQUIRE(begin != std::string::npos);
  auto stages = page.substr(begin + fence.size());
  stages.resize(stages.find("```"));
  // Its ports may be taken here.
  for (const std::string port : {":5005", ":8080"}) {
    REQUIRE(stages.find(port) != std::string::npos);
    stages.replace(stages.find(port), port.size(), ":0");
  }
  const auto g = graph::from_text("hyperframes: 1\nstreams:\n" + pushed + stages + program);
  released seen;
  running run{g, seen.options()};
  for (int i = 0; i < 6; ++i)
    push(run, i);
  CHECK(run.trigger("barrier") == trigger_result::taken);
  CHECK(seen.wait_repeating([&](int n) { push(run, 6 + n); }));
  run.input("cam")->close();
  check_ledger(run.finish());
  REQUIRE_FALSE(seen.all.empty());
  CHECK(seen.all[0]->descriptor.slots.size() == 8);
}

TEST_CASE("messages fire a running graph") {
  for (const auto* kind : {"udp", "http"}) {
    CAPTURE(std::string{kind});
    const auto g = graph::from_text(triggered(
      pushed, capture_all, std::string{", "} + kind + ": \"127.0.0.1:0\"", "{ trigger: true, pre: 1 }",
      program));
    released seen;
    running run{g, seen.options()};
    REQUIRE(seen.wait([&] { return !seen.port.empty(); }));
    const auto number = static_cast<std::uint16_t>(std::stoul(seen.port));
    const auto here = asio::ip::make_address("127.0.0.1");
    asio::io_context io;
    // What comes behind the message completes the hyperframe: three frames from its moment on.
    push(run, 0);
    if (std::string{kind} == "udp") {
      asio::ip::udp::socket socket{io, asio::ip::udp::v4()};
      socket.send_to(asio::buffer(std::string{"cam"}), {here, number});
    } else {
      asio::ip::tcp::socket socket{io};
      socket.connect({here, number});
      asio::write(
        socket, asio::buffer(std::string{
                  "POST /trigger/cam HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"}));
      std::string answer;
      boost::system::error_code e;
      asio::read(socket, asio::dynamic_buffer(answer), e);
      CHECK(answer.starts_with("HTTP/1.1 204 "));
    }
    CHECK(seen.wait_repeating([&](int n) { push(run, n + 1); }));
    run.input("cam")->close();
    check_ledger(run.finish());
  }
}

TEST_CASE("an address that is taken keeps the graph from starting, and is said") {
  asio::io_context io;
  asio::ip::udp::socket taken{io, {asio::ip::make_address("127.0.0.1"), 0}};
  const auto address = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  const auto g = graph::from_text(triggered(
    synthetic("cam", "fps: 20, frames: 40"), capture_all, ", udp: \"" + address + "\"",
    "{ trigger: true }", "  nothing: { type: \"null\", from: bundle }\n"));
  CHECK_THROWS_WITH_AS(
    running(g, {}), doctest::Contains("trigger: cannot listen for datagrams at 127.0.0.1, port"), failure);
}

TEST_CASE("on the virtual clock nobody listens") {
  const auto g = graph::from_text(triggered(
    synthetic("cam", "fps: 20, frames: 40"), capture_all, ", http: \"127.0.0.1:8080\"",
    "{ trigger: true }", "  nothing: { type: \"null\", from: bundle }\n"), "graph.yaml");
  CHECK_THROWS_WITH_AS(
    run_virtually(g),
    doctest::Contains("stage 'trigger' listens for messages (`http`), which are real: on the virtual "
                      "clock only frames and the program fire triggers"),
    failure);
}

TEST_CASE("a trigger that releases nothing, and a bundle that waits for none, are faults") {
  const auto fault_of = [](const std::string& text) -> std::string {
    try {
      graph::from_text(text, "graph.yaml");
    } catch (const graph_error& e) {
      return e.what();
    }
    return "(none)";
  };
  const auto sound =
    triggered(synthetic("cam", "fps: 20, frames: 40"), capture_all, "", "{ trigger: true }", program);
  CHECK(fault_of(sound) == "(none)");
  auto useless = sound;
  useless.replace(useless.find("{ trigger: true }"), 17, "{ count: 4 }");
  CHECK(
    fault_of(useless).find("bundle: triggers come in, but release nothing") != std::string::npos);
  auto alone = sound;
  alone.replace(alone.find("[capture, trigger]"), 18, "capture");
  CHECK(
    fault_of(alone).find("bundle: it is released by triggers, but none come in")
    != std::string::npos);
  CHECK(fault_of(alone).find("nobody takes what trigger gives") != std::string::npos);
}
