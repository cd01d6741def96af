#pragma once

#include "runtime/actor_executor.hpp"
#include "runtime/caf.hpp"

#include <memory>

namespace hyperframes {

/// Tells CAF of every type that it must know, once. Whatever uses CAF calls it first: even an error
/// of a deserializer is a message.
void init_actor_types();

/// What stands behind `actor_runtime`; for the few files that speak to CAF.
struct actor_runtime::state {
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
};

} // namespace hyperframes
