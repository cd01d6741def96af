#pragma once

#include "runtime/actor_executor.hpp"
#include "runtime/caf.hpp"

#include <memory>

namespace hyperframes {

/// What stands behind `actor_runtime`; for the few files that speak to CAF.
struct actor_runtime::state {
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
};

} // namespace hyperframes
