#include "graphs/values.hpp"

#include <doctest/doctest.h>

using namespace hyperframes;

TEST_CASE("bytes") {
  const std::pair<const char*, std::optional<std::int64_t>> rows[]{
    {"0", 0},
    {"12", 12},
    {"64MB", 64'000'000},
    {"64 MiB", 64 << 20},
    {"1.5kB", 1500},
    {"2GiB", std::int64_t{2} << 30},
    {"-1", {}},
    {"64mb", {}},
    {"MB", {}},
    {"1e300", {}},
    {"9999999TB", {}}};
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(read_bytes(text) == expected);
  }
  CHECK(write_bytes(std::uint64_t{4} << 30) == "4GiB");
  CHECK(write_bytes(64'000'000) == "64MB");
  CHECK(write_bytes(921'601) == "921601B");
  CHECK(write_bytes(0) == "0B");
  CHECK(about_bytes(921'600) == "922 kB");
  CHECK(about_bytes(12) == "12 B");
}

TEST_CASE("sizes, numbers") {
  CHECK(read_size("640x480") == pixel_size{640, 480});
  for (const auto* bad :
       {"640", "x480", "640x", "-1x2", "640x480x3", "99999999999x1", "640 x 480"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_size(bad));
  }
  CHECK(read_integer("+7") == 7);
  for (const auto* bad : {"", "7.0", "0x10", "99999999999999999999", "7 "}) {
    CAPTURE(bad);
    CHECK_FALSE(read_integer(bad));
  }
  CHECK(read_number("1e3") == 1000.0);
  CHECK_FALSE(read_number("inf"));
  CHECK(write_number(1e6) == "1000000");
  CHECK(write_number(29.97) == "29.97");
}

TEST_CASE("the nearest name is found, a strange one gets the list") {
  const std::vector<std::string> known{"bundle", "align", "schedule", "infer", "size"};
  CHECK(nearest_name("bundel", known) == "bundle");
  CHECK(nearest_name("Align", known) == "align");
  CHECK(nearest_name("sise", known) == "size");
  CHECK(nearest_name("tracker", known).empty());
  CHECK(suggestion("scheduler", known) == "did you mean 'schedule'?");
  CHECK(suggestion("tracker", known) == "known are bundle, align, schedule, infer and size");
  CHECK(suggestion("x", {}) == "there are none");
  CHECK(suggestion("zzzzzzz", {"one", "one"}) == "the only one is 'one'");
  CHECK(suggestion("zzzzzzz", {"one", "two", "one", "two"}) == "known are one and two");
  std::vector<std::string> many;
  for (int i = 10; i < 40; ++i)
    many.push_back('a' + std::to_string(i));
  CHECK(suggestion("zzzzzzz", many).ends_with("a29 and 10 more"));
}

TEST_CASE("an object in a list is written without what is unset") {
  auto entry = std::make_shared<settings>();
  entry->with("kind", std::string{"gap"}).with("count", std::int64_t{5});
  entry->set("rate", setting{});
  CHECK(
    write_value(initial_value(setting::list{initial_value(entry)})) == "[{ kind: gap, count: 5 }]");
}
