#include "actors/sinks/announced.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hyperframes {

namespace {

using nlohmann::json;

constexpr std::size_t page = 4096;
constexpr int version = 1;

struct record {
  std::uint32_t stream, epoch;
  std::uint64_t frames;
};

std::size_t padded(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

std::string header_of(const announced_run& run) {
  json streams = json::array();
  for (const auto& s : run.streams)
    streams.push_back(
      {{"id", s.id}, {"written", s.written}, {"first_epoch", s.first_epoch}, {"before", s.before}});
  auto text =
    json{{"announced", version}, {"graph", run.graph}, {"run", run.run}, {"streams", streams}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
  text.resize(padded(text.size() + 1) - 1, ' ');
  return text + '\n';
}

announced_run run_of(const json& header) {
  announced_run run;
  run.graph = header.at("graph").get<std::string>();
  run.run = header.at("run").get<std::uint32_t>();
  for (const auto& s : header.at("streams"))
    run.streams.push_back(
      {s.at("id").get<std::string>(),
       s.at("written").get<bool>(),
       s.at("first_epoch").get<std::uint32_t>(),
       s.at("before").get<std::uint64_t>(),
       {}});
  return run;
}

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// @returns false for what no run can have written. A slot and a record may name the same epoch.
bool note(announced_run& run, std::uint64_t stream, std::uint64_t epoch, std::uint64_t frames) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40U; // trace ids count no further
  if (frames == 0)
    return true;
  if (
    stream >= run.streams.size() || frames > most || epoch < run.streams[stream].first_epoch
    || epoch >= UINT32_MAX)
    return false;
  auto& known = run.streams[stream].frames[static_cast<std::uint32_t>(epoch)];
  known = std::max(known, frames);
  return true;
}

} // namespace

std::string announced_path(const std::string& results) {
  return results + ".announced";
}

void forget_announced(const std::string& results) {
  const auto path = announced_path(results);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw failure(make_error(
      errc::io_failed, path, "cannot be removed: " + std::generic_category().message(errno)));
}

expected<announced_run> read_announced(std::string_view bytes) {
  const auto damaged = [](const std::string& how) {
    return make_error(
      errc::io_failed, {},
      "is not what a run keeps of the frames that it captured (" + how
        + "): run without `--continue`, which replaces it and the results");
  };
  const auto header = bytes.substr(0, bytes.find('\n') + 1);
  if (header.empty() || header.size() % page != 0)
    return damaged("it has no header");
  announced_run run;
  try {
    const auto values = json::parse(header);
    if (values.at("announced") != version)
      return make_error(
        errc::io_failed, {},
        "was written by another version of HyperFrames: go on with that one, or run without "
        "`--continue`, which replaces it and the results");
    run = run_of(values);
  } catch (const json::exception&) {
    return damaged("its header is damaged");
  }
  const auto slots = header.size();
  const auto records = slots + padded(run.streams.size() * 16);
  if (bytes.size() < records)
    return damaged("it is too short");
  bool sound = true;
  for (std::size_t i = 0; i < run.streams.size(); ++i)
    sound = sound
            && note(
              run, i, value_at<std::uint64_t>(bytes, slots + i * 16),
              value_at<std::uint64_t>(bytes, slots + i * 16 + 8));
  for (auto at = records; at + sizeof(record) <= bytes.size(); at += sizeof(record)) {
    const auto r = value_at<record>(bytes, at);
    sound = sound && note(run, r.stream, r.epoch, r.frames);
  }
  if (!sound)
    return damaged("it counts what no run captures");
  return run;
}

void announced_file::begin() {
  const auto under_way = path_ + ".new";
  try {
    make(under_way);
    if (::rename(under_way.c_str(), path_.c_str()) != 0)
      fail("cannot be replaced", errno);
  } catch (...) {
    ::unlink(under_way.c_str());
    throw;
  }
}

void announced_file::make(const std::string& path) {
  static_assert(sizeof(slot) == 16 && sizeof(record) == 16);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    fail("cannot be made", errno);
  const auto header = header_of(run_);
  streams_ = run_.streams.size();
  slot_bytes_ = padded(streams_ * sizeof(slot));
  // Blocks of their own: a store into memory without any would end the process where the disk is
  // full.
  if (
    const int code =
      ::posix_fallocate(descriptor_, 0, static_cast<off_t>(header.size() + slot_bytes_)))
    fail("cannot be written", code);
  if (::pwrite(descriptor_, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
    fail("cannot be written", errno);
  void* memory = ::mmap(
    nullptr, slot_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
    static_cast<off_t>(header.size()));
  if (memory == MAP_FAILED)
    fail("cannot be shared", errno);
  slots_ = static_cast<slot*>(memory);
  for (std::size_t i = 0; i < streams_; ++i)
    slots_[i].epoch = run_.streams[i].first_epoch;
  if (::lseek(descriptor_, 0, SEEK_END) < 0)
    fail("cannot be written", errno);
}

announced_file::~announced_file() {
  if (slots_)
    ::munmap(slots_, slot_bytes_);
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

void announced_file::announce(stream_index stream, frame_position last) noexcept {
  if (!slots_ || stream >= streams_)
    return;
  auto& s = slots_[stream];
  // Whatever ends the process ends it between two stores: their order is what the file shows.
  const std::atomic_ref epoch{s.epoch}, frames{s.frames};
  const auto now = epoch.load(std::memory_order_relaxed);
  if (last.epoch < now)
    return;
  if (last.epoch > now) {
    const record over{
      stream, static_cast<std::uint32_t>(now), frames.load(std::memory_order_relaxed)};
    if (over.frames > 0 && ::write(descriptor_, &over, sizeof over) != sizeof over)
      problem_.store(errno ? errno : EIO, std::memory_order_relaxed);
    frames.store(0, std::memory_order_release);
    epoch.store(last.epoch, std::memory_order_release);
  }
  if (last.frame_id >= frames.load(std::memory_order_relaxed))
    frames.store(last.frame_id + 1, std::memory_order_release);
}

void announced_file::check() const {
  if (const auto code = problem_.load(std::memory_order_relaxed))
    fail("cannot be written", code);
}

void announced_file::fail(const char* doing, int code) const {
  throw failure(make_error(
    errc::io_failed, path_, std::string{doing} + ": " + std::generic_category().message(code)));
}

} // namespace hyperframes
