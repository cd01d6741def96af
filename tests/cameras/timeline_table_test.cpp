#include "cameras/timeline_table.hpp"
#include "tests/cameras/play.hpp"

using namespace hyperframes;
using namespace hyperframes::test;
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;

lines rows_of(const std::string& text, std::optional<std::string> stream = "a") {
  const auto table = read_timeline(text, "t.csv", stream);
  lines all;
  for (const auto& f : table.faults)
    all.push_back(f.where.to_string() + ": " + f.message);
  if (!all.empty())
    return all;
  for (const auto& r : table.rows) {
    auto line = std::to_string(r.device_id) + ' ' + ms_text(r.captured.time_since_epoch()) + ' '
                + ms_text(r.arrival) + flags_text(r.flags);
    if (!r.image.empty())
      line += ' ' + r.image;
    for (const auto v : r.value)
      line += ' ' + ms_text(duration{static_cast<std::int64_t>(v * 1e6F)});
    all.push_back(line);
  }
  return all;
}

} // namespace

TEST_CASE("timeline table: times are durations or seconds, to the nanosecond") {
  struct row {
    const char* text;
    std::optional<std::int64_t> ns;
  };
  const row table[] = {
    {"33ms", 33'000'000},
    {"0.033", 33'000'000},
    {"1.5 s", 1'500'000'000},
    {"-2us", -2'000},
    {"+7ns", 7},
    {"0", 0},
    {"2min", 120'000'000'000},
    {"1h", 3'600'000'000'000},
    {".5", 500'000'000},
    {"1764687286.123456789", 1'764'687'286'123'456'789},
    {"", {}},
    {".", {}},
    {"1.2.3", {}},
    {"5 parsecs", {}},
    {"1e3", {}},
    {"99999999999999999999", {}},
    {"10000000000", {}}, // 317 years
    {"abc", {}},
  };
  for (const auto& [text, ns] : table) {
    CAPTURE(text);
    const auto time = read_table_time(text);
    CHECK(time.has_value() == ns.has_value());
    if (time && ns)
      CHECK(time->count() == *ns);
  }
}

TEST_CASE("timeline table: CSV") {
  CHECK(
    rows_of("\xEF\xBB\xBFstream,frame_id,capture_time,arrival_time,flags\r\n"
            "# a remark\r\n"
            "a,7,33ms,0.040,\r\n"
            "b,1,nonsense,,what\r\n"
            "\r\n"
            "\"a\", 9 ,66ms,70ms, key|gap_before\n"
            "a,9,66ms,70ms,keyframe | duplicate | corrupt")
    == lines{"7 33 40", "9 66 70 key gap", "9 66 70 corrupt key duplicate"});
  CHECK(
    rows_of("captured,image\n1,\"a \"\"b\"\",c.png\"\n2,d.png\n")
    == lines{"0 1000 1000 a \"b\",c.png", "1 2000 2000 d.png"});
  CHECK(
    rows_of("frame_id,arrived_ns,value\n3,5000000,1 -2.5\n,6000000, 0.5 ; 4\n")
    == lines{"3 5 5 1 -2.5", "4 6 6 0.5 4"});
}

TEST_CASE("timeline table: JSON lines") {
  CHECK(
    rows_of("{\"stream\":\"a\",\"frame_id\":4,\"capture_time\":\"33ms\",\"arrival_time\":0.04,"
            "\"flags\":[\"key\",\"corrupt\"],\"value\":[1,2.5]}\n"
            "\n"
            "{\"stream\":\"b\",\"capture_time\":3}\n"
            "{\"arrival_time_ns\":50000000,\"value\":[3,4]}\n")
    == lines{"4 33 40 corrupt key 1 2.5", "5 50 50 3 4"});
}

TEST_CASE("timeline table: result lines of the stage jsonl") {
  const auto result =
    [](int epoch, int id, const char* captured, const char* arrived, const char* flags) {
      return std::string{"{\"type\":\"frame_result\",\"stream\":\"a\",\"epoch\":"}
             + std::to_string(epoch) + ",\"frame_id\":" + std::to_string(id)
             + ",\"trace_id\":107,\"capture_time_ns\":" + captured
             + ",\"timeline_ns\":0,\"arrived_ns\":" + arrived
             + ",\"outcome\":\"delivered\",\"flags\":[" + flags + "],\"hyperframe\":null}\n";
    };
  CHECK(
    rows_of(
      result(0, 0, "5000000", "7000000", "\"late\"") + result(0, 1, "null", "null", "")
      + result(0, 2, "9000000", "12000000", "\"key\",\"gap_before\"")
      + result(1, 0, "1000000", "13000000", ""))
    == lines{"0 5 7", "2 9 12 key gap", "3 1 13"});
}

TEST_CASE("timeline table: frame lines of the stage jsonl have the device's own counter") {
  CHECK(
    rows_of("{\"type\":\"frame\",\"stream\":\"a\",\"epoch\":1,\"frame_id\":0,"
            "\"capture_time_ns\":5000000,\"arrived_ns\":7000000,\"device_id\":41,"
            "\"flags\":[\"corrupt\"],\"media\":\"video bgr24 8x8\"}\n")
    == lines{"41 5 7 corrupt"});
  CHECK(
    rows_of("{\"type\":\"outcome\",\"stream\":\"a\"}\n")
    == lines{"t.csv:1:1: the line has type \"outcome\": expected none, or \"frame\" or "
             "\"frame_result\" as the stage jsonl writes them"});
}

TEST_CASE("timeline table: every fault has its line") {
  struct row {
    const char* text;
    lines expected;
  };
  const row table[] = {
    {"", {"t.csv:1:1: the table has no rows"}},
    {"capture_time\n", {"t.csv:1:1: the table has no rows"}},
    {"capture_time,color,capture_time\n1,2,3\n",
     {"t.csv:1:1: there is no column 'color': known are stream, frame_id, capture_time, "
      "arrival_time, "
      "flags, image and value",
      "t.csv:1:1: the column 'capture_time' stands twice"}},
    {"capture_time\n12 parsecs\n",
     {"t.csv:2:1: capture_time is '12 parsecs': expected a time such as 33ms, or seconds such as "
      "0.033"}},
    {"arrival_time,frame_id\n2,1\n\n1.5,two\n",
     {"t.csv:4:1: frame_id is 'two': expected a whole number, 0 or more",
      "t.csv:4:1: the frame arrives at 1.5 s, before the row above it (2.0 s): sort the rows of a "
      "stream "
      "by their arrival"}},
    {"arrival_time,flags\n1,key|blurred\n",
     {"t.csv:2:1: there is no flag 'blurred': known are corrupt, key, duplicate, interpolated, "
      "gap_before "
      "and no_buffer, joined with |"}},
    {"arrival_time,frame_id\n1\n",
     {"t.csv:2:1: the row has 1 cells, but the header names 2 columns"}},
    {"arrival_time,frame_id\n,1\n",
     {"t.csv:2:1: the row has no time: give capture_time, arrival_time, or both"}},
    {"arrival_time,value\n1,2 x\n",
     {"t.csv:2:1: value has 'x': expected numbers with blanks between them"}},
    {"arrival_time,value\n1,2 3\n2,4\n",
     {"t.csv:3:1: the row has 1 numbers, but the one at t.csv:2:1 has 2 numbers: the frames of a "
      "stream are "
      "of one kind"}},
    {"arrival_time,image\n1,a.png\n2,\n",
     {"t.csv:3:1: the row has neither image nor value, but the one at t.csv:2:1 has an image: the "
      "frames of "
      "a stream are of one kind"}},
    {"arrival_time,image,value\n1,a.png,3\n",
     {"t.csv:2:1: the row has an image and a value: a frame is one of them"}},
    {"stream,arrival_time\nb,1\n",
     {"t.csv:1:1: the table has no row of stream 'a', but of b: say which one with stream:"}},
    {"arrival_time,flags\n1,\"key\n", {"t.csv:2:1: a quote is opened and not closed"}},
    {"{\"arrival_time\":1,\"colour\":2}\n[]\n{\n{\"arrival_time\":[1]}",
     {"t.csv:1:1: there is no key 'colour': known are stream, frame_id, capture_time, "
      "arrival_time, flags, "
      "image and value",
      "t.csv:2:1: the line is no JSON object: expected { \"frame_id\": 0, ... } in each line",
      "t.csv:3:1: the line is no JSON object: expected { \"frame_id\": 0, ... } in each line",
      "t.csv:4:1: arrival_time is array, which no row can have there",
      "t.csv:4:1: the row has no time: give capture_time, arrival_time, or both"}},
  };
  for (const auto& r : table) {
    CAPTURE(r.text);
    CHECK(rows_of(r.text) == r.expected);
  }
  CHECK(
    rows_of("stream,arrival_time\nb,1\nc,1\n", std::nullopt)
    == lines{"t.csv:1:1: the table has frames of 2 streams (b, c): say which one with stream:"});
  CHECK(rows_of("stream,arrival_time\nb,1\n", std::nullopt) == lines{"0 1000 1000"});
}

TEST_CASE("timeline table: of many faults the first are told, the others counted") {
  std::string text = "arrival_time\n";
  for (int i = 0; i < 30; ++i)
    text += "x\n";
  const auto all = rows_of(text);
  REQUIRE(all.size() == 21);
  CHECK(all.back() == "t.csv:1:1: and 10 more");
}

TEST_CASE("timeline table: a corrupt frame may lack what the others have") {
  CHECK(
    rows_of("arrival_time,image,flags\n1,a.png,\n2,,corrupt\n")
    == lines{"0 1000 1000 a.png", "1 2000 2000 corrupt"});
}

TEST_CASE("timeline table: inline rows have marks of their own") {
  settings bad;
  bad.with("frame_id", std::int64_t{3}).with("arrival_time", std::string{"soon"});
  setting late = bad.at("arrival_time");
  late.mark = {"graph.yaml", 9, 30};
  bad.set("arrival_time", late);
  const auto table = read_timeline_rows({object(bad)}, "a");
  REQUIRE(table.faults.size() == 1);
  CHECK(table.faults[0].where.to_string() == "graph.yaml:9:30");
}
