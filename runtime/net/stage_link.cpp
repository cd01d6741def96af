#include "runtime/net/stage_link.hpp"

#include "runtime/net/batch_wire.hpp"
#include "runtime/net/stage_wire.hpp"

namespace hyperframes {

namespace {

failure no_message() {
  return failure{make_error(errc::io_failed, "part of the graph", "sent a message that is none")};
}

} // namespace

void stage_link::up(std::shared_ptr<link> to, std::uint32_t incarnation) {
  const std::lock_guard lock{mutex_};
  link_ = to;
  incarnation_ = incarnation;
  borrower_ = loans_.join();
  // A loan is returned from whatever thread lets the buffer go.
  returned_ = std::make_shared<const std::function<void(std::uint64_t)>>(
    [l = std::weak_ptr(to), incarnation](std::uint64_t loan) {
      if (const auto at = l.lock())
        at->send(incarnation, lane::control, write_loans({&loan, 1}));
    });
}

std::vector<std::byte> stage_link::probe() const {
  return write_probe(probe_.address());
}

void stage_link::down() {
  borrower_id borrower = 0;
  {
    const std::lock_guard lock{mutex_};
    link_ = nullptr;
    borrower = borrower_;
  }
  loans_.gone(borrower);
}

void stage_link::say(lane on, std::vector<std::byte> head, std::vector<bulk_part> bulk) {
  std::shared_ptr<link> to;
  std::uint32_t incarnation = 0;
  {
    const std::lock_guard lock{mutex_};
    to = link_;
    incarnation = incarnation_;
  }
  if (to)
    to->send(incarnation, on, std::move(head), std::move(bulk));
}

void stage_link::send(const part_message& m) {
  auto contents = [&] {
    const std::lock_guard lock{mutex_};
    return content_sender{borrows_ ? &loans_ : nullptr, borrower_};
  }();
  auto head = write_message(m, contents);
  say(behind_items(m) ? lane::data : lane::control, std::move(head), contents.take_bulk());
}

bool stage_link::place(
  std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
  std::vector<buffer_ref>& into) {
  if (!is_part_message(head))
    return false;
  for (const auto bytes : sizes) {
    into.push_back(bytes > 0 ? memory_.take(bytes) : buffer_ref{});
    if (bytes > 0 && into.back().size() < bytes)
      return false;
  }
  return true;
}

std::optional<part_message>
stage_link::read(std::span<const std::byte> head, std::vector<bulk_part> bulk) {
  if (const auto kind = kind_of(head)) {
    if (kind == batch_message::probe) {
      if (const auto probe = read_probe(head); probe && may_borrow(*probe))
        say(lane::control, write_word(batch_message::borrows));
      return std::nullopt;
    }
    if (kind == batch_message::borrows) {
      const std::lock_guard lock{mutex_};
      borrows_ = true;
      return std::nullopt;
    }
    if (kind == batch_message::loans)
      if (const auto loans = read_loans(head)) {
        const auto borrower = [&] {
          const std::lock_guard lock{mutex_};
          return borrower_;
        }();
        for (const auto loan : *loans)
          loans_.returned(borrower, loan);
        return std::nullopt;
      }
    throw no_message();
  }
  auto read = read_part_message(head);
  if (!read)
    throw no_message();
  auto* put = std::get_if<wire_put>(&*read);
  if (!put)
    return std::get<part_message>(std::move(*read));
  auto value = from_wire(std::move(put->value), bulk, importer_, returned_);
  if (!value)
    throw failure{make_error(
      errc::io_failed, "part of the graph", "sent an item that does not fit its buffers, or whose memory is gone")};
  return part_message{stage_parcel{put->to, put_message{put->edge, std::move(*value)}}};
}

} // namespace hyperframes
