#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyperframes {

/// A text file of whole lines, written in blocks.
///
///   line_file file{"results.jsonl"};
///   file.open();
///   build(file.line());   // append one line's text ...
///   file.end_line();      // ... and close it
///   file.close();
///
/// Lines gather in memory and are written when they reach 64 KiB and by `flush`. What stands in the
/// file after each write ends in a whole line; where the disk fills up in the middle of a block, the
/// file is cut back to its last whole line. Not thread-safe. Everything that fails throws `failure`
/// (io_failed) with the path and the system's reason.
class line_file {
public:
  /// @param path a file that is replaced; "-" is the standard output.
  explicit line_file(std::string path);
  /// Takes over a regular file that is open for appending, and locked.
  line_file(std::string path, int descriptor);
  line_file(const line_file&) = delete;
  line_file& operator=(const line_file&) = delete;
  /// Closes without writing what is left: whoever wants it written calls `close`, which can fail.
  ~line_file();

  /// Makes the file, or empties it. A regular file is locked (flock) against another writer.
  void open();
  /// The same in two steps: nothing of the file is lost before the second.
  void open_at_end();
  void truncate();
  bool is_regular() const { return regular_; } ///< of an open one: no pipe, device or standard output
  bool is_open() const { return descriptor_ >= 0; }

  std::string& line() { return buffer_; }
  void end_line();
  bool empty() const { return buffer_.empty(); }
  void flush();
  /// Writes what is left and closes; a later `flush` opens the file again and appends.
  void close();

  const std::string& path() const { return path_; }

private:
  void write_all(std::string_view block);
  [[noreturn]] void fail(const char* doing, int code) const;

  std::string path_;
  std::string buffer_;
  int descriptor_ = -1;
  bool regular_ = false;
};

} // namespace hyperframes
