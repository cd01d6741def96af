// Files of results that an earlier run has left.
#include "actors/sinks/item_json.hpp"
#include "actors/sinks/kept_results.hpp"
#include "actors/sinks/line_file.hpp"
#include "tests/actors/sink_context.hpp"
#include "tests/system/folder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace hyperframes;
using nlohmann::json;
using test::content_of;
using test::write_file;

namespace {

std::string line_of(stream_index stream, frame_position at) {
  std::string line;
  frame_result r;
  r.meta.stream = stream;
  r.meta.epoch = at.epoch;
  r.meta.frame_id = at.frame_id;
  r.meta.trace_id = 1;
  r.what = outcome::delivered;
  item_json{two_cameras(), {}}.append(std::make_shared<frame_result>(r), line);
  return line + '\n';
}

/// `r.jsonl` and what stands beside it, in a folder of their own.
struct left_behind {
  scratch_folder folder;
  std::string path = folder / "r.jsonl";
  announced_run run{"line", 0, {{"cam1"}, {"cam2"}}};
  std::vector<std::pair<stream_index, frame_position>> captured;
  std::string text;

  void write(const std::string& results) const {
    {
      announced_file file{announced_path(path), run};
      file.begin();
      for (const auto& [stream, last] : captured)
        file.announce(stream, last);
    }
    write_file(path, results);
  }
  std::string refusal(const std::string& graph = "line") const {
    const auto results = content_of(path), beside = content_of(announced_path(path));
    std::string sentence;
    try {
      const kept_results kept{path, graph};
    } catch (const failure& e) {
      sentence = e.what();
    }
    CHECK(content_of(path) == results);
    CHECK(content_of(announced_path(path)) == beside);
    return sentence.starts_with(folder.path() + '/') ? sentence.substr(folder.path().size() + 1)
                                                     : sentence;
  }
};

/// Two streams that take turns; cam1 has a second epoch. All of it has lines but the last two
/// frames of each.
struct a_run : left_behind {
  a_run() {
    for (std::uint64_t i = 0; i < 5; ++i)
      text += line_of(0, {0, i}) + line_of(1, {0, i});
    for (std::uint64_t i = 0; i < 3; ++i)
      text += line_of(0, {1, i}) + line_of(1, {0, i + 5});
    captured = {{0, {0, 4}}, {0, {1, 4}}, {1, {0, 9}}};
  }
};

/// "cam1 0:0+5 1:0+3", and "lost" from where frames have no other line: none twice, in order, none
/// missing.
std::map<std::string, std::string> frames_in(const std::string& path) {
  std::map<std::string, std::string> all;
  std::map<std::string, std::pair<std::uint32_t, std::uint64_t>> next;
  std::map<std::string, bool> is_lost;
  const auto text = content_of(path);
  CHECK((text.empty() || text.ends_with('\n')));
  for (const auto& line : test::lines_of(text)) {
    const auto j = json::parse(line);
    const auto id = j["stream"].get<std::string>();
    const std::pair at{j["epoch"].get<std::uint32_t>(), j["frame_id"].get<std::uint64_t>()};
    const bool known = next.contains(id);
    auto& due = next[id];
    if (!known || at.first != due.first)
      due = {at.first, 0};
    CHECK(at.second == due.second);
    ++due.second;
    const bool lost = j["outcome"] == "lost";
    CHECK(j["reason"] == (lost ? "restart" : "none"));
    if (!known || at.second == 0 || lost != is_lost[id])
      all[id] +=
        ' ' + std::to_string(at.first) + ':' + std::to_string(at.second) + (lost ? " lost" : "");
    is_lost[id] = lost;
  }
  for (auto& [id, words] : all)
    words += " to " + std::to_string(next[id].second);
  return all;
}

} // namespace

TEST_CASE("what was captured and has no line gets one") {
  a_run r;
  r.write(r.text);
  kept_results kept{r.path, "line"};
  CHECK(content_of(r.path) == r.text); // looks only
  CHECK(
    kept.make_whole()
    == "goes on in " + r.path
         + ": 4 frames of the run before had no line and ended as lost (restart)");
  const std::map<std::string, std::string> whole{
    {"cam1", " 0:0 1:0 1:3 lost to 5"}, {"cam2", " 0:0 0:8 lost to 10"}};
  CHECK(frames_in(r.path) == whole);
  CHECK(content_of(r.path).starts_with(r.text));
  const auto next = kept.streams();
  REQUIRE(next.size() == 2);
  CHECK(next[0].id == "cam1");
  CHECK(next[0].epoch == 2);
  CHECK(next[0].before == 10);
  CHECK(next[1].epoch == 1);
  CHECK(next[1].before == 10);
}

TEST_CASE(
  "a file that was torn anywhere has each frame once, and so has one that was torn again then") {
  a_run r;
  const auto begin_of_last = [](const std::string& text, int lines) {
    auto at = text.size();
    for (int i = 0; i < lines; ++i)
      at = text.rfind('\n', at - 2) + 1;
    return at;
  };
  r.write(r.text);
  kept_results{r.path, "line"}.make_whole();
  // Of the run's own lines, and of those that were put behind them.
  for (const auto& text : {r.text, content_of(r.path)})
    for (auto cut = begin_of_last(text, 3); cut <= text.size(); ++cut) {
      r.write(text.substr(0, cut));
      const auto whole = text.rfind('\n', cut - 1) + 1;
      const auto said = kept_results{r.path, "line"}.make_whole();
      CHECK((said.find("; half a line was cut off") != std::string::npos) == (whole != cut));
      const auto made = content_of(r.path);
      CHECK(made.substr(0, whole) == text.substr(0, whole));
      auto all = frames_in(r.path);
      CHECK(all["cam1"].starts_with(" 0:0 1:0 "));
      CHECK(all["cam1"].ends_with(" to 5"));
      CHECK(all["cam2"].ends_with(" to 10"));
      CHECK(test::lines_of(made).size() == 20);
      CHECK(kept_results{r.path, "line"}.make_whole().find(": 0 frames") != std::string::npos);
      CHECK(content_of(r.path) == made); // it was whole
    }
}

TEST_CASE("a run that was killed before its first line, and one that captured nothing") {
  a_run r;
  for (const auto* torn : {"", "{\"type\":\"fra"}) {
    r.write(torn);
    kept_results{r.path, "line"}.make_whole();
    CHECK(
      frames_in(r.path)
      == std::map<std::string, std::string>{
        {"cam1", " 0:0 lost 1:0 lost to 5"}, {"cam2", " 0:0 lost to 10"}});
  }
  r.captured.clear();
  r.write("");
  kept_results kept{r.path, "line"};
  kept.make_whole();
  CHECK(content_of(r.path).empty());
  CHECK(kept.streams()[0].epoch == 0);
}

TEST_CASE("lines of earlier runs are no lines of the run before") {
  a_run r;
  r.run.streams = {{"cam1", true, 4, 100}, {"cam2", true, 4, 100}, {"gone", true, 2, 9}};
  r.captured = {{0, {4, 1}}, {1, {4, 1}}};
  // Above the first line of an earlier run nothing is looked at.
  const auto text = "no line\n" + line_of(0, {3, 0}) + line_of(1, {4, 0});
  r.write(text);
  kept_results kept{r.path, "line"};
  kept.make_whole();
  std::vector<std::string> lost;
  for (const auto& line : test::lines_of(content_of(r.path).substr(text.size()))) {
    const auto j = json::parse(line);
    lost.push_back(
      j["stream"].get<std::string>() + ' ' + j["epoch"].dump() + ':' + j["frame_id"].dump());
  }
  CHECK(lost == std::vector<std::string>{"cam1 4:0", "cam1 4:1", "cam2 4:1"});
  const auto next = kept.streams();
  REQUIRE(next.size() == 3);
  CHECK(next[0].epoch == 5);
  CHECK(next[0].before == 102);
  CHECK(next[2].epoch == 2); // keeps what it had
  CHECK(next[2].before == 9);
}

TEST_CASE("a stream whose results go elsewhere has no line here") {
  a_run r;
  r.run.streams[1].written = false;
  const auto text = line_of(0, {0, 0});
  r.write(text);
  kept_results{r.path, "line"}.make_whole();
  CHECK(
    frames_in(r.path)
    == std::map<std::string, std::string>{{"cam1", " 0:0 0:1 lost 1:0 lost to 5"}});
}

TEST_CASE("what is there not, or is empty, begins") {
  const left_behind r;
  {
    kept_results kept{r.path, "line"};
    CHECK(kept.begins());
    CHECK(kept.streams().empty());
    CHECK(kept.make_whole() == "begins " + r.path);
  }
  CHECK_FALSE(std::filesystem::exists(r.path));
  write_file(r.path, "");
  CHECK(kept_results(r.path, "line").begins());
}

TEST_CASE("what does not fit is refused with a sentence, and nothing is touched") {
  a_run r;
  const auto text = r.text + "{\"type\":\"fra"; // half a line, which would be cut off
  r.write(text);
  CHECK(r.refusal() == "");
  CHECK(
    r.refusal("other")
    == "r.jsonl.announced: is of the graph 'line', and this one is 'other': name another file, or "
       "run without "
       "`--continue` to replace it");
  {
    line_file writer{r.path};
    writer.open_at_end();
    CHECK(
      r.refusal()
      == "r.jsonl: is written by a run that has not ended: end that one first, or give each its "
         "own `path`");
  }
  const auto at = std::to_string(r.text.size());
  r.write(r.text + "no line\n");
  const auto no_line =
    "r.jsonl: has at byte " + at
    + " a line that is no result of a frame: name another file, or remove this one";
  CHECK(r.refusal() == no_line);
  r.write(r.text + "\n");
  CHECK(r.refusal() == no_line);
  r.write(r.text + R"({"type":"frame_result","stream":"cam1","epoch":1,"frame_id":3,"out})" + '\n');
  CHECK(r.refusal() == no_line);
  r.write(r.text + test::with(line_of(0, {1, 3}), "\"cam1\"", "\"cam9\""));
  CHECK(
    r.refusal()
    == "r.jsonl: has results of the stream 'cam9', which the run before did not have: they are "
       "another "
       "graph's; name another file, or run without `--continue` to replace it");
  write_file(announced_path(r.path), std::string(5000, '\x81'));
  CHECK(
    r.refusal()
    == "r.jsonl.announced: is not what a run keeps of the frames that it captured (it has no "
       "header): run "
       "without `--continue`, which replaces it and the results");
  std::filesystem::remove(announced_path(r.path));
  CHECK(
    r.refusal()
    == "r.jsonl: has lines, and there is no " + announced_path(r.path)
         + " that says which frames their run had captured: name another file, or run without "
           "`--continue` to "
           "replace it");
  r.write(text);
  std::filesystem::remove(r.path);
  CHECK(
    r.refusal()
    == "r.jsonl: is not there, but " + announced_path(r.path)
         + " is: put the file back, or run without `--continue` to begin anew");
}
