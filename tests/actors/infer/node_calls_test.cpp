// The coordinator's end of a run on one node, with a link that a test holds in its hands.
#include "actors/infer/node_calls.hpp"
#include "runtime/error.hpp"
#include "runtime/shared_memory.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace hyperframes;

namespace {

/// Keeps what is sent, or refuses it as a link does whose bound it is beyond.
class held_link final : public hyperframes::link {
public:
  struct message {
    lane on;
    std::vector<std::byte> head;
    std::vector<bulk_part> bulk;
  };
  void
  send(std::uint32_t, lane on, std::vector<std::byte> head, std::vector<bulk_part> bulk) override {
    if (refuses && on == lane::data)
      throw failure(make_error(errc::io_failed, "link", "a message is too large"));
    const std::lock_guard lock{mutex};
    sent.push_back({on, std::move(head), std::move(bulk)});
    changed.notify_all();
  }
  std::uint32_t incarnation() const override { return 1; }
  std::string trouble() const override { return ""; }
  std::uint64_t queued_bytes() const override { return 0; }
  link_counters counters() const override { return {}; }
  void close() override {}

  /// Waits for the next call. @returns its ticket.
  std::uint64_t next_call() {
    std::unique_lock lock{mutex};
    for (std::optional<batch_call> call;;) {
      for (; seen < sent.size(); ++seen)
        if ((call = read_call(sent[seen].head))) {
          ++seen;
          return call->ticket;
        }
      changed.wait(lock);
    }
  }

  bool refuses = false;
  std::mutex mutex; ///< guards all below
  std::condition_variable changed;
  std::vector<message> sent;
  std::size_t seen = 0;
};

struct setting_out {
  setting_out() {
    calls.begin(link);
    calls.up(1);
  }
  std::shared_ptr<held_link> link = std::make_shared<held_link>();
  node_calls calls{"a", [] {}};
};

batch one_slot(buffer_pool& pool) {
  auto h = std::make_shared<hyperframe>();
  h->pack.width = h->pack.height = 2;
  h->descriptor.slots.resize(1);
  h->tensor = pool.acquire();
  batch work;
  work.parts.push_back({std::move(h), 0, 1});
  work.slots = 1;
  return work;
}

/// "cause: sentence" of the loss that `f` throws.
std::string loss_of(auto&& f) {
  try {
    f();
  } catch (const worker_lost& e) {
    const char* const causes[] = {"batch", "node", "nobody"};
    return causes[static_cast<std::size_t>(e.cause())] + std::string{": "} + e.what();
  }
  return "";
}

} // namespace

TEST_CASE("a call that cannot be sent leaves nothing behind") {
  setting_out s;
  buffer_pool pool{1, 256, nullptr, shared_backing()};
  s.calls.received(lane::control, write_word(batch_message::borrows), {});
  s.link->refuses = true;
  CHECK_THROWS_WITH_AS(
    s.calls.call(0, one_slot(pool), {}), "link: a message is too large", failure);
  CHECK(s.calls.under_way() == 0);
  CHECK(s.calls.lent() == 0);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("what a lost node was at is its; what had not begun is nobody's") {
  setting_out s;
  buffer_pool pool{2, 256};
  std::string lost;
  std::thread caller{[&] { lost = loss_of([&] { s.calls.call(0, one_slot(pool), {}); }); }};
  s.link->next_call();
  s.calls.down("it is cut off");
  caller.join();
  CHECK(lost == "node: node 'a' is gone: it is cut off");
  CHECK(
    loss_of([&] { s.calls.call(0, one_slot(pool), {}); })
    == "nobody: node 'a' is gone: it is cut off");
  CHECK(s.calls.under_way() == 0);
  s.link->sent.clear(); // as the link does that is down
  CHECK(pool.in_use() == 0);
}

TEST_CASE("a tensor that was lent is back when its call is over, before the node says so") {
  buffer_pool pool{1, 256, nullptr, shared_backing()};
  for (const bool cut : {false, true}) {
    INFO(cut);
    setting_out s;
    s.calls.received(lane::control, write_word(batch_message::borrows), {});
    std::size_t in_use = 1;
    std::thread caller{[&] {
      try {
        s.calls.call(0, one_slot(pool), {});
      } catch (const worker_lost&) {
      }
      in_use = pool.in_use();
    }};
    batch_answer answer;
    answer.ticket = s.link->next_call();
    receive_memory none;
    if (cut)
      s.calls.down("it is cut off");
    else
      s.calls.received(lane::data, write_answer(answer, none).head, {});
    caller.join();
    CHECK(in_use == 0);
    // What the node says then is nothing new.
    s.calls.received(lane::control, write_loans(std::vector<std::uint64_t>{1}), {});
    CHECK(s.calls.lent() == 0);
  }
}
