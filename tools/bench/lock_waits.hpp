#pragma once

#include "runtime/time.hpp"

#include <cstdint>

/// Sees how long the threads of this process wait for locks, whoever locks: it stands in for the C
/// library's `pthread_mutex_lock`, its read-write locks and its condition variables.
///
/// A lock that is free is taken and not timed. One that is not is waited for, spinning and sleep
/// together, from the moment at which it was found taken. A thread that waits for a condition waits
/// for work, which does not count; that it must have the lock back before it goes on does. What is
/// not seen: locks inside the C library (`malloc`), and what spins on an atomic variable of its
/// own.
namespace hyperframes::bench {

/// From now on waits are seen. Call it before there is a second thread: what waits for a condition
/// when it is called may never be woken. Until then the C library's own functions are used.
void see_lock_waits();

struct lock_waits {
  std::uint64_t times = 0; ///< that a lock was not free
  duration took{};         ///< until it was, all of them together
};
lock_waits lock_waits_so_far();

/// Threads that wait for a lock right now.
std::uint32_t waiting_for_locks();

} // namespace hyperframes::bench
