#pragma once

#include "runtime/buffer_pool.hpp"
#include "runtime/recycled.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace hyperframes {

/// One connection to a process that borrows. Who comes back after it was gone is another one.
using borrower_id = std::uint64_t;
/// Unique in its book.
using loan_number = std::uint64_t;

/// What the owner of buffers has lent to other processes.
///
/// A loan holds a reference, so its slot is not given out again, until the borrower returns it or
/// is seen to be gone. What is lent is bounded by the credit of the edges that it goes over.
/// Thread-safe; never blocks. A loan takes recycled memory, nothing from the heap in steady state.
class loan_book {
public:
  borrower_id join();
  /// @returns the number that the borrower returns, or nothing where it is gone: then nothing is
  /// kept.
  std::optional<loan_number> lend(borrower_id borrower, buffer_ref buffer);
  /// Ends a loan. @returns false where the borrower has no such loan (late, doubled, not its own):
  /// this is counted and changes nothing.
  bool returned(borrower_id borrower, loan_number loan);
  /// Ends all its loans at once, and nothing more is lent to it. @returns how many there were.
  std::size_t gone(borrower_id borrower);

  std::size_t lent(borrower_id borrower) const; ///< loans of one; 0 where it is gone
  std::size_t lent() const;                     ///< of all
  std::uint64_t ignored() const;                ///< returns that met no loan

private:
  using loans = recycled_map<loan_number, buffer_ref>;
  mutable std::mutex mutex_; ///< guards all below
  std::unordered_map<borrower_id, loans> borrowers_;
  borrower_id last_borrower_ = 0;
  loan_number last_loan_ = 0;
  std::size_t lent_ = 0;
  std::uint64_t ignored_ = 0;
};

} // namespace hyperframes
