#include "cameras/faults.hpp"
#include "cameras/images.hpp"
#include "cameras/push.hpp"
#include "cameras/synthetic.hpp"
#include "cameras/timeline.hpp"
#include "cameras/video.hpp"

#include <opencv2/core/utils/logger.hpp>

extern "C" {
#include <libavutil/log.h>
}

namespace hyperframes {

void add_cameras(camera_catalogue& into) {
  into.add(with_faults(synthetic_description()));
  into.add(with_faults(timeline_description()));
  into.add(with_faults(video_description()));
  into.add(with_faults(images_description()));
  into.add(with_faults(push_description()));
}

void silence_codecs() {
  av_log_set_level(AV_LOG_QUIET);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

} // namespace hyperframes
