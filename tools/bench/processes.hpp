#pragma once

#include "runtime/buffer_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Messages that carry content of some size from this process to another one of this host, in
/// several ways. At both ends the content is a buffer of a pool where the way allows it; eight
/// messages are under way at once, and each is acknowledged when the receiver lets it go.
namespace hyperframes::bench {

struct passing_load {
  std::size_t bytes = 0;      ///< of a message, a multiple of 8 and at least 16
  std::uint64_t warm = 0;     ///< messages before it counts
  std::uint64_t messages = 0; ///< that count
  bool read = false;          ///< the receiver reads every byte, else the first and last eight
};

/// What a message took.
struct passing {
  double seconds = 0;     ///< on the clock
  double cpu_seconds = 0; ///< of both processes
};

/// Runs `receive_passing` with these arguments in another process. Blocks until it has ended.
using receiver = std::function<std::vector<double>(const std::vector<std::string>& arguments)>;

/// The message carries a handle. Throws `failure` where content is wrong or the receiver fails, as
/// do the others.
passing pass_shared(const passing_load& load, const receiver& start);
/// The bytes go through a TCP connection over loopback, from the pool and into a pool.
passing pass_by_tcp(const passing_load& load, const receiver& start);
#ifdef HYPERFRAMES_BENCH_CAF_IO
/// The bytes are in a message of CAF's, which goes through its network module over loopback. They
/// are serialised as one span.
passing pass_by_caf(const passing_load& load, const receiver& start);
#endif

/// The receiving end. @returns the CPU seconds of all messages that count.
std::vector<double> receive_passing(const std::vector<std::string>& arguments);

inline constexpr std::uint64_t passing_window = 8;

/// A pool whose pages are there already.
buffer_pool
touched_pool(std::size_t slots, std::size_t bytes, const std::shared_ptr<memory_backing>& backing);
/// Marks content with its number, at both ends.
void stamp(std::byte* content, std::size_t bytes, std::uint64_t number);
/// Throws `failure` where it has another one; reads all of it where that is asked for.
void look_at(const std::byte* content, std::uint64_t number, const passing_load& load);

/// The arguments of `receive_passing`.
struct receiver_arguments {
  std::string way;
  std::uint16_t port = 0;
  passing_load load;
  std::vector<std::string> to_words() const;
  static receiver_arguments of(const std::vector<std::string>& words);
};

double receive_shared(const receiver_arguments& a);
double receive_by_tcp(const receiver_arguments& a);
double receive_by_caf(const receiver_arguments& a);

} // namespace hyperframes::bench
