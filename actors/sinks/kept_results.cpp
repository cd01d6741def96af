#include "actors/sinks/kept_results.hpp"

#include "actors/sinks/item_json.hpp"
#include "actors/sinks/line_file.hpp"
#include "runtime/written.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyperframes {

kept_results::kept_results(std::string path, const std::string& graph)
  : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC)) {
  try {
    if (descriptor_ < 0 && errno != ENOENT)
      fail("cannot be opened", errno);
    if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      fail(
        "is written by a run that has not ended: end that one first, or give each its own `path`");
    struct stat facts {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &facts) != 0)
      fail("cannot be looked at", errno);
    size_ = static_cast<std::uint64_t>(facts.st_size);
    const auto beside = announced_path(path_);
    std::ifstream kept{beside, std::ios::binary};
    if (!kept) {
      if (size_ > 0)
        fail(
          "has lines, and there is no " + beside
          + " that says which frames their run had captured: name another file, or run without "
            "`--continue` to replace it");
      return;
    }
    if (descriptor_ < 0)
      fail(
        "is not there, but " + beside
        + " is: put the file back, or run without `--continue` to begin anew");
    const std::string bytes{std::istreambuf_iterator<char>{kept}, {}};
    auto run = read_announced(bytes);
    if (!run)
      throw failure(make_error(errc::io_failed, beside, run.error().message));
    run_ = std::move(*run);
    if (run_.graph != graph)
      throw failure(make_error(
        errc::io_failed, beside,
        "is of the graph '" + run_.graph + "', and this one is '" + graph
          + "': name another file, or run without `--continue` to replace it"));
    begins_ = false;
    look();
  } catch (...) {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    throw;
  }
}

kept_results::~kept_results() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

void kept_results::fail(const std::string& sentence) const {
  throw failure(make_error(errc::io_failed, path_, sentence));
}

void kept_results::fail(const char* doing, int code) const {
  fail(std::string{doing} + ": " + std::generic_category().message(code));
}

void kept_results::look() {
  if (size_ == 0)
    return;
  stream_begins streams;
  for (const auto& s : run_.streams)
    streams[s.id] = {s.first_epoch, s.written && !s.frames.empty()};
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (memory == MAP_FAILED)
    fail("cannot be read", errno);
  auto found = read_watermark({static_cast<const char*>(memory), size_}, streams);
  ::munmap(memory, size_);
  if (!found)
    fail(found.error().message);
  found_ = std::move(*found);
}

std::vector<kept_results::stream_begin_at> kept_results::streams() const {
  std::vector<stream_begin_at> all;
  for (const auto& s : run_.streams) {
    stream_begin_at at{s.id, s.first_epoch, s.before};
    for (const auto& [epoch, frames] : s.frames) {
      at.epoch = epoch + 1;
      at.before += frames;
    }
    all.push_back(std::move(at));
  }
  return all;
}

std::vector<outcome_range> kept_results::without_line() const {
  std::vector<outcome_range> ranges;
  for (stream_index i = 0; i < run_.streams.size(); ++i) {
    const auto& s = run_.streams[i];
    const auto last = found_.last.find(s.id);
    for (const auto& [epoch, frames] : s.frames) {
      std::uint64_t first = 0;
      if (last != found_.last.end() && epoch <= last->second.epoch)
        first = epoch < last->second.epoch ? frames : last->second.frame_id + 1;
      if (s.written && first < frames)
        ranges.push_back({i, epoch, first, frames - first, outcome::lost, reason::restart});
    }
  }
  return ranges;
}

std::uint64_t kept_results::write_lost() {
  auto facts = std::make_shared<graph_facts>();
  for (const auto& s : run_.streams)
    facts->streams.emplace_back().id = s.id;
  const item_json json{facts, {}};
  line_file file{path_, std::exchange(descriptor_, -1)}; // whatever becomes of it, it closes it
  std::uint64_t lines = 0;
  for (const auto& r : without_line())
    for (std::uint64_t i = 0; i < r.count; ++i, ++lines) {
      json.append_gap(r, r.first + i, file.line());
      file.end_line();
    }
  file.close();
  return lines;
}

std::string kept_results::make_whole() {
  if (begins_)
    return "begins " + path_;
  const bool torn = found_.whole < size_;
  if (torn && ::ftruncate(descriptor_, static_cast<off_t>(found_.whole)) != 0)
    fail("ends in half a line and cannot be cut back", errno);
  const auto lost = write_lost();
  return "goes on in " + path_ + ": " + counted(lost, "frame")
         + " of the run before had no line and ended as lost (restart)"
         + (torn ? "; half a line was cut off" : "");
}

} // namespace hyperframes
