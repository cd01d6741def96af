#include "tools/progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace hyperframes::command {

namespace {

std::uint64_t of(const account_sums& sums, outcome o) {
  return sums.outcomes[static_cast<std::size_t>(o)];
}

} // namespace

std::string progress_text(const run_progress& p, double fps) {
  char text[200];
  std::snprintf(text, sizeof text, "%7.1f s  %llu frames, %.1f fps, depth %u, %llu dropped, %llu expired",
                in_seconds(p.elapsed), static_cast<unsigned long long>(p.ledger.ended()), fps,
                p.deepest, static_cast<unsigned long long>(of(p.ledger, outcome::dropped)),
                static_cast<unsigned long long>(of(p.ledger, outcome::expired)));
  std::string line = text;
  if (p.expected && fps > 0 && *p.expected > p.ledger.ended()) {
    std::snprintf(text, sizeof text, ", %.0f s left",
                  static_cast<double>(*p.expected - p.ledger.ended()) / fps);
    line += text;
  }
  return line;
}

progress_line::progress_line(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  const std::lock_guard lock{mutex_};
  clear();
}

void progress_line::clear() {
  if (shown_)
    std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void progress_line::show(const run_progress& p) {
  const std::lock_guard lock{mutex_};
  if (quiet_ || !terminal_)
    return;
  const auto seconds = in_seconds(p.elapsed);
  const auto ended = p.ledger.ended();
  if (seconds > last_seconds_)
    fps_ = static_cast<double>(ended - last_ended_) / (seconds - last_seconds_);
  last_seconds_ = seconds;
  last_ended_ = ended;
  clear();
  std::fputs(progress_text(p, fps_).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::tell(const event& e) {
  const std::lock_guard lock{mutex_};
  if (quiet_ && !e.failed)
    return;
  if (e.failed) {
    constexpr std::string_view failed = "failed: ";
    const std::string_view sentence = e.sentence;
    told_.insert(
      e.where + ": "
      + std::string{sentence.substr(sentence.starts_with(failed) ? failed.size() : 0)});
  }
  clear();
  std::fprintf(stderr, "%s %.3f s %s: %s\n", e.failed ? "error" : "note",
               in_seconds(e.when - graph_time{}), e.where.c_str(), e.sentence.c_str());
}

bool progress_line::has_told(const std::string& failure) {
  const std::lock_guard lock{mutex_};
  return told_.contains(failure);
}

} // namespace hyperframes::command
