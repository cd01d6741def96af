#pragma once

/// The graph whose facts are fuzzed.
namespace hyperframes::test {

inline constexpr const char* graph_with_facts =
  "hyperframes: 1\n"
  "streams:\n"
  "  - { id: a, camera: { type: synthetic, scene: counter } }\n"
  "  - { id: b, camera: { type: synthetic, scene: parts } }\n"
  "stages:\n"
  "  capture:  { type: capture }\n"
  "  bundle:   { type: bundle, from: capture, size: 8 }\n"
  "  schedule: { type: schedule, from: bundle }\n"
  "  infer:    { type: infer, from: schedule, backend: simulated }\n"
  "  unbundle: { type: unbundle, from: infer }\n"
  "  nothing:  { type: \"null\", from: unbundle }\n";

} // namespace hyperframes::test
