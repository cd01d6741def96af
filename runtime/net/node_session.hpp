#pragma once

#include "runtime/net/node_service.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace hyperframes {

/// Threads for what the thread of the links must not wait for: letting workers go waits for what
/// they are at, looking at cameras for these. Thread-safe.
class session_threads {
public:
  session_threads() = default;
  session_threads(const session_threads&) = delete;
  session_threads& operator=(const session_threads&) = delete;
  /// Waits for what is under way.
  ~session_threads();
  /// @param work throws nothing.
  void run(std::function<void()> work);
  void close(std::shared_ptr<node_deployment> deployment);

private:
  std::mutex mutex_; ///< guards all below
  std::condition_variable done_;
  std::size_t running_ = 0;
};

/// The node's end of one link: what a coordinator asks of it.
class node_session final : public link_user, public std::enable_shared_from_this<node_session> {
public:
  /// @param threads outlive the session.
  node_session(std::shared_ptr<node_service> service, session_threads& threads)
    : service_(std::move(service)), threads_(threads) {}
  ~node_session() override;
  void joined(std::shared_ptr<link> to_coordinator);

  void up(std::uint32_t incarnation) override;
  void down(const std::string& why) override;
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override;
  void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override;

private:
  void answer(std::vector<std::byte> head);
  void deploy(const deployment_order& order);
  void look(deployment_order order);
  std::shared_ptr<node_deployment> deployment() const;

  std::shared_ptr<node_service> service_;
  session_threads& threads_;
  mutable std::mutex mutex_; ///< guards all below
  std::shared_ptr<link> link_;
  std::uint32_t incarnation_ = 0;
  std::shared_ptr<node_deployment> deployment_;
  bool looks_ = false; ///< one look at a time
};

} // namespace hyperframes
