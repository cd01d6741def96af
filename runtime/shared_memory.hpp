#pragma once

#include "runtime/buffer_pool.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

/// Pixels and tensors pass between processes of one host without being copied: the message carries
/// a handle of some 48 bytes, whatever the size of the content.
///
///   owner:    buffer_pool pool{8, bytes, nullptr, shared_backing()};   // once
///             handle = handle_of(buffer);                              // into the message, with
///             loan = loans.lend(borrower, buffer);                     // the number of the loan
///   borrower: buffer = importer.open(handle, [=] { send back `loan` });
///   owner:    loans.returned(borrower, loan);  loans.gone(borrower) where it is seen down
///
/// (loans: shared_loans.hpp, importer: shared_import.hpp.)
///
/// The memory has no name: it is a memfd, which others open as /proc/PROCESS/fd/DESCRIPTOR, so it
/// goes with the last process that has it, however that ends. Others can map it for reading only,
/// and nobody can shrink it under them. Needs Linux 5.1; lender and borrower must be of one user
/// and see the same processes (not so in containers of their own): `may_borrow` tells, and where it
/// says no, the bytes have to be sent.
namespace hyperframes {

/// Names shared memory on this host. Plain values: they may come from anywhere and are checked when
/// they are used.
struct segment_address {
  std::int32_t process = 0;             ///< the owner's id
  std::int32_t descriptor = -1;         ///< of the owner
  std::array<std::uint64_t, 2> nonce{}; ///< random; also stands in the memory
  friend auto operator<=>(const segment_address&, const segment_address&) = default;
};

/// Names what one slot of a pool held at one time.
struct shared_handle {
  segment_address segment;
  std::uint32_t slot = 0;
  std::uint64_t generation = 0; ///< the slot's, raised each time that its pool gives it out
  std::uint64_t bytes = 0;      ///< size of the content, from the begin of the slot
};

/// Memory for pools whose buffers other processes may borrow. It costs a descriptor a pool, and is
/// taken page by page as slots are first written. Where there is none, the error says why.
std::shared_ptr<memory_backing> shared_backing();

/// @returns what names the content of `b` in other processes; nothing where its pool is not of
/// `shared_backing`, where it was borrowed itself, or where `b` is empty. Holds as long as a
/// reference to it is held here. Any thread.
std::optional<shared_handle> handle_of(const buffer_ref& b);

/// Memory without slots: whoever can open it can borrow from this process.
class shared_probe {
public:
  shared_probe(); ///< Throws `failure` (out_of_memory).
  shared_probe(shared_probe&&) noexcept;
  shared_probe& operator=(shared_probe&&) noexcept;
  ~shared_probe();
  const segment_address& address() const;

private:
  std::unique_ptr<pool_memory> memory_;
};

/// @returns nothing where this process can borrow from the owner of the `shared_probe` at `probe`,
/// else why not: another host, another user, another container. Any thread; some system calls.
expected<void> may_borrow(const segment_address& probe);

} // namespace hyperframes
