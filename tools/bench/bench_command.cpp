#include "tools/bench/bench_command.hpp"

#include "graphs/text_table.hpp"
#include "graphs/values.hpp"
#include "runtime/error.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>

namespace hyperframes::bench {

namespace {

std::string with_arguments(const benchmark& b) {
  std::string result = b.name;
  for (const auto& a : b.arguments)
    result += ' ' + a;
  return result;
}

void list(const std::vector<benchmark>& known, std::ostream& out) {
  text_table table{0};
  for (const auto& b : known)
    table.add({with_arguments(b), b.summary});
  table.add({"all", "Every one of them"});
  out << table.text();
}

std::vector<const benchmark*>
chosen(const bench_arguments& asked, const std::vector<benchmark>& known) {
  std::vector<const benchmark*> result;
  std::vector<std::string> names{"all"};
  for (const auto& b : known) {
    names.push_back(b.name);
    if (asked.name == b.name || asked.name == "all")
      result.push_back(&b);
  }
  if (result.empty())
    throw failure(make_error(
      errc::graph_invalid, asked.name, "is no benchmark: " + suggestion(asked.name, names)));
  const auto& first = *result.front();
  const auto given = asked.arguments.size();
  if (given > 0 && (asked.name == "all" || given != first.arguments.size()))
    throw failure(make_error(
      errc::graph_invalid, asked.name,
      "got " + counted(given, "argument") + ", expected "
        + (asked.name == "all" || first.arguments.empty() ? "none" : with_arguments(first))));
  return result;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file{path};
  file << text << '\n';
  file.close();
  if (!file)
    throw failure(make_error(
      errc::io_failed, "--json " + path, "cannot be written; name a file in a folder that exists"));
}

std::string as_list(const std::vector<std::string>& objects) {
  std::string text = "[";
  for (std::size_t i = 0; i < objects.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + objects[i];
  return text + "\n]";
}

} // namespace

int bench(
  const bench_arguments& asked, const std::vector<benchmark>& known, std::ostream& out,
  std::ostream& progress) {
  if (asked.name.empty()) {
    list(known, out);
    return 0;
  }
  const auto all = chosen(asked, known);
  std::vector<std::string> objects;
  const auto save = [&] {
    if (!asked.json_file.empty())
      write(
        asked.json_file,
        asked.name == "all" || objects.empty() ? as_list(objects) : objects.front());
  };
  save(); // says before the first one what would be lost at the end
  const auto here = this_machine();
  bool met = true;
  for (const auto* b : all) {
    const context c{asked.arguments, [&](std::size_t round, const std::string& what) {
                      progress << b->name << ": "
                               << (round == 0 ? "warming up" : "round " + std::to_string(round))
                               << ", " << what << std::endl;
                    }};
    const auto measured = b->run(c);
    met = met && measured.met();
    out << to_text(b->name, here, measured) << std::endl;
    objects.push_back(to_json(b->name, here, measured));
    save();
  }
  return met ? 0 : 1;
}

} // namespace hyperframes::bench
