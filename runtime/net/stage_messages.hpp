#pragma once

#include "runtime/message.hpp"
#include "runtime/part_account.hpp"
#include "runtime/stage_host.hpp"
#include "runtime/telemetry.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What the process that runs a graph and the one that runs a part of it say to each other.
namespace hyperframes {

/// The part begins. Its first message.
struct part_begin {
  std::uint32_t run = 0;     ///< `run_options::run_number`
  std::uint32_t turn = 0;    ///< how many have had this part before
  graph_time now{};          ///< of the graph
  std::vector<credit_message> used; ///< on edges out of the part, by its predecessor
  std::vector<captured_position> streams; ///< that it captures
};

/// For a stage of the part, or from one of them.
struct stage_parcel {
  stage_index to = 0;
  std::variant<put_message, credit_message, end_message, outcome_message, control> what;
};

/// Frames that cameras of the part have given.
struct captured_frames {
  std::vector<outcome_range> ranges; ///< outcome and reason mean nothing
};

struct stage_changed {
  stage_index stage = 0;
  stage_state state = stage_state::init;
  std::string why;
};

/// The node cannot have the part: a file or a camera is missing.
struct part_refused {
  std::string why; ///< a sentence
};

/// A camera of the part comes or goes.
struct camera_asked {
  stream_index stream = 0;
  bool attach = false;
};

/// What a part has counted since its last report, and what its gauges show now.
struct part_numbers {
  struct stage {
    stage_index index = 0;
    std::uint64_t items_in = 0, items_out = 0, bytes_copied = 0, busy_ns = 0, cpu_ns = 0;
    std::uint32_t restarts = 0;
    std::uint64_t held = 0; ///< gauge
    time_counts service;
  };
  struct edge {
    edge_index index = 0;
    std::uint64_t items = 0, drops = 0;
    bool receives = false; ///< the part has its ring: the gauges hold
    std::uint32_t depth = 0, peak = 0;
    double average = 0;
  };
  struct stream {
    stream_index index = 0;
    std::int64_t first_arrival_ns = -1, offset_ns = 0, jitter_ns = 0;
    std::uint64_t device_lost = 0, off_pace = 0;
    double drift_ppm = 0, fps = 0, confidence = 0;
    bool by_arrival = false, attached = false, silent = false;
    std::uint32_t silences = 0, epochs = 0;
    time_counts lag;
  };
  struct injected_fault {
    std::string where, kind;
    std::uint64_t count = 0;
  };
  std::vector<stage> stages;
  std::vector<edge> edges;
  std::vector<stream> streams;
  std::vector<injected_fault> faults;
  std::uint64_t pixel_writes = 0, batches = 0, batch_slots = 0, batch_room = 0;
};

using part_message = std::variant<part_begin, stage_parcel, captured_frames, stage_changed,
                                  part_refused, camera_asked, event, part_numbers>;

} // namespace hyperframes
