#pragma once

#include "actors/infer/batch_worker.hpp"
#include "runtime/net/batch_wire.hpp"
#include "runtime/net/node_network.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace hyperframes {

/// The coordinator's end of a run on one node: calls of its seats, and what comes back. Tensors are
/// lent where the node can borrow, and sent where it cannot. Thread-safe.
class node_calls final : public link_user {
public:
  /// @param name of the node, for sentences. @param changed is called when the node wants its seats
  /// back.
  node_calls(std::string name, std::function<void()> changed);

  /// Once, before the first call.
  void begin(std::shared_ptr<link> connection);
  /// Blocks for the answer. Throws `worker_lost` where the node is gone, or the link went down, and
  /// `failure` where the call is larger than a message may be: then nothing of it is left.
  batch_answer call(std::uint32_t seat, const batch& work, std::optional<worker_fault_kind> fault);
  /// Fails the calls that wait, and all that follow.
  void end(const std::string& why);
  /// The node takes no more calls.
  bool leaving() const;
  std::size_t under_way() const; ///< calls that wait for an answer
  std::size_t lent() const;      ///< tensors that the node has not returned
  const std::string& name() const { return name_; }

  void up(std::uint32_t incarnation) override;
  void down(const std::string& why) override;
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override {
    return place_answer(head, sizes, memory_, into);
  }
  void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override;

private:
  struct waiting {
    std::optional<batch_answer> answer;
    std::string failed;
  };
  void fail_all(const std::string& why);

  const std::string name_;
  std::function<void()> changed_;
  shared_probe probe_;
  loan_book loans_;
  receive_memory memory_;    ///< for answers: as many as there were calls at once
  mutable std::mutex mutex_; ///< guards all below
  std::condition_variable told_;
  std::shared_ptr<link> link_;
  std::uint32_t incarnation_ = 0; ///< 0: down
  borrower_id borrower_ = 0;
  bool borrows_ = false;
  bool leaving_ = false;
  std::string over_; ///< why no call can be made any more
  std::uint64_t next_ticket_ = 1;
  std::map<std::uint64_t, std::shared_ptr<waiting>> waiting_;
  std::size_t most_waiting_ = 0;
};

} // namespace hyperframes
