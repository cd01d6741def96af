#pragma once

#include "runtime/error.hpp"
#include "runtime/frame.hpp"
#include "runtime/stage.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Which frames a run has captured, in a file that outlives its process: what a later run needs to
/// say what became of each.
namespace hyperframes {

/// What such a file says.
struct announced_run {
  struct stream {
    std::string id;
    bool written = true;           ///< its results go into the file beside which this one stands
    std::uint32_t first_epoch = 0; ///< of this run; those before are earlier runs'
    std::uint64_t before = 0;      ///< frames that earlier runs have captured
    std::map<std::uint32_t, std::uint64_t> frames{}; ///< of each epoch that has any
  };
  std::string graph;
  std::uint32_t run = 0; ///< counts the runs that went on, from 0
  std::vector<stream>
    streams; ///< of the graph, in its order; behind them those that were there before
};

/// Where it stands: beside the file of results.
std::string announced_path(const std::string& results);

/// Before whoever has the lock replaces the file of results: what stands beside it goes. Throws
/// `failure` (io_failed).
void forget_announced(const std::string& results);

/// @returns what the bytes of such a file say; `io_failed` without a place, the end of a sentence
/// that begins with the file's name, where they are none. Takes no more memory than they do, times
/// a few.
expected<announced_run> read_announced(std::string_view bytes);

/// The file of a run: its sink makes it, and whoever counts frames as captured writes to it.
///
///   header   a line of JSON: `announced_run` without `frames`, padded with spaces to 4096 bytes
///   slots    for each stream 8 bytes epoch and 8 bytes frames: how many of it are captured; padded
///   too records  for each epoch that is over and has frames: 4 bytes stream, 4 epoch, 8 frames
///
/// Numbers are as the machine has them. The slots are memory that the file shares: a frame costs a
/// store, which holds whatever ends the process. (Not what ends the machine.) A change of epoch
/// writes a record.
class announced_file {
public:
  announced_file(std::string path, announced_run run)
    : path_(std::move(path)), run_(std::move(run)) {}
  announced_file(const announced_file&) = delete;
  announced_file& operator=(const announced_file&) = delete;
  ~announced_file();

  /// Makes the file in place of one that is there: a reader finds the one or the other, whole.
  /// Before any frame is captured, by whoever holds the lock on the file of results. Throws
  /// `failure` (io_failed).
  void begin();
  /// Says that the frame at `last`, and with it those before it in its epoch, is captured: before
  /// anything of it can reach a sink. One thread at a time for each stream. Allocates nothing.
  void announce(stream_index stream, frame_position last) noexcept;
  /// Throws `failure` (io_failed) where an epoch's record could not be written.
  void check() const;

private:
  struct slot {
    std::uint64_t epoch, frames;
  };
  [[noreturn]] void fail(const char* doing, int code) const;
  void make(const std::string& path);

  std::string path_;
  announced_run run_;
  int descriptor_ = -1;
  slot* slots_ = nullptr; ///< null until `begin`
  std::size_t slot_bytes_ = 0, streams_ = 0;
  std::atomic<int> problem_ = 0; ///< the system's number
};

/// What `graphs` hands to a `jsonl` whose run keeps such a file.
struct announced_resource : stage_resource {
  std::shared_ptr<announced_file> file;
  bool goes_on = false; ///< behind what the file of results has, which else is replaced
};

} // namespace hyperframes
