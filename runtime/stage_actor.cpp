#include "runtime/stage_actor.hpp"

namespace hyperframes {

stage_actor_impl::stage_actor_impl(caf::actor_config& config, stage_host* host)
  : stage_actor::base(config), host_(host) {
  // Only `quit_atom` ends a stage: an exit message would take its items with it.
  set_exit_handler([](caf::exit_msg&) {});
}

template <class T>
void stage_actor_impl::take(T& m) {
  host_->handle(std::move(m));
  work_on();
}

/// Items wait in the mailboxes until this actor's turn comes again behind the messages that are
/// already there.
void stage_actor_impl::work_on() {
  if (work_sent_ || !host_->wants_work())
    return;
  work_sent_ = true;
  tell(stage_actor{this}, control::work);
}

stage_actor_impl::behavior_type stage_actor_impl::make_behavior() {
  return {
    [this](put_message& m) { take(m); },
    [this](credit_message& m) { take(m); },
    [this](end_message& m) { take(m); },
    [this](outcome_message& m) { take(m); },
    [this](done_message& m) { take(m); },
    [this](control c) {
      if (c == control::work)
        work_sent_ = false;
      take(c);
    },
    [this](quit_atom) { quit(); },
  };
}

} // namespace hyperframes
