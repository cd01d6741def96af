#include "runtime/supervisor.hpp"

#include <algorithm>

namespace hyperframes {

supervisor::supervisor(executor& runs, telemetry& numbers, std::vector<member> members)
  : runs_(runs), numbers_(numbers), members_(std::move(members)),
    states_(members_.size(), stage_state::init), closed_(members_.size(), false) {}

void supervisor::post_to_all(control c) {
  for (stage_index i = 0; i < members_.size(); ++i)
    runs_.post(i, c);
}

void supervisor::start() {
  post_to_all(control::start);
}

void supervisor::drain() {
  const std::lock_guard lock{mutex_};
  drained_ = true;
  if (!running_) // drains as soon as it runs, so that its streams end in the ordinary way
    return;
  for (stage_index i = 0; i < members_.size(); ++i)
    if (members_[i].source)
      runs_.post(i, control::drain);
}

void supervisor::stop() {
  drain();
  post_to_all(control::stop);
}

bool supervisor::all(bool (*has)(const member&, stage_state)) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!has(members_[i], states_[i]))
      return false;
  return true;
}

void supervisor::state_changed(stage_index stage, stage_state state, const std::string& why) {
  bool drain_now = false;
  {
    const std::lock_guard lock{mutex_};
    states_.at(stage) = state;
    if (state == stage_state::failed && !failed_)
      failed_ = make_error(errc::stage_failed, members_[stage].name, why);
    if (!running_ && state == stage_state::failed)
      finished_ = true; // what cannot start as a whole does not start
    if (!running_ && !finished_
        && all([](const member&, stage_state s) { return s == stage_state::ready; })) {
      running_ = true;
      // Still under the lock: a drain or stop of another thread must come behind it at every stage.
      post_to_all(control::run);
      drain_now = drained_;
    } else if (running_ && state == stage_state::failed) {
      drain_now = true;
    }
    finished_ = finished_ || (running_ && all_over());
  }
  if (state == stage_state::failed)
    numbers_.tell({runs_.time().now(), members_[stage].name, "failed: " + why, true});
  if (drain_now)
    drain();
  changed_.notify_all();
}

void supervisor::accounts_closed(stage_index stage) {
  {
    const std::lock_guard lock{mutex_};
    closed_.at(stage) = true;
    finished_ = finished_ || (running_ && all_over());
  }
  changed_.notify_all();
}

bool supervisor::all_over() const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].end && states_[i] != stage_state::done
        && !(states_[i] == stage_state::failed && (closed_[i] || !members_[i].settles)))
      return false;
  return true;
}

bool supervisor::wait_ready() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return running_ || finished_; });
  return running_;
}

bool supervisor::wait(duration patience) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, patience, [this] { return finished_; });
}

bool supervisor::finished() const {
  const std::lock_guard lock{mutex_};
  return finished_;
}

stage_state supervisor::state(stage_index stage) const {
  const std::lock_guard lock{mutex_};
  return states_.at(stage);
}

std::optional<error> supervisor::failed() const {
  const std::lock_guard lock{mutex_};
  return failed_;
}

} // namespace hyperframes
