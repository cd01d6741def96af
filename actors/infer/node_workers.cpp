#include "actors/infer/node_workers.hpp"

#include "actors/infer/node_calls.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace hyperframes {

namespace {

constexpr std::chrono::milliseconds answer_patience{2000}; ///< of a node that is asked to take part
constexpr std::chrono::milliseconds retry_after{250};      ///< where every node said no
constexpr std::chrono::milliseconds longest_pause{4000}; ///< of asking a node that does not answer

/// One node's part in the run.
struct member {
  explicit member(named_node n) : node(std::move(n)) {}
  named_node node;
  std::mutex joining;                            ///< one asks at a time
  std::shared_ptr<remote_deployment> deployment; ///< with `calls`, guarded by `joining`
  std::shared_ptr<node_calls> calls;
  std::string trouble; ///< why it has no seat for us; as are the next two guarded by `joining`
  std::chrono::steady_clock::time_point ask_again{}; ///< it did not answer: not before
  std::chrono::milliseconds pause{0};
};

/// What a worker needs of its node; keeps both ends of the run there.
struct place {
  std::shared_ptr<remote_deployment> deployment;
  std::shared_ptr<node_calls> calls;
  std::uint32_t seat = 0;
  label_names labels;
};

class workers final : public node_workers, public std::enable_shared_from_this<workers> {
public:
  explicit workers(node_workers_options options) : options_(std::move(options)) {
    for (auto& n : options_.nodes)
      members_.push_back(std::make_unique<member>(n));
  }
  ~workers() override { close(); }

  expected<std::unique_ptr<batch_worker>> open(const worker_wish& wish) override;
  std::uint32_t replacements() const override { return std::numeric_limits<std::uint32_t>::max(); }
  bool may_come_later() const override { return true; }
  void close() override;

  /// Blocks until a node has a seat. @returns why there is none: the model's fault, or the end.
  expected<place> find_place(const worker_wish& wish);
  /// Asks every node once. @returns nothing where none has a seat.
  std::optional<expected<place>> ask_all(const worker_wish& wish);

private:
  void join(member& m);
  static void leave(member& m);
  std::optional<expected<place>> ask_for_seat(member& m, const worker_wish& wish);
  std::string troubles();
  void notice() {
    const std::lock_guard lock{mutex_};
    changed_.notify_all();
  }

  node_workers_options options_;
  std::vector<std::unique_ptr<member>> members_;
  std::atomic<std::uint32_t> next_seat_{0};
  std::atomic<std::size_t> turn_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false; ///< guarded by `mutex_`
  bool began_ = false;  ///< some worker was found once; guarded by `mutex_`
};

/// A seat on a node; on another one when that node wants it back.
class node_worker final : public batch_worker {
public:
  node_worker(std::shared_ptr<workers> from, worker_wish wish, place at)
    : from_(std::move(from)), wish_(wish), at_(std::move(at)) {}
  ~node_worker() override { at_.deployment->close_seat(at_.seat); }

  batch_outcome run(const batch& work, std::optional<worker_fault_kind> fault) override {
    if (at_.calls->leaving()) // as long as no other one has place, it stays
      if (auto next = from_->ask_all(wish_); next && *next) {
        at_.deployment->close_seat(at_.seat);
        at_ = std::move(**next);
      }
    auto answer = at_.calls->call(at_.seat, work, fault);
    if (!answer.lost.empty())
      throw worker_lost("node '" + at_.calls->name() + "': " + answer.lost);
    batch_outcome outcome;
    if (answer.parts.size() != work.parts.size())
      throw worker_lost(
        "node '" + at_.calls->name() + "' gave results for " + std::to_string(answer.parts.size())
        + " parts of " + std::to_string(work.parts.size()));
    for (std::size_t i = 0; i < work.parts.size(); ++i) {
      const auto& part = work.parts[i];
      auto& slots = answer.parts[i];
      if (slots.size() != part.count)
        throw worker_lost(
          "node '" + at_.calls->name() + "' gave " + std::to_string(slots.size()) + " results for "
          + std::to_string(part.count) + " slots");
      outcome.results.push_back(result_of(work, part, at_.labels));
      for (std::uint32_t s = 0; s < part.count; ++s) {
        auto& into = outcome.results.back()->slots[part.first + s];
        into = std::move(slots[s]);
        if (into.refers_to >= 0)
          into.refers_to += static_cast<std::int32_t>(part.first);
      }
    }
    outcome.bytes_copied = answer.bytes_copied;
    outcome.errors = std::move(answer.errors);
    return outcome;
  }

private:
  std::shared_ptr<workers> from_;
  worker_wish wish_;
  place at_;
};

void workers::join(member& m) {
  if (m.deployment && m.deployment->alive())
    return;
  m.deployment = nullptr;
  const auto now = std::chrono::steady_clock::now();
  if (now < m.ask_again)
    return;
  auto calls = std::make_shared<node_calls>(m.node.name, [w = weak_from_this()] {
    if (const auto self = w.lock())
      self->notice();
  });
  auto made = options_.network->deploy(m.node.at, options_.order, calls, answer_patience);
  if (!made) {
    m.trouble = made.error().to_string();
    m.pause = std::clamp(m.pause * 2, retry_after, longest_pause);
    m.ask_again = std::chrono::steady_clock::now() + m.pause;
    return;
  }
  m.pause = {};
  calls->begin((*made)->connection());
  (*made)->start();
  m.deployment = std::move(*made);
  m.calls = std::move(calls);
  const bool over = [this] {
    const std::lock_guard lock{mutex_};
    return closed_;
  }();
  if (over)
    leave(m);
}

void workers::leave(member& m) {
  m.calls->end("the graph ends");
  m.deployment->end();
}

std::optional<expected<place>> workers::ask_for_seat(member& m, const worker_wish& wish) {
  std::unique_lock one{m.joining};
  join(m);
  if (!m.deployment)
    return std::nullopt;
  if (m.calls->leaving()) {
    m.trouble = "it is leaving";
    return std::nullopt;
  }
  place found{m.deployment, m.calls, next_seat_++, nullptr};
  one.unlock();
  seat_order order;
  order.seat = found.seat;
  order.stage = options_.stage;
  order.slots = wish.slots;
  order.width = wish.width;
  order.height = wish.height;
  auto pack = options_.tensor;
  if (pack.width == 0)
    pack.width = wish.width;
  if (pack.height == 0)
    pack.height = wish.height;
  order.call_bytes = std::uint64_t{wish.slots} * pack.slot_bytes();
  auto answer = found.deployment->open_seat(order);
  if (!answer.problem.empty() && found.deployment->alive())
    return expected<place>{
      make_error(errc::model_failed, "node '" + m.node.name + "'", answer.problem)};
  if (answer.full || !answer.problem.empty()) {
    one.lock();
    m.trouble = answer.full ? "all its slots are taken" : answer.problem;
    return std::nullopt;
  }
  if (answer.summary != options_.model) {
    found.deployment->close_seat(order.seat);
    return expected<place>{make_error(
      errc::model_failed, "node '" + m.node.name + "'",
      "has another model, " + answer.summary + ": expected " + options_.model)};
  }
  if (answer.has_labels)
    found.labels = std::make_shared<const std::vector<std::string>>(std::move(answer.labels));
  return expected<place>{std::move(found)};
}

std::string workers::troubles() {
  std::string text;
  for (const auto& m : members_) {
    const std::lock_guard one{m->joining};
    text += (text.empty() ? "" : "; ")
            + ("'" + m->node.name + "' (" + m->node.at.to_string() + "): ")
            + (m->trouble.empty() ? "has no slot for it" : m->trouble);
  }
  return text;
}

std::optional<expected<place>> workers::ask_all(const worker_wish& wish) {
  const auto first = turn_++;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (auto found = ask_for_seat(*members_[(first + i) % members_.size()], wish))
      return found;
  return std::nullopt;
}

expected<place> workers::find_place(const worker_wish& wish) {
  const auto begin = std::chrono::steady_clock::now();
  bool told = false;
  for (;;) {
    if (auto found = ask_all(wish)) {
      if (*found) {
        const std::lock_guard lock{mutex_};
        began_ = true;
      }
      return std::move(*found);
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    std::unique_lock lock{mutex_};
    if (closed_)
      return make_error(errc::stopped, options_.stage, "the graph ends");
    if (!began_ && waited >= options_.patience)
      return make_error(
        errc::io_failed, options_.stage,
        "none of its nodes takes a worker: " + (lock.unlock(), troubles()));
    if (began_ && !told) {
      told = true;
      lock.unlock();
      options_.tell("a worker waits for a node: " + troubles());
      lock.lock();
    }
    if (changed_.wait_for(lock, retry_after, [this] { return closed_; }))
      return make_error(errc::stopped, options_.stage, "the graph ends");
  }
}

expected<std::unique_ptr<batch_worker>> workers::open(const worker_wish& wish) {
  auto found = find_place(wish);
  if (!found)
    return found.error();
  return std::unique_ptr<batch_worker>{
    std::make_unique<node_worker>(shared_from_this(), wish, std::move(*found))};
}

void workers::close() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(closed_, true))
      return;
    changed_.notify_all();
  }
  for (const auto& m : members_) {
    const std::unique_lock one{m->joining, std::try_to_lock};
    if (one && m->deployment) // who asks a node just now ends it himself
      leave(*m);
  }
}

} // namespace

std::shared_ptr<node_workers> make_node_workers(node_workers_options options) {
  return std::make_shared<workers>(std::move(options));
}

} // namespace hyperframes
