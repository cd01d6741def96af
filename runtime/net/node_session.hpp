#pragma once

#include "runtime/net/node_service.hpp"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace hyperframes {

/// Ends deployments, each on a thread of its own: letting workers go waits for what they are at, and
/// the thread of the links must not. Thread-safe.
class deployment_closer {
public:
  deployment_closer() = default;
  deployment_closer(const deployment_closer&) = delete;
  deployment_closer& operator=(const deployment_closer&) = delete;
  /// Waits for what is being closed.
  ~deployment_closer();
  void close(std::shared_ptr<node_deployment> deployment);

private:
  std::mutex mutex_; ///< guards all below
  std::condition_variable done_;
  std::size_t closing_ = 0;
};

/// The node's end of one link: what a coordinator asks of it.
class node_session final : public link_user, public std::enable_shared_from_this<node_session> {
public:
  /// @param closer outlives the session.
  node_session(std::shared_ptr<node_service> service, deployment_closer& closer)
    : service_(std::move(service)), closer_(closer) {}
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
  std::shared_ptr<node_deployment> deployment() const;

  std::shared_ptr<node_service> service_;
  deployment_closer& closer_;
  mutable std::mutex mutex_; ///< guards all below
  std::shared_ptr<link> link_;
  std::uint32_t incarnation_ = 0;
  std::shared_ptr<node_deployment> deployment_;
};

} // namespace hyperframes
