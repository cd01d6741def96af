#include "runtime/net/link_end.hpp"

#include "runtime/error.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace hyperframes {

namespace asio = boost::asio;
using boost::system::error_code;

link_end::link_end(
  std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user)
  : core_(std::move(core)), id_(id), user_(std::move(user)), ticks_(core_->io) {}

void link_end::send(
  std::uint32_t incarnation, lane on, std::vector<std::byte> head, std::vector<bulk_part> bulk) {
  if (head.size() > link_head_bytes || bulk.size() > link_bulk_parts)
    throw failure(make_error(
      errc::io_failed, "link",
      "a message of " + std::to_string(head.size()) + " bytes of head and "
        + std::to_string(bulk.size()) + " parts is too large; at most "
        + std::to_string(link_head_bytes) + " bytes and " + std::to_string(link_bulk_parts)
        + " parts are allowed: carry more as bulk, or in more messages"));
  link_outbox::message m;
  m.bytes = head.size();
  for (const auto& part : bulk) {
    if (part.offset > part.buffer.size() || part.bytes > part.buffer.size() - part.offset)
      throw failure(make_error(
        errc::io_failed, "link",
        "a part of " + std::to_string(part.bytes) + " bytes lies in a buffer of "
          + std::to_string(part.buffer.size())));
    m.bytes += part.bytes;
  }
  m.header = link_wire::encode_header(head.size(), bulk);
  m.head = std::move(head);
  m.bulk = std::move(bulk);
  if (outbox_->push(incarnation, on, std::move(m)))
    asio::post(core_->io, [weak = weak_from_this(), on] {
      if (const auto self = weak.lock())
        if (const auto& open = self->open_[static_cast<std::size_t>(on)])
          open->pump();
    });
}

std::string link_end::trouble() const {
  const std::lock_guard lock{mutex_};
  return outbox_->incarnation() != 0 ? std::string{} : trouble_;
}

void link_end::note_trouble(std::string why) {
  const std::lock_guard lock{mutex_};
  trouble_ = std::move(why);
}

void link_end::close() {
  if (closed_.exchange(true))
    return;
  outbox_->close();
  note_trouble("the link was closed here");
  core_->forget(*this);
  asio::post(core_->io, [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->end();
  });
}

void link_end::end() {
  if (std::exchange(ended_, true))
    return;
  closed_ = true;
  outbox_->close();
  ticks_.cancel();
  for (auto& connection : open_)
    if (connection)
      std::exchange(connection, nullptr)->close();
  at_end();
  user_ = nullptr;
}

void link_end::go_up(
  lane_connections open, std::uint32_t incarnation, std::vector<std::byte> first) {
  if (closed_) {
    for (const auto& connection : open)
      connection->close();
    return;
  }
  open_ = std::move(open);
  outbox_->open(incarnation);
  if (closed_) // meanwhile: nothing may wait for ever
    outbox_->close();
  tick();
  try {
    user_->up(incarnation);
  } catch (const std::exception& thrown) {
    return go_down(std::string{"the link could not be taken: "} + thrown.what());
  }
  for (std::size_t i = 0; i < lanes; ++i)
    if (const auto connection = open_[i])
      connection->run(
        static_cast<lane>(i), first, outbox_, user_,
        [weak = weak_from_this()](const std::string& why) {
          if (const auto self = weak.lock())
            self->go_down(why);
        });
}

void link_end::go_down(const std::string& why) {
  if (ended_ || !open_[0])
    return;
  note_trouble(why);
  outbox_->close();
  ticks_.cancel();
  for (auto& connection : open_)
    std::exchange(connection, nullptr)->close();
  if (closed_)
    return;
  user_->down(why);
  after_down();
}

unsigned link_end::silent_ticks() const {
  unsigned most = 0;
  for (const auto& connection : open_)
    most = std::max(most, connection->tick());
  return most;
}

void link_end::tick() {
  ticks_.expires_after(core_->settings.heartbeat);
  ticks_.async_wait([weak = weak_from_this(), which = open_[0]](error_code e) {
    const auto self = weak.lock();
    if (e || !self || self->open_[0] != which)
      return;
    const auto& settings = self->core_->settings;
    // The last byte came up to one heartbeat before the first of the silent ticks began.
    if ((self->silent_ticks() + 1) * settings.heartbeat >= settings.dead_after)
      return self->go_down(
        "nothing came for " + std::to_string(settings.dead_after.count())
        + " ms: the other side, or the network between, stands still");
    self->has_held();
    self->tick();
  });
}

accepted_link::accepted_link(
  std::shared_ptr<link_core> core, const link_id& id, std::shared_ptr<link_user> user)
  : link_end(std::move(core), id, std::move(user)), patience_(this->core().io) {}

link_wire::answer
accepted_link::arrived(std::shared_ptr<link_connection> connection, const link_wire::hello& hello) {
  if (ended())
    return link_wire::answer::unknown_link;
  if (const auto up = incarnation(); up != 0) {
    if (hello.incarnation <= up)
      return link_wire::answer::open_already;
    go_down("the other side opened the link anew");
  }
  if (hello.incarnation > half_incarnation_)
    drop_half();
  auto& place = half_[static_cast<std::size_t>(hello.on)];
  if (place || (half_incarnation_ != 0 && hello.incarnation != half_incarnation_))
    return link_wire::answer::open_already;
  place = std::move(connection);
  if (std::exchange(half_incarnation_, hello.incarnation) == 0) {
    patience_.expires_after(core().settings.handshake_patience);
    patience_.async_wait([weak = weak_from_this(), this, half = hello.incarnation](error_code e) {
      const auto self = weak.lock();
      if (e || !self || half_incarnation_ != half)
        return;
      note_trouble("only one of the two lanes was opened");
      drop_half();
    });
  }
  if (std::ranges::all_of(half_, [](const auto& c) { return c != nullptr; })) {
    patience_.cancel();
    const auto welcome = link_wire::encode(link_wire::answer::welcome);
    go_up(
      std::exchange(half_, {}), std::exchange(half_incarnation_, 0),
      {welcome.begin(), welcome.end()});
  }
  return link_wire::answer::welcome;
}

void accepted_link::drop_half() {
  patience_.cancel();
  half_incarnation_ = 0;
  for (auto& connection : half_)
    if (connection)
      std::exchange(connection, nullptr)->close();
}

} // namespace hyperframes
