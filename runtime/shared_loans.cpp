#include "runtime/shared_loans.hpp"

namespace hyperframes {

borrower_id loan_book::join() {
  const std::lock_guard lock{mutex_};
  borrowers_.try_emplace(++last_borrower_);
  return last_borrower_;
}

std::optional<loan_number> loan_book::lend(borrower_id borrower, buffer_ref buffer) {
  const std::lock_guard lock{mutex_};
  const auto found = borrowers_.find(borrower);
  if (found == borrowers_.end())
    return {};
  found->second.emplace_hint(found->second.end(), ++last_loan_, std::move(buffer));
  ++lent_;
  return last_loan_;
}

bool loan_book::returned(borrower_id borrower, loan_number loan) {
  buffer_ref ended; // let go after the lock
  const std::lock_guard lock{mutex_};
  const auto found = borrowers_.find(borrower);
  if (found != borrowers_.end())
    if (const auto l = found->second.find(loan); l != found->second.end()) {
      ended = std::move(l->second);
      found->second.erase(l);
      --lent_;
      return true;
    }
  ++ignored_;
  return false;
}

std::size_t loan_book::gone(borrower_id borrower) {
  loans ended; // let go after the lock
  const std::lock_guard lock{mutex_};
  const auto found = borrowers_.find(borrower);
  if (found == borrowers_.end())
    return 0;
  ended = std::move(found->second);
  borrowers_.erase(found);
  lent_ -= ended.size();
  return ended.size();
}

std::size_t loan_book::lent(borrower_id borrower) const {
  const std::lock_guard lock{mutex_};
  const auto found = borrowers_.find(borrower);
  return found == borrowers_.end() ? 0 : found->second.size();
}
std::size_t loan_book::lent() const {
  const std::lock_guard lock{mutex_};
  return lent_;
}
std::uint64_t loan_book::ignored() const {
  const std::lock_guard lock{mutex_};
  return ignored_;
}

} // namespace hyperframes
