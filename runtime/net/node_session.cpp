#include "runtime/net/node_session.hpp"

#include "runtime/error.hpp"
#include "runtime/net/node_wire.hpp"

#include <thread>

namespace hyperframes {

session_threads::~session_threads() {
  std::unique_lock lock{mutex_};
  done_.wait(lock, [this] { return running_ == 0; });
}

void session_threads::run(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    ++running_;
  }
  std::thread{[this, w = std::move(work)]() mutable {
    w();
    w = nullptr;
    const std::lock_guard lock{mutex_};
    --running_;
    done_.notify_all(); // still under the lock: with the last one, this may go
  }}.detach();
}

void session_threads::close(std::shared_ptr<node_deployment> deployment) {
  if (deployment)
    run([d = std::move(deployment)] { d->close(); });
}

node_session::~node_session() {
  threads_.close(std::move(deployment_));
}

void node_session::joined(std::shared_ptr<link> to_coordinator) {
  const std::lock_guard lock{mutex_};
  link_ = std::move(to_coordinator);
}

void node_session::up(std::uint32_t incarnation) {
  const std::lock_guard lock{mutex_};
  incarnation_ = incarnation;
}

/// The run on this node is over: what it held is the coordinator's to repeat, over a new link.
void node_session::down(const std::string&) {
  std::shared_ptr<node_deployment> ended;
  std::shared_ptr<link> over;
  {
    const std::lock_guard lock{mutex_};
    incarnation_ = 0;
    ended = std::move(deployment_);
    over = std::move(link_);
  }
  if (over)
    over->close();
  threads_.close(std::move(ended));
}

std::shared_ptr<node_deployment> node_session::deployment() const {
  const std::lock_guard lock{mutex_};
  return deployment_;
}

bool node_session::place(
  std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
  std::vector<buffer_ref>& into) {
  const auto d = deployment();
  return d && d->place(head, sizes, into);
}

void node_session::answer(std::vector<std::byte> head) {
  std::shared_ptr<link> to;
  std::uint32_t incarnation = 0;
  {
    const std::lock_guard lock{mutex_};
    to = link_;
    incarnation = incarnation_;
  }
  if (to)
    to->send(incarnation, lane::control, std::move(head));
}

void node_session::deploy(const deployment_order& order) {
  std::string problem;
  try {
    auto made = service_->deploy(order);
    const std::lock_guard lock{mutex_};
    if (deployment_)
      throw failure(make_error(errc::io_failed, "deployment", "this link has one already"));
    made->joined(link_, incarnation_);
    deployment_ = std::move(made);
  } catch (const std::exception& e) {
    problem = e.what();
    if (problem.empty())
      problem = "it cannot, and does not say why";
  }
  answer(write_deployed(problem));
}

void node_session::look(deployment_order order) {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(looks_, true))
      throw failure(make_error(errc::io_failed, "coordinator", "asks twice at once"));
  }
  threads_.run([service = service_, self = weak_from_this(), asked = std::move(order)] {
    look_answer found;
    try {
      found.found = service->look(asked);
    } catch (const std::exception& e) {
      found.problem = *e.what() != '\0' ? e.what() : "it cannot, and does not say why";
    }
    const auto session = self.lock();
    if (!session)
      return;
    {
      const std::lock_guard lock{session->mutex_};
      session->looks_ = false;
    }
    try {
      session->answer(write_message(found));
    } catch (const failure& e) { // larger than a message may be
      session->answer(write_message(look_answer{e.what(), {}}));
    }
  });
}

void node_session::received(lane, std::span<const std::byte> head, std::vector<bulk_part> bulk) {
  const auto kind = node_message_of(head);
  const auto d = deployment();
  if (!kind && d)
    return d->received(head, std::move(bulk));
  if (kind == node_message::ask_facts)
    return answer(write_message(service_->facts()));
  if (kind == node_message::deploy)
    if (const auto order = read_deploy(head))
      return deploy(*order);
  if (kind == node_message::look)
    if (auto order = read_look(head))
      return look(std::move(*order));
  if (d && kind == node_message::open_seat)
    if (const auto order = read_open_seat(head))
      return d->open_seat(
        *order, [self = weak_from_this(), seat = order->seat](const seat_answer& a) {
          if (const auto session = self.lock())
            session->answer(write_message(seat_opened{seat, a}));
        });
  if (d && kind == node_message::close_seat)
    if (const auto seat = read_close_seat(head))
      return d->close_seat(*seat);
  throw failure(make_error(errc::io_failed, "coordinator", "sent a message that is none"));
}

} // namespace hyperframes
