#pragma once

#include "cameras/camera.hpp"

namespace hyperframes {

/// Camera `images`: the picture files of a folder or a glob, in the order of their names, each
/// decoded by OpenCV into the camera's pool as B G R.
///
/// Picture n is taken at n / fps. Sizes may differ from picture to picture: the media type changes
/// with them, and a larger one than before brings a larger pool. A file that cannot be decoded is a
/// corrupt frame without content.
camera_description images_description();

} // namespace hyperframes
