#pragma once

#include "runtime/net/link.hpp"
#include "runtime/shared_import.hpp"
#include "runtime/shared_loans.hpp"
#include "runtime/shared_memory.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hyperframes {

/// Where a part of a buffer is that a message speaks of.
struct content_place {
  enum class way : std::uint8_t {
    none,   ///< it has no content
    bulk,   ///< beside the message, in its bulk
    shared, ///< in memory that the sender lends
  };
  way how = way::none;
  std::uint32_t index = 0;  ///< of the bulk
  std::uint64_t offset = 0; ///< in what is lent
  std::uint64_t bytes = 0;
  shared_handle handle;   ///< of what is lent
  std::uint64_t loan = 0; ///< to be returned
};

/// Puts contents beside one message: lent where the receiver can borrow and the memory can be lent,
/// as bytes otherwise.
class content_sender {
public:
  /// @param loans null: the receiver cannot borrow.
  content_sender(loan_book* loans, borrower_id borrower) : loans_(loans), borrower_(borrower) {}
  content_place add(const buffer_ref& buffer, std::uint64_t offset, std::uint64_t bytes);
  std::vector<bulk_part> take_bulk() { return std::move(bulk_); }
  /// Takes back what was lent: the message was not sent, or its receiver reads no more.
  void take_back();

private:
  loan_book* loans_;
  borrower_id borrower_;
  std::vector<bulk_part> bulk_;
  recycled_vector<loan_number> lent_;
};

/// `bytes` from `offset` on of a buffer.
struct content {
  buffer_ref buffer;
  std::uint64_t offset = 0, bytes = 0;
};

using loan_returner = std::shared_ptr<const std::function<void(std::uint64_t)>>;

/// Finds what a message speaks of. @param returned is called with a loan's number when its last
/// reference has gone, on any thread.
/// @returns an empty buffer where it is not there: the sender's fault, or its memory is gone.
content content_at(
  const content_place& place, const std::vector<bulk_part>& bulk, shared_importer& importer,
  const loan_returner& returned);

} // namespace hyperframes
