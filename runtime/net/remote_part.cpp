#include "runtime/net/remote_part.hpp"

#include "runtime/net/part_counts.hpp"
#include "runtime/net/stage_link.hpp"
#include "runtime/part_account.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace hyperframes {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::chrono::milliseconds answer_patience{2000}; ///< of a node that is asked to take part
constexpr std::chrono::milliseconds retry_after{200};      ///< where every node said no
constexpr std::chrono::seconds calm{1}; ///< a node that had it for as long had it in good hands

/// What is to be posted when no lock is held any more.
using posts = std::vector<std::pair<stage_index, message>>;

} // namespace

class remote_part::state : public std::enable_shared_from_this<state> {
public:
  state(remote_part_options options, const home& here)
    : options_(std::move(options)), here_(here), account_(options_.stages) {}

  void post(stage_index to, message m);
  void ask_for_camera(stream_index stream, bool attach);
  std::uint64_t held(stage_index settler) const;
  void close();

private:
  enum class phase : std::uint8_t { idle, seeking, joining, up, failed, closed };

  /// One link to one node, from its opening until it goes down.
  class turn final : public link_user {
  public:
    turn(std::weak_ptr<state> part, std::uint64_t receives) : wire(receives), part_(std::move(part)) {}
    void up(std::uint32_t incarnation) override;
    void down(const std::string& why) override;
    bool place(
      std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
      std::vector<buffer_ref>& into) override {
      return wire.place(head, sizes, into);
    }
    void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override;

    stage_link wire;
    std::shared_ptr<link> connection; ///< set before `up`

  private:
    std::weak_ptr<state> part_;
  };

  void seek();
  std::string hopeless(std::chrono::nanoseconds sought) const;
  bool refuses(std::size_t node) const {
    const auto found = troubles_.find(node);
    return found != troubles_.end() && found->second.refused;
  }
  bool ask(std::size_t node);
  void joined(turn& t);
  void gone(const turn& t, const std::string& why);
  void received(const turn& t, part_message m);
  void take(stage_parcel p, posts& out);
  void count(const part_account::ranges& fresh);
  void send(stage_index to, auto m) { turn_->wire.send(part_message{std::in_place_type<stage_parcel>, to, std::move(m)}); }
  void refuse(put_message m, posts& out);
  std::string refuse(const std::string& why);
  void give_up(const std::string& why);
  void end_what_is_missing(posts& out);
  void publish(posts out);
  void tell(const std::string& sentence) {
    here_.numbers.tell({here_.runs.time().now(), name_, sentence, false});
  }

  remote_part_options options_;
  home here_;
  std::string name_; ///< "capture, bundle"; set by the constructor's caller thread before anything runs
  std::mutex posting_; ///< held while anything is posted for the part; taken before `mutex_`
  mutable std::mutex mutex_; ///< guards all below
  std::condition_variable changed_;
  phase phase_ = phase::idle;
  bool ran_ = false; ///< some node had it once
  part_account account_;
  std::map<stage_index, std::vector<control>> told_; ///< but for start
  std::deque<std::pair<stage_index, message>> waiting_; ///< items and ends, while no node has it
  std::shared_ptr<turn> turn_;
  std::shared_ptr<remote_deployment> deployment_;
  std::uint32_t turns_ = 0;
  struct trouble {
    std::string sentence;
    bool refused = false; ///< it will not take it another time either
  };
  std::map<std::size_t, trouble> troubles_; ///< of nodes, since the part was last in good hands
  std::size_t asked_ = 0;                   ///< the node that has it, or was asked last
  std::thread seeker_;

  friend class remote_part;
};

// ---- the link ----------------------------------------------------------------------------------

void remote_part::state::turn::up(std::uint32_t incarnation) {
  wire.up(connection, incarnation);
  if (const auto part = part_.lock())
    part->joined(*this);
}

void remote_part::state::turn::down(const std::string& why) {
  wire.down();
  if (const auto part = part_.lock())
    part->gone(*this, why);
}

void remote_part::state::turn::received(
  lane, std::span<const std::byte> head, std::vector<bulk_part> bulk) {
  if (auto m = wire.read(head, std::move(bulk)))
    if (const auto part = part_.lock())
      part->received(*this, std::move(*m));
}

// ---- what goes in ------------------------------------------------------------------------------

void remote_part::state::publish(posts out) {
  for (auto& [to, m] : out)
    here_.runs.post(to, std::move(m));
}

void remote_part::state::post(stage_index to, message m) {
  posts out;
  {
    const std::lock_guard lock{mutex_};
    if (phase_ == phase::closed)
      return;
    if (auto* c = std::get_if<control>(&m)) {
      if (*c == control::start) {
        if (phase_ == phase::idle) {
          phase_ = phase::seeking;
          seeker_ = std::thread{[self = shared_from_this()] { self->seek(); }};
        }
        return;
      }
      told_[to].push_back(*c);
      if (phase_ == phase::up)
        send(to, *c);
      changed_.notify_all();
    } else if (auto* credit = std::get_if<credit_message>(&m)) {
      account_.entered(*credit);
      if (phase_ == phase::up)
        send(to, *credit);
    } else if (auto* put = std::get_if<put_message>(&m)) {
      if (phase_ == phase::failed) {
        refuse(std::move(*put), out);
      } else if (phase_ == phase::up) {
        account_.entered(*put);
        send(to, std::move(*put));
      } else {
        waiting_.emplace_back(to, std::move(m));
      }
    } else if (auto* end = std::get_if<end_message>(&m)) {
      if (phase_ == phase::failed) {
        account_.entered(*end);
        end_what_is_missing(out);
      } else if (phase_ == phase::up) {
        account_.entered(*end);
        send(to, *end);
      } else {
        waiting_.emplace_back(to, std::move(m));
      }
    }
  }
  publish(std::move(out));
}

void remote_part::state::refuse(put_message m, posts& out) {
  const auto& e = account_.into(m.edge);
  outcome_batch lost;
  add_outcomes(m.value, outcome::lost, reason::worker_lost, lost);
  const auto ranges = lost.take();
  for (const auto settler : e.settlers)
    if (!ranges.empty())
      out.emplace_back(settler, outcome_message{ranges});
  out.emplace_back(e.from, credit_message{m.edge, lane_of(m.value), 1, held_bytes(m.value)});
}

void remote_part::state::ask_for_camera(stream_index stream, bool attach) {
  const std::lock_guard lock{mutex_};
  if (phase_ == phase::up)
    turn_->wire.send(camera_asked{stream, attach});
}

std::uint64_t remote_part::state::held(stage_index settler) const {
  const std::lock_guard lock{mutex_};
  auto frames = account_.held(settler);
  for (const auto& [to, m] : waiting_)
    if (const auto* put = std::get_if<put_message>(&m))
      if (const auto& below = account_.into(put->edge).settlers;
          std::ranges::find(below, settler) != below.end())
        frames += own_frames(put->value);
  return frames;
}

// ---- what comes out ----------------------------------------------------------------------------

void remote_part::state::count(const part_account::ranges& fresh) {
  for (const auto& r : fresh)
    here_.captured(r);
}

void remote_part::state::take(stage_parcel p, posts& out) {
  if (auto* put = std::get_if<put_message>(&p.what)) {
    if (p.to != account_.out_of(put->edge).to)
      throw failure(make_error(errc::io_failed, name_, "sent an item to a stage that does not take it"));
    count(account_.left(*put));
    out.emplace_back(p.to, std::move(*put));
  } else if (auto* end = std::get_if<end_message>(&p.what)) {
    if (p.to != account_.out_of(end->edge).to)
      throw failure(make_error(errc::io_failed, name_, "sent an end to a stage that does not take it"));
    if (account_.left(*end))
      out.emplace_back(p.to, *end);
  } else if (auto* credit = std::get_if<credit_message>(&p.what)) {
    account_.left(*credit);
    out.emplace_back(account_.into(credit->edge).from, *credit);
  } else if (auto* outcomes = std::get_if<outcome_message>(&p.what)) {
    count(account_.left(p.to, *outcomes));
    out.emplace_back(p.to, std::move(*outcomes));
  } else {
    throw failure(make_error(errc::io_failed, name_, "told this process what to do"));
  }
}

void remote_part::state::received(const turn& t, part_message m) {
  const std::lock_guard one{posting_};
  posts out;
  std::optional<stage_changed> changed;
  if (const auto* refused = std::get_if<part_refused>(&m))
    throw failure(make_error(errc::graph_invalid, "", refuse(refused->why)));
  {
    const std::lock_guard lock{mutex_};
    if (turn_.get() != &t || phase_ != phase::up)
      return;
    if (auto* p = std::get_if<stage_parcel>(&m)) {
      take(std::move(*p), out);
    } else if (const auto* c = std::get_if<captured_frames>(&m)) {
      for (const auto& r : c->ranges)
        count(account_.captured(r));
    } else if (auto* s = std::get_if<stage_changed>(&m)) {
      if (!account_.has(s->stage))
        throw failure(make_error(errc::io_failed, name_, "tells of a stage that it does not have"));
      if (s->state == stage_state::ready)
        for (const auto c : told_[s->stage]) // those that its predecessor was told
          send(s->stage, c);
      changed = std::move(*s);
    } else if (const auto* n = std::get_if<part_numbers>(&m)) {
      add_numbers(*n, here_.numbers);
    } else if (!std::holds_alternative<event>(m)) {
      throw failure(make_error(errc::io_failed, name_, "sent a message that it only gets"));
    }
  }
  if (const auto* e = std::get_if<event>(&m))
    here_.numbers.tell(*e);
  publish(std::move(out));
  if (changed)
    here_.listener.state_changed(changed->stage, changed->state, changed->why);
}

/// Notes that the node does not want it. @returns what to say of the link's end.
std::string remote_part::state::refuse(const std::string& why) {
  const std::lock_guard lock{mutex_};
  troubles_[asked_] = {why, true};
  return why;
}

// ---- nodes come and go -------------------------------------------------------------------------

/// Asks the nodes, one after the other, whenever none has the part.
void remote_part::state::seek() {
  using std::chrono::steady_clock;
  const auto nodes = options_.nodes.size();
  std::size_t next = 0;
  auto since = steady_clock::now();
  constexpr auto not_taken = steady_clock::time_point::max();
  auto taken_at = not_taken;
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return phase_ != phase::up && phase_ != phase::joining; });
    if (phase_ == phase::failed || phase_ == phase::closed)
      return;
    // One that takes it and is gone at once has not brought it further.
    if (taken_at != not_taken && steady_clock::now() - taken_at >= calm) {
      since = steady_clock::now();
      troubles_.clear();
    }
    taken_at = not_taken;
    if (const auto why = hopeless(steady_clock::now() - since); !why.empty()) {
      lock.unlock();
      give_up(why);
      return;
    }
    for (std::size_t i = 0; i < nodes && refuses(next % nodes); ++i)
      ++next;
    asked_ = next % nodes;
    lock.unlock();
    const bool taken = ask(asked_);
    lock.lock();
    if (taken)
      taken_at = steady_clock::now();
    if (taken && phase_ != phase::seeking)
      continue; // after a loss the same one is asked first: it may only have been cut off
    if (++next % nodes == 0)
      changed_.wait_for(lock, retry_after, [this] { return phase_ != phase::seeking; });
  }
}

/// @returns why nobody is asked any more; empty: somebody is.
std::string remote_part::state::hopeless(std::chrono::nanoseconds sought) const {
  if (troubles_.empty())
    return {};
  const bool stopped = std::ranges::any_of(
    told_, [](const auto& t) { return std::ranges::count(t.second, control::stop) > 0; });
  bool all_refuse = true;
  for (std::size_t i = 0; i < options_.nodes.size(); ++i)
    all_refuse = all_refuse && refuses(i);
  if (sought < options_.patience && !stopped && !all_refuse)
    return {};
  std::string why = "no node takes it: ";
  for (const auto& [node, t] : troubles_)
    why += (node == troubles_.begin()->first ? "" : "; ")
           + ("node '" + options_.nodes[node].first + "': ") + t.sentence;
  return why;
}

/// @returns false where the node does not take it, with the reason in `troubles_`.
bool remote_part::state::ask(std::size_t node) {
  const auto t = std::make_shared<turn>(weak_from_this(), options_.receives);
  auto made =
    options_.network->deploy(options_.nodes[node].second, options_.order, t, answer_patience);
  if (made)
    t->connection = (*made)->connection(); // without the lock: `joined` is called under one of the link's
  {
    const std::lock_guard lock{mutex_};
    if (!made) {
      troubles_[node] = {made.error().to_string(), false};
      return false;
    }
    if (phase_ != phase::seeking)
      return false;
    phase_ = phase::joining;
    turn_ = t;
    deployment_ = *made;
  }
  (*made)->start(); // `joined`, and `gone` where it is gone again
  return true;
}

/// The node has the graph: it is told where it begins, and what has waited.
void remote_part::state::joined(turn& t) {
  const std::lock_guard one{posting_};
  posts out;
  bool again = false;
  {
    const std::lock_guard lock{mutex_};
    if (turn_.get() != &t || phase_ != phase::joining)
      return;
    again = std::exchange(ran_, true);
    part_begin begin;
    begin.run = options_.run;
    begin.turn = turns_++;
    begin.now = here_.runs.time().now();
    begin.used = account_.used();
    begin.streams = account_.positions();
    t.wire.send(begin);
    t.wire.offer_loans();
    phase_ = phase::up;
    for (const auto& e : account_.ends())
      send(account_.into(e.edge).to, e);
    for (auto& [to, credit] : account_.take_owed())
      out.emplace_back(to, credit);
    for (auto& [to, m] : std::exchange(waiting_, {})) {
      if (auto* put = std::get_if<put_message>(&m)) {
        account_.entered(*put);
        send(to, std::move(*put));
      } else {
        const auto end = std::get<end_message>(m);
        account_.entered(end);
        send(to, end);
      }
    }
  }
  if (again)
    tell("runs on a node again");
  publish(std::move(out));
}

void remote_part::state::gone(const turn& t, const std::string& why) {
  std::shared_ptr<turn> over;
  std::shared_ptr<remote_deployment> deployment; // both go without a lock
  const std::lock_guard one{posting_};
  posts out;
  std::uint64_t frames = 0;
  bool refused = false;
  std::string node;
  {
    const std::lock_guard lock{mutex_};
    if (turn_.get() != &t || phase_ == phase::closed || phase_ == phase::failed)
      return;
    phase_ = phase::seeking;
    over = std::move(turn_);
    deployment = std::move(deployment_);
    node = options_.nodes[asked_].first;
    refused = troubles_[asked_].refused;
    if (!refused)
      troubles_[asked_].sentence = why;
    for (auto& [settler, m] : account_.take_lost()) {
      for (const auto& r : m.ranges)
        frames += r.count;
      out.emplace_back(settler, std::move(m));
    }
    for (const auto* s : options_.stages)
      here_.numbers.stage(s->self).held.store(0, relaxed);
    changed_.notify_all();
  }
  if (!refused)
    tell("node '" + node + "' is gone: " + why + "; " + std::to_string(frames)
         + (frames == 1 ? " frame that it held is lost" : " frames that it held are lost"));
  publish(std::move(out));
}

void remote_part::state::end_what_is_missing(posts& out) {
  for (auto& [to, m] : account_.take_missing_ends())
    out.emplace_back(to, m);
}

/// Nobody takes it: as a stage that has failed for good, it owes outcomes, credit and ends.
void remote_part::state::give_up(const std::string& why) {
  const std::lock_guard one{posting_};
  posts out;
  {
    const std::lock_guard lock{mutex_};
    if (phase_ != phase::seeking)
      return;
    phase_ = phase::failed;
    for (auto& [settler, m] : account_.take_lost())
      out.emplace_back(settler, std::move(m));
    for (auto& [to, credit] : account_.take_owed())
      out.emplace_back(to, credit);
    for (auto& [to, m] : std::exchange(waiting_, {}))
      if (auto* put = std::get_if<put_message>(&m))
        refuse(std::move(*put), out);
      else
        account_.entered(std::get<end_message>(m));
    end_what_is_missing(out);
  }
  publish(std::move(out));
  for (const auto* s : options_.stages)
    here_.listener.state_changed(s->self, stage_state::failed, why);
}

void remote_part::state::close() {
  std::thread seeker;
  std::shared_ptr<remote_deployment> deployment;
  {
    const std::lock_guard one{posting_};
    const std::lock_guard lock{mutex_};
    phase_ = phase::closed;
    deployment = std::move(deployment_);
    seeker = std::move(seeker_);
    changed_.notify_all();
  }
  if (deployment)
    deployment->end();
  if (seeker.joinable())
    seeker.join();
}

// ---- the part ----------------------------------------------------------------------------------

remote_part::remote_part(remote_part_options options, const home& here) {
  std::string name;
  for (const auto* s : options.stages)
    name += (name.empty() ? "" : ", ") + s->plan.name;
  state_ = std::make_shared<state>(std::move(options), here);
  state_->name_ = std::move(name);
}

remote_part::~remote_part() {
  close();
}

void remote_part::post(stage_index to, message m) {
  state_->post(to, std::move(m));
}

void remote_part::ask_for_camera(stream_index stream, bool attach) {
  state_->ask_for_camera(stream, attach);
}

std::uint64_t remote_part::held(stage_index settler) const {
  return state_->held(settler);
}

void remote_part::close() {
  state_->close();
}

} // namespace hyperframes
