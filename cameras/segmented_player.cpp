#include "cameras/segmented_player.hpp"

#include "cameras/decoder_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hyperframes {

segmented_player::segmented_player(
  const std::string& path, std::uint32_t decoders, int threads,
  const std::atomic<bool>& interrupted)
  : path_(path),
    decoders_(std::max(1U, decoders)),
    threads_each_(threads),
    interrupted_(interrupted),
    whole_(path, threads, interrupted) {}

segmented_player::~segmented_player() {
  stop();
}

void segmented_player::interrupt() noexcept {
  const std::lock_guard lock{mutex_};
  changed_.notify_all();
}

std::size_t segmented_player::ahead() const {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const auto& p = *whole_.source().stream->codecpar;
  const auto each =
    decoder_pool::slot_bytes(nullptr, static_cast<AVPixelFormat>(p.format), p.width, p.height);
  return std::clamp<std::size_t>(bytes / std::max<std::size_t>(1, each), 4, 256);
}

std::size_t segmented_player::decoder_frames() const {
  if (decoders_ == 1)
    return whole_.decoder_frames();
  return decoders_ * (whole_.decoder_frames() + ahead()) + 1; // and the one handed over
}

expected<void> segmented_player::open() {
  stop();
  pictures_ = earlier_pictures_ = 0;
  index_.reset();
  return whole_.open();
}

expected<void> segmented_player::begin(decoder_pool& pool) {
  return decoders_ == 1 ? whole_.begin(pool) : start(pool);
}

expected<void> segmented_player::begin_again(decoder_pool& pool) {
  earlier_pictures_ = pictures_;
  return decoders_ == 1 ? whole_.begin_again(pool) : start(pool);
}

void segmented_player::close() {
  stop();
  whole_.close();
}

film_player::event segmented_player::next() {
  auto event = decoders_ == 1 ? whole_.next() : next_in_order();
  if (std::holds_alternative<film_player::picture>(event))
    ++pictures_;
  return event;
}

expected<void> segmented_player::start(decoder_pool& pool) {
  stop();
  if (!index_)
    index_ = film_index::of(whole_.source(), interrupted_);
  ahead_ = ahead();
  pool_ = &pool;
  stopping_ = false;
  begun_ = reading_ = 0;
  piece_ = 0;
  try {
    for (std::uint32_t i = 0; i < decoders_; ++i)
      threads_.emplace_back([this] { decode(); });
  } catch (const std::system_error& e) {
    stop();
    return make_error(
      errc::camera_failed, path_, std::string{"no thread for a decoder: "} + e.what());
  }
  return {};
}

void segmented_player::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    changed_.notify_all();
  }
  for (auto& t : threads_)
    t.join();
  threads_.clear();
  segments_.clear();
  handed_.reset();
}

/// A decoder's thread.
void segmented_player::decode() {
  film_player player{path_, threads_each_, interrupted_};
  for (auto mine = claim(); mine; mine = claim())
    if (!play(player, mine->first, mine->second))
      return;
}

/// @returns false where there is nothing more to do: the segment failed, or all is to end.
bool segmented_player::play(
  film_player& player, std::uint64_t number, const film_segment& range) try {
  const auto fail = [&](error e) {
    const std::lock_guard lock{mutex_};
    segments_[number].failed = std::move(e);
    changed_.notify_all();
    return false;
  };
  if (auto opened = player.open(); opened.has_error())
    return fail(opened.error());
  if (auto begun = player.begin(*pool_, range); begun.has_error())
    return fail(begun.error());
  for (;;) {
    auto event = player.next();
    if (auto* e = std::get_if<error>(&event))
      return fail(std::move(*e));
    if (std::holds_alternative<film_player::end_of_film>(event))
      break;
    waiting w;
    if (auto* decoded = std::get<film_player::picture>(event).content) {
      w.content.reset(av_frame_alloc());
      if (!w.content)
        return fail(make_error(errc::camera_failed, path_, "there is no memory for a picture"));
      av_frame_move_ref(w.content.get(), decoded);
    }
    if (!put(number, std::move(w)))
      return false;
  }
  const std::lock_guard lock{mutex_};
  segments_[number].done = true;
  changed_.notify_all();
  return true;
} catch (const std::exception& e) {
  const std::lock_guard lock{mutex_};
  segments_[number].failed = make_error(errc::camera_failed, path_, e.what());
  changed_.notify_all();
  return false;
}

/// Waits until a segment may be begun. @returns none where there is none, or all is to end.
std::optional<std::pair<std::uint64_t, film_segment>> segmented_player::claim() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] {
    return stopping_ || interrupted_ || piece_ >= index_->pieces() || begun_ < reading_ + decoders_;
  });
  if (stopping_ || interrupted_ || piece_ >= index_->pieces())
    return std::nullopt;
  const auto left = index_->packets_from(piece_);
  const auto wanted = std::min<std::uint64_t>(ahead_, left / (2 * std::uint64_t{decoders_}));
  auto end = piece_ + 1;
  while (end < index_->pieces() && left - index_->packets_from(end) < wanted)
    ++end;
  const auto range = index_->segment(std::exchange(piece_, end), end);
  const auto number = begun_++;
  segments_[number];
  changed_.notify_all();
  return std::pair{number, range};
}

/// Waits for room. @returns false where all is to end.
bool segmented_player::put(std::uint64_t number, waiting picture) {
  std::unique_lock lock{mutex_};
  auto& mine = segments_[number];
  changed_.wait(lock, [&] { return stopping_ || interrupted_ || mine.pictures.size() < ahead_; });
  if (stopping_ || interrupted_)
    return false;
  mine.pictures.push_back(std::move(picture));
  changed_.notify_all();
  return true;
}

film_player::event segmented_player::next_in_order() {
  std::unique_lock lock{mutex_};
  handed_.reset();
  for (;;) {
    changed_.wait(lock, [this] {
      if (interrupted_)
        return true;
      const auto at = segments_.find(reading_);
      if (at == segments_.end())
        return piece_ >= index_->pieces() && reading_ == begun_;
      return !at->second.pictures.empty() || at->second.done || at->second.failed;
    });
    if (interrupted_)
      return make_error(errc::stopped, path_, "reading was interrupted");
    const auto at = segments_.find(reading_);
    if (at == segments_.end())
      return film_player::end_of_film{};
    auto& s = at->second;
    if (!s.pictures.empty()) {
      handed_ = std::move(s.pictures.front().content);
      s.pictures.pop_front();
      changed_.notify_all();
      return film_player::picture{handed_.get()};
    }
    if (s.failed)
      return *s.failed;
    segments_.erase(at);
    ++reading_;
    changed_.notify_all();
  }
}

} // namespace hyperframes
