#pragma once

#include "graphs/graph.hpp"

#include <doctest/doctest.h>

#include <string>

/// Small graphs of the shipped stages and cameras, for what is said of their times before they run.
namespace hyperframes::timed {

struct planned {
  checked_graph graph;
  graph_plan plan;
};

inline planned plan_of(const std::string& text) {
  auto r = read_graph_text(text, "g.yaml", built_in());
  REQUIRE_MESSAGE(r.graph, to_string(r.faults));
  auto p = plan_graph(*r.graph);
  REQUIRE_MESSAGE(p.plan, to_string(p.faults));
  return {std::move(*r.graph), std::move(*p.plan)};
}

inline std::string
stream(const std::string& id, const std::string& more, const std::string& group = {}) {
  return "  - { id: " + id + (group.empty() ? "" : ", group: " + group)
         + ", camera: { type: synthetic, scene: counter, size: 32x32" + more + " } }\n";
}
inline const std::string live = ", realtime: true, fps: 25";
inline const std::string file = ", realtime: false, fps: 25";

/// Streams into one bundle with these settings.
inline std::string bundled(const std::string& streams, const std::string& settings) {
  return "hyperframes: 1\nstreams:\n" + streams + "stages:\n  capture: { type: capture }\n"
         + "  bundle: { type: bundle, from: capture" + settings
         + " }\n  out: { type: callback, from: bundle }\n";
}
/// With a stage that fires.
inline std::string
fired(const std::string& streams, const std::string& settings, const std::string& trigger = "") {
  return "hyperframes: 1\nstreams:\n" + streams
         + "stages:\n  capture: { type: capture, streams: cam }\n" + "  barrier: { type: trigger"
         + trigger + " }\n  bundle: { type: bundle, from: [capture, barrier]" + settings
         + " }\n  out: { type: callback, from: bundle }\n";
}
/// Two streams into one `align` with these settings.
inline std::string aligned(const std::string& streams, const std::string& settings) {
  return "hyperframes: 1\nstreams:\n" + streams + "stages:\n  capture: { type: capture }\n"
         + "  align: { type: align, from: capture" + settings
         + " }\n  out: { type: callback, from: align }\n";
}
inline const std::string pair = stream("cam1", live, "g") + stream("cam2", live, "g");
inline const std::string films = stream("film1", file, "g") + stream("film2", file, "g");

/// A camera and a film in one group.
inline std::string mixed(const std::string& settings) {
  return "hyperframes: 1\nstreams:\n" + stream("cam", live, "g") + stream("film", file, "g")
         + "stages:\n  capture: { type: capture, streams: cam }\n"
           "  films: { type: capture, streams: film }\n"
           "  align: { type: align, from: [capture, films]"
         + settings + " }\n  out: { type: callback, from: align }\n";
}

/// The sets of the streams into one bundle with these settings.
inline std::string with_sets(const std::string& streams, const std::string& settings) {
  return "hyperframes: 1\nstreams:\n" + streams
         + "stages:\n  capture: { type: capture }\n  align: { type: align, from: capture }\n"
           "  bundle: { type: bundle, from: align"
         + settings + " }\n  out: { type: callback, from: bundle }\n";
}

struct row {
  const char* what;
  std::string text, expected;
};

} // namespace hyperframes::timed
