#pragma once

#include "runtime/stage.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <variant>

/// Everything that stages say to each other, in one process and across processes.
namespace hyperframes {

using stage_index = std::uint32_t; ///< position in the graph's list of stages
using edge_index = std::uint32_t;  ///< position in the graph's list of edges

/// One item for the receiver's mailbox; the sender had credit for it.
struct put_message {
  edge_index edge = 0;
  item value;
};
/// Items have left the receiver's ring: the sender may send as many again.
struct credit_message {
  edge_index edge = 0;
  stream_index lane = 0;
  std::uint32_t items = 0;
  std::uint64_t bytes = 0;
};
/// Behind the last frame of an epoch; needs no credit.
struct end_message {
  edge_index edge = 0;
  stream_end end;
};
/// Outcomes of frames that ended above; goes straight to the stage that settles them.
struct outcome_message {
  outcome_ranges ranges;
};
/// Blocking work is finished.
struct done_message {
  std::uint32_t lane = 0;
  std::uint64_t generation = 0; ///< of the logic object that asked for it
  std::shared_ptr<void> value;
  duration took{}; ///< by the work itself
  duration cpu{};  ///< of this, on its thread
  std::exception_ptr thrown{}; ///< by the work: fails the stage
};
/// What the supervisor and the runtime tell a stage. Never bounded, never dropped.
enum class control : std::uint8_t {
  start, ///< take memory, warm up
  run,   ///< all are ready
  drain, ///< capture no more
  stop,  ///< give everything an outcome
  work,  ///< items are waiting in the mailbox
  wake,  ///< a time that the stage asked for has come
  poke,  ///< another thread has something for the stage
  ready, ///< said by the stage to itself: `start` is finished
};

/// How far a stream has come that is captured in another process, or was in earlier runs.
struct captured_position {
  stream_index stream = 0;
  std::uint32_t epoch = 0;  ///< the last one
  std::uint64_t frames = 0; ///< of it, with ids from 0 on
  std::uint64_t before = 0; ///< of the epochs before it
  bool ended = false;       ///< no epoch follows
};

using message
  = std::variant<put_message, credit_message, end_message, outcome_message, done_message, control>;

} // namespace hyperframes
