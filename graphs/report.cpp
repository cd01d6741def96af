#include "graphs/report.hpp"

#include "graphs/text_table.hpp"
#include "graphs/values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>

namespace hyperframes {

namespace {

using json = nlohmann::ordered_json;

constexpr outcome all_outcomes[] = {outcome::delivered, outcome::skipped, outcome::dropped,
                                    outcome::expired,   outcome::failed,  outcome::lost};

template <class... Ts>
std::string format(const char* pattern, Ts... values) {
  char text[256];
  const auto n = std::snprintf(text, sizeof text, pattern, values...);
  return {text, static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof text) - 1))};
}

json to_json(const account_sums& sums) {
  json j;
  j["captured"] = sums.captured;
  for (auto o : all_outcomes)
    j[to_string(o)] = sums.outcomes[static_cast<std::size_t>(o)];
  json reasons = json::object();
  for (std::size_t r = 1; r < reason_count; ++r)
    if (sums.reasons[r] > 0)
      reasons[to_string(static_cast<reason>(r))] = sums.reasons[r];
  j["reasons"] = reasons;
  return j;
}

json to_json(const percentiles& p) {
  return {
    {"count", p.count},
    {"p50", in_ms(p.p50)},
    {"p95", in_ms(p.p95)},
    {"p99", in_ms(p.p99)},
    {"max", in_ms(p.longest)}};
}

std::string reasons_of(const account_sums& sums) {
  std::string text;
  for (std::size_t r = 1; r < reason_count; ++r)
    if (sums.reasons[r] > 0)
      text += format(
        "%s%s %llu", text.empty() ? "" : ", ", to_string(static_cast<reason>(r)),
        static_cast<unsigned long long>(sums.reasons[r]));
  return text;
}

/// What the words of the reasons mean, for who reads them in a summary.
const char* meaning_of(reason r) {
  constexpr const char* meanings[] = {
    "delivered in time",
    "delivered after its deadline",
    "passed over by `stride` between two hyperframes",
    "passed over by `every`",
    "no trigger asked for it",
    "its live camera found no free buffer: the graph holds all of them",
    "an edge was full, and its `overflow` chose it",
    "found no partner within the tolerance of align",
    "align wanted more members than its set had",
    "came to align behind what had already left: later than `wait` allows, or placed by a clock "
    "or a frame id that was not true",
    "the graph was stopped",
    "was past its deadline before a worker could take it",
    "was queued for longer than `ttl`",
    "its source said that its content is damaged",
    "was larger than the frames before it, and `memory` left no room for such buffers",
    "could not be packed into a tensor",
    "the model failed on it",
    "brought a worker down twice",
    "the stage that held it failed",
    "did not fit the reorder space",
    "the process that held it died",
    "the run that captured it was killed, and a later one went on"};
  static_assert(std::size(meanings) == reason_count);
  return meanings[static_cast<std::size_t>(r)];
}

void add_meanings(std::ostringstream& out, const account_sums& sums) {
  text_table table(4);
  for (std::size_t r = 1; r < reason_count; ++r)
    if (sums.reasons[r] > 0)
      table.add({to_string(static_cast<reason>(r)), meaning_of(static_cast<reason>(r))});
  if (!table.empty())
    out << table.text();
}

std::string times(std::uint64_t n) {
  return n == 1 ? "once" : std::to_string(n) + " times";
}

void add_account(
  std::ostringstream& out, const std::string& name, std::size_t width, const account_sums& sums) {
  out << format(
    "  %-*s %9llu", static_cast<int>(width), name.c_str(),
    static_cast<unsigned long long>(sums.captured));
  for (auto n : sums.outcomes)
    out << format(" %9llu", static_cast<unsigned long long>(n));
  if (const auto reasons = reasons_of(sums); !reasons.empty())
    out << "  " << reasons;
  out << '\n';
}

void add_latency(std::ostringstream& out, const char* name, const percentiles& p) {
  if (p.count > 0)
    out << format(
      "  %-10s %9.2f %9.2f %9.2f %9.2f\n", name, in_ms(p.p50), in_ms(p.p95), in_ms(p.p99),
      in_ms(p.longest));
}

/// Of live streams: how their cameras did.
void add_cameras(std::ostringstream& out, const run_summary& s) {
  text_table table;
  table.add(
    {"live stream", "fps", "lag p50 ms", "lag p99 ms", "jitter ms", "drift ppm", "clock", "epochs", "off pace",
     "silent",
     "lost in "
     "device",
     "longest gap ms"});
  bool any = false;
  for (const auto& l : s.streams) {
    if (!l.live)
      continue;
    any = true;
    table.add(
      {l.id, l.fps > 0 ? format("%.1f", l.fps) : "-", format("%.2f", in_ms(l.lag.p50)),
       format("%.2f", in_ms(l.lag.p99)), format("%.2f", in_ms(l.jitter)),
       l.by_arrival ? std::string{"-"} : format("%+.0f", std::round(l.drift_ppm) + 0.0),
       l.by_arrival ? std::string{"not credible"} : format("%.0f %%", l.confidence * 100),
       std::to_string(l.epochs), std::to_string(l.off_pace), times(l.silences), std::to_string(l.device_lost),
       format("%.0f", in_ms(l.longest_gap))});
  }
  if (any)
    out << '\n' << table.text();
}

/// What the pools have taken; of slots that are in use at the end, who has them.
void add_pools(std::ostringstream& out, const run_summary& s) {
  if (s.pools.empty())
    return;
  text_table table;
  table.add({"pool", "slots", "in use", "peak", "MB", "peak MB", "oldest slot in use"});
  for (const auto& l : s.pools)
    table.add(
      {l.name, std::to_string(l.slots), std::to_string(l.in_use), std::to_string(l.peak_in_use),
       format("%.1f", static_cast<double>(l.bytes) / 1e6),
       format("%.1f", static_cast<double>(l.peak_bytes) / 1e6),
       l.oldest_age ? format("%.2f s, ", in_seconds(*l.oldest_age)) + l.holder : std::string{"-"}});
  out << '\n' << table.text();
}

void add_injected(std::ostringstream& out, const run_summary& s) {
  if (s.injected.empty())
    return;
  text_table table;
  table.add({"fault asked for", "at", "happened"});
  for (const auto& l : s.injected)
    table.add({l.kind, l.where, times(l.times)});
  out << '\n' << table.text();
}

json clock_of(const run_summary::stream_line& l) {
  return {{"offset_ms", in_ms(l.offset)}, {"drift_ppm", l.drift_ppm},
          {"jitter_ms", in_ms(l.jitter)}, {"confidence", l.confidence},
          {"by_arrival", l.by_arrival},   {"fps", l.fps > 0 ? json(l.fps) : json(nullptr)}};
}

} // namespace

percentiles percentiles_of(const time_histogram& h) {
  return {h.count(), h.percentile(50), h.percentile(95), h.percentile(99), h.longest()};
}

void add_numbers(const telemetry& numbers, graph_time now, run_summary& to) {
  constexpr auto relaxed = std::memory_order_relaxed;
  for (std::size_t i = 0; i < to.streams.size(); ++i) {
    const auto& n = numbers.stream(i);
    auto& line = to.streams[i];
    line.device_lost = n.device_lost.load(relaxed);
    line.fps = n.fps.load(relaxed);
    line.lag = percentiles_of(n.lag);
    line.offset = duration{n.offset_ns.load(relaxed)};
    line.jitter = duration{n.jitter_ns.load(relaxed)};
    line.drift_ppm = n.drift_ppm.load(relaxed);
    line.confidence = n.confidence.load(relaxed);
    line.by_arrival = n.by_arrival.load(relaxed);
    line.epochs = n.epochs.load(relaxed);
    line.silences = n.silences.load(relaxed);
    line.off_pace = n.off_pace.load(relaxed);
    line.longest_gap = duration{n.longest_gap_ns.load(relaxed)};
  }
  for (const auto& [place, times] : numbers.injected())
    to.injected.push_back({place.first, place.second, times});
  for (const auto& pool : numbers.pools()) {
    const auto n = pool->now();
    if (n.peak_bytes == 0)
      continue;
    auto& line = to.pools.emplace_back(run_summary::pool_line{
      pool->name(), n.slots, n.in_use, n.peak_in_use, n.bytes, n.peak_bytes});
    if (!n.oldest)
      continue;
    line.oldest_age = std::max(duration{0}, now - n.oldest->since);
    line.holder =
      n.oldest->stage < to.stages.size() ? to.stages[n.oldest->stage].name : pool->owner();
  }
}

std::string to_text(const run_summary& s) {
  std::ostringstream out;
  out << s.graph << (s.simulated ? " (simulated)" : "") << ": "
      << format(
           "%s in %.2f s, %.1f fps\n", counted(s.ledger.captured, "frame").c_str(),
           in_seconds(s.wall), s.fps);
  std::size_t width = 6;
  for (const auto& line : s.streams)
    width = std::max(width, line.id.size());
  out << format(
    "\n  %-*s %9s %9s %9s %9s %9s %9s %9s\n", static_cast<int>(width), "stream", "captured",
    "delivered", "skipped", "dropped", "expired", "failed", "lost");
  for (const auto& line : s.streams)
    add_account(out, line.id, width, line.sums);
  if (s.streams.size() > 1)
    add_account(out, "all", width, s.ledger);
  out << "  ledger " << (s.closed() ? "closed" : "OPEN") << ", in flight " << s.in_flight << '\n';
  add_meanings(out, s.ledger);

  add_cameras(out, s);
  add_injected(out, s);
  out << format("\n  %-10s %9s %9s %9s %9s\n", "latency ms", "p50", "p95", "p99", "max");
  add_latency(out, "bundle", s.bundle);
  add_latency(out, "queue", s.queue);
  add_latency(out, "infer", s.infer);
  add_latency(out, "deliver", s.deliver);
  add_latency(out, "total", s.total);

  std::size_t names = 5;
  for (const auto& stage : s.stages)
    names = std::max(names, stage.name.size());
  out << format(
    "\n  %-*s %9s %9s %9s %12s %8s\n", static_cast<int>(names), "stage", "in", "out", "busy s",
    "item p99 ms", "restarts");
  for (const auto& stage : s.stages)
    out << format(
      "  %-*s %9llu %9llu %9.2f %12.3f %8u\n", static_cast<int>(names), stage.name.c_str(),
      static_cast<unsigned long long>(stage.items_in),
      static_cast<unsigned long long>(stage.items_out), in_seconds(stage.busy),
      in_ms(stage.service.p99), stage.restarts);
  out << format(
    "\n  %-*s %9s %9s %9s %9s\n", static_cast<int>(2 * names + 4), "edge", "capacity", "peak",
    "items", "drops");
  for (const auto& e : s.edges)
    out << format(
      "  %-*s %9u %9u %9llu %9llu  %s\n", static_cast<int>(2 * names + 4),
      (e.from + " -> " + e.to).c_str(), e.capacity, e.peak_depth,
      static_cast<unsigned long long>(e.items), static_cast<unsigned long long>(e.drops),
      e.overflow.c_str());
  add_pools(out, s);
  out << '\n';
  if (s.batches > 0)
    out << format(
      "  batch fill %.0f %%: of the slots that %s had room for, those with a frame in them\n",
      s.batch_fill * 100, counted(s.batches, "batch").c_str());
  out << format(
    "  memory %.1f MB, peak %.1f MB, pixel writes per frame %.2f, further copies %.0f bytes per "
    "frame\n",
    static_cast<double>(s.rss_bytes) / 1e6, static_cast<double>(s.peak_rss_bytes) / 1e6,
    s.pixel_writes_per_frame, s.bytes_copied_per_frame);
  if (s.accuracy)
    out << format(
      "  accuracy %.4f over %llu frames whose class is known\n", *s.accuracy,
      static_cast<unsigned long long>(s.truth_known));
  if (s.failed)
    out << "  failed: " << *s.failed << '\n';
  for (const auto& name : s.left_behind)
    out << "  left behind in a call that hangs: " << name << '\n';
  return out.str();
}

std::string to_json(const run_summary& s) {
  json j;
  j["graph"] = s.graph;
  j["simulated"] = s.simulated;
  j["wall_s"] = in_seconds(s.wall);
  j["ledger"] = to_json(s.ledger);
  j["ledger"]["in_flight"] = s.in_flight;
  j["ledger"]["closed"] = s.closed();
  j["streams"] = json::object();
  for (const auto& line : s.streams) {
    auto& stream = j["streams"][line.id] = to_json(line.sums);
    stream["device_lost"] = line.device_lost;
    stream["epochs"] = line.epochs;
    stream["silences"] = line.silences;
    stream["off_pace"] = line.off_pace;
    stream["longest_gap_ms"] = in_ms(line.longest_gap);
    stream["lag_ms"] = line.live ? to_json(line.lag) : json(nullptr);
    stream["clock"] = clock_of(line);
  }
  j["injected"] = json::array();
  for (const auto& line : s.injected)
    j["injected"].push_back({{"at", line.where}, {"kind", line.kind}, {"times", line.times}});
  j["left_behind"] = s.left_behind;
  j["fps"] = s.fps;
  j["latency_ms"] = to_json(s.total);
  j["stages"] = json::object();
  for (const auto& stage : s.stages)
    j["stages"][stage.name] = {
      {"type", stage.type},           {"items_in", stage.items_in},
      {"items_out", stage.items_out}, {"busy_s", in_seconds(stage.busy)},
      {"restarts", stage.restarts},   {"service_ms", to_json(stage.service)}};
  j["stage_latency_ms"] = {
    {"bundle", to_json(s.bundle)},
    {"queue", to_json(s.queue)},
    {"infer", to_json(s.infer)},
    {"deliver", to_json(s.deliver)}};
  j["edges"] = json::array();
  for (const auto& e : s.edges)
    j["edges"].push_back(
      {{"from", e.from},
       {"to", e.to},
       {"type", e.type},
       {"capacity", e.capacity},
       {"overflow", e.overflow},
       {"peak_depth", e.peak_depth},
       {"items", e.items},
       {"drops", e.drops}});
  j["pools"] = json::object();
  for (const auto& l : s.pools)
    j["pools"][l.name] = {
      {"slots", l.slots},
      {"in_use", l.in_use},
      {"peak_in_use", l.peak_in_use},
      {"bytes", l.bytes},
      {"peak_bytes", l.peak_bytes},
      {"oldest_s", l.oldest_age ? json(in_seconds(*l.oldest_age)) : json(nullptr)},
      {"holder", l.oldest_age ? json(l.holder) : json(nullptr)}};
  j["batches"] = s.batches;
  j["batch_fill"] = s.batch_fill;
  j["rss_bytes"] = s.rss_bytes;
  j["peak_rss_bytes"] = s.peak_rss_bytes;
  j["bytes_copied_per_frame"] = s.bytes_copied_per_frame;
  j["pixel_writes_per_frame"] = s.pixel_writes_per_frame;
  j["accuracy"] = s.accuracy ? json(*s.accuracy) : json(nullptr);
  j["truth_known"] = s.truth_known;
  j["failed"] = s.failed ? json(*s.failed) : json(nullptr);
  return j.dump(2) + '\n';
}

} // namespace hyperframes
