#pragma once

#include "runtime/stage.hpp"

namespace hyperframes {

/// `expire`: tells the user of frames that ended as expired. Expiry itself is built into `schedule`;
/// this stage is named in a graph only to route its alarms:
///
///   alarms: { type: expire, from: { stage: schedule, port: expired } }
///
/// Alarms come at most once per `interval`, with the sum of what expired since the last one.
stage_description describe_expire();

} // namespace hyperframes
