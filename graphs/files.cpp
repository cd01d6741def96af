#include "graphs/files.hpp"

#include "cameras/source_file.hpp"
#include "graphs/parameters.hpp"
#include "graphs/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hyperframes {

namespace {

namespace fs = std::filesystem;

constexpr const char* own_file = "the graph file";

/// @returns why this process may not do `what` (R_OK, W_OK) with `path`; empty where it may.
std::string refusal(const fs::path& path, int what) {
  if (::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0)
    return {};
  return std::generic_category().message(errno);
}

void add_files(
  const std::vector<parameter>& parameters, const settings& s, const std::string& owner,
  const std::string& stream, const source_mark& mark, const std::string& folder,
  std::vector<graph_file>& into) {
  for_each_value(
    parameters, s, owner,
    [&](const std::string& path, const parameter& kind, const setting& value) {
      const auto add = [&](const setting& one) {
        if (const auto* text = std::get_if<std::string>(&one.value))
          into.push_back({path, stream, *text, fs::path{folder} / *text, mark_or(one, mark)});
      };
      if (!kind.existing_file)
        return;
      add(value);
      if (const auto* list = std::get_if<setting::list>(&value.value))
        for (const auto& one : *list)
          add(one);
    });
}

std::vector<graph_file> files_of(const checked_stream& s, const std::string& folder) {
  std::vector<graph_file> files;
  if (s.sound)
    add_files(s.camera->parameters, *s.config, "camera", s.id, s.mark, folder, files);
  return files;
}

std::vector<graph_file> files_of(const checked_stage& s, const std::string& folder) {
  std::vector<graph_file> files;
  if (s.sound)
    add_files(s.kind->parameters, *s.config, s.name, {}, s.mark, folder, files);
  return files;
}

std::vector<graph_file> written_by(const checked_graph& graph, const checked_stage& s) {
  std::vector<graph_file> files;
  if (!s.sound || !s.kind->writes)
    return files;
  std::vector<std::string> ids;
  for (const auto i : s.streams)
    ids.push_back(graph.streams[i].id);
  const auto mark = s.config->has("path") ? mark_or(s.config->at("path"), s.mark) : s.mark;
  for (auto& path : s.kind->writes(*s.config, ids))
    files.push_back({s.name + ".path", {}, path, path, mark});
  return files;
}

/// @returns what stands in the way of reading it, as the end of a sentence; empty: nothing.
std::string problem_of_reading(const graph_file& file) {
  std::error_code code;
  const auto status = fs::status(file.path, code);
  if (status.type() == fs::file_type::not_found)
    return ", but there is no such file (looked for " + file.path.lexically_normal().string() + ')';
  if (!fs::status_known(status))
    return ", which cannot be looked at: " + code.message();
  if (const auto kind = special_kind(file.path); !kind.empty())
    return ", which is " + kind + ": expected a file";
  if (const auto why = refusal(file.path, R_OK); !why.empty())
    return ", which cannot be read: " + why;
  return {};
}

std::string problem_of_writing(const fs::path& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (fs::is_directory(status))
    return ", which is a directory: expected a file";
  if (fs::is_socket(status))
    return ", which is a socket: expected a file";
  if (fs::exists(status)) {
    const auto why = refusal(path, W_OK);
    return why.empty() ? why : ", which cannot be written: " + why;
  }
  const auto folder = path.parent_path();
  const auto name = folder.string();
  const auto there = folder.empty() ? fs::path{"."} : folder;
  if (!fs::exists(there, code))
    return ", but the folder " + name + " does not exist: make it, or name another file";
  if (!fs::is_directory(there, code))
    return ", but " + name + " is no folder: name another file";
  if (const auto why = refusal(there, W_OK | X_OK); !why.empty())
    return ", but no file can be made in "
           + (name.empty() ? std::string{"the working folder"} : "the folder " + name) + ": " + why;
  return {};
}

/// What is written is looked for among what is read and what others write.
class output_check {
public:
  output_check(const checked_graph& graph, std::vector<fault>& faults)
    : graph_(graph), faults_(faults) {
    for (const auto& file : files_read(graph))
      if (auto identity = identity_of(file.path); !identity.empty())
        read_.emplace(
          std::move(identity),
          file.what + (file.stream.empty() ? "" : " of the stream '" + file.stream + '\''));
  }

  void run() {
    for (const auto& s : graph_.stages)
      for (const auto& file : written_by(graph_, s))
        if (const auto problem = problem_of(file); !problem.empty()) {
          faults_.push_back({file.mark, file.what + " names '" + file.written + '\'' + problem});
          break; // the first fault stands for all files of the stage
        }
  }

private:
  std::string problem_of(const graph_file& file) {
    if (auto problem = file.path == "-" ? std::string{} : problem_of_writing(file.path);
        !problem.empty())
      return problem;
    const auto identity = identity_of(file.path);
    if (identity.empty())
      return {};
    if (const auto other = read_.find(identity); other != read_.end())
      return ", which is "
             + (other->second == own_file ? other->second
                                          : "the file that " + other->second + " reads")
             + " and would be overwritten: name another file";
    const auto [other, added] = written_.emplace(identity, file.what);
    return added ? std::string{}
                 : ", which " + other->second + " writes too: give each a file of its own";
  }

  const checked_graph& graph_;
  std::vector<fault>& faults_;
  std::map<std::string, std::string> read_, written_; ///< identity -> what names it
};

} // namespace

std::vector<graph_file> files_read(const checked_graph& graph) {
  std::vector<graph_file> files;
  if (!graph.file.empty())
    files.push_back({own_file, {}, graph.file, graph.file, {graph.file, 0, 0}});
  for (const auto& s : graph.streams)
    std::ranges::move(files_of(s, graph.folder), std::back_inserter(files));
  for (const auto& s : graph.stages)
    std::ranges::move(files_of(s, graph.folder), std::back_inserter(files));
  return files;
}

std::vector<graph_file> files_written(const checked_graph& graph) {
  std::vector<graph_file> files;
  for (const auto& s : graph.stages)
    std::ranges::move(written_by(graph, s), std::back_inserter(files));
  return files;
}

std::string identity_of(const fs::path& path) {
  if (path == "-")
    return "-";
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0)
    return S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)
             ? std::to_string(facts.st_dev) + ':' + std::to_string(facts.st_ino)
             : std::string{};
  std::error_code code;
  return fs::weakly_canonical(fs::absolute(path, code), code).string();
}

std::string special_kind(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? "a directory" : kind_of_special_file(path);
}

bool is_here(const checked_graph& graph, const checked_stage& stage) {
  return std::ranges::all_of(files_of(stage, graph.folder), [](const graph_file& file) {
    return problem_of_reading(file).empty();
  });
}

void check_files(checked_graph& graph, std::vector<fault>& faults) {
  const auto check = [&](auto& part, bool was_looked_at) {
    if (was_looked_at)
      return;
    for (const auto& file : files_of(part, graph.folder))
      if (const auto problem = problem_of_reading(file); !problem.empty()) {
        faults.push_back({file.mark, file.what + " names '" + file.written + '\'' + problem});
        part.sound = false;
      }
  };
  output_check{graph, faults}.run(); // before what cannot be read is no longer sound
  for (auto& s : graph.streams)
    check(s, s.info.has_value());
  for (auto& s : graph.stages)
    check(s, s.resource != nullptr);
}

} // namespace hyperframes
