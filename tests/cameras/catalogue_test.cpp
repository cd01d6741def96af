#include "cameras/camera.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

extern "C" {
#include <libavutil/log.h>
}

using namespace hyperframes;

TEST_CASE("the catalogue has the five cameras, each with a sentence for everything") {
  camera_catalogue all;
  add_cameras(all);
  std::vector<std::string> names;
  for (const auto& d : all.all()) {
    CAPTURE(d->name);
    names.push_back(d->name);
    CHECK(d->summary.back() == '.');
    CHECK(d->make);
    std::set<std::string> parameters;
    for (const auto& p : d->parameters) {
      CAPTURE(p.name);
      CHECK(parameters.insert(p.name).second);
      CHECK(p.help.size() > 10);
      CHECK(p.help.back() == '.');
      CHECK_FALSE((p.required && p.initial));
      if (p.type == parameter_type::choice && p.initial) {
        const auto& initial = std::get<std::string>(p.initial->value);
        CHECK(std::find(p.choices.begin(), p.choices.end(), initial) != p.choices.end());
      }
      if (p.least && p.most)
        CHECK(*p.least < *p.most);
    }
  }
  CHECK(names == std::vector<std::string>{"synthetic", "timeline", "video", "images", "push"});
}

TEST_CASE("a program can silence the codec libraries") {
  const int before = av_log_get_level();
  silence_codecs();
  CHECK(av_log_get_level() == AV_LOG_QUIET);
  av_log_set_level(before);
}
