#include "actors/half_float.hpp"
#include "actors/sinks/item_json.hpp"
#include "actors/sinks/json_text.hpp"
#include "actors/sinks/line_file.hpp"
#include "tests/actors/sink_context.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <limits>
#include <set>

#include <sys/resource.h>

using namespace hyperframes;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

// ---- as much of JSON Schema as result.schema.json uses -------------------------------------------

bool has_type(const json& v, const std::string& type) {
  return type == "null"      ? v.is_null()
         : type == "boolean" ? v.is_boolean()
         : type == "integer" ? v.is_number_integer()
         : type == "number"  ? v.is_number()
         : type == "string"  ? v.is_string()
         : type == "array"   ? v.is_array()
                             : type == "object" && v.is_object();
}

/// Appends a line for each rule of `schema` that `v` breaks.
void validate(const json& v, const json& schema, const std::string& where, std::string& faults) {
  static const std::set<std::string> known{
    "$schema",  "$id",        "title", "description", "type",  "additionalProperties",
    "required", "properties", "items", "enum",        "const", "minimum"};
  for (const auto& [rule, value] : schema.items())
    if (!known.contains(rule))
      faults += where + ": the test does not know the rule " + rule + '\n';
  if (schema.contains("const") && v != schema["const"])
    faults += where + ": is not " + schema["const"].dump() + '\n';
  if (schema.contains("enum")
      && std::find(schema["enum"].begin(), schema["enum"].end(), v) == schema["enum"].end())
    faults += where + ": " + v.dump() + " is none of the allowed\n";
  if (schema.contains("type")) {
    const auto types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    if (std::none_of(types.begin(), types.end(), [&](const json& t) { return has_type(v, t); }))
      faults += where + ": " + v.dump() + " has the wrong type\n";
  }
  if (schema.contains("minimum") && v.is_number() && v < schema["minimum"])
    faults += where + ": " + v.dump() + " is too small\n";
  if (v.is_object() && schema.contains("properties")) {
    for (const auto& name : schema.value("required", json::array()))
      if (!v.contains(name))
        faults += where + ": lacks " + name.dump() + '\n';
    for (const auto& [name, member] : v.items()) {
      if (schema["properties"].contains(name))
        validate(member, schema["properties"][name], where + '/' + name, faults);
      else if (!schema.value("additionalProperties", true))
        faults += where + ": has " + name + " too many\n";
    }
  }
  if (v.is_array() && schema.contains("items"))
    for (const auto& element : v)
      validate(element, schema["items"], where + "[]", faults);
}

const json& result_schema() {
  static const auto schema
    = json::parse(text_of(std::string{HYPERFRAMES_SOURCE_DIR} + "/graphs/result.schema.json"));
  return schema;
}

std::string schema_faults(const json& line) {
  std::string faults;
  validate(line, result_schema(), "", faults);
  return faults;
}

// ---- items -----------------------------------------------------------------------------------------

template <class T>
tensor tensor_of(std::string name, data_type type, const std::vector<T>& values) {
  tensor t{std::move(name), type, {static_cast<std::int64_t>(values.size())}, {}};
  t.bytes.resize(values.size() * sizeof(T));
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

std::shared_ptr<frame_result> full_result(std::uint64_t id = 7) {
  auto r = result_of(id);
  r->meta.flags = frame_gap_before | frame_key;
  r->meta.truth = 1;
  r->sequence = hyperframe_sequence{2, 3, 41};
  r->slot = 5;
  r->labels = std::make_shared<const std::vector<std::string>>(
    std::vector<std::string>{"good", "scratched \"deep\""});
  auto found = std::make_shared<inference>();
  found->classes = {{1, 0.75F}, {9, 0.1F}};
  found->boxes = {{1.5F, 2, 30, 40, 0.5F, 0}};
  found->raw = {tensor_of<float>("logits", data_type::float32, {1, 2.5F, -3})};
  r->inferred = found;
  r->times = {at_ms(285), at_ms(300), at_ms(302), at_ms(350), at_ms(351)};
  return r;
}

json line_of(const item& i, raw_detail raw = {}) {
  std::string line;
  item_json{two_cameras(), raw}.append(i, line);
  CHECK(line.find('\n') == std::string::npos);
  return json::parse(line);
}

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  const auto text = text_of(path);
  REQUIRE((text.empty() || text.back() == '\n'));
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    lines.push_back(json::parse(line));
  return lines;
}

struct jsonl_run {
  explicit jsonl_run(const settings& own) : sink(kind.make(plan_for(kind, own))) {}
  /// Without an unbundle above it.
  static jsonl_run alone(const settings& own, std::vector<stream_index> streams = {0}) {
    jsonl_run run;
    run.sink = run.kind.make(settling(plan_for(run.kind, own, std::move(streams))));
    return run;
  }
  stage_description kind = describe_jsonl();
  std::unique_ptr<stage> sink;
  sink_context context;

private:
  jsonl_run() = default;
};

} // namespace

TEST_CASE("JSON text escapes what must be escaped and is always UTF-8") {
  const struct {
    std::string in, out;
  } rows[] = {
    {"plain", R"("plain")"},
    {"", R"("")"},
    {R"(say "hi" \ there)", R"("say \"hi\" \\ there")"},
    {"a\nb\tc\rd", R"("a\nb\tc\rd")"},
    {std::string{"\0\x01\x1f\x7f", 4}, R"("\u0000\u0001\u001f\u007f")"},
    {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80", "\"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80\""},
    {"\xFF", "\"\xEF\xBF\xBD\""},
    {"\xC3", "\"\xEF\xBF\xBD\""},
    {"\xC3(", "\"\xEF\xBF\xBD(\""},
    {"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},                 // overlong
    {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, // surrogate
    {"\xF5\x80\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.in);
    std::string text;
    json_text{text}.value(row.in);
    CHECK(text == row.out);
    CHECK_NOTHROW(json::parse(text));
  }
}

TEST_CASE("JSON text never holds a number that JSON does not know") {
  std::string text;
  json_text out{text};
  out.array([&] {
    out.value(std::numeric_limits<double>::quiet_NaN());
    out.value(std::numeric_limits<float>::infinity());
    out.value(-std::numeric_limits<double>::infinity());
    out.value(0.1F);
    out.value(-0.0);
    out.value(1e300);
    out.value(std::numeric_limits<double>::denorm_min());
    out.value(std::numeric_limits<std::int64_t>::min());
    out.value(std::numeric_limits<std::uint64_t>::max());
    out.value(true);
    out.value(std::uint8_t{7});
    out.object([&] { out.key("a").array([] {}); });
    out.object([] {});
  });
  CHECK(text
        == "[null,null,null,0.1,-0,1e+300,5e-324,-9223372036854775808,18446744073709551615,true,7,"
           "{\"a\":[]},{}]");
  CHECK_NOTHROW(json::parse(text));
}

TEST_CASE("A result line has every key of the schema and the right values") {
  const auto line = line_of(as_item(full_result()));
  CHECK(schema_faults(line) == "");
  CHECK(line == json::parse(R"({
    "type": "frame_result", "stream": "cam1", "epoch": 0, "frame_id": 7, "trace_id": 107,
    "capture_time_ns": 280000000, "timeline_ns": 281000000, "arrived_ns": 285000000,
    "outcome": "delivered", "reason": "none", "late": false, "flags": ["key", "gap_before"],
    "hyperframe": {"node": 2, "run": 3, "counter": 41}, "slot": 5, "refers_to": null,
    "truth": {"label": 1, "name": "scratched"},
    "result": {
      "classes": [{"label": 1, "name": "scratched \"deep\"", "score": 0.75},
                  {"label": 9, "name": null, "score": 0.1}],
      "boxes": [{"x": 1.5, "y": 2.0, "width": 30.0, "height": 40.0, "score": 0.5, "label": 0,
                 "name": "good"}],
      "raw": [{"name": "logits", "type": "float32", "shape": [3]}]},
    "timings_ms": {"bundle": 15.0, "queue": 2.0, "infer": 48.0, "deliver": 1.0, "total": 66.0}
  })"));
}

TEST_CASE("Every schema fault would be seen") {
  auto line = line_of(as_item(full_result()));
  line["extra"] = 1;
  line.erase("slot");
  line["outcome"] = "forgotten";
  line["result"]["boxes"][0]["x"] = "left";
  line["epoch"] = -1;
  const auto faults = schema_faults(line);
  CHECK(std::ranges::count(faults, '\n') == 5);
}

TEST_CASE("Every outcome and reason is in the schema") {
  for (std::size_t o = 0; o < outcome_count; ++o)
    for (std::size_t why = 0; why < reason_count; ++why) {
      auto r = result_of(1);
      r->what = static_cast<outcome>(o);
      r->why = static_cast<reason>(why);
      CHECK(schema_faults(line_of(as_item(r))) == "");
    }
  auto r = result_of(1);
  r->meta.flags = 0x7F;
  const auto line = line_of(as_item(r));
  CHECK(schema_faults(line) == "");
  CHECK(line["flags"].size() == 7);
}

TEST_CASE("A gap line has the same keys, and null for what nobody saw") {
  auto gap = std::make_shared<frame_result>();
  gap->meta.stream = 1;
  gap->meta.frame_id = 12;
  gap->what = outcome::dropped;
  gap->why = reason::edge_full;
  const auto line = line_of(as_item(gap));
  CHECK(schema_faults(line) == "");
  CHECK(line["stream"] == "cam2");
  CHECK(line["frame_id"] == 12);
  CHECK(line["outcome"] == "dropped");
  CHECK(line["reason"] == "edge_full");
  for (const auto* key : {"trace_id", "capture_time_ns", "timeline_ns", "arrived_ns", "hyperframe",
                          "slot", "refers_to", "truth", "result"})
    CHECK_MESSAGE(line[key].is_null(), key);
  for (const auto& t : line["timings_ms"])
    CHECK(t.is_null());
}

TEST_CASE("A frame that failed in the model keeps the times that it has") {
  auto r = full_result();
  r->what = outcome::failed;
  r->why = reason::inference;
  r->inferred.reset();
  r->times.inferred = {};
  const auto line = line_of(as_item(r));
  CHECK(schema_faults(line) == "");
  CHECK(line["capture_time_ns"] == 280000000);
  CHECK(line["timings_ms"]
        == json::parse(R"({"bundle":15.0,"queue":2.0,"infer":null,"deliver":null,"total":null})"));
}

TEST_CASE("Late by reason or by flag, and a result that another frame carries") {
  auto r = full_result();
  r->why = reason::late;
  r->refers_to = 7;
  auto line = line_of(as_item(r));
  CHECK(schema_faults(line) == "");
  CHECK(line["late"] == true);
  CHECK(line["refers_to"] == 7);
  r = full_result();
  r->meta.flags = frame_late;
  CHECK(line_of(as_item(r))["late"] == true);
}

TEST_CASE("Raw tensors of every type, bounded") {
  auto r = full_result();
  auto found = std::make_shared<inference>();
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto inf = std::numeric_limits<float>::infinity();
  found->raw = {
    tensor_of<float>("f", data_type::float32, {1.5F, nan, inf, 4, 5}),
    tensor_of<std::uint16_t>("h", data_type::float16,
                             {half_from_float(0.5F), half_from_float(inf), 1}),
    tensor_of<std::uint8_t>("u", data_type::uint8, {0, 255}),
    tensor_of<std::int32_t>("i", data_type::int32, {-7}),
    tensor_of<std::int64_t>("l", data_type::int64, {std::numeric_limits<std::int64_t>::min()}),
  };
  r->inferred = found;
  const auto line = line_of(as_item(r), {true, 3});
  CHECK(schema_faults(line) == "");
  const auto& raw = line["result"]["raw"];
  CHECK(raw[0]["values"] == json::parse("[1.5,null,null]"));
  CHECK(raw[0]["left_out"] == 2);
  CHECK(raw[1]["values"][0] == 0.5);
  CHECK(raw[1]["values"][1].is_null());
  CHECK(raw[1]["values"][2].get<double>() == doctest::Approx(0x1p-24));
  CHECK(raw[2]["values"] == json::parse("[0,255]"));
  CHECK(raw[3]["values"] == json::parse("[-7]"));
  CHECK(raw[4]["values"][0] == std::numeric_limits<std::int64_t>::min());
  CHECK(raw[4]["left_out"] == 0);
}

TEST_CASE("Lines of every other port") {
  frame f{meta_of(3), make_video_type(video_format::packed(pixel_format::gray8, 8, 4)), {}};
  CHECK(line_of(f) == json::parse(R"({
    "type": "frame", "stream": "cam1", "epoch": 0, "frame_id": 3, "trace_id": 103,
    "capture_time_ns": 120000000, "timeline_ns": 121000000, "arrived_ns": 125000000,
    "deadline_ns": null, "device_id": 0, "flags": [], "truth": null, "change_score": null,
    "media": "video gray8 8x4"})"));

  auto set = std::make_shared<aligned_set>();
  set->moment = at_ms(121);
  set->arrived = at_ms(125);
  set->members.resize(2);
  set->members[0].item = f;
  set->members[0].own = true;
  set->members[1].stream = 1;
  set->members[1].absent = reason::unmatched;
  CHECK(line_of(aligned_set_ptr{set}) == json::parse(R"({
    "type": "aligned_set", "group": "station", "moment_ns": 121000000, "arrived_ns": 125000000,
    "members": [
      {"stream": "cam1", "own": true, "absent": null, "frame": {"epoch": 0, "frame_id": 3,
       "trace_id": 103, "capture_time_ns": 120000000, "timeline_ns": 121000000,
       "arrived_ns": 125000000}},
      {"stream": "cam2", "own": false, "absent": "unmatched", "frame": null}]})"));

  auto h = std::make_shared<hyperframe>();
  auto& d = h->descriptor;
  d.sequence = {0, 1, 9};
  d.slots = {slot_of(meta_of(3), true, true),
             slot_of(meta_of(0, 1), false, false, reason::incomplete_set)};
  d.members = 2;
  d.first_slot = 6;
  d.released_by = release_reason::timeout;
  d.opened = at_ms(125);
  d.released = at_ms(165);
  d.span = 7ns;
  d.consecutive = false;
  d.off_pace = true;
  d.priority = -1;
  auto line = line_of(hyperframe_ptr{h});
  CHECK(line["hyperframe"] == json::parse(R"({"node":0,"run":1,"counter":9})"));
  CHECK(line["released_by"] == "timeout");
  CHECK(line["first_slot"] == 6);
  CHECK(line["consecutive"] == false);
  CHECK(line["off_pace"] == true);
  CHECK(line["slots"].size() == 2);
  CHECK(line["slots"][0]["frame"]["frame_id"] == 3);
  CHECK(line["slots"][1] == json::parse(
          R"({"stream":"cam2","valid":false,"own":false,"absent":"incomplete_set","frame":null})"));

  auto b = std::make_shared<batch>();
  b->number = 4;
  b->slots = 2;
  b->parts = {{h, 0, 2}};
  CHECK(line_of(batch_ptr{b}) == json::parse(R"({
    "type": "batch", "number": 4, "slots": 2, "dispatched_ns": 0, "parts": [
      {"hyperframe": {"node":0,"run":1,"counter":9}, "group": "station", "first": 0, "count": 2}]})"));

  auto r = std::make_shared<result>();
  r->descriptor = d;
  r->slots.resize(2);
  r->slots[1] = {outcome::failed, reason::inference, {}, -1};
  line = line_of(result_ptr{r});
  CHECK(line["type"] == "result");
  CHECK(line["slots"][0]["outcome"] == "delivered");
  CHECK(line["slots"][1]["reason"] == "inference");

  CHECK(line_of(outcome_range{1, 0, 5, 3, outcome::skipped, reason::stride}) == json::parse(R"({
    "type": "outcome", "stream": "cam2", "epoch": 0, "first": 5, "count": 3,
    "outcome": "skipped", "reason": "stride"})"));
  CHECK(line_of(trigger{at_ms(1)}) == json::parse(
          R"({"type": "trigger", "moment_ns": 1000000, "stream": null})"));
}

TEST_CASE("Lines are written when their time is over, and at the end") {
  scratch_folder folder;
  jsonl_run run{settings{}.with("path", folder / "r.jsonl")};
  REQUIRE(run.sink->start(run.context));
  run.sink->on_item(as_item(full_result(0)), run.context);
  run.context.advance_to(at_ms(199), *run.sink);
  CHECK(lines_of(folder / "r.jsonl").empty());
  run.sink->on_item(as_item(full_result(1)), run.context);
  run.context.advance_to(at_ms(200), *run.sink);
  CHECK(lines_of(folder / "r.jsonl").size() == 2);
  run.sink->on_item(as_item(full_result(2)), run.context);
  run.sink->on_end({0, 0, 3, false}, run.context);
  CHECK_FALSE(run.context.is_done);
  run.sink->on_end({0, 1, 0, true}, run.context);
  CHECK(run.context.is_done);
  const auto lines = lines_of(folder / "r.jsonl");
  REQUIRE(lines.size() == 3);
  CHECK(lines[2]["frame_id"] == 2);
}

TEST_CASE("With `flush: 0` each line is written at once") {
  scratch_folder folder;
  jsonl_run run{settings{}.with("path", folder / "r.jsonl").with("flush", duration{0})};
  run.sink->start(run.context);
  run.sink->on_item(as_item(full_result(0)), run.context);
  CHECK(lines_of(folder / "r.jsonl").size() == 1);
}

TEST_CASE("A full block is written without waiting, in whole lines") {
  scratch_folder folder;
  jsonl_run run{settings{}.with("path", folder / "r.jsonl")};
  run.sink->start(run.context);
  std::size_t before = 0;
  int writes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    run.sink->on_item(as_item(full_result(i)), run.context);
    const auto size = std::filesystem::file_size(folder / "r.jsonl");
    if (size != before) {
      ++writes;
      CHECK(size - before >= 65536);
      CHECK(size - before < 65536 + 1024);
      CHECK(text_of(folder / "r.jsonl").back() == '\n');
    }
    before = size;
  }
  CHECK(writes >= 5);
}

TEST_CASE("A relative path starts at the working folder, not at the graph's") {
  const auto kind = describe_jsonl();
  auto plan = plan_for(kind, settings{}.with("path", std::string{"no-such-folder/r.jsonl"}));
  plan.folder = "/";
  sink_context context;
  CHECK(failure_of([&] { kind.make(plan)->start(context); })
        == "no-such-folder/r.jsonl: cannot be opened: the folder no-such-folder does not exist; "
           "make it, or name another `path`");
}

TEST_CASE("A file that cannot be written fails the start with a sentence") {
  scratch_folder folder;
  jsonl_run missing{settings{}.with("path", folder / "none/r.jsonl")};
  CHECK(failure_of([&] { missing.sink->start(missing.context); })
        == folder / "none/r.jsonl" + ": cannot be opened: the folder " + folder / "none"
             + " does not exist; make it, or name another `path`");
  jsonl_run directory{settings{}.with("path", folder.path())};
  CHECK(failure_of([&] { directory.sink->start(directory.context); })
        == folder.path() + ": cannot be opened: it is a folder; name a file in `path`");
  jsonl_run first{settings{}.with("path", folder / "r.jsonl")};
  first.sink->start(first.context);
  jsonl_run second{settings{}.with("path", folder / "r.jsonl")};
  CHECK(failure_of([&] { second.sink->start(second.context); })
        == folder / "r.jsonl"
             + ": cannot be written: something else is writing it; give each its own `path`");
}

TEST_CASE("A full disk fails the stage with a sentence, in the middle and at the end") {
  const std::string sentence = "/dev/full: cannot be written: the disk is full (No space left on "
                               "device); make room, or name another `path`";
  jsonl_run run{settings{}.with("path", std::string{"/dev/full"})};
  run.sink->start(run.context);
  run.sink->on_item(as_item(full_result()), run.context);
  CHECK(failure_of([&] { run.context.advance_to(at_ms(300), *run.sink); }) == sentence);

  jsonl_run last{settings{}.with("path", std::string{"/dev/full"})};
  last.sink->start(last.context);
  last.sink->on_item(as_item(full_result()), last.context);
  CHECK(failure_of([&] { last.sink->on_end({0, 0, 1}, last.context); }) == sentence);
  CHECK_FALSE(last.context.is_done);
}

TEST_CASE("A disk that fills up in the middle of a block leaves no half line") {
  scratch_folder folder;
  line_file file{folder / "r.jsonl"};
  file.open();
  // A limit on the size of files stands for the disk; the signal that comes with it is ignored.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 25;
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (int i = 0; i < 5; ++i) {
    file.line() += "0123456789";
    file.end_line();
  }
  const auto sentence = failure_of([&] { file.flush(); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK(sentence == folder / "r.jsonl" + ": cannot be written: File too large");
  CHECK(text_of(folder / "r.jsonl") == "0123456789\n0123456789\n");
}

TEST_CASE("A jsonl without an unbundle writes a line for what ended above it, and waits for it") {
  scratch_folder folder;
  auto run = jsonl_run::alone(settings{}.with("path", folder / "r.jsonl"), {0, 1});
  run.sink->start(run.context);
  run.sink->on_item(frame{meta_of(0), {}, {}}, run.context);
  run.sink->on_item(frame{meta_of(0, 1), {}, {}}, run.context);
  run.sink->on_end({1, 0, 1}, run.context);
  // The end overtakes the outcomes of frames 1 to 3.
  run.sink->on_end({0, 0, 4}, run.context);
  CHECK_FALSE(run.context.is_done);
  const outcome_range dropped[] = {{0, 0, 1, 2, outcome::dropped, reason::edge_full},
                                   {0, 0, 3, 1, outcome::skipped, reason::stride}};
  run.sink->on_outcomes(dropped, run.context);
  CHECK(run.context.is_done);
  const auto lines = lines_of(folder / "r.jsonl");
  REQUIRE(lines.size() == 5);
  CHECK(lines[0]["type"] == "frame");
  for (std::size_t i = 2; i < 5; ++i) {
    CHECK(schema_faults(lines[i]) == "");
    CHECK(lines[i]["frame_id"] == i - 1);
  }
  CHECK(lines[3]["reason"] == "edge_full");
  CHECK(lines[4]["outcome"] == "skipped");
}

TEST_CASE("With `outcomes: false` only items are written") {
  scratch_folder folder;
  auto run = jsonl_run::alone(settings{}.with("path", folder / "r.jsonl").with("outcomes", false));
  run.sink->start(run.context);
  run.sink->on_item(frame{meta_of(0), {}, {}}, run.context);
  const outcome_range dropped[] = {{0, 0, 1, 2, outcome::dropped, reason::edge_full}};
  run.sink->on_outcomes(dropped, run.context);
  run.sink->on_end({0, 0, 3}, run.context);
  CHECK(run.context.is_done);
  CHECK(lines_of(folder / "r.jsonl").size() == 1);
}

TEST_CASE("Outcomes that come after the end are still written") {
  scratch_folder folder;
  auto run = jsonl_run::alone(settings{}.with("path", folder / "r.jsonl"));
  run.sink->start(run.context);
  run.sink->on_end({0, 0, 2}, run.context);
  const outcome_range stopped[] = {{0, 0, 0, 2, outcome::dropped, reason::stopped}};
  run.sink->on_outcomes(stopped, run.context);
  CHECK(run.context.is_done);
  CHECK(lines_of(folder / "r.jsonl").size() == 2);
}

TEST_CASE("What 20,000 lines cost is printed") {
  scratch_folder folder;
  jsonl_run run{settings{}.with("path", folder / "r.jsonl")};
  run.sink->start(run.context);
  const auto r = as_item(full_result());
  rusage before{}, after{};
  ::getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < 20000; ++i)
    run.sink->on_item(r, run.context);
  ::getrusage(RUSAGE_THREAD, &after);
  const auto seconds = static_cast<double>(after.ru_utime.tv_sec - before.ru_utime.tv_sec)
                       + static_cast<double>(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
  MESSAGE("20,000 lines in " << seconds * 1e3 << " ms of user time");
}
