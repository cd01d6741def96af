#include "runtime/description.hpp"

#include <algorithm>

/// The words for each enumeration, as they stand in configs, metrics and results.
namespace hyperframes {

const char* to_string(outcome o) {
  constexpr const char* names[] = {"delivered", "skipped", "dropped", "expired", "failed", "lost"};
  return names[static_cast<std::size_t>(o)];
}

const char* to_string(reason r) {
  constexpr const char* names[reason_count] = {
    "none",         "late",      "stride",         "every", "untriggered", "pool_empty",
    "edge_full",    "unmatched", "incomplete_set", "stale", "stopped",     "deadline",
    "ttl",          "corrupt",   "no_memory",      "pack",  "inference",   "quarantined",
    "stage_failed", "reorder",   "worker_lost",    "restart"};
  return names[static_cast<std::size_t>(r)];
}

const char* to_string(release_reason r) {
  constexpr const char* names[] = {"count", "timeout", "window", "trigger",
                                   "late",  "flush",   "first"};
  return names[static_cast<std::size_t>(r)];
}

const char* to_string(port_type type) {
  constexpr const char* names[] = {"frame",  "aligned_set",  "hyperframe", "batch",
                                   "result", "frame_result", "outcome",    "trigger"};
  return names[static_cast<std::size_t>(type)];
}

const char* to_string(overflow_policy p) {
  constexpr const char* names[] = {"block", "drop_newest", "drop_oldest", "fail"};
  return names[static_cast<std::size_t>(p)];
}

const char* to_string(value_source s) {
  constexpr const char* names[] = {"default", "file", "environment", "--set", "program", "derived"};
  return names[static_cast<std::size_t>(s)];
}

} // namespace hyperframes
