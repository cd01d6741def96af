// What a run keeps of the frames that it captured.
#include "actors/sinks/announced.hpp"
#include "tests/actors/sink_context.hpp"
#include "tests/system/folder.hpp"

#include <csignal>
#include <filesystem>
#include <random>

#include <sys/resource.h>

using namespace hyperframes;
using test::write_file;

namespace {

announced_run two_streams() {
  return {"line", 3, {{"cam1", true, 0, 0}, {"cam2", false, 7, 40}}};
}

/// "cam1 0:3 1:5, cam2 -"
std::string in_words(const announced_run& run) {
  std::string words;
  for (const auto& s : run.streams) {
    words += (words.empty() ? "" : ", ") + s.id;
    for (const auto& [epoch, frames] : s.frames)
      words += ' ' + std::to_string(epoch) + ':' + std::to_string(frames);
    words += s.frames.empty() ? " -" : "";
  }
  return words;
}

} // namespace

TEST_CASE("what was announced is in the file at once, whatever becomes of the process") {
  const scratch_folder folder;
  const auto path = folder / "r.jsonl.announced";
  announced_file file{path, two_streams()};
  file.announce(0, {0, 0}); // before it begins: no frame is captured then
  file.begin();
  const auto said = [&] { return in_words(read_announced(text_of(path)).value()); };
  const auto header = read_announced(text_of(path)).value();
  CHECK(header.graph == "line");
  CHECK(header.run == 3);
  REQUIRE(header.streams.size() == 2);
  CHECK(header.streams[0].written);
  CHECK_FALSE(header.streams[1].written);
  CHECK(header.streams[1].first_epoch == 7);
  CHECK(header.streams[1].before == 40);
  CHECK(said() == "cam1 -, cam2 -");
  const struct {
    stream_index stream;
    frame_position last;
    const char* said;
  } rows[] = {
    {0, {0, 0}, "cam1 0:1, cam2 -"},
    {0, {0, 4}, "cam1 0:5, cam2 -"}, // with those before it
    {0, {0, 2}, "cam1 0:5, cam2 -"}, // again
    {1, {7, 0}, "cam1 0:5, cam2 7:1"},
    {0, {1, 0}, "cam1 0:5 1:1, cam2 7:1"}, // the epoch that is over is kept
    {0, {0, 9}, "cam1 0:5 1:1, cam2 7:1"}, // is over
    {0, {4, 1}, "cam1 0:5 1:1 4:2, cam2 7:1"},
    {1, {9, 0}, "cam1 0:5 1:1 4:2, cam2 7:1 9:1"},
    {2, {0, 0}, "cam1 0:5 1:1 4:2, cam2 7:1 9:1"}, // none of its streams
  };
  for (const auto& row : rows) {
    file.announce(row.stream, row.last);
    CHECK(said() == row.said);
  }
  file.check();
}

TEST_CASE("a file replaces the one before it, and nothing is left of it that could not be made") {
  const scratch_folder folder;
  const auto path = folder / "r.jsonl.announced";
  write_file(path, "an earlier one");
  {
    announced_file file{path, two_streams()};
    file.begin();
  }
  CHECK(read_announced(text_of(path)).has_value());
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
  std::filesystem::create_directory(path + ".new");
  announced_file other{path, two_streams()};
  CHECK(failure_of([&] { other.begin(); }) == path + ": cannot be made: Is a directory");
  CHECK(read_announced(text_of(path)).has_value());
  forget_announced(folder / "r.jsonl");
  CHECK_FALSE(std::filesystem::exists(path));
  forget_announced(folder / "r.jsonl"); // is not there: nothing to do
}

TEST_CASE("an epoch that could not be written is told, and the frames go on") {
  const scratch_folder folder;
  announced_file file{folder / "a", two_streams()};
  file.begin();
  file.announce(0, {0, 3});
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 8192; // what it has
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  file.announce(0, {1, 3});
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK(failure_of([&] { file.check(); }) == folder / "a" + ": cannot be written: File too large");
  CHECK(in_words(read_announced(text_of(folder / "a")).value()) == "cam1 1:4, cam2 -");
}

TEST_CASE("what no run has written is told apart") {
  const scratch_folder folder;
  announced_file file{folder / "a", two_streams()};
  file.begin();
  file.announce(0, {0, 3});
  file.announce(0, {1, 3});
  const auto good = text_of(folder / "a");
  REQUIRE(good.size() == 8192 + 16);
  const auto told = [](const std::string& bytes) {
    const auto read = read_announced(bytes);
    return read ? std::string{"read"} : read.error().to_string();
  };
  const auto damaged = [](const std::string& how) {
    return "is not what a run keeps of the frames that it captured (" + how
           + "): run without `--continue`, which replaces it and the results";
  };
  const auto changed = [&](std::size_t at, std::uint64_t value) {
    auto bytes = good;
    bytes.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
    return bytes;
  };
  CHECK(told(good) == "read");
  CHECK(told(good.substr(0, good.size() - 3)) == "read"); // half a record
  CHECK(told("") == damaged("it has no header"));
  CHECK(told("{}\n") == damaged("it has no header"));
  CHECK(told(good.substr(0, 4095)) == damaged("it has no header"));
  CHECK(told(test::with(good, "\"run\":3", "\"run\":x")) == damaged("its header is damaged"));
  CHECK(told(test::with(good, "\"run\":3", "\"ran\":3")) == damaged("its header is damaged"));
  CHECK(told(good.substr(0, 8191)) == damaged("it is too short"));
  CHECK(
    told(test::with(good, "\"announced\":1", "\"announced\":2"))
    == "was written by another version of HyperFrames: go on with that one, or run without "
       "`--continue`, "
       "which replaces it and the results");
  const auto counts = damaged("it counts what no run captures");
  CHECK(told(changed(4096 + 8, 1ULL << 41U)) == counts); // frames
  CHECK(told(changed(4096, UINT32_MAX)) == counts);      // epoch
  CHECK(told(changed(4096 + 24, 1)) == "read");          // of cam2, in its first epoch
  CHECK(
    told(test::with(changed(4096 + 24, 1), "\"first_epoch\":7", "\"first_epoch\":8")) == counts);
  CHECK(told(changed(8192, 2)) == counts); // a record's stream
}

TEST_CASE("bytes of any kind are read or refused") {
  const scratch_folder folder;
  announced_file file{folder / "a", two_streams()};
  file.begin();
  file.announce(0, {0, 3});
  file.announce(0, {1, 3});
  const auto good = text_of(folder / "a");
  std::mt19937 random{7};
  for (int i = 0; i < 2000; ++i) {
    auto bytes = good;
    if (i % 4 == 0) {
      bytes.resize(random() % 10000);
      for (auto& b : bytes)
        b = static_cast<char>(random());
      CHECK_FALSE(read_announced(bytes).has_value());
    } else {
      // In the header's text, the slots or the record: most of the rest are spaces and zeros.
      const std::size_t places[] = {random() % 200, 4096 + random() % 32, 8192 + random() % 16};
      bytes[places[random() % 3]] = static_cast<char>(random());
      if (const auto read = read_announced(bytes); !read)
        CHECK(read.error().message != "");
    }
  }
}
