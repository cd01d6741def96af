#include "runtime/error.hpp"
#include "tests/system/folder.hpp"
#include "tools/bench/bench_command.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

using namespace hyperframes;
using namespace hyperframes::bench;
using nlohmann::json;
using test::content_of;
using test::test_folder;

namespace {

benchmark reads(const std::string& name, double value, std::vector<std::string> arguments = {}) {
  return {name, "A promise", std::move(arguments), [=](const context& c) {
            c.progress(0, "it");
            c.progress(1, "it");
            std::string how;
            for (const auto& a : c.arguments)
              how += a + ' ';
            return report{how, {reading_of("speed", "x", {{value}}, at_least(5))}};
          }};
}

const std::vector<benchmark> known{
  reads("fast", 6), reads("slow", 4), reads("film", 7, {"VIDEO", "MODEL"})};

int run(const bench_arguments& asked, std::ostream& out, const std::vector<benchmark>& of = known) {
  std::ostringstream progress;
  return bench::bench(asked, of, out, progress);
}

int run(const bench_arguments& asked) {
  std::ostringstream out;
  return run(asked, out);
}

} // namespace

TEST_CASE("without a name it lists what there is") {
  std::ostringstream out;
  CHECK(run({}, out) == 0);
  CHECK(
    out.str()
    == "fast              A promise\nslow              A promise\n"
       "film VIDEO MODEL  A promise\nall               Every one of them\n");
}

TEST_CASE("the status says whether every goal was met") {
  CHECK(run({"fast", {}, ""}) == 0);
  CHECK(run({"slow", {}, ""}) == 1);
  CHECK(run({"all", {}, ""}) == 1);
}

TEST_CASE("progress says which round of what") {
  std::ostringstream out, progress;
  bench::bench({"fast", {}, ""}, known, out, progress);
  CHECK(progress.str() == "fast: warming up, it\nfast: round 1, it\n");
}

TEST_CASE("one benchmark is written as an object, all as a list") {
  const test_folder folder;
  run({"slow", {}, folder / "one.json"});
  const auto one = json::parse(content_of(folder / "one.json"));
  CHECK(one.at("bench") == "slow");
  CHECK(one.at("results").at(0).at("met") == false);
  CHECK(one.at("machine").at("cores") >= 1);
  run({"all", {}, folder / "all.json"});
  const auto all = json::parse(content_of(folder / "all.json"));
  REQUIRE(all.size() == 3);
  CHECK(all.at(0).at("bench") == "fast");
  CHECK(all.at(2).at("bench") == "film");
}

TEST_CASE("what was measured is there when a later benchmark fails") {
  const test_folder folder;
  const std::vector<benchmark> broken{known[0], {"bad", "", {}, [](const context&) -> report {
                                                   throw std::runtime_error("no device");
                                                 }}};
  std::ostringstream out;
  CHECK_THROWS_WITH(run({"all", {}, folder / "all.json"}, out, broken), "no device");
  CHECK(json::parse(content_of(folder / "all.json")).size() == 1);
}

TEST_CASE("a benchmark gets what it is given, all of it or nothing") {
  std::ostringstream out;
  CHECK(run({"film", {"a.mp4", "b.onnx"}, ""}, out) == 0);
  CHECK(out.str().find("  a.mp4 b.onnx\n") != std::string::npos);
  CHECK(run({"film", {}, ""}) == 0);
  CHECK_THROWS_WITH_AS(
    run({"film", {"a.mp4"}, ""}), "film: got 1 argument, expected film VIDEO MODEL", failure);
  CHECK_THROWS_WITH_AS(
    run({"fast", {"a.mp4"}, ""}), "fast: got 1 argument, expected none", failure);
  CHECK_THROWS_WITH_AS(
    run({"all", {"a.mp4", "b"}, ""}), "all: got 2 arguments, expected none", failure);
}

TEST_CASE("a wrong name is told with what was probably meant") {
  CHECK_THROWS_WITH_AS(
    run({"fats", {}, ""}), "fats: is no benchmark: did you mean 'fast'?", failure);
}

TEST_CASE("a file that cannot be written is told of before hours have passed") {
  bool ran = false;
  const std::vector<benchmark> one{{"a", "", {}, [&](const context&) {
                                      ran = true;
                                      return report{};
                                    }}};
  std::ostringstream out;
  for (const auto* name : {"a", "all"}) {
    CHECK_THROWS_WITH_AS(
      run({name, {}, "/no/such/folder/x.json"}, out, one),
      "--json /no/such/folder/x.json: cannot be written; name a file in a folder that exists",
      failure);
    CHECK_FALSE(ran);
  }
}

TEST_CASE("what can be measured has a name and a sentence, each name once") {
  std::vector<std::string> names;
  for (const auto& b : benchmarks()) {
    CHECK(b.summary.size() > 10);
    CHECK(b.run);
    CHECK(std::ranges::count(names, b.name) == 0);
    names.push_back(b.name);
  }
}
