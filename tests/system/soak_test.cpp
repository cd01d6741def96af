// The soak as a process. What it finds in so short a time depends on the machine; that it looks
// does not.
#include "tests/system/folder.hpp"
#include "tests/system/process.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace hyperframes::test;
using nlohmann::json;

TEST_CASE("a short soak looks at both graphs, closes their accounts, and writes a record") {
  const test_folder folder;
  const auto p =
    finish({HYPERFRAMES_SOAK, "--minutes", "0.3", "--json", folder / "soak.json"}, folder.path());
  INFO(p.out, p.err);
  const auto record = json::parse(content_of(folder / "soak.json"));
  CHECK(record.at("bench") == "soak");
  CHECK(record.at("results").size() == 16);
  bool met = true;
  for (const auto& line : record.at("results")) {
    const auto metric = line.at("metric").get<std::string>();
    INFO(metric);
    CHECK(line.at("value").is_number()); // enough looks to tell
    met = met && line.at("met").get<bool>();
    for (const auto* certain : {"frames without an outcome", "failed", "handles"})
      if (metric.find(certain) != std::string::npos)
        CHECK(line.at("met") == true);
  }
  CHECK(p.status == (met ? 0 : 1));
  CHECK((p.out.find("MISSED") == std::string::npos) == met);
}

TEST_CASE("a soak that would be too short says so") {
  const auto p = finish({HYPERFRAMES_SOAK}, "/");
  CHECK(p.status == 2);
  CHECK(p.err == "error: expected ten seconds in all at least, as in --hours 1 or --minutes 10\n");
}
