#pragma once

#include "actors/trigger_port.hpp"
#include "runtime/description.hpp"
#include "runtime/stage.hpp"

#include <memory>

namespace hyperframes {

/// What the builder hands to a stage of type `trigger`: where the program fires it.
struct trigger_resource : stage_resource {
  std::shared_ptr<trigger_port> port;
};

/// `trigger`: frame, or nothing -> trigger.
///
/// Fires when a frame comes, when the program says so, and when a message comes at an address of
/// `udp` or `http`. A frame's trigger stands at the frame's place on the time line, any other at the
/// time when it came. Where frames come in, their accounts end here: what was taken is delivered.
/// Triggers that the stages below have no room for are lost, and told of.
stage_description describe_trigger();

} // namespace hyperframes
