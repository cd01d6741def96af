#pragma once

#include "actors/infer/model.hpp"
#include "tools/bench/ladder.hpp"

#include <opencv2/core.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace hyperframes::bench {

constexpr unsigned ladder_batch = 8;

/// A classifier as every rung runs it: the runtime and the session's settings are those of the
/// stage `infer`. Warmed up when it is made. One thread at a time. Throws `failure` where the model
/// is none.
class classifier {
public:
  classifier(const std::string& model, unsigned threads, unsigned slots);
  cv::Size size() const;
  const pack_spec& input() const { return model_->input(); }
  /// @param blob [N,3,H,W] float32.
  /// @returns how many frames got a class.
  std::size_t run(const cv::Mat& blob);
  std::size_t run(std::span<const std::byte> slots, std::uint32_t count);

private:
  model_ptr model_;
  std::unique_ptr<infer_session> session_;
  std::vector<slot_geometry> geometry_;
  std::vector<std::uint8_t> valid_;
};

/// Called by each rung when its sessions and its film are open: what it takes counts from there.
using begin_counting = std::function<void()>;

/// @returns frames that got a class.
std::uint64_t one_by_one(const ladder_work& work, const begin_counting& begin);
std::uint64_t prefetch(const ladder_work& work, const begin_counting& begin);
std::uint64_t batch(const ladder_work& work, const begin_counting& begin);
std::uint64_t pipeline(const ladder_work& work, const begin_counting& begin);
std::uint64_t with_hyperframes(const ladder_work& work, const begin_counting& begin, unsigned size);

} // namespace hyperframes::bench
