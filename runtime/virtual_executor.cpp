#include "runtime/virtual_executor.hpp"

namespace hyperframes {

namespace {

/// What the work returns or throws reaches its stage at the time when it would be finished.
done_message perform(const blocking_work& work, std::uint64_t generation, duration takes) {
  done_message done{work.lane, generation, {}, takes, {}, {}};
  try {
    done.value = work.run();
  } catch (...) {
    done.thrown = std::current_exception();
  }
  return done;
}

} // namespace

void virtual_executor::handle(stage_index to, message m) {
  auto& host = *hosts_.at(to);
  host.handle(std::move(m));
  while (host.wants_work())
    host.handle(control::work);
}

void virtual_executor::settle_messages() {
  while (!messages_.empty()) {
    auto [to, m] = std::move(messages_.front());
    messages_.pop_front();
    handle(to, std::move(m));
  }
}

void virtual_executor::run(graph_time until, const std::function<void()>& between) {
  for (;;) {
    settle_messages();
    if (between)
      between();
    if (timers_.empty() || timers_.begin()->first.when > until)
      return;
    auto first = timers_.extract(timers_.begin());
    clock_.advance_to(first.key().when);
    handle(first.mapped().first, std::move(first.mapped().second));
  }
}

void virtual_executor::wake_at(stage_index stage, graph_time t) {
  if (t == never)
    return;
  const bool source = hosts_.at(stage)->wiring().inputs.empty();
  timers_.emplace(moment{std::max(t, clock_.now()), source, number_++},
                  std::pair{stage, message{control::wake}});
}

void virtual_executor::submit(stage_index stage, std::uint64_t generation, blocking_work work) {
  auto& free = lanes_free_[std::uint64_t{stage} << 32 | work.lane];
  free = later_by(std::max(free, clock_.now()), work.simulated.value_or(duration{0}));
  if (free == never)
    return; // it hangs
  timers_.emplace(moment{free, false, number_++},
                  std::pair{stage, message{perform(work, generation, work.simulated.value_or(duration{0}))}});
}

std::function<void()> virtual_executor::poke(stage_index stage) {
  return [this, stage, alive = std::weak_ptr(alive_)] {
    if (!alive.expired())
      post(stage, control::poke);
  };
}

} // namespace hyperframes
