#include "tools/bench/benchmark.hpp"

#include "graphs/text_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace hyperframes::bench {

namespace {

/// As few digits as tell two runs apart.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

} // namespace

bool goal::met_by(double value) const {
  switch (which) {
    case side::at_least:
      return value >= bound;
    case side::at_most:
      return value <= bound;
    case side::under:
      return value < bound;
  }
  return false;
}

goal at_least(double bound) {
  return {goal::side::at_least, bound};
}

goal at_most(double bound) {
  return {goal::side::at_most, bound};
}

goal under(double bound) {
  return {goal::side::under, bound};
}

std::string to_string(const goal& g) {
  constexpr const char* signs[] = {">= ", "<= ", "< "};
  return signs[static_cast<std::size_t>(g.which)] + number(g.bound);
}

reading
reading_of(std::string metric, std::string unit, const samples& s, std::optional<goal> wanted) {
  return {std::move(metric), s.median(), std::move(unit), s.least(), s.most(), wanted};
}

bool report::met() const {
  return std::ranges::all_of(results, &reading::met);
}

machine this_machine() {
  machine m;
  std::ifstream cpus{"/proc/cpuinfo"};
  for (std::string line; m.cpu.empty() && std::getline(cpus, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        m.cpu = line.substr(colon + 2);
  if (m.cpu.empty())
    m.cpu = "unknown";
  m.cores = std::max(1U, std::thread::hardware_concurrency());
  m.memory_bytes = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)))
                   * static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  return m;
}

std::string to_text(const std::string& bench, const machine& m, const report& r) {
  text_table table;
  table.add({"metric", "median", "min", "max", "unit", "goal", ""});
  for (const auto& line : r.results)
    table.add(
      {line.metric, number(line.value), number(line.min), number(line.max), line.unit,
       line.wanted ? to_string(*line.wanted) : "",
       line.wanted ? (line.met() ? "met" : "MISSED") : ""});
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f GiB", static_cast<double>(m.memory_bytes) / (1 << 30));
  return bench + " on " + m.cpu + ", " + std::to_string(m.cores) + " cores, " + memory + '\n'
         + wrap(r.method, 2) + table.text();
}

std::string to_json(const std::string& bench, const machine& m, const report& r) {
  using json = nlohmann::ordered_json;
  json results = json::array();
  for (const auto& line : r.results) {
    results.push_back(
      {{"metric", line.metric},
       {"value", line.value},
       {"unit", line.unit},
       {"min", line.min},
       {"max", line.max},
       {"goal", line.wanted ? json(to_string(*line.wanted)) : json()},
       {"met", line.wanted ? json(line.met()) : json()}});
  }
  return json{
    {"bench", bench},
    {"machine", {{"cpu", m.cpu}, {"cores", m.cores}, {"memory_bytes", m.memory_bytes}}},
    {"method", r.method},
    {"results", results}}
    .dump(2);
}

} // namespace hyperframes::bench
