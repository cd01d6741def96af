#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

/// Memory for what lives as long as a frame is under way: results, descriptors, lists of outcomes.
/// It is made on one thread and let go on another, again and again; here it goes round, and the
/// heap is asked only while more is under way than ever before.
///
///   auto r = make_recycled<result>();        // as make_shared
///   recycled_vector<outcome_range> ranges;   // as std::vector
namespace hyperframes {

/// @returns `bytes` bytes, aligned as by operator new; throws std::bad_alloc. Any thread; takes a
/// lock for one block in many, never while the heap is asked.
void* take_recycled(std::size_t bytes);
/// Gives back what `take_recycled(bytes)` gave. Any thread. Up to 64 KiB it is kept for the next
/// one of about that size, above it goes to the heap. What is kept is never more than what was in
/// use at once, and two lots (at most 4 KiB each, or one block) per size and thread.
void give_recycled(void* memory, std::size_t bytes) noexcept;

template <class T>
struct recycling_allocator {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;
  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T))
      throw std::bad_array_new_length{};
    return static_cast<T*>(take_recycled(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept { give_recycled(p, n * sizeof(T)); }
  friend bool operator==(recycling_allocator, recycling_allocator) { return true; }
};

template <class T>
using recycled_vector = std::vector<T, recycling_allocator<T>>;
template <class T>
using recycled_deque = std::deque<T, recycling_allocator<T>>;
template <class Key, class T>
using recycled_map = std::map<Key, T, std::less<Key>, recycling_allocator<std::pair<const Key, T>>>;

template <class T, class... Args>
std::shared_ptr<T> make_recycled(Args&&... args) {
  return std::allocate_shared<T>(recycling_allocator<T>{}, std::forward<Args>(args)...);
}

/// As std::function<R()>, but what it holds stands in recycled memory, shared by its copies.
template <class R>
class recycled_function {
public:
  recycled_function() = default;
  recycled_function(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, recycled_function> && std::is_invocable_v<F&>)
  recycled_function(F&& f) : body_(make_recycled<holder<std::decay_t<F>>>(std::forward<F>(f))) {}

  R operator()() const { return body_->call(); }
  explicit operator bool() const noexcept { return body_ != nullptr; }

private:
  struct body {
    virtual ~body() = default;
    virtual R call() = 0;
  };
  template <class F>
  struct holder final : body {
    explicit holder(F f) : function(std::move(f)) {}
    R call() override { return function(); }
    F function;
  };
  std::shared_ptr<body> body_;
};

} // namespace hyperframes
