#include "cameras/camera.hpp"
#include "cameras/synthetic.hpp"

namespace hyperframes {

void add_cameras(camera_catalogue& into) {
  into.add(synthetic_description());
}

} // namespace hyperframes
