#pragma once

#include "graphs/hyperframes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace hyperframes::test {

/// What a stage of type `callback` behind an unbundle got, and whether it came in order:
///
///   collected_results results;
///   running run{g, {.callbacks = {{"program", results.taker()}}}};
///   run.finish();
///   CHECK(results.fault() == "");
///
/// `count` may be asked while the graph runs, everything else only after its end.
class collected_results {
public:
  /// @param also called with each result after it was noted.
  explicit collected_results(std::function<void(const frame_result&)> also = {})
    : also_(std::move(also)) {}

  std::function<void(const item&)> taker() {
    return [this](const item& i) { take(i); };
  }
  std::uint64_t count() const { return count_; }

  /// The first result that was not the next one of its stream by (epoch, frame id), as a sentence.
  const std::string& fault() const { return fault_; }
  const std::vector<frame_result_ptr>& of(stream_index stream) const {
    static const std::vector<frame_result_ptr> none;
    return stream < results_.size() ? results_[stream] : none;
  }

private:
  void take(const item& i) {
    const auto* r = std::get_if<frame_result_ptr>(&i);
    if (!r) {
      note("an item of type " + std::string{to_string(type_of(i))} + " came");
      return;
    }
    const auto& meta = (*r)->meta;
    if (meta.stream >= results_.size())
      results_.resize(meta.stream + 1);
    auto& own = results_[meta.stream];
    const auto last =
      own.empty() ? frame_position{0, ~std::uint64_t{0}} : own.back()->meta.position();
    const bool next = meta.epoch == last.epoch && meta.frame_id == last.frame_id + 1;
    const bool first = meta.epoch > last.epoch && meta.frame_id == 0; // an epoch may be empty
    if (!next && !first)
      note(
        "stream " + std::to_string(meta.stream) + ": (" + std::to_string(meta.epoch) + ", "
        + std::to_string(meta.frame_id) + ") came after (" + std::to_string(last.epoch) + ", "
        + std::to_string(last.frame_id) + ')');
    own.push_back(*r);
    if (also_)
      also_(**r);
    ++count_;
  }
  void note(std::string sentence) {
    if (fault_.empty())
      fault_ = std::move(sentence);
  }

  std::function<void(const frame_result&)> also_;
  std::vector<std::vector<frame_result_ptr>> results_; ///< by stream
  std::string fault_;
  std::atomic<std::uint64_t> count_{0};
};

/// What a program adds to a graph: functions for its stages of type `callback`, by name.
inline run_options calling(
  std::map<std::string, std::function<void(const item&)>> callbacks,
  std::function<void(const event&)> on_event = {}) {
  run_options options;
  options.callbacks = std::move(callbacks);
  options.on_event = std::move(on_event);
  return options;
}

/// Waits for a condition that other threads bring about.
template <class Condition>
void wait_for(const char* what, Condition&& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit)
      FAIL("waited a minute in vain for ", what);
    std::this_thread::yield();
  }
}

/// A fixed amount of work of a processor, some 20 us of one of 2024.
inline void work_a_little() {
  volatile std::uint32_t x = 1;
  for (int i = 0; i < 20'000; ++i)
    x = x * 1664525U + 1013904223U;
}

} // namespace hyperframes::test
