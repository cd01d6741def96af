#pragma once

#include "runtime/net/link_connection.hpp"
#include "runtime/net/link_core.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <string>

namespace hyperframes {

using lane_connections = std::array<std::shared_ptr<link_connection>, lanes>;

/// One end of a link: sends, is up or down, and ends. How its lanes come to be open is told by what
/// derives from it. The public part is thread-safe, the rest belongs to the I/O thread.
class link_end : public link, public std::enable_shared_from_this<link_end> {
public:
  link_end(std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user);

  void send(
    std::uint32_t incarnation, lane on, std::vector<std::byte> head,
    std::vector<bulk_part> bulk) override;
  std::uint32_t incarnation() const override { return outbox_->incarnation(); }
  std::string trouble() const override;
  std::uint64_t queued_bytes() const override { return outbox_->queued_bytes(); }
  link_counters counters() const override { return outbox_->counters(); }
  void close() override;

  /// Ends it for good, on the I/O thread, or where that is no more.
  void end();

  /// A connection of the other end said hello. @returns what it is answered; where that is
  /// `welcome`, the link has taken the connection and answers itself.
  virtual link_wire::answer
  arrived(std::shared_ptr<link_connection> connection, const link_wire::hello& hello) = 0;

protected:
  void go_up(lane_connections open, std::uint32_t incarnation, std::vector<std::byte> first);
  void go_down(const std::string& why);
  void note_trouble(std::string why);
  /// It was up and has gone down.
  virtual void after_down() = 0;
  /// It ends: what is under way is to be given up.
  virtual void at_end() = 0;
  /// A heartbeat has gone by while it was up.
  virtual void has_held() {}

  link_core& core() { return *core_; }
  const link_id& id() const { return id_; }
  bool ended() const { return ended_; }

private:
  void tick();
  unsigned silent_ticks() const;

  std::shared_ptr<link_core> core_;
  link_id id_;
  std::shared_ptr<link_user> user_;
  std::shared_ptr<link_outbox> outbox_ = std::make_shared<link_outbox>();
  lane_connections open_;
  boost::asio::steady_timer ticks_;
  bool ended_ = false;
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;
  std::string trouble_; ///< guarded by `mutex_`
};

/// Waits for the other end to open it.
class accepted_link final : public link_end {
public:
  accepted_link(
    std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user);
  link_wire::answer
  arrived(std::shared_ptr<link_connection> connection, const link_wire::hello& hello) override;

protected:
  void after_down() override {}
  void at_end() override { drop_half(); }

private:
  void drop_half();

  lane_connections half_; ///< what has arrived of `half_incarnation_`
  std::uint32_t half_incarnation_ = 0;
  boost::asio::steady_timer patience_;
};

} // namespace hyperframes
