#include "tools/bench/processes.hpp"

#include "runtime/error.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/part.hpp"

#include <cstring>

namespace hyperframes::bench {

buffer_pool
touched_pool(std::size_t slots, std::size_t bytes, const std::shared_ptr<memory_backing>& backing) {
  buffer_pool pool{slots, bytes, nullptr, backing};
  std::vector<buffer_ref> all;
  for (std::size_t i = 0; i < slots; ++i) {
    all.push_back(pool.acquire());
    std::memset(all.back().data(), 100, bytes);
  }
  return pool;
}

void stamp(std::byte* content, std::size_t bytes, std::uint64_t number) {
  std::memcpy(content, &number, sizeof number);
  std::memcpy(content + bytes - sizeof number, &number, sizeof number);
}

void look_at(const std::byte* content, std::uint64_t number, const passing_load& load) {
  const auto at = [&](std::size_t place) {
    std::uint64_t value;
    std::memcpy(&value, content + place, sizeof value);
    return value;
  };
  constexpr auto word = sizeof number;
  if (at(0) != number || at(load.bytes - word) != number)
    throw failure(make_error(
      errc::io_failed, "processes",
      "message " + std::to_string(number) + " arrived with the content of another one"));
  if (!load.read)
    return;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < load.bytes; i += word)
    sum += at(i);
  asm volatile("" : : "r"(sum)); // so that it is computed
}

std::vector<std::string> receiver_arguments::to_words() const {
  return {
    way,
    std::to_string(port),
    std::to_string(load.bytes),
    std::to_string(load.warm),
    std::to_string(load.messages),
    load.read ? "1" : "0"};
}

receiver_arguments receiver_arguments::of(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i) { return std::stoull(words.at(i)); };
  return {
    words.at(0),
    static_cast<std::uint16_t>(number(1)),
    {number(2), number(3), number(4), number(5) != 0}};
}

std::vector<double> receive_passing(const std::vector<std::string>& arguments) {
  const auto a = receiver_arguments::of(arguments);
  if (a.way == "shared")
    return {receive_shared(a)};
  if (a.way == "tcp")
    return {receive_by_tcp(a)};
#ifdef HYPERFRAMES_BENCH_CAF_IO
  if (a.way == "caf")
    return {receive_by_caf(a)};
#endif
  throw failure(make_error(errc::io_failed, "processes", "there is no way " + a.way));
}

namespace {

constexpr std::size_t small = 64 << 10, film = 1920 * 1080 * 3 / 2, large = 6 << 20;
constexpr std::size_t rounds = 7;

samples rates(const std::vector<passing>& all) {
  samples s;
  for (const auto& p : all)
    s.values.push_back(1 / p.seconds);
  return s;
}
samples seconds(const std::vector<passing>& all) {
  samples s;
  for (const auto& p : all)
    s.values.push_back(p.seconds);
  return s;
}
samples cpu(const std::vector<passing>& all) {
  samples s;
  for (const auto& p : all)
    s.values.push_back(p.cpu_seconds);
  return s;
}
samples microseconds(samples s) {
  for (auto& v : s.values)
    v *= 1e6;
  return s;
}

} // namespace

report processes_report(const passing_runs& r) {
  report result{
    "Two processes, started anew for each run, pass messages of 64 KiB, 3.1 MB (1920x1080, I420) "
    "and 6 MiB over loopback, eight under way at once, each acknowledged when the receiver lets it "
    "go; the receiver checks the first and last eight bytes, where \"read\" stands all of them. "
    "Shared memory: the message on a TCP connection is a handle, the content stays in the sender's "
    "pool, the acknowledgement returns the loan. TCP: the bytes go from a pool through a plain "
    "connection into a pool. CAF: the bytes are in an actor message through its network module, "
    "without TLS, serialised as one span and received into memory that is not cleared first. CPU "
    "is that of both processes. Messages are counted after the first ones, which touch all memory; "
    "contestants take turns.",
    {}};
  auto& out = result.results;
#ifdef HYPERFRAMES_BENCH_CAF_IO
  out.push_back(reading_of(
    "1080p: messages/s, shared memory / CAF", "x", ratios(rates(r.shared_film), rates(r.caf_film)),
    at_least(10)));
  out.push_back(reading_of(
    "6 MiB: messages/s, shared memory / CAF", "x",
    ratios(rates(r.shared_large), rates(r.caf_large)), at_least(10)));
  out.push_back(reading_of(
    "1080p: CPU, CAF / shared memory", "x", ratios(cpu(r.caf_film), cpu(r.shared_film)),
    at_least(10)));
#endif
  out.push_back(reading_of(
    "1080p: messages/s, shared memory / TCP", "x", ratios(rates(r.shared_film), rates(r.tcp_film)),
    at_least(10)));
  out.push_back(reading_of(
    "6 MiB: messages/s, shared memory / TCP", "x",
    ratios(rates(r.shared_large), rates(r.tcp_large)), at_least(10)));
  out.push_back(reading_of(
    "1080p: CPU, TCP / shared memory", "x", ratios(cpu(r.tcp_film), cpu(r.shared_film)),
    at_least(10)));
  out.push_back(reading_of(
    "shared memory: time, 6 MiB / 64 KiB", "x",
    ratios(seconds(r.shared_large), seconds(r.shared_small)), at_most(1.25)));
  out.push_back(reading_of(
    "1080p, read: messages/s, shared memory / TCP", "x",
    ratios(rates(r.shared_read), rates(r.tcp_read))));
  const auto times = [&](const std::string& name, const std::vector<passing>& all) {
    out.push_back(reading_of(name, "us", microseconds(seconds(all))));
    out.push_back(reading_of(name + ", CPU", "us", microseconds(cpu(all))));
  };
  times("1080p: shared memory", r.shared_film);
  times("1080p: TCP", r.tcp_film);
#ifdef HYPERFRAMES_BENCH_CAF_IO
  times("1080p: CAF", r.caf_film);
#endif
  return result;
}

report processes(const context& c) {
  const receiver start = [](const std::vector<std::string>& arguments) {
    return in_new_process("receive", arguments);
  };
  const auto many = [](std::size_t bytes) { return passing_load{bytes, 1000, 20000}; };
  const auto some = [](std::size_t bytes) { return passing_load{bytes, 50, 300}; };
  const auto reading = [](std::size_t bytes) { return passing_load{bytes, 50, 1000, true}; };
  passing_runs runs;
  struct entry {
    const char* name;
    std::vector<passing>& into;
    std::function<passing()> once;
  };
  const std::vector<entry> all{
    {"64 KiB, shared memory", runs.shared_small, [&] { return pass_shared(many(small), start); }},
    {"1080p, shared memory", runs.shared_film, [&] { return pass_shared(many(film), start); }},
    {"6 MiB, shared memory", runs.shared_large, [&] { return pass_shared(many(large), start); }},
    {"1080p, TCP", runs.tcp_film, [&] { return pass_by_tcp(some(film), start); }},
    {"6 MiB, TCP", runs.tcp_large, [&] { return pass_by_tcp(some(large), start); }},
    {"1080p, read, shared memory", runs.shared_read,
     [&] { return pass_shared(reading(film), start); }},
    {"1080p, read, TCP", runs.tcp_read, [&] { return pass_by_tcp(reading(film), start); }},
#ifdef HYPERFRAMES_BENCH_CAF_IO
    {"1080p, CAF", runs.caf_film, [&] { return pass_by_caf(some(film), start); }},
    {"6 MiB, CAF", runs.caf_large, [&] { return pass_by_caf(some(large), start); }},
#endif
  };
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& e = all[(round + i) % all.size()];
      c.progress(round + 1, e.name);
      e.into.push_back(e.once());
    }
  return processes_report(runs);
}

} // namespace hyperframes::bench
