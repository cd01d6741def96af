#include "cameras/camera.hpp"

namespace hyperframes {

void add_cameras(camera_catalogue&) {}

} // namespace hyperframes
