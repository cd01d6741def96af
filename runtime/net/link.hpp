#pragma once

#include "runtime/buffer_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hyperframes {

/// Names a link to both of its ends. Who knows it, and has a certificate of the deployment, may
/// open it.
struct link_id {
  std::array<std::byte, 16> token{}; ///< random and secret, of the deployment
  std::uint32_t opener = 0;          ///< the process that connects
  std::uint32_t acceptor = 0;        ///< the process that is connected to

  friend auto operator<=>(const link_id&, const link_id&) = default;
};

/// Each lane is a connection of its own, so that a large message holds up none of the other lane.
enum class lane : std::uint8_t {
  control, ///< small messages
  data,    ///< messages with bulk
};
inline constexpr std::size_t lanes = 2;

/// Bytes that a message carries beside its head.
struct bulk_part {
  buffer_ref buffer;
  std::uint64_t bytes = 0;  ///< with 0 the buffer may be empty
  std::uint64_t offset = 0; ///< where they begin in the buffer; of what was received always 0
};

/// What a message may be at most. Whoever sends more than that sends nothing: a `failure` is
/// thrown.
inline constexpr std::size_t link_head_bytes = std::size_t{1} << 20;
inline constexpr std::size_t link_bulk_parts = 4096;

/// What a link tells. Everything is called on the hub's one I/O thread: it must be quick, and must
/// not block. What it throws takes the link down, with that as the reason.
class link_user {
public:
  virtual ~link_user() = default;
  /// Both lanes are open. @param incarnation is the same number at both ends, never 0, and another
  /// one each time.
  virtual void up(std::uint32_t incarnation) = 0;
  /// It was up and is not any more. Nothing of the incarnation is received from now on; what was
  /// sent and not written is discarded. @param why a sentence.
  virtual void down(const std::string& why) = 0;
  /// Says where the bulk of the next message of `lane` is received: appends a buffer for each size,
  /// with at least so many bytes; an empty one where the size is 0. The sizes are the sender's, and
  /// unchecked. Not called for messages without bulk.
  /// @returns false where this cannot be: a fault of the sender's, the link goes down.
  virtual bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) = 0;
  /// A whole message. @param head is valid during the call.
  virtual void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) = 0;
};

/// Since the link was made, both lanes together. Bytes are those of heads and bulk.
struct link_counters {
  std::uint64_t messages_sent = 0, bytes_sent = 0; ///< handed to the system
  std::uint64_t messages_received = 0, bytes_received = 0;
  std::uint64_t messages_discarded = 0; ///< sent while down, or waiting when it went down
};

/// A connection between two processes that carries messages both ways, in order per lane.
///
///   auto l = hub.connect("10.0.0.2", 4100, id, user); // or hub.accept(id, user) at the other end
///   l->send(incarnation, lane::control, head);        // `incarnation` is what user->up() has told
///   l->close();
///
/// Lives until `close`, or until its hub ends; then it is down for ever. Thread-safe.
class link {
public:
  virtual ~link() = default;
  /// Sends a message, in order behind those of its lane. Never blocks. The buffers are read until
  /// the message is written; nobody may write to them. Discarded, and counted, where the link is
  /// not up in `incarnation`. Throws `failure` where head or bulk is beyond its bound.
  virtual void send(
    std::uint32_t incarnation, lane on, std::vector<std::byte> head,
    std::vector<bulk_part> bulk = {}) = 0;
  /// The incarnation that is up; 0: the link is down.
  virtual std::uint32_t incarnation() const = 0;
  /// Why it is not up: the last reason; empty while it is up or nothing has gone wrong yet.
  virtual std::string trouble() const = 0;
  /// Bytes of heads and bulk that are sent and not yet handed to the system.
  virtual std::uint64_t queued_bytes() const = 0;
  virtual link_counters counters() const = 0;
  /// Ends the link; what is not written is discarded, and the other end is told that it is down.
  /// The user is called no more, but for a call that is under way on the I/O thread, and let go.
  virtual void close() = 0;
};

} // namespace hyperframes
