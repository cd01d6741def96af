#pragma once

#include "runtime/caf.hpp"
#include "runtime/stage_host.hpp"

#include <memory>

CAF_BEGIN_TYPE_ID_BLOCK(hyperframes, first_custom_type_id)
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::put_message))
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::credit_message))
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::end_message))
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::outcome_message))
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::done_message))
  CAF_ADD_TYPE_ID(hyperframes, (hyperframes::control))
  CAF_ADD_ATOM(hyperframes, hyperframes, quit_atom)
CAF_END_TYPE_ID_BLOCK(hyperframes)

// Between the stages of one process these travel by reference; nothing serialises them.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::put_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::credit_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::end_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::outcome_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::done_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hyperframes::control)

namespace hyperframes {

/// The interface of every stage.
using stage_actor = caf::typed_actor<
  // An item for one of its mailboxes; the sender had credit for it.
  caf::result<void>(put_message),
  // An edge below has room again.
  caf::result<void>(credit_message),
  // A stream's epoch has no more frames on this edge.
  caf::result<void>(end_message),
  // Frames ended above; only settling stages get these.
  caf::result<void>(outcome_message),
  // Blocking work that the stage asked for is finished.
  caf::result<void>(done_message),
  // Life cycle, timers and wake-ups. Never bounded, never dropped.
  caf::result<void>(control),
  // The graph is over: the actor ends. The only way to end it.
  caf::result<void>(quit_atom)>;

/// Translates messages into calls of its host; works on one slice of items at a time, so that a
/// control message or a timer waits for one slice at most.
class stage_actor_impl : public stage_actor::base {
public:
  stage_actor_impl(caf::actor_config& config, stage_host* host);
  behavior_type make_behavior() override;

private:
  template <class T>
  void take(T& m);
  void work_on();

  stage_host* host_; ///< lives longer than the actor
  bool work_sent_ = false;
};

} // namespace hyperframes
