#include "runtime/error.hpp"
#include "runtime/shared_import.hpp"
#include "runtime/shared_loans.hpp"
#include "tools/bench/allocations.hpp"
#include "tools/bench/benchmarks.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace hyperframes;
using namespace hyperframes::bench;

namespace {

/// The receiver is a thread here.
passing
in_this_process(passing (*way)(const passing_load&, const receiver&), const passing_load& load) {
  return way(load, receive_passing);
}

std::vector<passing> rounds(double seconds, double cpu) {
  return std::vector<passing>(5, {seconds, cpu});
}

/// Shared memory takes `shared` seconds, the others 1.
passing_runs runs(double shared, double large) {
  passing_runs r;
  r.shared_small = r.shared_film = r.shared_read = rounds(shared, shared);
  r.shared_large = rounds(large, large);
  r.tcp_film = r.tcp_large = r.tcp_read = rounds(1, 1);
  r.caf_film = r.caf_large = rounds(1, 1);
  return r;
}

} // namespace

TEST_CASE("every way brings all messages with their content") {
  for (const bool read : {false, true})
    for (const std::size_t bytes : {std::size_t{16}, std::size_t{3} << 20}) {
      CAPTURE(bytes);
      const passing_load load{bytes, 10, 30, read};
      for (const auto way : {
             pass_shared,
             pass_by_tcp,
#ifdef HYPERFRAMES_BENCH_CAF_IO
             pass_by_caf,
#endif
           }) {
        const auto took = in_this_process(way, load); // throws where one is wrong
        CHECK(took.seconds > 0);
        CHECK(took.cpu_seconds > 0);
      }
    }
}

TEST_CASE("content of another message is found") {
  std::vector<std::byte> content(64);
  passing_load load{content.size()};
  stamp(content.data(), content.size(), 7);
  look_at(content.data(), 7, load);
  CHECK_THROWS_WITH_AS(
    look_at(content.data(), 8, load),
    "processes: message 8 arrived with the content of another one", failure);
  content.back() = std::byte{1};
  CHECK_THROWS_AS(look_at(content.data(), 7, load), failure);
}

TEST_CASE("shared memory has to be ten times as fast, whatever the size") {
  CHECK(processes_report(runs(0.05, 0.05)).met());
  CHECK_FALSE(processes_report(runs(0.2, 0.2)).met());
  CHECK_FALSE(processes_report(runs(0.05, 0.07)).met()); // 6 MiB take longer
}

#ifdef HYPERFRAMES_BENCH_ALLOCATIONS
TEST_CASE("lending and borrowing take nothing from the heap in steady state") {
  buffer_pool pool{4, 4096, nullptr, shared_backing()};
  loan_book loans;
  shared_importer importer;
  const auto borrower = loans.join();
  std::vector<loan_number> returned;
  returned.reserve(2000);
  const auto pass = [&](int times) {
    for (int i = 0; i < times; ++i) {
      auto b = pool.acquire();
      const auto h = *handle_of(b);
      const auto loan = *loans.lend(borrower, std::move(b));
      const auto borrowed = importer.open(h, [&, loan] { returned.push_back(loan); });
      REQUIRE(borrowed.has_value());
      REQUIRE(loans.returned(borrower, loan));
    }
  };
  pass(100);
  counting count;
  pass(1000);
  const auto sites = count.stop();
  CHECK(returned.size() == 1100);
  CHECK(times_by(sites, owner::ours) < 10);
}
#endif
