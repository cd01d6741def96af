// Who holds the slots of the pools, and what they take when pictures change.
#include "tests/system/collected.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <opencv2/imgcodecs.hpp>

#include <array>
#include <cstdio>
#include <deque>
#include <mutex>

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

/// Keeps the frames of the results that come, until it is told to let go.
class keeper {
public:
  std::function<void(const item&)> taker() {
    return [this](const item& i) {
      const auto& r = std::get<frame_result_ptr>(i);
      const std::lock_guard lock{mutex_};
      if (keeps_ && r->content)
        kept_.push_back(*r->content);
    };
  }
  void let_go() {
    const std::lock_guard lock{mutex_};
    keeps_ = false;
    kept_.clear();
  }
  std::size_t kept() const {
    const std::lock_guard lock{mutex_};
    return kept_.size();
  }

private:
  mutable std::mutex mutex_;
  bool keeps_ = true;
  std::deque<frame> kept_;
};

std::string keeping_chain() {
  auto text =
    chain("  - { id: cam, camera: { type: synthetic, scene: counter, size: 16x16, fps: 500 } }\n");
  const std::string plain = "size: 8 }";
  return text.replace(text.find(plain), plain.size(), "size: 2, keep_frames: true }");
}

const run_summary::pool_line& pool_of(const run_summary& s, const std::string& name) {
  for (const auto& l : s.pools)
    if (l.name == name)
      return l;
  FAIL("there is no pool ", name);
  return s.pools.front();
}

double number_behind(const std::string& text, const std::string& name) {
  const auto place = text.find(name);
  REQUIRE_MESSAGE(place != std::string::npos, text);
  return std::stod(text.substr(place + name.size()));
}

} // namespace

TEST_CASE("a program that keeps frames is named as their holder; what it lets go of comes back") {
  keeper program;
  running run{graph::from_text(keeping_chain()), calling({{"program", program.taker()}})};
  const std::string age =
    R"(hyperframes_pool_oldest_slot_age_seconds{graph="test",holder="program",pool="pool of stream cam"} )";
  const std::string in_use =
    R"(hyperframes_pool_slots_in_use{graph="test",pool="pool of stream cam"} )";
  wait_for("the program to be the holder", [&] {
    return program.kept() > 4 && run.metrics().find(age) != std::string::npos;
  });
  wait_for("the pool to run empty", [&] {
    return run.progress().ledger.reasons[static_cast<std::size_t>(reason::pool_empty)] > 0;
  });
  auto metrics = run.metrics();
  CHECK(number_behind(metrics, age) > 0);
  CHECK(number_behind(metrics, in_use) >= static_cast<double>(program.kept()));
  CHECK(number_behind(metrics, "\nhyperframes_resident_memory_bytes ") > 1e6);
  CHECK(number_behind(metrics, "\nhyperframes_peak_resident_memory_bytes ") > 1e6);
  const auto delivered = [&] {
    return run.progress().ledger.outcomes[static_cast<std::size_t>(outcome::delivered)];
  };
  const auto before = delivered();
  program.let_go();
  wait_for("frames again", [&] { return delivered() > before + 50; });
  run.drain();
  const auto summary = run.finish();
  check_ledger(summary);
  const auto& pool = pool_of(summary, "pool of stream cam");
  CHECK(pool.in_use == 0);
  CHECK(pool.peak_in_use == pool.slots);
  CHECK(pool.holder == "");
  CHECK(pool_of(summary, "tensors of bundle").in_use == 0);
  CHECK(pool_of(summary, "tensors of bundle").peak_in_use > 0);
  metrics = run.metrics();
  CHECK(number_behind(metrics, age) == 0); // it let go
  CHECK(number_behind(metrics, in_use) == 0);
}

TEST_CASE("what a program still holds at the end stands in the summary") {
  keeper program;
  running run{graph::from_text(keeping_chain()), calling({{"program", program.taker()}})};
  wait_for("frames", [&] { return program.kept() > 4; });
  run.drain();
  const auto summary = run.finish();
  check_ledger(summary);
  const auto& pool = pool_of(summary, "pool of stream cam");
  CHECK(pool.in_use == program.kept());
  CHECK(pool.holder == "program");
  REQUIRE(pool.oldest_age);
  CHECK(*pool.oldest_age > 0ns);
  program.let_go();
}

TEST_CASE(
  "pictures that change their size again and again stay within the memory that explain states") {
  const test_folder folder;
  constexpr std::size_t pictures = 60;
  for (std::size_t i = 0; i < pictures; ++i) { // 32, 64, 128, 64, 32 ... pixels wide, a few of each
    const int side = 32 << std::array{0, 1, 2, 1}[i / 5 % 4];
    char name[16];
    std::snprintf(name, sizeof name, "%03zu.png", i);
    REQUIRE(cv::imwrite(folder / name, cv::Mat{side, side, CV_8UC3, cv::Scalar::all(7)}));
  }
  const auto text_with = [&](const std::string& memory) {
    return memory
           + chain("  - { id: cam, camera: { type: images, path: \"" + folder.path() + "\" } }\n");
  };
  const auto planned = graph::from_text(text_with("")).plan();
  constexpr std::size_t slot = 32 * 32 * 3;
  std::size_t slots = 0;
  for (const auto& l : planned.memory)
    if (l.what == "pool of stream cam")
      slots = l.bytes / slot;
  REQUIRE(slots > 0);
  for (const bool enough : {true, false}) {
    CAPTURE(enough);
    // Without: for pictures twice as wide as the first ones beside those, and not for larger ones.
    const auto room = 4 * slots * slot;
    const auto allowed = planned.memory_total + room;
    collected_results results;
    running run{
      graph::from_text(text_with(enough ? "" : "memory: " + std::to_string(allowed) + "B\n")),
      calling({{"program", results.taker()}})};
    const auto summary = run.finish();
    check_ledger(summary);
    CHECK(!summary.failed);
    CHECK(results.fault() == "");
    CHECK(results.count() == pictures);
    const auto failed = count_of(summary.ledger, reason::no_memory);
    CHECK(count_of(summary.ledger, outcome::delivered) + failed == pictures);
    CHECK((failed > 0) == !enough);
    for (const auto& r : results.of(0))
      if (r->why == reason::no_memory) {
        CHECK(r->what == outcome::failed);
        CHECK(r->meta.frame_id % 20 >= 5);
      }
    const auto& pool = pool_of(summary, "pool of stream cam");
    CHECK(pool.in_use == 0);
    if (!enough)
      CHECK(pool.peak_bytes <= slots * slot + room);
  }
}

TEST_CASE("how long a slot has been in use is counted from the frame's arrival") {
  std::optional<frame> first;
  const auto text =
    std::string{"hyperframes: 1\n"
                "streams:\n"
                "  - { id: cam, camera: { type: synthetic, scene: counter, size: 16x16, fps: 10, "
                "frames: 31 } }\n"
                "stages:\n"
                "  capture: { type: capture }\n"
                "  program: { type: callback, from: capture }\n"};
  const auto summary =
    run_virtually(graph::from_text(text), never, calling({{"program", [&](const item& i) {
                                                             if (!first)
                                                               first = std::get<frame>(i);
                                                           }}}));
  check_ledger(summary);
  const auto& pool = pool_of(summary, "pool of stream cam");
  CHECK(pool.in_use == 1);
  CHECK(pool.holder == "program");
  REQUIRE(pool.oldest_age);
  CHECK(*pool.oldest_age == summary.wall - first->meta.arrived.time_since_epoch());
  CHECK(*pool.oldest_age >= 3s);
}
