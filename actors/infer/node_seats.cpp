#include "actors/infer/node_seats.hpp"

#include "runtime/net/batch_wire.hpp"
#include "runtime/net/receive_memory.hpp"
#include "runtime/work_lanes.hpp"

#include <map>
#include <mutex>

namespace hyperframes {

bool node_slots::take() {
  auto now = taken.load();
  while (!leaving && now < offered)
    if (taken.compare_exchange_weak(now, now + 1))
      return true;
  return false;
}

namespace {

/// A call that hangs when the deployment ends is left behind with its thread.
constexpr std::chrono::milliseconds end_patience{500};

constexpr std::uint64_t calls_per_seat = 2; ///< one that runs, one that is received behind it
/// One that is made, and one before it that the link has written and not yet let go.
constexpr std::uint64_t answers_per_seat = 2;

class node_seats final : public node_deployment, public std::enable_shared_from_this<node_seats> {
public:
  node_seats(
    std::shared_ptr<node_slots> slots, std::function<expected<seat_model>(const std::string&)> load)
    : slots_(std::move(slots)), load_(std::move(load)) {}
  ~node_seats() override { close(); }

  void joined(std::shared_ptr<link> to_coordinator, std::uint32_t incarnation) override {
    const std::lock_guard lock{mutex_};
    link_ = std::move(to_coordinator);
    incarnation_ = incarnation;
    // A loan is returned from whatever thread lets the tensor go.
    returned_ = std::make_shared<const std::function<void(std::uint64_t)>>(
      [l = std::weak_ptr(link_), incarnation](std::uint64_t loan) {
        if (const auto at = l.lock())
          at->send(incarnation, lane::control, write_loans({&loan, 1}));
      });
  }

  void open_seat(const seat_order& order, std::function<void(const seat_answer&)> answer) override {
    seat_answer no;
    if (!slots_->take()) {
      no.full = true;
      return answer(no);
    }
    auto made = std::make_shared<seat>();
    made->call_bytes = calls_per_seat * order.call_bytes;
    {
      const std::lock_guard lock{mutex_};
      if (!closed_ && seats_.emplace(order.seat, made).second) {
        memory_.allow(made->call_bytes);
        answers_.allow(answers_per_seat * answer_bytes);
        lanes_.submit(
          order.seat, [self = shared_from_this(), made, order, tell = std::move(answer)] {
            const auto warm = self->warm_up(*made, order);
            if (!warm.problem.empty())
              self->close_seat(order.seat);
            tell(warm);
          });
        return;
      }
    }
    slots_->give_back();
    no.problem =
      "seat " + std::to_string(order.seat) + " cannot be opened: it is open, or the run is over";
    answer(no);
  }

  void close_seat(std::uint32_t number) override {
    const std::lock_guard lock{mutex_};
    const auto found = seats_.find(number);
    if (found == seats_.end())
      return;
    // Its lane lets the worker go, behind what it is at.
    lanes_.submit(number, [made = found->second] { made->worker = nullptr; });
    memory_.withdraw(found->second->call_bytes);
    answers_.withdraw(answers_per_seat * answer_bytes);
    seats_.erase(found);
    slots_->give_back();
  }

  void leave() override { say(write_word(batch_message::leaving)); }

  void close() override {
    std::shared_ptr<link> to;
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(closed_, true))
        return;
      to = std::move(link_);
      for (std::size_t i = 0; i < seats_.size(); ++i)
        slots_->give_back();
      seats_.clear();
    }
    if (to)
      to->close();
    lanes_.close(end_patience);
  }

  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override {
    if (kind_of(head) != batch_message::call)
      return false;
    for (const auto bytes : sizes) {
      into.push_back(bytes > 0 ? memory_.take(bytes) : buffer_ref{});
      if (bytes > 0 && into.back().size() < bytes)
        return false;
    }
    return true;
  }

  void received(std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
    if (kind_of(head) == batch_message::probe) {
      const auto probe = read_probe(head);
      if (probe && may_borrow(*probe))
        say(write_word(batch_message::borrows));
      return;
    }
    auto call = read_call(head);
    if (!call)
      throw failure(make_error(errc::io_failed, "coordinator", "sent a message that is none"));
    std::vector<content> tensors;
    for (const auto& p : call->parts)
      tensors.push_back(content_at(p.tensor, bulk, importer_, returned_));
    auto work = batch_of(*call, std::move(tensors));
    const std::lock_guard lock{mutex_};
    const auto found = seats_.find(call->seat);
    if (found == seats_.end() || !work) {
      batch_answer answer;
      answer.seat = call->seat;
      answer.ticket = call->ticket;
      answer.lost = work ? "its seat is closed" : "its tensors did not arrive";
      if (link_)
        link_->send(incarnation_, lane::data, write_answer(std::move(answer), answers_).head);
      return;
    }
    lanes_.submit(
      call->seat, [self = shared_from_this(), made = found->second, work = std::move(work),
                   seat = call->seat, ticket = call->ticket,
                   fault = call->fault] { self->run(*made, *work, seat, ticket, fault); });
  }

private:
  struct seat {
    std::unique_ptr<batch_worker> worker; ///< of its lane's thread
    std::uint64_t call_bytes = 0;
  };

  seat_answer warm_up(seat& into, const seat_order& order) {
    seat_answer answer;
    try {
      auto model = load_(order.stage);
      if (!model) {
        answer.problem = model.error().to_string();
        return answer;
      }
      auto worker = model->workers->open({order.slots, order.width, order.height});
      if (!worker) {
        answer.problem = worker.error().to_string();
        return answer;
      }
      into.worker = std::move(*worker);
      answer.summary = model->summary;
      answer.has_labels = model->labels != nullptr;
      if (model->labels)
        answer.labels = *model->labels;
    } catch (const std::exception& e) {
      answer.problem = e.what();
    }
    return answer;
  }

  void run(
    seat& at, const batch& work, std::uint32_t number, std::uint64_t ticket,
    std::optional<std::uint8_t> fault) {
    batch_answer answer;
    answer.seat = number;
    answer.ticket = ticket;
    try {
      if (!at.worker)
        throw worker_lost("its seat is closed");
      auto outcome = at.worker->run(
        work, fault ? std::optional{static_cast<worker_fault_kind>(*fault)} : std::nullopt);
      for (std::size_t i = 0; i < outcome.results.size(); ++i) {
        const auto& part = work.parts[i];
        auto& slots = answer.parts.emplace_back();
        for (std::uint32_t s = part.first; s < part.first + part.count; ++s) {
          slots.push_back(outcome.results[i]->slots[s]);
          if (auto& refers = slots.back().refers_to; refers >= 0)
            refers -= static_cast<std::int32_t>(part.first);
        }
      }
      answer.bytes_copied = outcome.bytes_copied;
      answer.errors = std::move(outcome.errors);
      answer.lost = std::move(outcome.lost);
    } catch (const std::exception& e) {
      at.worker = nullptr;
      answer.parts.clear();
      answer.lost = e.what();
    }
    written_answer written;
    try {
      written = write_answer(answer, answers_);
    } catch (const failure& e) { // larger than an answer may be: its frames fail
      for (auto& part : answer.parts)
        for (auto& slot : part)
          if (slot.inferred || slot.refers_to >= 0)
            slot = {outcome::failed, reason::inference, nullptr, -1};
      answer.errors = {e.what()};
      written = write_answer(std::move(answer), answers_);
    }
    say(std::move(written.head), lane::data, std::move(written.bulk));
  }

  void say(std::vector<std::byte> head, lane on = lane::control, std::vector<bulk_part> bulk = {}) {
    std::shared_ptr<link> to;
    {
      const std::lock_guard lock{mutex_};
      to = link_;
    }
    if (to)
      to->send(incarnation_, on, std::move(head), std::move(bulk));
  }

  std::shared_ptr<node_slots> slots_;
  std::function<expected<seat_model>(const std::string&)> load_;
  receive_memory memory_, answers_; ///< for calls; for what they lead to
  shared_importer importer_;
  loan_returner returned_;
  std::mutex mutex_; ///< guards all below
  std::shared_ptr<link> link_;
  std::uint32_t incarnation_ = 0; ///< set once, before anything is sent
  std::map<std::uint32_t, std::shared_ptr<seat>> seats_;
  bool closed_ = false;
  work_lanes lanes_; ///< before the rest: its threads use it
};

} // namespace

std::shared_ptr<node_deployment> make_node_seats(
  std::shared_ptr<node_slots> slots, std::function<expected<seat_model>(const std::string&)> load) {
  return std::make_shared<node_seats>(std::move(slots), std::move(load));
}

} // namespace hyperframes
