#include "cameras/faults.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace hyperframes {

namespace {

constexpr std::array<const char*, fault_kinds> kind_names{
  "skew",      "lying_rate",   "jitter",  "gap",    "duplicate",
  "jump_back", "jump_forward", "corrupt", "resize", "silence"};

/// What an entry of one kind takes beside `kind` and `seed`.
struct kind_rules {
  enum class time { once, often } when; ///< `at` with one frame or none; `at` or `rate`
  std::vector<const char*> needs;
  std::vector<const char*> may_have;
};

const kind_rules& rules_of(fault_kind k) {
  using enum kind_rules::time;
  static const std::array<kind_rules, fault_kinds> rules{{
    {once, {}, {"by", "drift"}}, // one of them
    {once, {"fps"}, {}},
    {often, {"by"}, {}},
    {often, {}, {"count"}},
    {often, {}, {"count"}},
    {often, {"by"}, {}},
    {often, {"by"}, {}},
    {often, {}, {"count"}},
    {often, {"size"}, {"count"}},
    {often, {"for"}, {}},
  }};
  return rules[static_cast<std::size_t>(k)];
}

fault_kind kind_of(const settings& entry) {
  const auto& name = entry.text("kind");
  const auto* found = std::find_if(
    kind_names.begin(), kind_names.end(), [&](const char* known) { return name == known; });
  return static_cast<fault_kind>(found - kind_names.begin());
}

const settings& entry_in(const setting& s) {
  return *std::get<std::shared_ptr<settings>>(s.value);
}

bool has(const std::vector<const char*>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

/// Checks one entry; each sentence begins with its place in the list and its kind.
class entry_check {
public:
  entry_check(const setting& s, std::size_t index, std::vector<fault>& faults)
    : mark_(s.mark),
      entry_(entry_in(s)),
      kind_(kind_of(entry_)),
      name_("camera.faults." + std::to_string(index) + ", a " + to_string(kind_) + ", "),
      faults_(faults) {}

  void run() {
    const auto& rules = rules_of(kind_);
    check_when(rules.when == kind_rules::time::once);
    for (const auto* name : rules.needs)
      if (!entry_.has(name))
        fail(mark_, std::string{"needs '"} + name + '\'');
    for (const auto& [name, value] : entry_.all())
      if (
        entry_.has(name) && !has(rules.needs, name) && !has(rules.may_have, name) && name != "kind"
        && name != "seed" && name != "at" && name != "rate")
        fail(value.mark, "has no '" + name + "': remove it");
    if (kind_ == fault_kind::skew && !entry_.has("by") && !entry_.has("drift"))
      fail(
        mark_,
        "needs 'by' (how far off the clock is), 'drift' (how much too fast it runs), or both");
    if (kind_ != fault_kind::skew && entry_.has("by") && entry_.time("by") <= duration{0})
      fail(entry_.at("by").mark, "needs 'by' above 0");
  }

private:
  void check_when(bool once) {
    const bool at = entry_.has("at"), rate = entry_.has("rate");
    if (at && entry_.items("at").empty())
      fail(entry_.at("at").mark, "has no frame in 'at': name one, or leave the key out");
    if (once) {
      if (rate)
        fail(
          entry_.at("rate").mark,
          "has no 'rate': it begins at one frame ('at') or with the first and stays");
      if (at && entry_.items("at").size() > 1)
        fail(entry_.at("at").mark, "begins once and stays: name one frame in 'at'");
    } else if (at && rate) {
      fail(entry_.at("rate").mark, "has both 'at' and 'rate': keep one of them");
    } else if (!at && !rate) {
      fail(
        mark_, "says not when: it needs 'at' (frames, by the device's counter) or 'rate' (share of "
               "the frames)");
    }
    if (rate && kind_ == fault_kind::gap && entry_.number("rate") > 0.99)
      fail(
        entry_.at("rate").mark,
        "has a rate above 0.99, which leaves next to nothing: lower it, or use silence");
  }

  void fail(const source_mark& where, const std::string& what) {
    faults_.push_back({where.file.empty() ? mark_ : where, name_ + what});
  }

  source_mark mark_;
  const settings& entry_;
  fault_kind kind_;
  std::string name_;
  std::vector<fault>& faults_;
};

parameter object_of(std::vector<parameter> fields) {
  parameter p;
  p.name = "faults";
  p.type = parameter_type::list;
  p.element = parameter_type::object;
  p.help = "What the camera does wrong, to rehearse it: a list, worked through from first to last.";
  p.fields = std::move(fields);
  return p;
}

} // namespace

const char* to_string(fault_kind k) {
  return kind_names[static_cast<std::size_t>(k)];
}

parameter faults_parameter() {
  using enum parameter_type;
  constexpr double longest = 1e6; // seconds: sums of jumps stay far from the end of time
  return object_of({
    {.name = "kind",
     .type = choice,
     .help = "skew: its clock is off and drifts. lying_rate: its times say another rate. jitter: "
             "frames come "
             "late. gap: frames are lost in the device. duplicate: a frame comes again. jump_back, "
             "jump_forward: its clock is set. corrupt: the content is damaged. resize: another "
             "resolution. "
             "silence: nothing comes.",
     .required = true,
     .choices = {kind_names.begin(), kind_names.end()}},
    {.name = "at",
     .type = list,
     .help =
       "Frames at which it happens, by the device's own counter; of skew and lying_rate one, from "
       "which on they last.",
     .least = 0,
     .element = integer},
    {.name = "rate",
     .type = number,
     .help = "Share of the frames at which it happens, in place of `at`.",
     .least = 0,
     .most = 1},
    {.name = "by",
     .type = parameter_type::duration,
     .help = "Of skew: how far ahead the clock is; of jitter: the most that a frame is late; of "
             "jumps: how far.",
     .least = -longest,
     .most = longest},
    {.name = "drift",
     .type = number,
     .help = "Of skew: how much faster than true time the clock runs; slower where negative.",
     .least = -100000,
     .most = 100000,
     .unit = "ppm"},
    {.name = "fps",
     .type = number,
     .help = "Of lying_rate: what the times say.",
     .least = 0.001,
     .most = 1000,
     .unit = "Hz"},
    {.name = "count",
     .type = integer,
     .help = "Of gap: how many are lost; of duplicate: how often it comes again; of corrupt and "
             "resize: how "
             "many frames it lasts. Default: 1; of resize: all from there on.",
     .least = 1,
     .most = 1'000'000,
     .unit = "frames"},
    {.name = "for",
     .type = parameter_type::duration,
     .help = "Of silence: how long.",
     .least = 1e-6,
     .most = longest},
    {.name = "size",
     .type = size,
     .help = "Of resize: width and height from there on.",
     .least = 1,
     .most = 16384,
     .unit = "pixels"},
    {.name = "seed",
     .type = integer,
     .help =
       "Chooses the frames and delays, together with the stream's id and the entry's place in the "
       "list. Default: the graph's seed.",
     .least = 0},
  });
}

void check_faults(const settings& config, std::vector<fault>& faults) {
  if (!config.has("faults"))
    return;
  const auto& list = config.items("faults");
  for (std::size_t i = 0; i < list.size(); ++i)
    entry_check{list[i], i, faults}.run();
}

std::vector<injected_fault> faults_of(const settings& config) {
  std::vector<injected_fault> result;
  if (!config.has("faults"))
    return result;
  for (const auto& s : config.items("faults")) {
    const auto& e = entry_in(s);
    injected_fault f;
    f.kind = kind_of(e);
    if (e.has("at"))
      for (const auto id : e.numbers("at"))
        f.at.push_back(static_cast<std::uint64_t>(id));
    std::sort(f.at.begin(), f.at.end());
    f.at.erase(std::unique(f.at.begin(), f.at.end()), f.at.end());
    if (e.has("rate"))
      f.rate = e.number("rate");
    if (e.has("by"))
      f.by = e.time("by");
    if (e.has("for"))
      f.by = e.time("for");
    if (e.has("drift"))
      f.drift = e.number("drift");
    if (e.has("fps"))
      f.fps = e.number("fps");
    if (e.has("size"))
      f.size = e.size("size");
    f.count = e.has("count")                 ? static_cast<std::uint64_t>(e.integer("count"))
              : f.kind == fault_kind::resize ? 0
                                             : 1;
    if (e.has("seed"))
      f.seed = static_cast<std::uint64_t>(e.integer("seed"));
    result.push_back(std::move(f));
  }
  return result;
}

} // namespace hyperframes
