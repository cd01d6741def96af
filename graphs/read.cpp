#include "graphs/check.hpp"
#include "graphs/files.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

namespace hyperframes {

namespace {

/// A graph file of this size is a mistake: a film, a disk.
constexpr std::size_t most_bytes = 16U << 20;

struct file_text {
  std::string text;
  std::string problem; ///< a sentence; empty: none
};

file_text read_file(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found)
    return {{}, "there is no such file"};
  if (!std::filesystem::status_known(status))
    return {{}, "the file cannot be read: " + code.message()};
  // Opening a pipe or a device may wait for ever, and reading it never end.
  if (const auto kind = special_kind(path); !kind.empty())
    return {{}, "this is " + kind + ": expected a graph file"};
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return {{}, std::string{"the file cannot be read: "} + std::strerror(errno)};
  file_text result;
  result.text.resize(most_bytes + 1);
  in.read(result.text.data(), static_cast<std::streamsize>(result.text.size()));
  result.text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad())
    result.problem = std::string{"the file cannot be read: "} + std::strerror(errno);
  else if (result.text.size() > most_bytes)
    result.problem = "the file has more than 16 MiB: expected a graph";
  return result;
}

read_result read_text(
  const std::string& text, document_origin origin, const catalogues& known,
  const graph_options& options) {
  read_result result;
  auto root = parse_document(text, origin.name, result.faults);
  if (!root) {
    sort_faults(result.faults);
    return result;
  }
  graph_text source{origin.name, text, options};
  source.options.network = nullptr;
  std::erase_if(source.options.environment, [&](const auto& variable) {
    return text.find("${" + variable.first) == std::string::npos;
  });
  result = check_document(
    std::move(*root), std::move(origin), known, options, std::move(result.faults));
  if (result.graph)
    result.graph->source = std::move(source);
  return result;
}

} // namespace

read_result
read_graph_file(const std::string& path, const catalogues& known, const graph_options& options) {
  auto file = read_file(path);
  if (!file.problem.empty())
    return {{}, {{{path, 0, 0}, std::move(file.problem)}}};
  auto folder = std::filesystem::path{path}.parent_path().string();
  return read_text(
    file.text, {path, folder.empty() ? "." : std::move(folder), path}, known, options);
}

read_result read_graph_text(
  const std::string& text, const std::string& name, const catalogues& known,
  const graph_options& options) {
  return read_text(text, {name, options.folder}, known, options);
}

void sort_faults(std::vector<fault>& faults) {
  const auto key = [](const fault& f) {
    return std::tie(f.where.line, f.where.column, f.where.file);
  };
  std::ranges::stable_sort(faults, [&](const fault& a, const fault& b) { return key(a) < key(b); });
  std::vector<fault> unique;
  for (auto& f : faults) {
    const auto same = [&](const fault& o) { return key(o) == key(f) && o.message == f.message; };
    // Equal places are neighbours: only these are compared.
    bool seen = false;
    for (auto i = unique.rbegin(); i != unique.rend() && key(*i) == key(f) && !seen; ++i)
      seen = same(*i);
    if (!seen)
      unique.push_back(std::move(f));
  }
  faults = std::move(unique);
}

std::string to_string(const std::vector<fault>& faults) {
  std::string result;
  for (const auto& f : faults)
    result += f.where.to_string() + ": " + f.message + '\n';
  return result;
}

} // namespace hyperframes
