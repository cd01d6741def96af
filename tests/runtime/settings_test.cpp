#include "runtime/settings.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hyperframes;

TEST_CASE("settings give what was set, by its type") {
  settings s;
  s.with("a", true).with("b", std::int64_t{3}).with("c", 2.5).with("d", std::string{"x"});
  s.with("e", duration{5}).with("f", pixel_size{4, 2}).with("none", std::monostate{});
  CHECK(s.flag("a"));
  CHECK(s.integer("b") == 3);
  CHECK(s.number("b") == 3.0);
  CHECK(s.number("c") == 2.5);
  CHECK(s.text("d") == "x");
  CHECK(s.time("e") == duration{5});
  CHECK(s.size("f") == pixel_size{4, 2});
  CHECK(s.has("a"));
  CHECK_FALSE(s.has("none"));
  CHECK_FALSE(s.has("missing"));
}

TEST_CASE("asking wrongly is a defect of the caller") {
  settings s;
  s.with("a", true);
  CHECK_THROWS_WITH_AS((void)s.integer("a"), "setting 'a' was asked for as an integer",
                       std::logic_error);
  CHECK_THROWS_WITH_AS((void)s.text("b"), "setting 'b' was not declared", std::logic_error);
}

TEST_CASE("a later value replaces the earlier one in its place") {
  settings s;
  s.with("a", std::int64_t{1}).with("b", std::int64_t{2}).with("a", std::int64_t{3});
  CHECK(s.integer("a") == 3);
  CHECK(s.all().size() == 2);
  CHECK(s.all()[0].first == "a");
}
