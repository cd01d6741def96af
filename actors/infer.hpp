#pragma once

#include "actors/infer/batch_worker.hpp"
#include "actors/infer/model.hpp"
#include "runtime/stage.hpp"

namespace hyperframes {

/// What `infer` loads: the stages above it pack and batch as its model wants.
struct model_resource : stage_resource {
  model_ptr loaded; ///< null: only the nodes of its workers have it
  std::shared_ptr<worker_source> elsewhere; ///< null: the workers are threads of the stage's process
};

stage_description describe_infer();

} // namespace hyperframes
