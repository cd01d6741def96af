// The whole street film through the people detector; takes minutes.
#include "tests/system/films.hpp"
#include "tests/system/folder.hpp"
#include "tests/system/graphs.hpp"
#include "tests/system/summary_checks.hpp"

#include <nlohmann/json.hpp>

using namespace hyperframes;
using namespace hyperframes::test;
using nlohmann::json;

TEST_CASE("vtest.avi: 795 outcomes in order, with people in most") {
  const test_folder folder;
  graph_options options;
  options.environment = {{"RESULTS", folder / "people.jsonl"}};
  running run{graph::from_file(HYPERFRAMES_SOURCE_DIR "/graphs/people.yaml", options)};
  const auto summary = run.finish();
  const auto lines = lines_of(content_of(folder / "people.jsonl"));
  REQUIRE(lines.size() == 795);
  std::size_t with_people = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = json::parse(lines[i]);
    CHECK(line["epoch"] == 0);
    CHECK(line["frame_id"] == i);
    CHECK(line["outcome"] == "delivered");
    for (const auto& box : line["result"]["boxes"]) {
      CHECK(box["x"].get<double>() >= 0);
      CHECK(box["x"].get<double>() + box["width"].get<double>() <= 768);
      CHECK(box["y"].get<double>() >= 0);
      CHECK(box["y"].get<double>() + box["height"].get<double>() <= 576);
    }
    with_people += line["result"]["boxes"].empty() ? 0 : 1;
  }
  CHECK(2 * with_people > lines.size());
  CHECK(summary.ledger.captured == 795);
  check_depths(summary);
  check_ledger(summary);
}
