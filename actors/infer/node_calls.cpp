#include "actors/infer/node_calls.hpp"

namespace hyperframes {

node_calls::node_calls(std::string name, std::function<void()> changed)
  : name_(std::move(name)), changed_(std::move(changed)) {}

void node_calls::begin(std::shared_ptr<link> connection) {
  const std::lock_guard lock{mutex_};
  link_ = std::move(connection);
}

batch_answer
node_calls::call(std::uint32_t seat, const batch& work, std::optional<worker_fault_kind> fault) {
  const auto mine = std::make_shared<waiting>();
  std::unique_lock lock{mutex_};
  if (!over_.empty())
    throw worker_lost(over_, lost_by::nobody);
  const auto ticket = next_ticket_++;
  waiting_[ticket] = mine;
  if (waiting_.size() > most_waiting_) {
    most_waiting_ = waiting_.size();
    memory_.allow(answer_bytes);
  }
  const auto to = link_;
  const auto incarnation = incarnation_;
  content_sender contents{borrows_ ? &loans_ : nullptr, borrower_};
  lock.unlock();
  try {
    auto head = write_call(
      seat, ticket, fault ? std::optional{static_cast<std::uint8_t>(*fault)} : std::nullopt, work,
      contents);
    to->send(incarnation, lane::data, std::move(head), contents.take_bulk());
  } catch (...) {
    contents.take_back();
    lock.lock();
    waiting_.erase(ticket);
    throw;
  }
  lock.lock();
  told_.wait(lock, [&] { return mine->answer || !mine->failed.empty(); });
  waiting_.erase(ticket);
  // Who has answered reads no more, and who is gone has no loans. Its word that it has let go comes
  // later, on the other lane; until then the bundlers would miss the tensor, which none of them counts.
  contents.take_back();
  if (!mine->answer)
    throw worker_lost(mine->failed, lost_by::node);
  return std::move(*mine->answer);
}

void node_calls::fail_all(const std::string& why) {
  for (const auto& [ticket, w] : waiting_)
    if (!w->answer)
      w->failed = why;
  told_.notify_all();
}

void node_calls::end(const std::string& why) {
  borrower_id borrower = 0;
  {
    const std::lock_guard lock{mutex_};
    if (over_.empty())
      over_ = why;
    fail_all(over_);
    borrower = borrower_;
  }
  loans_.gone(borrower);
  changed_();
}

bool node_calls::leaving() const {
  const std::lock_guard lock{mutex_};
  return leaving_;
}

std::size_t node_calls::under_way() const {
  const std::lock_guard lock{mutex_};
  return waiting_.size();
}

std::size_t node_calls::lent() const {
  return loans_.lent();
}

void node_calls::up(std::uint32_t incarnation) {
  std::shared_ptr<link> to;
  {
    const std::lock_guard lock{mutex_};
    incarnation_ = incarnation;
    borrower_ = loans_.join();
    to = link_;
  }
  to->send(incarnation, lane::control, write_probe(probe_.address()));
}

void node_calls::down(const std::string& why) {
  end("node '" + name_ + "' is gone: " + why);
}

void node_calls::received(lane, std::span<const std::byte> head, std::vector<bulk_part> bulk) {
  const auto kind = kind_of(head);
  if (kind == batch_message::loans) {
    if (const auto loans = read_loans(head)) {
      const auto borrower = [&] {
        const std::lock_guard lock{mutex_};
        return borrower_;
      }();
      for (const auto loan : *loans)
        loans_.returned(borrower, loan);
      return;
    }
  } else if (kind == batch_message::answer || kind == batch_message::long_answer) {
    if (auto answer = read_answer(head, bulk)) {
      const std::lock_guard lock{mutex_};
      if (const auto found = waiting_.find(answer->ticket); found != waiting_.end()) {
        found->second->answer = std::move(*answer);
        told_.notify_all();
      }
      return;
    }
  } else if (kind == batch_message::borrows) {
    const std::lock_guard lock{mutex_};
    borrows_ = true;
    return;
  } else if (kind == batch_message::leaving) {
    {
      const std::lock_guard lock{mutex_};
      leaving_ = true;
    }
    changed_();
    return;
  }
  throw failure(make_error(errc::io_failed, "node '" + name_ + "'", "sent a message that is none"));
}

} // namespace hyperframes
