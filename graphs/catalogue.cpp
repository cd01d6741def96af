#include "actors/align.hpp"
#include "actors/bundle.hpp"
#include "actors/capture.hpp"
#include "actors/expire.hpp"
#include "actors/infer.hpp"
#include "actors/schedule.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/trigger.hpp"
#include "actors/unbundle.hpp"
#include "graphs/graph.hpp"

namespace hyperframes {

const catalogues& built_in() {
  static const auto all = [] {
    catalogues c;
    add_cameras(c.cameras);
    c.stages.add(describe_capture());
    c.stages.add(describe_align());
    c.stages.add(describe_trigger());
    c.stages.add(describe_bundle());
    c.stages.add(describe_schedule());
    c.stages.add(describe_infer());
    c.stages.add(describe_expire());
    c.stages.add(describe_unbundle());
    c.stages.add(describe_jsonl());
    c.stages.add(describe_callback());
    c.stages.add(describe_null());
    c.stages.add(describe_video());
    return c;
  }();
  return all;
}

} // namespace hyperframes
