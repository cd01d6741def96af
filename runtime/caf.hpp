#pragma once

/// The one place that knows which line of CAF it is compiled against (0.18.7 and later, or 1.x).

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/init_global_meta_objects.hpp>
#include <caf/logger.hpp>
#include <caf/send.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#if CAF_VERSION >= 10000
#include <caf/actor_from_state.hpp>
#include <caf/anon_mail.hpp>
#endif

namespace hyperframes {

/// Sends without waiting for anything; keeps the order of one sender's messages.
template <class Handle, class... Ts>
void tell(const Handle& to, Ts&&... values) {
#if CAF_VERSION >= 10000
  caf::anon_mail(std::forward<Ts>(values)...).send(to);
#else
  caf::anon_send(to, std::forward<Ts>(values)...);
#endif
}

/// The same, delivered after `delay`, ahead of what waits in the mailbox by then.
template <class Handle, class... Ts>
void tell_later(const Handle& to, std::chrono::nanoseconds delay, Ts&&... values) {
#if CAF_VERSION >= 10000
  caf::anon_mail(std::forward<Ts>(values)...).urgent().delay(delay).send(to);
#else
  caf::delayed_anon_send<caf::message_priority::high>(to, delay, std::forward<Ts>(values)...);
#endif
}

/// A thread that has made a system, or spawned in one, keeps its logger until it ends, and the end of
/// the system waits for that: for ever, where the thread lives on. To be called behind both.
inline void forget_system() {
#if CAF_VERSION < 10000
  caf::logger::set_current_actor_system(nullptr);
#endif
}

} // namespace hyperframes
