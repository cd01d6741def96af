#include "runtime/actor_system.hpp"
#include "runtime/stage_actor.hpp"
#include "tools/bench/hop.hpp"
#include "tools/bench/measure.hpp"

#include <deque>
#include <latch>

namespace hyperframes::bench {

namespace {

constexpr std::uint32_t window = 32, lot = 8;

/// What a stage is without any of ours: it passes items on as it has credit, and returns credit.
struct link {
  caf::actor above, below;
  std::uint32_t credit = window, owed = 0;
  std::deque<item> waiting;

  void put(item value) {
    if (credit == 0) {
      waiting.push_back(std::move(value));
      return;
    }
    --credit;
    tell(below, put_message{0, std::move(value)});
    if (++owed < lot)
      return;
    tell(above, credit_message{0, 0, owed, 0});
    owed = 0;
  }
  void grant(std::uint32_t items) {
    credit += items;
    while (credit > 0 && !waiting.empty()) {
      auto next = std::move(waiting.front());
      waiting.pop_front();
      put(std::move(next));
    }
  }
};

caf::behavior pass(caf::event_based_actor* self, caf::actor above) {
  auto l = std::make_shared<link>();
  l->above = std::move(above);
  return {
    [l](caf::actor below) { l->below = std::move(below); },
    [l](put_message& m) { l->put(std::move(m.value)); },
    [l](const credit_message& m) { l->grant(m.items); },
    [l, self](quit_atom) {
      l->above = l->below = nullptr; // handles both ways would keep the actors for ever
      self->quit();
    },
  };
}

caf::behavior feed(caf::event_based_actor* self, std::uint64_t frames, bool paced) {
  struct state {
    caf::actor below;
    std::uint64_t due, sent = 0;
    std::uint32_t credit = window;
    void send() {
      for (; sent < due && credit > 0; ++sent, --credit)
        tell(below, put_message{0, frame{}});
    }
  };
  auto s = std::make_shared<state>(state{{}, paced ? 0 : frames});
  return {
    [s](caf::actor below) { s->below = std::move(below); },
    [s, paced](control) {
      s->due += paced ? 1 : 0;
      s->send();
    },
    [s](const credit_message& m) {
      s->credit += m.items;
      s->send();
    },
    [s, self](quit_atom) {
      s->below = nullptr;
      self->quit();
    },
  };
}

caf::behavior
sink(caf::event_based_actor* self, caf::actor above, std::uint64_t frames, std::latch* done) {
  auto got = std::make_shared<std::uint64_t>(0);
  return {
    [=](put_message&) {
      if (++*got % lot == 0)
        tell(above, credit_message{0, 0, lot, 0});
      if (*got == frames)
        done->count_down();
    },
    [self](quit_atom) { self->quit(); },
  };
}

} // namespace

double caf_chain(const chain_load& load) {
  const auto before = cpu_seconds();
  actor_runtime runtime;
  auto& system = *runtime.get().system;
  std::latch done{1};
  std::vector<caf::actor> actors{system.spawn(feed, load.frames, load.every > duration{0})};
  for (unsigned i = 0; i < load.stages; ++i)
    actors.push_back(system.spawn(pass, actors.back()));
  actors.push_back(system.spawn(sink, actors.back(), load.frames, &done));
  for (std::size_t i = 0; i + 1 < actors.size(); ++i)
    tell(actors[i], actors[i + 1]);
  if (load.every == duration{0}) {
    tell(actors.front(), control::run);
  } else {
    pace due{load.every};
    for (std::uint64_t i = 0; i < load.frames; ++i) {
      due.wait();
      tell(actors.front(), control::poke);
    }
  }
  done.wait();
  for (const auto& a : actors)
    tell(a, quit_atom_v);
  actors.clear();
  return cpu_seconds() - before;
}

} // namespace hyperframes::bench
