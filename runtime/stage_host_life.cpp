#include "runtime/stage_host.hpp"

#include <algorithm>

// The life of a stage: start, run, drain, stop, failure and what comes after it.
namespace hyperframes {

void stage_host::on_control(control c) {
  switch (c) {
    case control::start:
      start();
      break;
    case control::ready:
      if (state_ == stage_state::warm)
        set_state(stage_state::ready);
      break;
    case control::run:
      if (state_ != stage_state::ready)
        break;
      set_state(stage_state::running);
      if (logic_)
        logic_->run(*this);
      break;
    case control::drain:
      if (state_ == stage_state::running || state_ == stage_state::ready) {
        set_state(stage_state::draining);
        if (logic_)
          logic_->drain(*this);
      }
      break;
    case control::stop:
      stop();
      break;
    case control::work:
      work();
      break;
    case control::wake:
      if (now() < armed_)
        break; // an older timer; answering it with a new one would make them ever more
      armed_ = never;
      if (now() >= wake_) {
        wake_ = never;
        if (logic_)
          logic_->on_wake(*this);
        else if (pauses())
          restart();
      }
      break;
    case control::poke:
      if (logic_)
        logic_->on_poke(*this);
      break;
  }
}

void stage_host::start() {
  set_state(stage_state::warm);
  logic_ = wiring_.kind->make(wiring_.plan);
  if (logic_->start(*this))
    set_state(stage_state::ready);
}

void stage_host::set_state(stage_state state, const std::string& why) {
  state_ = state;
  env_.listener.state_changed(wiring_.self, state, why);
}

void stage_host::done() {
  if (done_)
    return;
  done_ = true;
  if (state_ != stage_state::failed)
    set_state(stage_state::done);
}

void stage_host::abandon_logic(outcome what, reason why) {
  outcome_batch batch;
  if (logic_)
    logic_->give_up(what, why, batch);
  for (const auto& range : batch.ranges())
    settle(range);
  ++generation_;
  if (wiring_.kind->own_queue && own_queued_ > 0)
    release(own_queued_);
  emit_ends_in_logic();
}

void stage_host::emit_ends_in_logic() {
  for (const auto& end : std::vector(ends_in_logic_))
    emit(end);
}

/// A new object must know which streams have ended; their ends were passed on already.
void stage_host::restart_logic() {
  logic_ = wiring_.kind->make(wiring_.plan);
  logic_->start(*this);
  muted_ = true;
  for (const auto& end : ends_given_)
    logic_->on_end(end, *this);
  muted_ = false;
  if (state_ == stage_state::running || state_ == stage_state::draining)
    logic_->run(*this);
}

void stage_host::stop() {
  // Settling stages and sinks go on until every frame has its outcome.
  if (stopped_ || wiring_.settles || is_sink())
    return;
  if (logic_ && wiring_.inputs.empty())
    logic_->drain(*this);
  stopped_ = true;
  if (state_ == stage_state::init || state_ == stage_state::warm)
    return; // it holds nothing yet, and must still hear that its warm-up is finished
  abandon_logic(outcome::dropped, reason::stopped);
  if (logic_ && wiring_.inputs.empty())
    logic_->on_poke(*this); // its streams end now, whatever its cameras are doing
  for (std::size_t e = 0; e < outlets_.size(); ++e)
    for (auto& entry : outlets_[e].take_waiting()) {
      if (auto* i = std::get_if<item>(&entry))
        outcomes_.add(*i, outcome::dropped, reason::stopped, wiring_.outputs[e].settlers);
      else
        send(outlets_[e], std::move(entry));
    }
}

void stage_host::fail(const std::string& why) {
  auto in_hand = in_hand_.take();
  for (const auto& range : in_hand)
    settle(range);
  if (state_ == stage_state::failed)
    return;
  if (wiring_.inputs.empty() && accepts())
    return fail_source(why);
  abandon_logic(outcome::failed, reason::stage_failed);
  logic_.reset();
  if (wiring_.kind->settles)
    keep_account_alone();
  if (state_ == stage_state::init || state_ == stage_state::warm)
    restarts_ = false; // what cannot start will not start a second time
  come_back(why);
}

/// A stage that has failed begins anew, now or after a pause, or stays failed.
void stage_host::come_back(const std::string& why) {
  const auto pause = restarts_ && !stopped_ ? restart_times_.after_failure(now()) : std::nullopt;
  if (!pause) {
    restart_at_ = never;
    done_ = true;
    set_state(stage_state::failed, why);
    give_complete_ends();
    return;
  }
  env_.numbers.stage(wiring_.self).restarts.fetch_add(1, std::memory_order_relaxed);
  const auto when =
    *pause == duration{0}
      ? std::string{}
      : " in "
          + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*pause).count())
          + " ms";
  env_.numbers.tell(
    {now(), wiring_.plan.name, "failed and starts again" + when + ": " + why, false});
  if (when.empty())
    return restart();
  restart_at_ = later_by(now(), *pause);
  wake_ = restart_at_; // the wishes of the old object are void
}

void stage_host::restart() {
  restart_at_ = never;
  std::string why;
  try {
    restart_logic();
    return;
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  muted_ = false;
  abandon_logic(outcome::failed, reason::stage_failed);
  logic_.reset();
  come_back("cannot start again: " + why);
}

/// A source cannot begin anew, its frame ids would repeat; it owes the ends of its streams all the same.
void stage_host::fail_source(const std::string& why) {
  stopped_ = true;
  abandon_logic(outcome::failed, reason::stage_failed);
  try {
    logic_->drain(*this);
    logic_->on_poke(*this);
  } catch (const std::exception& e) {
    env_.numbers.tell({now(), wiring_.plan.name, std::string{"cannot end its streams: "} + e.what(), true});
  }
  done_ = true;
  set_state(stage_state::failed, why);
}

} // namespace hyperframes
