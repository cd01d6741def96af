#pragma once

#include "cameras/camera.hpp"

namespace hyperframes {

/// Camera `synthetic`: drawn pictures instead of a device, with a device's faults on request.
///
/// Device frame n is taken at
///   t(n) = n / fps + u(n) * jitter,  u(n) in [0, 1) from the seed,
/// after the camera's start, and is due then. A live camera starts with the first multiple of 1 /
/// fps on the graph's time line that its first `read` has not passed, so that cameras of one rate
/// run in step, as if one signal triggered them. Its time on the camera's own clock is
///   captured(n) = offset + t(n) * (1 + drift / 1e6).
/// A lost frame uses up its n, which is also the device id: the next one comes with a jump and
/// `frame_gap_before`. Lost is what `drop` takes, and of a live camera what was not read before the
/// next one was due: it holds one picture. Pixels, times and what `drop` takes depend on the
/// settings and n only. `frames` counts those that were given.
camera_description synthetic_description();

} // namespace hyperframes
