#include "tools/bench/lock_waits.hpp"

#include <atomic>
#include <cerrno>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

namespace hyperframes::bench {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

bool seeing = false; // set while there is one thread
std::atomic<std::uint64_t> times{0};
std::atomic<std::int64_t> took_ns{0};
std::atomic<std::uint32_t> waiting{0};

/// The C library's function of that name, which the one in this program hides.
template <class Function>
Function* hidden(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// @param try_lock says EBUSY where the lock is not free.
template <class Lock>
int timed(Lock* l, int (*try_lock)(Lock*), int (*lock)(Lock*)) {
  if (!seeing)
    return lock(l);
  if (const int got = try_lock(l); got != EBUSY)
    return got;
  const auto begin = now_ns();
  waiting.fetch_add(1, relaxed);
  const int got = lock(l);
  waiting.fetch_sub(1, relaxed);
  took_ns.fetch_add(now_ns() - begin, relaxed);
  times.fetch_add(1, relaxed);
  return got;
}

/// What the C library would do hides in its `pthread_cond_wait` how long it waits for the mutex. So
/// a condition is a count here, in the first bytes of its memory, that changes with each signal.
struct condition {
  explicit condition(pthread_cond_t* c)
    : words(reinterpret_cast<std::uint32_t*>(c)), signals(words[0]), sleepers(words[1]) {}
  std::uint32_t* words;
  std::atomic_ref<std::uint32_t> signals, sleepers;

  /// @param until on the clock that `clock_flag` (0: monotonic) names; null: for ever.
  int wait(pthread_mutex_t* m, const timespec* until, int clock_flag) {
    sleepers.fetch_add(1);
    const auto seen = signals.load();
    ::pthread_mutex_unlock(m);
    const auto slept = ::syscall(
      SYS_futex, words, FUTEX_WAIT_BITSET_PRIVATE | clock_flag, seen, until, nullptr,
      FUTEX_BITSET_MATCH_ANY);
    const bool late = slept != 0 && errno == ETIMEDOUT;
    sleepers.fetch_sub(1);
    const int got = ::pthread_mutex_lock(m);
    return got == 0 && late ? ETIMEDOUT : got;
  }
  int wake(int most) {
    if (sleepers.load() == 0) // who sleeps has counted itself while it had the mutex
      return 0;
    signals.fetch_add(1);
    ::syscall(SYS_futex, words, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
    return 0;
  }
};

int flag_of(clockid_t clock) {
  return clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0;
}

} // namespace

void see_lock_waits() {
  seeing = true;
}

lock_waits lock_waits_so_far() {
  return {times.load(relaxed), duration{took_ns.load(relaxed)}};
}

std::uint32_t waiting_for_locks() {
  return waiting.load(relaxed);
}

} // namespace hyperframes::bench

using namespace hyperframes::bench;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  static auto* const lock = hidden<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return timed<pthread_mutex_t>(
    m, [](auto* l) { return ::pthread_mutex_trylock(l); }, lock);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  static auto* const lock = hidden<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  return timed<pthread_rwlock_t>(
    l, [](auto* t) { return ::pthread_rwlock_tryrdlock(t); }, lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  static auto* const lock = hidden<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  return timed<pthread_rwlock_t>(
    l, [](auto* t) { return ::pthread_rwlock_trywrlock(t); }, lock);
}

int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  static auto* const wait = hidden<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  return seeing ? condition{c}.wait(m, nullptr, 0) : wait(c, m);
}
int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  static auto* const wait =
    hidden<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  if (!seeing)
    return wait(c, m, until);
  const bool monotonic =
    (c->__data.__wrefs & 2) != 0; // where glibc notes what pthread_cond_init was told
  return condition{c}.wait(m, until, flag_of(monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME));
}
int pthread_cond_clockwait(
  pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  static auto* const wait =
    hidden<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
      "pthread_cond_clockwait");
  return seeing ? condition{c}.wait(m, until, flag_of(clock)) : wait(c, m, clock, until);
}
int pthread_cond_signal(pthread_cond_t* c) noexcept {
  static auto* const signal = hidden<int(pthread_cond_t*)>("pthread_cond_signal");
  return seeing ? condition{c}.wake(1) : signal(c);
}
int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  static auto* const broadcast = hidden<int(pthread_cond_t*)>("pthread_cond_broadcast");
  return seeing ? condition{c}.wake(INT32_MAX) : broadcast(c);
}

} // extern "C"
