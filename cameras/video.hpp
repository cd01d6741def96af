#pragma once

#include "cameras/camera.hpp"

namespace hyperframes {

/// Camera `video`: a film, decoded with FFmpeg's libraries straight into the camera's pool.
///
/// A frame's capture time is its presentation time in the file, whatever the declared rate; `fps`
/// is the declared or the mean rate. A frame without one, or with one that does not rise, is put
/// behind its predecessor: by 1 / fps where it has none, by 1 us where it does not rise. Played in
/// a loop, each pass begins 1 / fps behind the last.
///
/// Every picture that the decoder gives is a frame, and so is every packet that it refuses: that
/// one is corrupt and has no content. A picture that the decoder itself calls damaged is a corrupt
/// frame with content. Neither ends the film.
///
/// 8-bit 4:2:0 (planar and NV12), gray, BGR and RGB stay what they are; everything else is
/// converted to bgr24. Pictures without a stated matrix are taken as BT.709 from 720 lines on,
/// below as BT.601.
///
/// `segments`: decoders that work side by side (`segmented_player`). The frames are the same; only
/// where the film itself is damaged a decoder may hide it in another way.
///
/// `realtime`: frame n is due at first + (captured(n) - captured(0)), `first` being the `read` that
/// decoded frame 0; the film is then a live source.
camera_description video_description();

} // namespace hyperframes
