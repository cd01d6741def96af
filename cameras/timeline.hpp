#pragma once

#include "cameras/camera.hpp"

namespace hyperframes {

/// Camera `timeline`: plays a table of frames with their times (timeline_table.hpp), so that what
/// was recorded once can be run again.
///
/// A row's frame is due at
///   base + arrival_time - origin
/// on the graph's time line, where base is the first whole second that the camera's first `read`
/// has not passed: 0 on the virtual clock, and the same for cameras that start together. Frames
/// come in the order of the table, each as soon as it is due; none is passed over because `read`
/// came late. Where `realtime` is false, they come as fast as the graph takes them.
///
/// A row with an image gives its picture (B G R), one with a value a float32 vector, any other a
/// gray picture with the device's counter in it. A picture that cannot be decoded is a corrupt
/// frame without content, as are corrupt rows without image or value.
camera_description timeline_description();

/// One, by settings that were checked.
/// @param folder that `path`, and the images of `rows`, start from.
std::unique_ptr<camera> make_timeline_camera(const settings& config, const std::string& folder);

} // namespace hyperframes
