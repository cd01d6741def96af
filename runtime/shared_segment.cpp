#include "runtime/shared_segment.hpp"

#include <cerrno>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyperframes::detail {

namespace {

constexpr std::size_t page = 4096;

using generation = std::atomic<std::uint64_t>;

std::string reason_of(int number) {
  return std::generic_category().message(number);
}

/// @returns where the first slot stands, or nothing where the generations are too many.
std::optional<std::size_t> first_slot(std::uint64_t slots) {
  constexpr auto most =
    (std::numeric_limits<std::size_t>::max() - sizeof(segment_header) - page) / sizeof(generation);
  if (slots > most)
    return {};
  return (sizeof(segment_header) + slots * sizeof(generation) + page - 1) / page * page;
}

class descriptor {
public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int give() { return std::exchange(number_, -1); }

private:
  int number_;
};

error none(const std::string& call, int number) {
  std::string fix = "use fewer streams or smaller frames";
  if (number == EMFILE || number == ENFILE)
    fix = "each pool takes a descriptor: raise the bound on open files (`ulimit -n`)";
  else if (number == ENOSYS || number == EINVAL)
    fix = "shared memory needs Linux 5.1 or newer: place the graph's stages in one process";
  return make_error(
    errc::out_of_memory, "shared memory",
    "cannot be had as shared memory (" + call + ": " + reason_of(number) + "); " + fix);
}

} // namespace

// --- the owner's

expected<std::unique_ptr<owned_segment>>
owned_segment::make(std::size_t slots, std::size_t stride) {
  const auto first = first_slot(slots);
  if (!first || slots * stride > std::numeric_limits<off_t>::max() - *first)
    return none("mmap", ENOMEM);
  const auto bytes = *first + slots * stride;
  auto made = std::unique_ptr<owned_segment>{new owned_segment};
  segment_header header;
  if (::getrandom(header.nonce.data(), sizeof header.nonce, 0) != sizeof header.nonce)
    return none("getrandom", errno);
  descriptor file{::memfd_create("hyperframes", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file)
    return none("memfd_create", errno);
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return none("ftruncate", errno);
  auto* begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (begin == MAP_FAILED)
    return none("mmap", errno);
  made->mapping_ = {static_cast<std::byte*>(begin), bytes};
  // From here on nobody makes it smaller, and nobody maps it for writing but us.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0)
    return none("F_ADD_SEALS", errno);
  auto* written = new (begin) segment_header;
  written->nonce = header.nonce;
  written->slots = slots;
  written->stride = stride;
  auto* counts = reinterpret_cast<generation*>(written + 1);
  for (std::size_t i = 0; i < slots; ++i)
    new (counts + i) generation{0};
  made->generations_ = {counts, slots};
  made->bytes_ = made->mapping_.subspan(*first);
  made->address_ = {::getpid(), file.give(), header.nonce};
  return made;
}

owned_segment::~owned_segment() {
  if (address_.descriptor >= 0) {
    reinterpret_cast<segment_header*>(mapping_.data())->retired.store(1, std::memory_order_release);
    ::close(address_.descriptor);
  }
  if (!mapping_.empty())
    ::munmap(mapping_.data(), mapping_.size());
}

// --- a borrower's

namespace {

std::string described(const segment_address& a) {
  return "process " + std::to_string(a.process) + ", descriptor " + std::to_string(a.descriptor);
}

error unusable(const segment_address& a, const std::string& message) {
  return make_error(errc::io_failed, "shared memory of " + described(a), message);
}

error not_opened(const segment_address& a, int number) {
  std::string why = "cannot be opened (" + reason_of(number) + "); ";
  if (number == ENOENT)
    why += "its owner is gone, on another host or in a container of its own";
  else if (number == EACCES || number == EPERM)
    why += "its owner must run as the same user as this process";
  else
    why += "send the bytes instead";
  return unusable(a, why);
}

/// Does not touch what it names unless that is a file: opening a pipe or a device would have
/// effects.
expected<int> open_file(const segment_address& a) {
  const auto path = "/proc/" + std::to_string(a.process) + "/fd/" + std::to_string(a.descriptor);
  const descriptor place{::open(path.c_str(), O_PATH | O_CLOEXEC)};
  if (!place)
    return not_opened(a, errno);
  struct stat found {};
  if (::fstat(place.get(), &found) != 0)
    return not_opened(a, errno);
  if (!S_ISREG(found.st_mode))
    return unusable(
      a, "expected shared memory, found something that is no file; its owner is gone"
         " and its id has passed to another process, or the address is wrong");
  const auto same = "/proc/self/fd/" + std::to_string(place.get());
  const int file = ::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0)
    return not_opened(a, errno);
  return file;
}

} // namespace

expected<std::unique_ptr<borrowed_segment>> borrowed_segment::map(const segment_address& from) {
  if (from.process <= 0 || from.descriptor < 0)
    return unusable(from, "no process has this address; whoever sent it sent something else");
  const auto opened = open_file(from);
  if (!opened)
    return opened.error();
  const descriptor file{*opened};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  struct stat found {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(file.get(), &found) != 0)
    return unusable(
      from, "expected shared memory that nobody can shrink, found another file; its"
            " owner is gone and its id has passed to another process, or the address"
            " is wrong");
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (bytes < sizeof(segment_header))
    return unusable(
      from, "expected at least " + std::to_string(sizeof(segment_header)) + " bytes, found "
              + std::to_string(bytes));
  auto* begin = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (begin == MAP_FAILED)
    return not_opened(from, errno);
  auto made = std::unique_ptr<borrowed_segment>{new borrowed_segment};
  made->address_ = from;
  made->mapping_ = {static_cast<const std::byte*>(begin), bytes};
  if (const auto sound = made->check(); !sound)
    return sound.error();
  return made;
}

borrowed_segment::~borrowed_segment() {
  if (!mapping_.empty())
    ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
}

const segment_header& borrowed_segment::header() const {
  return *reinterpret_cast<const segment_header*>(mapping_.data());
}

expected<void> borrowed_segment::check() {
  const auto& h = header();
  if (h.magic != segment_header::expected_magic)
    return unusable(
      address_, "expected shared memory of this version of HyperFrames, found other"
                " content; run one version on all nodes");
  if (h.nonce != address_.nonce)
    return unusable(
      address_, "the descriptor names other memory by now; the memory that was meant"
                " is gone");
  const volatile auto& slots = h.slots; // read once: its owner can still write it
  const volatile auto& stride = h.stride;
  slots_ = slots;
  stride_ = stride;
  const auto first = first_slot(slots_);
  if (
    !first || *first > mapping_.size()
    || (slots_ > 0 && stride_ > (mapping_.size() - *first) / slots_))
    return unusable(
      address_, std::to_string(slots_) + " slots of " + std::to_string(stride_)
                  + " bytes do not fit its " + std::to_string(mapping_.size())
                  + " bytes; its owner is broken");
  first_ = *first;
  return {};
}

bool borrowed_segment::retired() const {
  return header().retired.load(std::memory_order_acquire) != 0;
}

expected<std::span<const std::byte>> borrowed_segment::content(const shared_handle& h) const {
  const auto name = "slot " + std::to_string(h.slot);
  if (h.slot >= slots_)
    return unusable(
      address_, name + " was named, and there are " + std::to_string(slots_)
                  + "; whoever sent the handle is broken");
  if (h.bytes == 0 || h.bytes > stride_)
    return unusable(
      address_, name + " is to hold " + std::to_string(h.bytes) + " bytes, and has "
                  + std::to_string(stride_) + "; whoever sent the handle is broken");
  const auto* counts = reinterpret_cast<const generation*>(&header() + 1);
  const auto now = counts[h.slot].load(std::memory_order_acquire);
  if (now != h.generation)
    return unusable(
      address_, name + " was lent in generation " + std::to_string(h.generation) + " and is in "
                  + std::to_string(now) + "; its owner took the loan back before it was opened");
  return mapping_.subspan(first_ + h.slot * stride_, h.bytes);
}

} // namespace hyperframes::detail
