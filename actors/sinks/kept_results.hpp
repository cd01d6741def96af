#pragma once

#include "actors/sinks/announced.hpp"
#include "actors/sinks/watermark.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hyperframes {

/// A file of results that an earlier run has left, and what that run announced: looked at first,
/// then made whole. Locked against every other writer until then.
class kept_results {
public:
  /// Where a stream goes on.
  struct stream_begin_at {
    std::string id;
    std::uint32_t epoch = 0;  ///< its next one
    std::uint64_t before = 0; ///< frames captured so far
  };

  /// Looks, and changes nothing. Reads the file of results from its end as far as that run has
  /// written it.
  /// @param path of the file of results; that it is not there, or empty, is a run's beginning.
  /// Throws `failure` (io_failed) where something else writes the file, it does not say which
  /// frames its run had announced, or what it says is damaged, another graph's or does not fit the
  /// lines.
  kept_results(std::string path, const std::string& graph);
  kept_results(const kept_results&) = delete;
  kept_results& operator=(const kept_results&) = delete;
  ~kept_results();

  const announced_run& run() const {
    return run_;
  }                                       ///< the earlier one; without streams where there is none
  bool begins() const { return begins_; } ///< there is none
  std::vector<stream_begin_at> streams() const;

  /// Cuts off half a line, and gives every frame that was announced and has no line one that says
  /// `lost (restart)`, stream by stream. Killed in between, it is the same file to the next one,
  /// which goes on there. Throws `failure` (io_failed).
  /// @returns what it did, as a sentence.
  std::string make_whole();

private:
  [[noreturn]] void fail(const std::string& sentence) const;
  [[noreturn]] void fail(const char* doing, int code) const;
  void look();
  std::vector<outcome_range> without_line() const;
  std::uint64_t write_lost();

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  announced_run run_;
  watermark found_;
  bool begins_ = true;
};

} // namespace hyperframes
