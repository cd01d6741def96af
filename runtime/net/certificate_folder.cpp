#include "runtime/net/certificate_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyperframes {

namespace {

constexpr mode_t secret = 0600, shown = 0644;

error fault(const std::string& file, const std::string& what) {
  return make_error(errc::io_failed, file, what);
}

error system_fault(const std::string& file, const std::string& what) {
  return fault(file, what + ": " + std::generic_category().message(errno));
}

error is_there(const std::string& file) {
  return fault(
    file, "is there already and stays as it is; use another name or folder, or remove the "
          "certificate and its key first");
}

bool written_whole(int descriptor, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto n = ::write(descriptor, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    at += static_cast<std::size_t>(n);
  }
  return ::fsync(descriptor) == 0;
}

/// Writes beside `file` and links the whole to its name, which fails where the name is taken.
expected<void> write_new(const std::string& file, const std::string& text, mode_t mode) {
  const auto beside = file + ".new-" + std::to_string(::getpid());
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0)
    return system_fault(beside, "cannot be made");
  const bool whole = written_whole(descriptor, text);
  const auto reason = errno;
  ::close(descriptor);
  std::optional<error> failed;
  if (!whole) {
    errno = reason;
    failed = system_fault(beside, "cannot be written");
  } else if (::link(beside.c_str(), file.c_str()) != 0) {
    failed = errno == EEXIST ? is_there(file) : system_fault(file, "cannot be made");
  }
  ::unlink(beside.c_str());
  if (failed)
    return *failed;
  return {};
}

expected<void>
write_pair(const std::string& certificate, const std::string& key, const certified_key& pair) {
  for (const auto& file : {certificate, key})
    if (std::error_code e; std::filesystem::exists(file, e))
      return is_there(file);
  if (auto kept = write_new(key, pair.key, secret); !kept)
    return kept;
  return write_new(certificate, pair.certificate, shown);
}

expected<std::string> content_of(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream read;
  read << in.rdbuf(); // fails, and does not throw, where it is a folder
  const auto text = read.str();
  if (text.empty())
    return fault(file, "cannot be read; make an authority with `hyperframes certs init`");
  return text;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name != "ca" && name.front() != '.'
         && name.front() != '-' && std::ranges::all_of(name, [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                     || c == '.' || c == '_' || c == '-';
            });
}

} // namespace

expected<void>
certificate_folder::init(std::chrono::system_clock::time_point now, unsigned days) const {
  std::error_code e;
  if (std::filesystem::create_directories(path_, e))
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, e);
  if (e)
    return fault(path_, "the folder cannot be made: " + e.message());
  return write_pair(file("ca.pem"), file("ca.key"), make_authority(validity::days(now, days)));
}

expected<void> certificate_folder::issue(
  const std::string& name, const std::vector<std::string>& hosts,
  std::chrono::system_clock::time_point now, unsigned days) const {
  if (!is_file_name(name))
    return make_error(
      errc::graph_invalid, "name '" + name + "'",
      "expected at most 64 letters, digits, `.`, `_` and `-`, a letter or digit first, and not "
      "`ca`");
  const auto certificate = content_of(file("ca.pem"));
  if (!certificate)
    return certificate.error();
  const auto key = content_of(file("ca.key"));
  if (!key)
    return key.error();
  std::vector<std::string> all{name, "localhost", "127.0.0.1", "::1"};
  for (const auto& host : hosts)
    if (std::ranges::find(all, host) == all.end())
      all.push_back(host);
  const auto pair = issue_certificate({*certificate, *key}, name, all, validity::days(now, days));
  if (!pair)
    return pair.error();
  const auto files = files_of(name);
  return write_pair(files.certificate, files.key, *pair);
}

tls_files certificate_folder::files_of(const std::string& name) const {
  return {file(name + ".pem"), file(name + ".key"), file("ca.pem")};
}

} // namespace hyperframes
