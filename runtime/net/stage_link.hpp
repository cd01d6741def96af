#pragma once

#include "runtime/net/content.hpp"
#include "runtime/net/receive_memory.hpp"
#include "runtime/net/stage_messages.hpp"
#include "runtime/shared_import.hpp"
#include "runtime/shared_loans.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace hyperframes {

/// One end of what a part of a graph and the rest of it say to each other, in one incarnation of a
/// link. Where both are on one host and the memory is shared, buffers are lent; otherwise they are
/// sent. Thread-safe.
class stage_link {
public:
  /// @param receives bytes that what is received may take at once.
  explicit stage_link(std::uint64_t receives) { memory_.allow(receives); }
  ~stage_link() { down(); }
  stage_link(const stage_link&) = delete;
  stage_link& operator=(const stage_link&) = delete;

  /// Once, before anything is sent.
  void up(std::shared_ptr<link> to, std::uint32_t incarnation);
  /// Asks whether the other end can borrow. Until it says so, buffers are sent.
  void offer_loans() { say(lane::control, probe()); }
  /// What was lent comes back; nothing is sent any more.
  void down();

  /// Items, ends and captured frames keep their order, and so does the rest. Where the link is
  /// down it is discarded.
  void send(const part_message& m);

  /// As `link_user`'s.
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into);
  /// @returns nothing for messages that concern the link alone. Throws `failure` for what is no
  /// message of a part.
  std::optional<part_message> read(std::span<const std::byte> head, std::vector<bulk_part> bulk);

private:
  std::vector<std::byte> probe() const;
  void say(lane on, std::vector<std::byte> head, std::vector<bulk_part> bulk = {});

  receive_memory memory_;
  shared_importer importer_;
  loan_book loans_;
  shared_probe probe_;
  loan_returner returned_; ///< set by `up`, before anything is received
  std::mutex mutex_;       ///< guards all below
  std::shared_ptr<link> link_;
  std::uint32_t incarnation_ = 0;
  borrower_id borrower_ = 0;
  bool borrows_ = false; ///< the other end can
};

} // namespace hyperframes
