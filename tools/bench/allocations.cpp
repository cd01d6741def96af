#include "tools/bench/allocations.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

namespace hyperframes::bench {

namespace {

constexpr std::size_t depth = 14, places = 1 << 14;

/// A call path and how often it was taken. Filled without a lock: who claims a place writes it
/// once.
struct path {
  std::atomic<std::uint64_t> hash{0};
  std::atomic<std::uint64_t> times{0};
  std::atomic<bool> written{false};
  std::array<void*, depth> frames{};
};

std::array<path, places> paths;
std::atomic<bool> on{false};
thread_local bool inside = false; // what backtrace allocates itself is not counted

void record() {
  inside = true;
  std::array<void*, depth> frames{};
  const auto n = static_cast<std::size_t>(std::max(0, ::backtrace(frames.data(), depth)));
  std::uint64_t hash = 1469598103934665603ULL;
  for (std::size_t i = 0; i < n; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 1099511628211ULL;
  hash |= 1;
  for (std::size_t probe = 0; probe < places; ++probe) {
    auto& p = paths[(hash + probe) % places];
    std::uint64_t empty = 0;
    if (p.hash.compare_exchange_strong(empty, hash)) {
      p.frames = frames;
      p.written = true;
      empty = hash;
    }
    if (empty == hash) {
      p.times.fetch_add(1, std::memory_order_relaxed);
      break;
    }
  }
  inside = false;
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : symbol;
  std::free(text);
  return result;
}

/// The library's file without its folder.
std::string file_of(const Dl_info& info) {
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(path.rfind('/') + 1);
}

/// The first function that is neither the allocator's nor the standard library's.
allocation_site site_of(const path& p) {
  Dl_info self{};
  ::dladdr(reinterpret_cast<void*>(&record), &self);
  bool counted = false; // frames up to operator new are the hook's
  for (auto* frame : p.frames) {
    Dl_info info{};
    if (!frame || ::dladdr(static_cast<char*>(frame) - 1, &info) == 0)
      continue;
    const std::string name = info.dli_sname ? demangled(info.dli_sname) : "";
    if (!counted) {
      counted = name.starts_with("operator new");
      continue;
    }
    if (name.starts_with("operator new"))
      continue;
    const auto file = file_of(info);
    if (
      file.starts_with("libcaf") || name.find("caf::make_") == 0 || name.starts_with("caf::")
      || name.find(" caf::") != std::string::npos)
      return {owner::caf, name.empty() ? file : name, 0};
    if (info.dli_fbase != self.dli_fbase) {
      if (file.starts_with("libstdc++"))
        continue;
      return {owner::others, file, 0};
    }
    if (name.empty()) // a function that is not exported: of this program
      return {owner::ours, "a local function", 0};
    if (name.starts_with("std::") || name.find(" std::") < name.find('('))
      continue;
    return {name.find("hyperframes::") != std::string::npos ? owner::ours : owner::others, name, 0};
  }
  return {owner::ours, "unknown", 0}; // in doubt against us
}

} // namespace

counting::counting() {
  std::array<void*, 2> first{};
  ::backtrace(first.data(), 2); // loads what it needs
  for (auto& p : paths) {
    p.hash = 0;
    p.times = 0;
    p.written = false;
  }
  on = true;
}

counting::~counting() {
  on = false;
}

std::vector<allocation_site> counting::stop() {
  on = false;
  std::map<std::pair<owner, std::string>, std::uint64_t> sums;
  for (const auto& p : paths)
    if (p.written) {
      const auto site = site_of(p);
      sums[{site.whose, site.name}] += p.times;
    }
  std::vector<allocation_site> result;
  for (const auto& [key, times] : sums)
    result.push_back({key.first, key.second, times});
  std::ranges::sort(result, std::greater{}, &allocation_site::times);
  return result;
}

std::uint64_t times_by(const std::vector<allocation_site>& sites, owner whose) {
  std::uint64_t sum = 0;
  for (const auto& s : sites)
    sum += s.whose == whose ? s.times : 0;
  return sum;
}

} // namespace hyperframes::bench

namespace {

void* counted_new(std::size_t size, std::size_t alignment) {
  using namespace hyperframes::bench;
  if (on.load(std::memory_order_relaxed) && !inside)
    record();
  size = std::max<std::size_t>(1, size);
  void* p = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
              ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
              : std::malloc(size);
  if (!p)
    throw std::bad_alloc{};
  return p;
}

} // namespace

void* operator new(std::size_t size) {
  return counted_new(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
