#include "cameras/images.hpp"
#include "cameras/push.hpp"
#include "cameras/synthetic.hpp"
#include "cameras/video.hpp"

namespace hyperframes {

void add_cameras(camera_catalogue& into) {
  into.add(synthetic_description());
  into.add(video_description());
  into.add(images_description());
  into.add(push_description());
}

} // namespace hyperframes
