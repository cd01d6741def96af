#include "actors/pack.hpp"
#include "graphs/hyperframes.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/bounded_queue.hpp"
#include "tools/bench/lock_waits.hpp"
#include "tools/bench/part.hpp"

#include <thread>

namespace hyperframes::bench {

namespace {

constexpr unsigned camera_count = 8;
constexpr std::uint64_t frames_each = 15000;
constexpr auto camera_settings = "scene: gradient, size: 32x32, format: gray8, realtime: false";

/// A camera that is read on a thread of its own, as those are that wait for a device.
class on_its_own final : public camera {
public:
  explicit on_its_own(std::unique_ptr<camera> inner) : inner_(std::move(inner)) {}
  expected<camera_info> probe() override {
    auto info = inner_->probe();
    if (info)
      info->blocks = true;
    return info;
  }
  expected<void> open(const camera_environment& e) override { return inner_->open(e); }
  camera_event read(graph_time now) override { return inner_->read(now); }

private:
  std::unique_ptr<camera> inner_;
};

catalogues with_own_threads() {
  auto kinds = built_in();
  auto d = *kinds.cameras.find("synthetic");
  d.name = "threaded";
  d.make = [make =
              d.make](const settings& s, const std::string& folder) -> std::unique_ptr<camera> {
    return std::make_unique<on_its_own>(make(s, folder));
  };
  kinds.cameras.add(std::move(d));
  return kinds;
}

/// Two chains, so that slots of two hyperframes are packed at once.
graph two_chains(std::uint64_t frames) {
  std::string text = "hyperframes: 1\nname: locks\nstreams:\n";
  for (const std::string side : {"left", "right"})
    text += "  - { id: \"" + side + "{1.." + std::to_string(camera_count / 2)
            + "}\", camera: { type: threaded, " + camera_settings
            + ", frames: " + std::to_string(frames) + " } }\n";
  text += "stages:\n";
  for (const std::string side : {"left", "right"})
    text += "  capture_" + side + ":  { type: capture, streams: \"" + side + "*\" }\n  bundle_"
            + side + ":   { type: bundle, from: capture_" + side + ", size: 8 }\n  schedule_" + side
            + ": { type: schedule, from: bundle_" + side + " }\n  infer_" + side
            + ":    { type: infer, from: schedule_" + side
            + ", backend: simulated, simulated: { fixed: 0s, per_slot: 0s }, "
              "input: { size: 32x32, color: gray } }\n  unbundle_"
            + side + ": { type: unbundle, from: infer_" + side + " }\n  results_" + side
            + ":  { type: \"null\", from: unbundle_" + side + " }\n";
  return graph::from_text(text, "locks", {}, with_own_threads());
}

/// What the work of `frames` frames took, in seconds: CPU, waiting for locks; then how often it
/// waited, a frame.
template <class Work>
std::vector<double> costs_of(std::uint64_t frames, Work work) {
  const auto cpu = cpu_seconds();
  const auto before = lock_waits_so_far();
  work();
  const auto after = lock_waits_so_far();
  return {
    cpu_seconds() - cpu, in_seconds(after.took - before.took),
    static_cast<double>(after.times - before.times) / static_cast<double>(frames)};
}

/// Reads a camera as its thread would, and gives its frames to the one queue.
void read_all(std::uint64_t frames, unsigned seed, bounded_queue<frame>& to) {
  const auto kinds = built_in();
  const auto& kind = *kinds.cameras.find("synthetic");
  settings s;
  for (const auto& p : kind.parameters)
    s.set(p.name, p.initial.value_or(setting{}));
  s.with("scene", std::string{"gradient"})
    .with("size", pixel_size{32, 32})
    .with("format", std::string{"gray8"})
    .with("realtime", false)
    .with("frames", static_cast<std::int64_t>(frames))
    .with("seed", std::int64_t{seed});
  const auto source = kind.make(s, {});
  if (const auto opened = source->open({"peer", 2 * camera_count * 8, {}}); !opened)
    throw failure(opened.error());
  for (;;) {
    auto event = source->read({});
    auto* f = std::get_if<captured_frame>(&event);
    if (!f)
      return;
    frame next{.meta = {}, .media = std::move(f->media), .buffer = std::move(f->buffer)};
    next.meta.stream = seed;
    to.push(std::move(next));
  }
}

void one_queue(std::uint64_t frames) {
  bounded_queue<frame> all{camera_count * 8};
  std::vector<std::jthread> readers;
  for (unsigned i = 0; i < camera_count; ++i)
    readers.emplace_back([&all, i, frames] { read_all(frames, i, all); });
  packer pack{{.width = 32, .height = 32, .channels = channel_order::gray}};
  std::vector<std::byte> tensor(pack.spec().slot_bytes() * 8);
  for (std::uint64_t n = 0; n < frames * camera_count; ++n) {
    const auto f = all.pop();
    const auto slot =
      std::span{tensor}.subspan(n % 8 * pack.spec().slot_bytes(), pack.spec().slot_bytes());
    if (const auto packed = pack.pack(*f, slot); !packed)
      throw failure(packed.error());
  }
}

} // namespace

std::vector<double> locks_once(const std::vector<std::string>& arguments) {
  const auto frames = std::stoull(arguments.at(1));
  if (arguments.at(0) == "one queue")
    return costs_of(frames * camera_count, [&] { one_queue(frames); });
  const auto g = two_chains(frames);
  return costs_of(frames * camera_count, [&] {
    running run{g};
    run.wait(std::chrono::minutes{5});
    const auto s = run.finish();
    if (
      !s.closed()
      || s.ledger.outcomes[static_cast<std::size_t>(outcome::delivered)] != frames * camera_count)
      throw failure(make_error(errc::stage_failed, "locks", "a frame was lost"));
  });
}

report locks_report(
  const std::vector<std::vector<double>>& ours, const std::vector<std::vector<double>>& queue) {
  report r;
  r.method = "8 cameras of 32x32 gray, 15000 frames each, as fast as they are taken, each read on "
             "a thread of its own; "
             "two chains of capture, bundle (8), schedule, infer (simulated, no time), unbundle "
             "and null, four cameras "
             "each, on as many workers as there are cores. Against it 8 such threads that put the "
             "same frames into one "
             "queue of 64 places with a mutex and two condition variables, from which one thread "
             "packs them. Each run "
             "is a new process; five rounds in turns. The program's own pthread_mutex_lock, "
             "pthread_rwlock_* and "
             "pthread_cond_* stand in for the C library's in all of the process: a lock that is "
             "taken is timed from "
             "then until it was got, spinning, sleep and the way back onto a core included, also "
             "after a wait for a "
             "condition; that wait itself is no wait for a lock. The sum over all threads stands "
             "against the CPU time "
             "of the process, from the start of the stages to their end. Locks inside malloc, and "
             "spin locks, are not "
             "seen.";
  const auto add = [&r](
                     const std::string& who, const std::vector<std::vector<double>>& runs,
                     std::optional<goal> wanted) {
    samples share, times;
    for (const auto& run : runs) {
      share.values.push_back(run.at(1) / run.at(0) * 100);
      times.values.push_back(run.at(2) * 1000);
    }
    r.results.push_back(reading_of(who + ": waiting for locks / CPU time", "%", share, wanted));
    r.results.push_back(reading_of(who + ": waits", "in 1000 frames", times));
  };
  add("8 capture threads", ours, under(1));
  add("8 threads, one queue", queue, std::nullopt);
  return r;
}

report locks(const context& c) {
  std::vector<std::vector<double>> ours, queue;
  const auto measure =
    [&](std::size_t round, const std::string& what, std::vector<std::vector<double>>& into) {
      c.progress(round, what);
      into.push_back(in_new_process("locks", {what, std::to_string(frames_each)}));
    };
  for (std::size_t round = 1; round <= least_rounds; ++round)
    for (const bool first : {round % 2 == 1, round % 2 == 0})
      first ? measure(round, "hyperframes", ours) : measure(round, "one queue", queue);
  return locks_report(ours, queue);
}

} // namespace hyperframes::bench
