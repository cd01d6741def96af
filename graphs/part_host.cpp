#include "graphs/part_host.hpp"

#include "actors/capture.hpp"
#include "graphs/build.hpp"
#include "graphs/found_facts.hpp"
#include "graphs/nodes.hpp"
#include "runtime/actor_executor.hpp"
#include "runtime/net/part_counts.hpp"
#include "runtime/net/stage_link.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace hyperframes {

namespace {

/// What hangs when the run ends is left behind.
constexpr std::chrono::milliseconds end_patience{500};
/// How often what was captured is told, and every how many times the numbers are.
constexpr std::chrono::milliseconds tell_every{25};
constexpr int count_every = 8;

/// Everything of the part that its actors use; a handler that never returns keeps it.
struct part final : stages_elsewhere, state_listener {
  part(const checked_graph& g, const graph_plan& p, graph_place at, const run_options& options,
       std::shared_ptr<stage_link> to, std::chrono::steady_clock::time_point zero)
    : link(std::move(to)), place(std::move(at)), executor(actor_runtime::shared(), zero),
      runs(executor), wiring(wire_graph(g, p, options, true, place)),
      accounts(g.stages.size(), wiring.settlers_of_stream),
      numbers(g.stages.size(), g.edges.size(), g.streams.size(),
              [l = link](const event& e) { l->send(e); }) {
    add_pools(g, p, place, numbers, wiring);
    count_captured(wiring, [this](const frame_meta& m) {
      const std::lock_guard lock{mutex};
      captured.add(m, outcome::lost, reason::none);
    });
    std::vector<const stage_wiring*> stages;
    std::vector<std::shared_ptr<stages_elsewhere>> where;
    for (const auto& s : wiring.stages) {
      // The part is no holder of itself: it outlives its executor.
      where.push_back(place.here[s.self] ? nullptr
                                         : std::shared_ptr<stages_elsewhere>{std::shared_ptr<void>{}, this});
      if (!place.here[s.self])
        continue;
      stages.push_back(&s);
      hosts.push_back(
        std::make_unique<stage_host>(s, stage_surroundings{runs, accounts, numbers, *this}));
    }
    counts = std::make_unique<part_counts>(std::move(stages), numbers);
    runs.place(std::move(where));
  }

  // From the stages here, on their threads.
  void post(stage_index to, message m) override {
    std::visit(
      [&](auto& value) {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, done_message>) {
          throw std::logic_error("finished work for a stage of another process");
        } else {
          if constexpr (std::is_same_v<type, end_message>) {
            tell_captured();
            tell_counts();
          }
          link->send(part_message{std::in_place_type<stage_parcel>, to, std::move(value)});
        }
      },
      m);
  }
  void state_changed(stage_index stage, stage_state state, const std::string& why) override {
    link->send(stage_changed{stage, state, why});
  }
  void accounts_closed(stage_index) override {} // nothing settles here

  /// Before whatever says that a stream has no more frames.
  void tell_captured() {
    outcome_ranges ranges;
    {
      const std::lock_guard lock{mutex};
      ranges = captured.take();
    }
    if (!ranges.empty())
      link->send(captured_frames{{ranges.begin(), ranges.end()}});
  }
  void tell_counts() {
    const std::lock_guard lock{counting};
    link->send(counts->take());
  }

  std::shared_ptr<stage_link> link;
  graph_place place;
  actor_executor executor;
  placed_executor runs;
  wired_graph wiring;
  ledger accounts;
  telemetry numbers;
  std::vector<std::unique_ptr<stage_host>> hosts;
  std::mutex counting;
  std::unique_ptr<part_counts> counts; ///< guarded by `counting`
  std::mutex mutex;
  outcome_batch captured; ///< and not told of yet; guarded by `mutex`
};

/// A handler that did not return uses its part until the process ends.
void leave_behind(std::unique_ptr<part> p) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::unique_ptr<part>>; // outlives every thread that may use it
  const std::lock_guard lock{mutex};
  kept.push_back(std::move(p));
}

class part_host final : public node_deployment {
public:
  part_host(checked_graph graph, std::shared_ptr<const catalogues> kinds, graph_plan plan,
            std::vector<bool> here, std::uint16_t number)
    : graph_(std::move(graph)), kinds_(std::move(kinds)), plan_(std::move(plan)),
      here_(std::move(here)), number_(number),
      link_(std::make_shared<stage_link>(received_bytes(plan_))) {}
  ~part_host() override { part_host::close(); }

  void joined(std::shared_ptr<link> to_coordinator, std::uint32_t incarnation) override {
    connection_ = to_coordinator;
    link_->up(std::move(to_coordinator), incarnation);
  }
  void open_seat(const seat_order&, std::function<void(const seat_answer&)> answer) override {
    seat_answer no;
    no.problem = "this is a part of the graph, which has no seats";
    answer(no);
  }
  void close_seat(std::uint32_t) override {}
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override {
    return link_->place(head, sizes, into);
  }
  void received(std::span<const std::byte> head, std::vector<bulk_part> bulk) override {
    const auto now = std::chrono::steady_clock::now();
    auto m = link_->read(head, std::move(bulk));
    if (!m)
      return;
    const std::lock_guard lock{mutex_};
    if (auto* begin = std::get_if<part_begin>(&*m)) {
      if (worker_.joinable() || closed_)
        throw failure(make_error(errc::io_failed, "coordinator", "began twice"));
      link_->offer_loans(); // only now does the other end listen
      worker_ = std::thread{[this, b = std::move(*begin), now] { run(b, now); }};
    } else if (part_) {
      take(std::move(*m));
    } else {
      early_.push_back(std::move(*m));
    }
  }
  void leave() override {}
  void close() override;

private:
  void run(const part_begin& begin, std::chrono::steady_clock::time_point came);
  void take(part_message m);

  const checked_graph graph_;
  std::shared_ptr<const catalogues> kinds_; ///< that `graph_` refers to
  const graph_plan plan_;
  const std::vector<bool> here_; ///< by stage
  const std::uint16_t number_;
  std::shared_ptr<stage_link> link_;
  std::shared_ptr<link> connection_; ///< set by `joined`, before anything else
  std::mutex mutex_; ///< guards all below
  std::condition_variable over_;
  std::unique_ptr<part> part_; ///< once it has begun
  std::deque<part_message> early_; ///< bounded by the credit of the edges that lead here
  bool closed_ = false;
  std::thread worker_; ///< begins the part, and tells what it counts
};

void part_host::run(const part_begin& begin, std::chrono::steady_clock::time_point came) {
  graph_place place;
  place.here = here_;
  place.node = number_;
  place.counted = std::uint64_t{begin.turn} << 40; // no two processes give the same numbers
  place.used = begin.used;
  place.streams = begin.streams;
  run_options options;
  options.run_number = begin.run;
  part* running = nullptr;
  try {
    auto made = std::make_unique<part>(
      graph_, plan_, std::move(place), options, link_, came - (begin.now - graph_time{}));
    const std::lock_guard lock{mutex_};
    if (closed_)
      return;
    std::vector<stage_host*> hosts;
    for (const auto& h : made->hosts)
      hosts.push_back(h.get());
    part_ = std::move(made);
    running = part_.get();
    running->executor.open(hosts, running->numbers);
    // What comes in may be told only to stages that have begun.
    for (const auto* h : hosts)
      running->executor.post(h->wiring().self, control::start);
    for (auto& m : std::exchange(early_, {}))
      take(std::move(m));
  } catch (const std::exception& e) {
    link_->send(part_refused{e.what()});
    return;
  }
  std::unique_lock lock{mutex_};
  for (int i = 1; !over_.wait_for(lock, tell_every, [this] { return closed_; }); ++i) {
    lock.unlock();
    running->tell_captured();
    if (i % count_every == 0)
      running->tell_counts();
    lock.lock();
  }
}

/// A message for the part. Throws `failure` for one that it cannot get.
void part_host::take(part_message m) {
  auto& p = *part_;
  if (auto* parcel = std::get_if<stage_parcel>(&m)) {
    if (parcel->to >= here_.size() || !here_[parcel->to])
      throw failure(make_error(errc::io_failed, "coordinator", "sent something for a stage that is not here"));
    std::visit([&](auto& value) { p.executor.post(parcel->to, std::move(value)); }, parcel->what);
    return;
  }
  const auto* asked = std::get_if<camera_asked>(&m);
  if (!asked)
    throw failure(make_error(errc::io_failed, "coordinator", "sent a message that it only gets"));
  for (const auto& s : p.wiring.stages)
    if (const auto cameras = std::dynamic_pointer_cast<const capture_resource>(s.plan.resource);
        cameras && std::ranges::count(s.plan.streams, asked->stream) > 0) {
      cameras->requests->add({asked->stream, asked->attach});
      p.executor.poke(s.self)();
    }
}

void part_host::close() {
  std::thread worker;
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(closed_, true))
      return;
    worker = std::move(worker_);
    over_.notify_all();
  }
  link_->down();
  if (connection_)
    connection_->close();
  if (worker.joinable())
    worker.join();
  std::unique_ptr<part> over;
  {
    const std::lock_guard lock{mutex_};
    over = std::move(part_);
  }
  if (!over)
    return;
  // Cameras are let go, and nothing that is queued is worked on.
  for (const auto& h : over->hosts)
    over->executor.post(h->wiring().self, control::stop);
  over->executor.close(end_patience);
  if (over->executor.stuck())
    leave_behind(std::move(over));
}

} // namespace

std::shared_ptr<node_deployment> make_part_host(
  checked_graph graph, std::shared_ptr<const catalogues> kinds, const deployment_order& order) {
  std::vector<bool> here(graph.stages.size());
  for (const auto& name : order.stages) {
    const auto found = std::ranges::find(graph.stages, name, &checked_stage::name);
    if (found == graph.stages.end() || !runs_elsewhere(*found))
      throw failure(make_error(errc::graph_invalid, name, "is no stage of the graph that runs on nodes"));
    here[static_cast<std::size_t>(found - graph.stages.begin())] = true;
  }
  if (!read_facts(order.facts, graph))
    throw failure(make_error(errc::graph_invalid, graph.name, "came with the facts of another graph"));
  for (const auto& s : graph.streams)
    if (!s.info)
      throw failure(make_error(errc::graph_invalid, s.id, "came without what its camera says"));
  auto planned = plan_found_graph(graph);
  if (!planned.plan)
    throw failure(make_error(errc::graph_invalid, graph.name, to_string(planned.faults)));
  return std::make_shared<part_host>(
    std::move(graph), std::move(kinds), std::move(*planned.plan), std::move(here), order.part);
}

} // namespace hyperframes
