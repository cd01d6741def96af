#include "runtime/net/node_network.hpp"

#include "runtime/net/node_session.hpp"
#include "runtime/net/node_wire.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>

namespace hyperframes {

namespace {

link_id random_id() {
  std::random_device device;
  link_id id;
  for (auto& b : id.token)
    b = static_cast<std::byte>(device());
  return id;
}

seat_answer refused(std::string problem) {
  seat_answer answer;
  answer.problem = std::move(problem);
  return answer;
}

/// The coordinator's end of one link, from its opening until it goes down.
class node_end final : public link_user {
public:
  explicit node_end(node_address at) : at_(std::move(at)) {}

  void connected(std::shared_ptr<link> to) {
    const std::lock_guard lock{mutex_};
    link_ = std::move(to);
  }
  std::shared_ptr<link> connection() const {
    const std::lock_guard lock{mutex_};
    return link_;
  }

  /// Waits for the link, then for what the node says of itself.
  expected<node_facts> meet(std::chrono::milliseconds patience);
  expected<void> deploy(const deployment_order& order, std::chrono::milliseconds patience);
  expected<std::vector<std::byte>>
  look(const deployment_order& order, std::chrono::milliseconds patience);
  void start(std::shared_ptr<link_user> user);
  seat_answer open_seat(const seat_order& order);
  void tell(std::vector<std::byte> head) {
    connection()->send(incarnation_, lane::control, std::move(head));
  }
  bool alive() const {
    const std::lock_guard lock{mutex_};
    return over_.empty();
  }
  void end(const std::string& why);

  void up(std::uint32_t incarnation) override;
  void down(const std::string& why) override;
  bool place(
    std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
    std::vector<buffer_ref>& into) override;
  void received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) override;

private:
  error no_answer() const;

  const node_address at_;
  std::atomic<std::uint32_t> incarnation_{0};
  mutable std::mutex mutex_;   ///< guards all below
  std::shared_ptr<link> link_; ///< once it is connected
  std::condition_variable told_;
  std::string over_; ///< why the link is down, or was closed
  std::optional<node_facts> facts_;
  std::optional<std::string> deployed_;
  std::optional<look_answer> looked_;
  std::map<std::uint32_t, std::optional<seat_answer>> seats_; ///< that are waited for
  std::shared_ptr<link_user> user_;                           ///< once it is told
};

error node_end::no_answer() const {
  auto why = over_.empty() ? link_->trouble() : over_;
  if (why.empty())
    why = "it gives no answer";
  return make_error(
    errc::io_failed, at_.to_string(),
    "no node takes part: " + why + "; expected `hyperframes node --listen " + at_.to_string()
      + "` to run there, with a certificate of the same authority");
}

expected<node_facts> node_end::meet(std::chrono::milliseconds patience) {
  std::unique_lock lock{mutex_};
  if (
    !told_.wait_for(lock, patience, [this] { return incarnation_ > 0 || !over_.empty(); })
    || !over_.empty())
    return no_answer();
  lock.unlock();
  tell(write_ask_facts());
  lock.lock();
  if (!told_.wait_for(lock, patience, [this] { return facts_ || !over_.empty(); }) || !facts_)
    return no_answer();
  if (facts_->protocol != node_protocol)
    return make_error(
      errc::io_failed, at_.to_string(),
      "node '" + facts_->name + "' speaks protocol " + std::to_string(facts_->protocol)
        + " (version " + facts_->version + "), expected " + std::to_string(node_protocol)
        + ": install the same version there");
  return *facts_;
}

expected<void> node_end::deploy(const deployment_order& order, std::chrono::milliseconds patience) {
  tell(write_message(order));
  std::unique_lock lock{mutex_};
  if (!told_.wait_for(lock, patience, [this] { return deployed_ || !over_.empty(); }) || !deployed_)
    return no_answer();
  if (!deployed_->empty())
    return make_error(errc::graph_invalid, at_.to_string(), *deployed_);
  return {};
}

expected<std::vector<std::byte>>
node_end::look(const deployment_order& order, std::chrono::milliseconds patience) {
  tell(write_look(order));
  std::unique_lock lock{mutex_};
  if (!told_.wait_for(lock, patience, [this] { return looked_ || !over_.empty(); }) || !looked_)
    return no_answer();
  if (!looked_->problem.empty())
    return make_error(errc::graph_invalid, at_.to_string(), looked_->problem);
  return std::move(looked_->found);
}

void node_end::start(std::shared_ptr<link_user> user) {
  // Under the lock: what the user is told of `down` comes behind `up`.
  const std::lock_guard lock{mutex_};
  user->up(incarnation_);
  if (over_.empty())
    user_ = std::move(user);
  else
    user->down(over_);
}

seat_answer node_end::open_seat(const seat_order& order) {
  {
    const std::lock_guard lock{mutex_};
    seats_[order.seat] = std::nullopt;
  }
  tell(write_message(order));
  std::unique_lock lock{mutex_};
  auto& answer = seats_[order.seat];
  told_.wait(lock, [&] { return answer || !over_.empty(); });
  auto result = answer ? std::move(*answer) : refused(no_answer().to_string());
  seats_.erase(order.seat);
  return result;
}

void node_end::end(const std::string& why) {
  std::shared_ptr<link_user> user;
  std::shared_ptr<link> over;
  {
    const std::lock_guard lock{mutex_};
    if (over_.empty())
      over_ = why;
    user = std::move(user_);
    over = link_;
    told_.notify_all();
  }
  if (user)
    user->down(why);
  if (over)
    over->close();
}

void node_end::up(std::uint32_t incarnation) {
  const std::lock_guard lock{mutex_};
  incarnation_ = incarnation;
  told_.notify_all();
}

void node_end::down(const std::string& why) {
  end(why);
}

bool node_end::place(
  std::span<const std::byte> head, std::span<const std::uint64_t> sizes,
  std::vector<buffer_ref>& into) {
  const std::lock_guard lock{mutex_};
  return user_ && user_->place(head, sizes, into);
}

void node_end::received(lane on, std::span<const std::byte> head, std::vector<bulk_part> bulk) {
  std::unique_lock lock{mutex_};
  switch (node_message_of(head).value_or(node_message::ask_facts)) {
    case node_message::facts:
      facts_ = read_facts(head);
      break;
    case node_message::deployed:
      deployed_ = read_deployed(head);
      break;
    case node_message::looked:
      looked_ = read_looked(head);
      break;
    case node_message::seat:
      if (auto opened = read_seat(head)) {
        if (const auto found = seats_.find(opened->seat); found != seats_.end())
          found->second = std::move(opened->answer);
        break;
      }
      [[fallthrough]];
    default:
      if (const auto user = user_) {
        lock.unlock();
        user->received(on, head, std::move(bulk));
        return;
      }
      throw failure(make_error(errc::io_failed, at_.to_string(), "sent a message that is none"));
  }
  told_.notify_all();
}

class deployed final : public remote_deployment {
public:
  deployed(std::shared_ptr<node_end> end, node_facts facts, std::shared_ptr<link_user> user)
    : end_(std::move(end)), facts_(std::move(facts)), user_(std::move(user)) {}
  ~deployed() override { deployed::end(); }
  const node_facts& facts() const override { return facts_; }
  std::shared_ptr<link> connection() const override { return end_->connection(); }
  void start() override { end_->start(user_); }
  seat_answer open_seat(const seat_order& order) override { return end_->open_seat(order); }
  void close_seat(std::uint32_t seat) override { end_->tell(write_close_seat(seat)); }
  bool alive() const override { return end_->alive(); }
  void end() override { end_->end("the run has ended"); }

private:
  std::shared_ptr<node_end> end_;
  node_facts facts_;
  std::shared_ptr<link_user> user_;
};

} // namespace

std::string node_address::to_string() const {
  const auto shown = host.find(':') == std::string::npos ? host : '[' + host + ']';
  return shown + ':' + std::to_string(port);
}

expected<node_address> read_node_address(const std::string& text) {
  const auto colon = text.rfind(':');
  node_address at;
  const auto* end = text.data() + text.size();
  if (colon != std::string::npos && colon > 0) {
    at.host = text.substr(0, colon);
    if (at.host.starts_with('[') && at.host.ends_with(']'))
      at.host = at.host.substr(1, at.host.size() - 2);
    const auto read = std::from_chars(text.data() + colon + 1, end, at.port);
    if (read.ec == std::errc{} && read.ptr == end && !at.host.empty())
      return at;
  }
  return make_error(
    errc::graph_invalid, text,
    "is no address of a node: expected host:port, such as 127.0.0.1:4100");
}

struct node_network::state {
  state(
    std::optional<tls_files> tls, std::function<void(const std::string&)> on_rejected,
    std::chrono::milliseconds dead_after)
    : hub(settings_of(std::move(tls), dead_after), std::move(on_rejected)) {}

  static link_settings
  settings_of(std::optional<tls_files> tls, std::chrono::milliseconds dead_after) {
    link_settings s;
    s.tls = std::move(tls);
    s.heartbeat = std::min(s.heartbeat, dead_after / 4);
    s.dead_after = dead_after;
    return s;
  }
  expected<std::shared_ptr<node_end>>
  meet(const node_address& at, std::chrono::milliseconds patience, node_facts& facts) {
    const auto end = std::make_shared<node_end>(at);
    end->connected(hub.connect(at.host, at.port, random_id(), end));
    auto met = end->meet(patience);
    if (met) {
      facts = std::move(*met);
      return end;
    }
    end->end("nobody waits for it any more");
    return met.error();
  }

  session_threads threads;
  link_hub hub; ///< its sessions use the threads
};

node_network::node_network(
  std::optional<tls_files> tls, std::function<void(const std::string&)> on_rejected,
  std::chrono::milliseconds dead_after)
  : state_(std::make_shared<state>(std::move(tls), std::move(on_rejected), dead_after)) {}

node_network::~node_network() = default;

std::uint16_t node_network::offer(const node_address& at, std::shared_ptr<node_service> service) {
  auto& hub = state_->hub;
  hub.welcome([&hub, &threads = state_->threads, service = std::move(service)](const link_id& id) {
    const auto session = std::make_shared<node_session>(service, threads);
    session->joined(hub.accept(id, session));
  });
  return hub.listen(at.host, at.port);
}

expected<node_facts> node_network::ask(const node_address& at, std::chrono::milliseconds patience) {
  node_facts facts;
  auto end = state_->meet(at, patience, facts);
  if (!end)
    return end.error();
  (*end)->end("it was only asked");
  return facts;
}

expected<std::vector<std::byte>> node_network::look(
  const node_address& at, const deployment_order& order, std::chrono::milliseconds patience,
  std::chrono::milliseconds time) {
  node_facts facts;
  auto end = state_->meet(at, patience, facts);
  if (!end)
    return end.error();
  auto found = (*end)->look(order, time);
  (*end)->end("it was only asked");
  return found;
}

expected<std::shared_ptr<remote_deployment>> node_network::deploy(
  const node_address& at, const deployment_order& order, std::shared_ptr<link_user> user,
  std::chrono::milliseconds patience) {
  node_facts facts;
  auto end = state_->meet(at, patience, facts);
  if (!end)
    return end.error();
  if (const auto done = (*end)->deploy(order, patience); !done) {
    (*end)->end("it does not take the graph");
    return done.error();
  }
  return std::shared_ptr<remote_deployment>{
    std::make_shared<deployed>(std::move(*end), std::move(facts), std::move(user))};
}

} // namespace hyperframes
