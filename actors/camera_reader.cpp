#include "actors/camera_reader.hpp"

#include "runtime/pool_stats.hpp"

#include <algorithm>
#include <condition_variable>

namespace hyperframes {

namespace {

constexpr duration longest_back_off = std::chrono::seconds{30};
/// Frames that a thread reads from one camera before it looks after the next one.
constexpr std::uint32_t frames_per_turn = 4;

} // namespace

camera_reader::camera_reader(std::unique_ptr<camera> source, const camera_info& info, place where,
                             std::function<void()> on_event)
  : camera_(std::move(source)), info_(info), where_(std::move(where)),
    on_event_(std::move(on_event)), permits_(where_.permits) {}

void camera_reader::put(reader_event e) {
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = inbox_.empty();
    inbox_.push_back(std::move(e));
  }
  if (first)
    on_event_();
}

void camera_reader::take(reader_events& into) {
  const std::lock_guard lock{mutex_};
  if (into.empty())
    return into.swap(inbox_);
  std::ranges::move(inbox_, std::back_inserter(into));
  inbox_.clear();
}

void camera_reader::set_wake(std::function<void()> wake) {
  wake_ = std::move(wake);
  camera_->set_wake(wake_);
}

void camera_reader::give_permits(std::uint32_t n) {
  if (permits_.fetch_add(n, std::memory_order_acq_rel) <= 0 && wake_)
    wake_();
}

void camera_reader::finish() {
  finish_.store(true, std::memory_order_release);
  camera_->interrupt();
  if (wake_)
    wake_();
}

void camera_reader::end() {
  finished_.store(true, std::memory_order_release);
  put(reader_finished{});
}

graph_time camera_reader::fail(const error& e, graph_time now) {
  open_ = false;
  if (!info_.live) {
    put(reader_note{e.message + "; the stream ends here"});
    end();
    return never;
  }
  put(reader_note{e.message + "; it is opened again in "
                  + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(back_off_).count())
                  + " s"});
  retry_at_ = now + back_off_;
  back_off_ = std::min(back_off_ * 2, longest_back_off);
  return retry_at_;
}

expected<void> camera_reader::open_camera() {
  try {
    return camera_->open(
      {where_.stream, where_.frames_ahead, where_.folder, where_.seed, where_.pool});
  } catch (const failure& f) {
    return f.what_failed();
  } catch (const std::exception& e) {
    return make_error(errc::camera_failed, where_.stream, e.what());
  }
}

camera_event camera_reader::read_camera(graph_time now) {
  try {
    return camera_->read(now);
  } catch (const failure& f) {
    return f.what_failed();
  } catch (const std::exception& e) {
    return make_error(errc::camera_failed, where_.stream, e.what());
  }
}

graph_time camera_reader::step(const clock& time, std::uint32_t most) {
  for (std::uint32_t read = 0; !finished(); ++read) {
    const auto now = time.now();
    if (finish_.load(std::memory_order_acquire)) {
      end();
      return never;
    }
    if (read == most)
      return now;
    if (!open_) {
      if (now < retry_at_)
        return retry_at_;
      if (const auto opened = open_camera(); !opened)
        return fail(opened.error(), now);
      open_ = true;
    }
    if (!info_.live && permits_.load(std::memory_order_acquire) <= 0)
      return never;
    const auto cpu = time.thread_cpu();
    auto event = read_camera(now);
    if (auto* f = std::get_if<captured_frame>(&event)) {
      back_off_ = std::chrono::seconds{1};
      if (!info_.live)
        permits_.fetch_sub(1, std::memory_order_acq_rel);
      const auto arrived = time.now();
      f->buffer.note_taken(held_slot::nobody, arrived);
      put(arrived_frame{std::move(*f), arrived, time.thread_cpu() - cpu});
    } else if (const auto* wait = std::get_if<not_before>(&event)) {
      return wait->due;
    } else if (const auto* e = std::get_if<error>(&event)) {
      return fail(*e, now);
    } else {
      end();
    }
  }
  return never;
}

/// One thread and the readers that it looks after.
struct reader_threads::crew {
  std::shared_ptr<const clock> time;
  std::vector<std::shared_ptr<camera_reader>> readers;
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;
  bool over = false;
  std::thread thread;

  explicit crew(std::shared_ptr<const clock> t) : time(std::move(t)) {}

  void wake() {
    {
      const std::lock_guard lock{mutex};
      woken = true;
    }
    changed.notify_all();
  }

  void run() {
    for (;;) {
      auto due = never;
      bool all_finished = true;
      for (const auto& r : readers) {
        if (r->finished())
          continue;
        all_finished = false;
        due = std::min(due, r->step(*time, frames_per_turn));
      }
      std::unique_lock lock{mutex};
      if (all_finished) {
        over = true;
        changed.notify_all();
        return;
      }
      const auto is_woken = [this] { return woken; };
      if (due == never)
        changed.wait(lock, is_woken);
      else if (const auto left = due - time->now(); left > duration{0})
        changed.wait_for(lock, left, is_woken);
      woken = false;
    }
  }
};

reader_threads::reader_threads(std::shared_ptr<const clock> time,
                               std::vector<std::shared_ptr<camera_reader>> shared,
                               std::vector<std::shared_ptr<camera_reader>> blocking) {
  const auto threads = std::min<std::size_t>(shared.size(),
                                             std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < threads; ++i)
    crews_.push_back(std::make_shared<crew>(time));
  for (std::size_t i = 0; i < shared.size(); ++i)
    crews_[i % threads]->readers.push_back(shared[i]);
  for (auto& r : blocking) {
    crews_.push_back(std::make_shared<crew>(time));
    crews_.back()->readers.push_back(std::move(r));
  }
  for (auto& c : crews_)
    for (auto& r : c->readers)
      r->set_wake([weak = std::weak_ptr(c)] {
        if (auto alive = weak.lock())
          alive->wake();
      });
  try {
    for (auto& c : crews_)
      c->thread = std::thread{[c] { c->run(); }};
  } catch (...) { // the machine has no more threads
    end();
    throw;
  }
}

reader_threads::~reader_threads() {
  end();
}

void reader_threads::end() {
  constexpr auto patience = std::chrono::seconds{2};
  for (auto& c : crews_)
    for (auto& r : c->readers)
      r->finish();
  const auto until = std::chrono::steady_clock::now() + patience;
  for (auto& c : crews_) {
    if (!c->thread.joinable())
      continue;
    std::unique_lock lock{c->mutex};
    const bool over = c->changed.wait_until(lock, until, [&] { return c->over; });
    lock.unlock();
    if (over)
      c->thread.join();
    else
      c->thread.detach();
  }
}

} // namespace hyperframes
