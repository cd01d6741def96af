#include "actors/sinks/line_file.hpp"

#include "runtime/error.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyperframes {

namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 10U;

std::string advice(const std::string& path, int code) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto folder = fs::path{path}.parent_path();
  if (code == ENOENT && !folder.empty() && !fs::exists(folder, ignored))
    return "the folder " + folder.string() + " does not exist; make it, or name another `path`";
  if (code == EISDIR)
    return "it is a folder; name a file in `path`";
  if (code == ENOSPC)
    return "the disk is full (" + std::generic_category().message(code)
           + "); make room, or name another `path`";
  if (code == EWOULDBLOCK)
    return "something else is writing it; give each its own `path`";
  return std::generic_category().message(code);
}

} // namespace

line_file::line_file(std::string path) : path_(std::move(path)) {
  buffer_.reserve(block_bytes + block_bytes / 4);
}

line_file::line_file(std::string path, int descriptor) : line_file(std::move(path)) {
  descriptor_ = descriptor;
  regular_ = true;
}

line_file::~line_file() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

void line_file::fail(const char* doing, int code) const {
  const auto what = path_ == "-" ? std::string{"the standard output"} : path_;
  throw failure(make_error(errc::io_failed, what, std::string{doing} + ": " + advice(path_, code)));
}

void line_file::open() {
  open_at_end();
  truncate();
}

void line_file::truncate() {
  if (regular_ && ::ftruncate(descriptor_, 0) != 0)
    fail("cannot be emptied", errno);
}

void line_file::open_at_end() {
  if (path_ == "-") {
    descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0)
      fail("cannot be opened", errno);
    return;
  }
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (descriptor_ < 0)
    fail("cannot be opened", errno);
  struct stat facts {};
  regular_ = ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  // File systems without locks are no reason to refuse.
  if (regular_ && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(std::exchange(descriptor_, -1));
    fail("cannot be written", EWOULDBLOCK);
  }
}

void line_file::end_line() {
  buffer_ += '\n';
  if (buffer_.size() >= block_bytes)
    flush();
}

void line_file::flush() {
  if (buffer_.empty())
    return;
  if (descriptor_ < 0)
    open_at_end();
  write_all(buffer_);
  buffer_.clear();
}

void line_file::write_all(std::string_view block) {
  std::size_t written = 0;
  while (written < block.size()) {
    const auto n = ::write(descriptor_, block.data() + written, block.size() - written);
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
      continue;
    }
    const int code = errno;
    if (code == EINTR)
      continue;
    if (code == EAGAIN) { // someone made the standard output non-blocking
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    // What follows the last newline among the written bytes is half a line.
    const auto whole = block.substr(0, written).find_last_of('\n') + 1;
    if (regular_ && whole < written) {
      const auto end = ::lseek(descriptor_, 0, SEEK_CUR);
      if (end >= 0 && ::ftruncate(descriptor_, end - static_cast<off_t>(written - whole)) != 0)
        fail("ends in half a line and cannot be cut back", errno);
    }
    buffer_.clear();
    fail("cannot be written", code);
  }
}

void line_file::close() {
  flush();
  if (descriptor_ < 0)
    return;
  // Some file systems report a write that failed only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    fail("cannot be closed", errno);
}

} // namespace hyperframes
