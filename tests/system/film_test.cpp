// Real films, whole and damaged, through the graphs that we ship.
#include "tests/system/films.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace hyperframes;
using namespace hyperframes::test;
using nlohmann::json;

namespace {

const std::string shipped = HYPERFRAMES_SOURCE_DIR "/graphs/";

struct film_run {
  run_summary summary;
  std::vector<json> lines;
};

film_run run_film(const std::string& graph_name, const std::string& film) {
  const test_folder folder;
  graph_options options;
  options.environment = {{"FILM", film}, {"RESULTS", folder / "results.jsonl"}};
  running run{graph::from_file(shipped + graph_name, options)};
  film_run result{run.finish(), {}};
  for (const auto& line : lines_of(content_of(folder / "results.jsonl")))
    result.lines.push_back(json::parse(line));
  return result;
}

/// A line for each frame, in order, and the ledger says the same.
void check_lines(const film_run& r) {
  CHECK(r.lines.size() == r.summary.ledger.captured);
  std::map<std::string, std::uint64_t> outcomes;
  for (std::size_t i = 0; i < r.lines.size(); ++i) {
    CHECK(r.lines[i]["epoch"] == 0);
    CHECK(r.lines[i]["frame_id"] == i);
    ++outcomes[r.lines[i]["outcome"]];
  }
  for (auto o :
       {outcome::delivered, outcome::skipped, outcome::dropped, outcome::expired, outcome::failed,
        outcome::lost}) {
    INFO(to_string(o));
    CHECK(outcomes[to_string(o)] == count_of(r.summary.ledger, o));
  }
  CHECK_FALSE(r.summary.failed);
  check_depths(r.summary);
  check_ledger(r.summary);
}

std::vector<std::int64_t> times_of(const film_run& r) {
  std::vector<std::int64_t> times;
  for (const auto& line : r.lines)
    if (line["timeline_ns"].is_number())
      times.push_back(line["timeline_ns"]);
  return times;
}

} // namespace

TEST_CASE("Megamind_bugy.avi runs to its end: 270 outcomes in order") {
  // Its damage was recorded: no decoder finds fault with it, at any level of err_recognition.
  const auto r = run_film("video.yaml", film("Megamind_bugy.avi"));
  CHECK(r.lines.size() == 270);
  check_lines(r);
  CHECK(std::ranges::is_sorted(times_of(r)));
}

TEST_CASE("tree.avi (Cinepak, with uneven times): 68 outcomes in order") {
  const auto r = run_film("video.yaml", film("tree.avi"));
  CHECK(r.lines.size() == 68);
  check_lines(r);
  CHECK(count_of(r.summary.ledger, outcome::delivered) == 68);
  // 444 places in time for 68 pictures.
  const auto times = times_of(r);
  CHECK(std::ranges::is_sorted(times));
  REQUIRE(times.size() == 68);
  CHECK(times.back() > 28'000'000'000);
}

TEST_CASE("a film with damaged bytes: bad frames end as failed, the others are delivered") {
  const test_folder folder;
  write_damaged_film(folder / "damaged.avi");
  const auto r = run_film("video.yaml", folder / "damaged.avi");
  check_lines(r);
  // A packet of this film may hold two pictures: of a damaged one the decoder may pass over one.
  CHECK(r.lines.size() > 240);
  CHECK(r.lines.size() <= 270);
  const auto failed = count_of(r.summary.ledger, outcome::failed);
  CHECK(failed > 0);
  CHECK(count_of(r.summary.ledger, reason::corrupt) == failed);
  CHECK(count_of(r.summary.ledger, outcome::delivered) > 100);
  for (const auto& line : r.lines)
    if (line["outcome"] == "failed")
      CHECK(line["result"].is_null());
}

TEST_CASE("a film that is cut off in the middle ends there") {
  const test_folder folder;
  write_file(folder / "cut.avi", content_of(film("Megamind.avi")).substr(0, 500'000));
  const auto r = run_film("video.yaml", folder / "cut.avi");
  check_lines(r);
  CHECK(r.lines.size() > 50);
  CHECK(r.lines.size() < 270);
}

TEST_CASE("people are found in the beginning of a street film") {
  const test_folder folder;
  write_file(folder / "street.avi", content_of(film("vtest.avi")).substr(0, 300'000));
  const auto r = run_film("people.yaml", folder / "street.avi");
  check_lines(r);
  CHECK(r.lines.size() >= 8);
  CHECK(r.lines.size() < 60);
  std::size_t with_people = 0;
  for (const auto& line : r.lines)
    if (line["outcome"] == "delivered")
      with_people += line["result"]["boxes"].empty() ? 0 : 1;
  CHECK(2 * with_people > r.lines.size());
}
