#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace hyperframes::test {

/// Another process, with what it writes. The built command, say:
///
///   process p{{HYPERFRAMES_COMMAND, "validate", "graph.yaml"}, folder.path()};
///   CHECK(p.wait() == 2);
///   CHECK(p.err() == "...");
///
/// Whatever takes longer than two minutes fails the test; a process never outlives its object.
class process {
public:
  /// @param environment comes on top of this process's.
  process(
    const std::vector<std::string>& arguments, const std::string& folder,
    const std::map<std::string, std::string>& environment = {});
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process();

  void signal(int number);
  /// Reads what it writes until `condition` holds. @returns false when it ended before.
  bool wait_until(const std::function<bool()>& condition);
  /// Waits for its end. @returns its exit status, or 1000 + signal where a signal killed it.
  int wait();

  pid_t id() const { return id_; }
  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }

private:
  struct pipe_end {
    int descriptor = -1;
    std::string text;
  };
  bool read_some(); ///< waits a moment at most; false: both ends are closed
  static void read(pipe_end& from);

  pid_t id_ = -1;
  pipe_end out_, err_;
  int status_ = -1;
  bool over_ = false;
};

/// Runs it to its end.
struct finished_process {
  int status;
  std::string out, err;
};
finished_process finish(
  const std::vector<std::string>& arguments, const std::string& folder,
  const std::map<std::string, std::string>& environment = {});

} // namespace hyperframes::test
