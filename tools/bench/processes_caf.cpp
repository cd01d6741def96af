#include "runtime/buffer_pool.hpp"
#include "runtime/caf.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/processes.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/io/all.hpp>

#include <future>
#include <memory>
#include <mutex>

namespace hyperframes::bench {

/// A buffer where it is sent, memory of its own where it arrives.
struct carried {
  std::uint64_t number = 0;
  buffer_ref sent;
  std::uint64_t size = 0;
  std::shared_ptr<std::byte[]> arrived;
};

template <class Inspector>
bool inspect(Inspector& f, carried& x) {
  if constexpr (std::is_same_v<Inspector, caf::binary_serializer>) {
    return f.value(x.number) && f.value(static_cast<std::uint64_t>(x.sent.size()))
           && f.value(caf::span<const caf::byte>{
             reinterpret_cast<const caf::byte*>(x.sent.data()), x.sent.size()});
  } else if constexpr (std::is_same_v<Inspector, caf::binary_deserializer>) {
    if (!f.value(x.number) || !f.value(x.size) || x.size > f.remaining())
      return false;
    x.arrived.reset(new std::byte[x.size]); // not set to zero first
    return f.value(caf::span<caf::byte>{reinterpret_cast<caf::byte*>(x.arrived.get()), x.size});
  } else {
    return f.object(x).fields(f.field("number", x.number), f.field("size", x.size));
  }
}

} // namespace hyperframes::bench

// Far behind those of the runtime, which this program has too.
CAF_BEGIN_TYPE_ID_BLOCK(hyperframes_bench, first_custom_type_id + 100)
CAF_ADD_TYPE_ID(hyperframes_bench, (hyperframes::bench::carried))
CAF_END_TYPE_ID_BLOCK(hyperframes_bench)

namespace hyperframes::bench {

namespace {

[[noreturn]] void fail(const std::string& sentence) {
  throw failure(make_error(errc::io_failed, "processes", sentence));
}

struct network {
  network() {
    static std::once_flag once;
    std::call_once(once, [] {
      caf::init_global_meta_objects<caf::id_block::hyperframes_bench>();
      caf::io::middleman::init_global_meta_objects();
      caf::core::init_global_meta_objects();
    });
    config.load<caf::io::middleman>();
    config.set("caf.scheduler.policy", "sharing");
    config.set("caf.scheduler.max-threads", std::int64_t{2});
    system = std::make_unique<caf::actor_system>(config);
  }
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
};

struct sender_state {
  passing_load load;
  buffer_pool pool;
  caf::actor to;
  std::uint64_t sent = 0, acknowledged = 0;
  double began = 0, cpu_began = 0;
  std::promise<passing> done;

  void send() {
    for (; sent < total() && sent < acknowledged + passing_window; ++sent) {
      if (sent == load.warm) {
        began = wall_seconds();
        cpu_began = cpu_seconds();
      }
      carried c{sent, pool.acquire(), 0, nullptr};
      stamp(c.sent.data(), c.sent.size(), sent);
      tell(to, std::move(c));
    }
  }
  std::uint64_t total() const { return load.warm + load.messages; }
};

caf::behavior sender(caf::event_based_actor* self, std::shared_ptr<sender_state> s) {
  return {
    [s](caf::actor to) {
      s->to = std::move(to);
      s->send();
    },
    [s, self](std::uint64_t) {
      if (++s->acknowledged < s->total()) {
        s->send();
        return;
      }
      s->done.set_value({wall_seconds() - s->began, cpu_seconds() - s->cpu_began});
      s->to = nullptr;
      self->quit();
    },
  };
}

struct receiver_state {
  receiver_arguments arguments;
  caf::actor from;
  std::uint64_t got = 0;
  double cpu_began = 0;
  std::promise<double> done;
  bool over = false;

  void take(const carried& c) {
    if (got++ == arguments.load.warm)
      cpu_began = cpu_seconds();
    if (c.size != arguments.load.bytes)
      fail("a message has " + std::to_string(c.size) + " bytes");
    look_at(c.arrived.get(), c.number, arguments.load);
    tell(from, c.number);
  }
};

caf::behavior receiver_actor(caf::event_based_actor* self, std::shared_ptr<receiver_state> s) {
  self->monitor(s->from);
  self->set_down_handler([s, self](const caf::down_msg&) { // it has all that is acknowledged
    const auto total = s->arguments.load.warm + s->arguments.load.messages;
    if (!s->over && s->got == total)
      s->done.set_value(cpu_seconds() - s->cpu_began);
    else if (!s->over)
      s->done.set_exception(std::make_exception_ptr(
        failure(make_error(errc::io_failed, "processes", "the sender is gone too early"))));
    s->from = nullptr;
    self->quit();
  });
  return {
    [s, self](const carried& c) {
      try {
        s->take(c);
      } catch (...) {
        s->over = true;
        s->done.set_exception(std::current_exception());
        s->from = nullptr;
        self->quit();
      }
    },
  };
}

} // namespace

passing pass_by_caf(const passing_load& load, const receiver& start) {
  auto s = std::make_shared<sender_state>();
  s->load = load;
  // Some are serialised, but still held.
  s->pool = touched_pool(4 * passing_window, load.bytes, heap_backing());
  auto sent = s->done.get_future();
  network n;
  const auto actor = n.system->spawn(sender, std::move(s));
  const auto port = n.system->middleman().publish(actor, 0, "127.0.0.1");
  if (!port)
    fail("CAF publishes no actor: " + to_string(port.error()));
  auto received = std::async(std::launch::async, [&] {
    return start(receiver_arguments{"caf", *port, load}.to_words()).at(0);
  });
  while (sent.wait_for(std::chrono::milliseconds{10}) != std::future_status::ready)
    if (received.wait_for(std::chrono::seconds{0}) == std::future_status::ready) {
      caf::anon_send_exit(actor, caf::exit_reason::kill);
      received.get();
      fail("the receiver ended too early");
    }
  const auto own = sent.get();
  const auto messages = static_cast<double>(load.messages);
  return {own.seconds / messages, (own.cpu_seconds + received.get()) / messages};
}

double receive_by_caf(const receiver_arguments& a) {
  network n;
  auto from = n.system->middleman().remote_actor("127.0.0.1", a.port);
  if (!from)
    fail("CAF does not connect: " + to_string(from.error()));
  auto s = std::make_shared<receiver_state>();
  s->arguments = a;
  s->from = *from;
  auto done = s->done.get_future();
  tell(*from, n.system->spawn(receiver_actor, std::move(s)));
  *from = nullptr;
  return done.get();
}

} // namespace hyperframes::bench
