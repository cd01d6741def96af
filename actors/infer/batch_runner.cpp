#include "actors/infer/batch_runner.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

std::shared_ptr<result>
result_of(const batch& work, const batch::part& part, const label_names& labels) {
  auto r = make_recycled<result>();
  r->descriptor = part.source->descriptor;
  auto& slots = r->descriptor.slots;
  for (std::uint32_t s = 0; s < slots.size(); ++s)
    if (s < part.first || s >= part.first + part.count)
      slots[s].own = false;
  r->slots.resize(slots.size());
  r->frames = part.source->frames;
  r->labels = labels;
  r->dispatched = work.dispatched;
  r->batch_slots = work.slots;
  return r;
}

batch_runner::batch_runner(model_ptr model, std::unique_ptr<infer_session> session)
  : model_(std::move(model)), session_(std::move(session)) {}

batch_outcome batch_runner::run(const batch& work) {
  batch_outcome outcome;
  for (const auto& part : work.parts)
    outcome.results.push_back(result_of(work, part, model_->labels()));
  const bool alone = !model_->result_per_slot() && model_->time_axis() == 0;
  for (std::size_t first = 0; first < work.parts.size();) {
    const auto& pack = work.parts[first].source->pack;
    std::size_t parts = 1;
    while (!alone && first + parts < work.parts.size()
           && work.parts[first + parts].source->pack.width == pack.width
           && work.parts[first + parts].source->pack.height == pack.height)
      ++parts;
    run_together(work, first, parts, outcome);
    first += parts;
  }
  return outcome;
}

void batch_runner::run_together(const batch& work, std::size_t first_part, std::size_t parts,
                                batch_outcome& into) {
  places_.clear();
  geometry_.clear();
  valid_.clear();
  for (auto p = first_part; p < first_part + parts; ++p) {
    const auto& part = work.parts[p];
    for (auto s = part.first; s < part.first + part.count; ++s) {
      const auto& slot = part.source->descriptor.slots[s];
      places_.push_back({p, s});
      geometry_.push_back(slot.geometry);
      valid_.push_back(slot.valid ? 1 : 0);
    }
  }
  const auto& pack = work.parts[first_part].source->pack;
  slot_bytes_ = pack.slot_bytes();
  width_ = pack.width;
  height_ = pack.height;
  data_ = bring_together(work, first_part, parts, slot_bytes_, into.bytes_copied);
  std::size_t unit = 1;
  if (!model_->result_per_slot())
    unit = model_->time_axis() > 0 ? model_->time_axis() : places_.size();
  bisect(0, places_.size(), unit, into);
}

std::span<const std::byte> batch_runner::bring_together(const batch& work, std::size_t first_part,
                                                        std::size_t parts, std::size_t slot_bytes,
                                                        std::size_t& copied) {
  const auto span_of = [&](const batch::part& part) {
    return std::span{part.source->tensor.data() + part.first * slot_bytes, part.count * slot_bytes};
  };
  const auto first = span_of(work.parts[first_part]);
  auto end = first.data() + first.size();
  std::size_t bytes = first.size();
  bool neighbours = true;
  for (auto p = first_part + 1; p < first_part + parts; ++p) {
    const auto next = span_of(work.parts[p]);
    neighbours = neighbours && next.data() == end;
    end = next.data() + next.size();
    bytes += next.size();
  }
  if (neighbours)
    return {first.data(), bytes};
  scratch_.resize(std::max(scratch_.size(), bytes));
  std::size_t at = 0;
  for (auto p = first_part; p < first_part + parts; ++p) {
    const auto next = span_of(work.parts[p]);
    std::memcpy(scratch_.data() + at, next.data(), next.size());
    at += next.size();
  }
  copied += bytes;
  return {scratch_.data(), bytes};
}

expected<recycled_vector<inference_ptr>> batch_runner::try_run(std::size_t first, std::size_t count) {
  const infer_input input{data_.subspan(first * slot_bytes_, count * slot_bytes_),
                          static_cast<std::uint32_t>(count),
                          std::span{geometry_}.subspan(first, count),
                          std::span{valid_}.subspan(first, count), width_, height_};
  try {
    auto inferred = session_->run(input);
    if (inferred && inferred->size() != count)
      return make_error(errc::model_failed, model_->summary(),
                        "gave " + std::to_string(inferred->size()) + " results for "
                          + std::to_string(count) + " slots");
    return inferred;
  } catch (const worker_lost&) {
    throw;
  } catch (const std::exception& e) {
    return make_error(errc::model_failed, model_->summary(), e.what());
  }
}

void batch_runner::bisect(std::size_t first, std::size_t count, std::size_t unit,
                          batch_outcome& into) {
  if (std::none_of(valid_.begin() + static_cast<std::ptrdiff_t>(first),
                   valid_.begin() + static_cast<std::ptrdiff_t>(first + count),
                   [](auto v) { return v != 0; }))
    return;
  auto inferred = try_run(first, count);
  if (!inferred && count <= unit)
    inferred = try_run(first, count);
  if (inferred) {
    take(first, count, *inferred, unit, into);
  } else if (count <= unit) {
    reject(first, count, into);
    const auto sentence = inferred.error().to_string();
    if (std::ranges::find(into.errors, sentence) == into.errors.end())
      into.errors.push_back(sentence);
  } else {
    const auto half = std::max(unit, count / 2 / unit * unit);
    bisect(first, half, unit, into);
    bisect(first + half, count - half, unit, into);
  }
}

void batch_runner::take(std::size_t first, std::size_t count,
                        const recycled_vector<inference_ptr>& inferred, std::size_t unit,
                        batch_outcome& into) {
  for (std::size_t begin = 0; begin < count; begin += unit) {
    const auto end = std::min(count, begin + unit);
    std::int32_t carrier = -1; // the slot whose inference holds for the whole run
    if (!model_->result_per_slot())
      for (auto i = begin; i < end; ++i)
        if (inferred[i])
          carrier = static_cast<std::int32_t>(places_[first + i].slot);
    for (auto i = begin; i < end; ++i) {
      if (!valid_[first + i])
        continue;
      const auto& place = places_[first + i];
      auto& slot = into.results[place.part]->slots[place.slot];
      slot.inferred = inferred[i];
      if (!inferred[i])
        slot.refers_to = carrier;
    }
  }
}

void batch_runner::reject(std::size_t first, std::size_t count, batch_outcome& into) {
  for (auto i = first; i < first + count; ++i) {
    if (!valid_[i])
      continue;
    auto& slot = into.results[places_[i].part]->slots[places_[i].slot];
    slot.what = outcome::failed;
    slot.why = reason::inference;
  }
}

expected<void> batch_runner::warm_up(std::uint32_t slots, std::uint32_t width,
                                     std::uint32_t height) {
  auto pack = model_->input();
  if (pack.width == 0)
    pack.width = width;
  if (pack.height == 0)
    pack.height = height;
  places_.assign(slots, {});
  geometry_.assign(slots, {1, 1, 0, 0, pack.width, pack.height});
  valid_.assign(slots, 1);
  slot_bytes_ = pack.slot_bytes();
  width_ = pack.width;
  height_ = pack.height;
  scratch_.assign(slots * slot_bytes_, std::byte{0});
  data_ = scratch_;
  const auto inferred = try_run(0, slots);
  if (!inferred)
    return inferred.error();
  return {};
}

} // namespace hyperframes
