#include "cameras/faults.hpp"

#include "cameras/fault_entry.hpp"
#include "cameras/random_draw.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hyperframes {

namespace {

/// Frames that one `read` may lose before it lets others have their turn.
constexpr int most_lost_at_once = 64;
/// Frames that a camera may hold back, however long the delay.
constexpr double most_delayed = 256;

/// FNV-1a of the stream's name, begun with the seed: cameras of one seed differ.
std::uint64_t mixed(std::uint64_t seed, const std::string& stream) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed * 0x9e3779b97f4a7c15;
  for (const char c : stream)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// As a pool lays its slots.
std::size_t padded(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

bool changes_number(const injected_fault& f) {
  return f.kind == fault_kind::gap || f.kind == fault_kind::silence
         || f.kind == fault_kind::duplicate;
}

} // namespace

faulty_camera::faulty_camera(std::unique_ptr<camera> inside, std::vector<injected_fault> faults)
  : inside_(std::move(inside)),
    faults_(std::move(faults)),
    counts_(std::make_shared<fault_counts>()) {}

faulty_camera::~faulty_camera() = default;

std::size_t faulty_camera::most_held(const camera_info& info) const {
  double most = 1;
  if (info.live && !info.blocks)
    for (const auto& f : faults_)
      if (f.kind == fault_kind::jitter)
        most += std::ceil(in_seconds(f.by) * (info.fps > 0 ? info.fps : 30));
  return static_cast<std::size_t>(std::min(most, most_delayed));
}

expected<camera_info> faulty_camera::probe() {
  auto probed = inside_->probe();
  if (probed.has_error())
    return probed;
  auto& info = *probed;
  std::size_t resized = 0;
  for (const auto& f : faults_) {
    if (changes_number(f)) {
      info.frame_count.reset();
      info.length.reset();
    }
    if (f.kind != fault_kind::resize)
      continue;
    if (info.media.what != media_type::kind::video)
      return make_error(
        errc::camera_failed, {},
        "the fault resize is for pictures, but the camera gives " + info.media.to_string()
          + ": remove it");
    const auto format = info.media.video.format;
    if (
      (format == pixel_format::i420 || format == pixel_format::nv12)
      && (f.size.width % 2 != 0 || f.size.height % 2 != 0))
      return make_error(
        errc::camera_failed, {},
        std::string{"the fault resize has size "} + std::to_string(f.size.width) + 'x'
          + std::to_string(f.size.height) + ", but " + to_string(format)
          + " halves its colour planes: both sides must be even");
    resized += padded(video_format::packed(format, f.size.width, f.size.height).size_bytes());
  }
  info.own_frames += most_held(info);
  if (resized > 0) // each slot of the camera has one in the pool of every `resize`
    info.frame_bytes = padded(info.frame_bytes) + resized;
  return probed;
}

expected<void> faulty_camera::open(const camera_environment& environment) {
  const auto probed = probe();
  if (probed.has_error())
    return probed.error();
  const auto& info = *probed;
  live_ = info.live;
  ahead_ = info.live && !info.blocks;
  most_held_ = most_held(info);
  held_.clear();
  held_.reserve(most_held_);
  last_.reset();
  lost_ = false;
  entries_.clear();
  entries_.reserve(faults_.size());
  for (const auto& f : faults_)
    entries_.emplace_back(
      f, random_draw{mixed(f.seed.value_or(environment.seed), environment.stream), entries_.size()}
           .bits());
  try {
    for (auto& e : entries_)
      e.prepare(info.media, environment.frames_ahead + info.own_frames, environment.pool);
  } catch (const failure& f) {
    return make_error(f.what_failed().code, environment.stream, f.what_failed().message);
  }
  auto within = environment;
  within.frames_ahead += most_held_;
  return inside_->open(within);
}

bool faulty_camera::wants_more() const {
  return !last_ && (ahead_ ? held_.size() < most_held_ : held_.empty());
}

void faulty_camera::pass(captured_frame f, graph_time now) {
  passing p{std::move(f), now, live_};
  for (auto& e : entries_) {
    e.pass(p, *counts_);
    if (p.lost) {
      lost_ = true;
      return;
    }
  }
  if (std::exchange(lost_, false))
    p.frame.flags |= frame_gap_before;
  auto ready = later_by(now, p.delay);
  if (!held_.empty())
    ready = std::max(ready, held_.back().ready);
  held_.push_back({std::move(p.frame), ready, p.copies});
}

/// The first of those held, or its next copy.
camera_event faulty_camera::give() {
  auto& first = held_.front();
  if (first.copies == 0) {
    auto f = std::move(first.frame);
    held_.erase(held_.begin());
    return f;
  }
  auto f = first.frame;
  --first.copies;
  first.frame.flags |= frame_duplicate;
  first.frame.flags &= static_cast<std::uint16_t>(~frame_gap_before);
  return f;
}

camera_event faulty_camera::read(graph_time now) {
  auto due = never;
  for (int turns = 0; wants_more(); ++turns) {
    if (turns == most_lost_at_once) {
      due = now;
      break;
    }
    auto e = inside_->read(now);
    if (auto* f = std::get_if<captured_frame>(&e))
      pass(std::move(*f), now);
    else if (const auto* wait = std::get_if<not_before>(&e)) {
      due = wait->due;
      break;
    } else
      last_ = std::move(e);
  }
  if (held_.empty() && last_) {
    if (std::holds_alternative<end_of_stream>(*last_))
      return end_of_stream{};
    return std::move(*std::exchange(last_, std::nullopt));
  }
  if (held_.empty())
    return not_before{due};
  if (held_.front().ready <= now)
    return give();
  return not_before{std::min(due, held_.front().ready)};
}

camera_description with_faults(camera_description d) {
  d.parameters.push_back(faults_parameter());
  d.check = [check = std::move(d.check)](
              const settings& config, const source_mark& mark, std::vector<fault>& faults) {
    if (check)
      check(config, mark, faults);
    check_faults(config, faults);
  };
  d.make = [make = std::move(d.make)](
             const settings& config, const std::string& folder) -> std::unique_ptr<camera> {
    auto made = make(config, folder);
    auto faults = faults_of(config);
    if (faults.empty())
      return made;
    return std::make_unique<faulty_camera>(std::move(made), std::move(faults));
  };
  return d;
}

} // namespace hyperframes
