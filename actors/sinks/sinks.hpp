#pragma once

#include "runtime/description.hpp"
#include "runtime/stage.hpp"

#include <functional>

/// The stages in which items end. Add their descriptions to a catalogue and name them in a graph:
///
///   results: { type: jsonl, from: unbundle, path: results.jsonl }
///   film:    { type: video, from: unbundle, path: film.mkv }
///   program: { type: callback, from: unbundle }
///   nothing: { type: "null", from: unbundle }
///
/// A sink is done when every stream that reaches it has ended and, where it ends accounts itself (no
/// unbundle above it), every frame of theirs has come or has an outcome.
namespace hyperframes {

/// Writes a line of JSON for each item of any port; docs/results.md fixes the lines.
stage_description describe_jsonl();

/// Hands each item to a function of the program.
stage_description describe_callback();

/// Takes items and forgets them.
stage_description describe_null();

/// Writes a film of each stream's frames with what was found drawn into them.
stage_description describe_video();

/// What a program registers for a stage of type `callback`: it stands in `stage_plan::resource`.
///
/// The functions run one at a time, in the order of the items, on whichever thread drives the stage;
/// while one runs, its edge fills. What one throws fails the stage. They are not changed after the
/// graph was started.
struct callback_resource : stage_resource {
  /// Gets each item; where no unbundle stands above the stage, also an `outcome_range` for frames
  /// that ended on their way.
  std::function<void(const item&)> call;
  /// Gets the end of each epoch, behind its items; may be empty.
  std::function<void(const stream_end&)> end;
};

} // namespace hyperframes
