#include "runtime/net/link_hub.hpp"

#include "runtime/net/link_core.hpp"
#include "runtime/net/link_end.hpp"
#include "runtime/net/link_listener.hpp"
#include "runtime/net/link_opening.hpp"
#include "runtime/net/link_socket.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <thread>
#include <utility>
#include <vector>

namespace hyperframes {

namespace asio = boost::asio;

std::shared_ptr<link_end> link_core::expected_link(const link_id& id) {
  const std::lock_guard lock{mutex};
  const auto found = expected.find(id);
  return found == expected.end() ? nullptr : found->second;
}

bool link_core::expect(const link_id& id, std::shared_ptr<link_end> link) {
  const std::lock_guard lock{mutex};
  return expected.try_emplace(id, std::move(link)).second;
}

void link_core::keep(std::shared_ptr<link_end> link) {
  const std::lock_guard lock{mutex};
  kept.insert(std::move(link));
}

void link_core::forget(const link_end& link) {
  const std::lock_guard lock{mutex};
  std::erase_if(expected, [&](const auto& e) { return e.second.get() == &link; });
  std::erase_if(kept, [&](const auto& l) { return l.get() == &link; });
}

void link_core::reject(const std::string& from, const std::string& why) {
  rejected.fetch_add(1, std::memory_order_relaxed);
  if (!on_rejected || told_.size() >= told_at_most)
    return;
  auto sentence = "a connection from " + from + " was refused: " + why;
  if (!told_.insert(sentence).second)
    return;
  if (told_.size() == told_at_most)
    sentence += "; further addresses and reasons are counted only";
  try {
    on_rejected(sentence);
  } catch (const std::exception&) { // what a listener of ours throws is no reason to hear no other
  }
}

class link_hub::state {
public:
  state(link_settings settings, std::function<void(const std::string&)> on_rejected) {
    if (
      settings.heartbeat <= std::chrono::milliseconds{0}
      || settings.dead_after < settings.heartbeat * 3)
      throw failure(make_error(
        errc::graph_invalid, "link",
        "dead_after of " + std::to_string(settings.dead_after.count())
          + " ms: expected at least 3 heartbeats of " + std::to_string(settings.heartbeat.count())
          + " ms"));
    if (settings.tls) {
      const auto now = std::chrono::system_clock::now(); // as OpenSSL takes it for the peers
      core->opening = make_tls(*settings.tls, tls_end::opens, now).value();
      core->accepting = make_tls(*settings.tls, tls_end::accepts, now).value();
    }
    core->settings = std::move(settings);
    core->on_rejected = std::move(on_rejected);
    thread_ = std::thread{[this] {
      for (;;)
        try {
          core->io.run();
          return;
        } catch (const std::exception&) { // no memory for one connection: the others go on
        }
    }};
  }

  ~state() {
    core->io.stop();
    thread_.join();
    for (const auto& listener : listeners_)
      listener->end();
    arrivals->end();
    std::vector<std::shared_ptr<link_end>> links;
    {
      const std::lock_guard lock{core->mutex};
      for (auto& [id, l] : core->expected)
        links.push_back(l);
      links.insert(links.end(), core->kept.begin(), core->kept.end());
      core->expected.clear();
      core->kept.clear();
    }
    for (const auto& l : links)
      l->end();
    // What was under way is aborted and holds nothing any more.
    core->io.restart();
    core->io.poll();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  std::uint16_t listen(const std::string& host, std::uint16_t port) {
    const auto listener = std::make_shared<link_listener>(*core, arrivals, host, port);
    {
      const std::lock_guard lock{mutex_};
      listeners_.push_back(listener);
    }
    asio::post(core->io, [listener] { listener->start(); });
    return listener->port();
  }

  std::shared_ptr<link_core> core = std::make_shared<link_core>();
  std::shared_ptr<link_arrivals> arrivals = std::make_shared<link_arrivals>();

private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<link_listener>> listeners_; ///< guarded by `mutex_`
  asio::executor_work_guard<asio::io_context::executor_type> work_{core->io.get_executor()};
  std::thread thread_;
};

link_hub::link_hub(link_settings settings, std::function<void(const std::string&)> on_rejected)
  : state_(std::make_unique<state>(std::move(settings), std::move(on_rejected))) {}

link_hub::~link_hub() = default;

std::uint16_t link_hub::listen(const std::string& host, std::uint16_t port) {
  return state_->listen(host, port);
}

std::shared_ptr<link> link_hub::accept(const link_id& id, std::shared_ptr<link_user> user) {
  const auto l = std::make_shared<accepted_link>(state_->core, id, std::move(user));
  if (!state_->core->expect(id, l))
    throw failure(make_error(
      errc::io_failed, "link",
      "the link from process " + std::to_string(id.opener) + " to process "
        + std::to_string(id.acceptor) + " is expected already; close it first"));
  return l;
}

void link_hub::welcome(std::function<void(const link_id&)> stranger) {
  state_->core->on_stranger = std::move(stranger);
}

std::shared_ptr<link> link_hub::connect(
  const std::string& host, std::uint16_t port, const link_id& id, std::shared_ptr<link_user> user) {
  const auto address = address_of(host);
  if (!state_->core->opening && !(address && address->is_loopback()))
    throw failure(make_error(
      errc::io_failed, host + ':' + std::to_string(port),
      "without certificates only loopback addresses are connected to; make some with `hyperframes "
      "certs init`"));
  const auto l = std::make_shared<opened_link>(state_->core, id, std::move(user), host, port);
  state_->core->keep(l);
  l->start();
  return l;
}

std::uint64_t link_hub::rejected() const {
  return state_->core->rejected.load(std::memory_order_relaxed);
}

} // namespace hyperframes
