#include "graphs/document.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <set>

namespace hyperframes {

namespace {

constexpr std::size_t most_copies = 10'000;

using kind = document_node::kind;

// --- overrides

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path)
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::vector<std::string> keys_of(const document_node& map) {
  std::vector<std::string> keys;
  for (const auto& e : map.entries)
    keys.push_back(e.key);
  return keys;
}

void mark_all(document_node& n, const source_mark& mark, value_source source) {
  n.mark = mark;
  n.source = source;
  for (auto& i : n.items)
    mark_all(i, mark, source);
  for (auto& e : n.entries) {
    e.mark = mark;
    mark_all(e.value, mark, source);
  }
}

/// One `--set path=value` on its way down the tree.
struct override_step {
  const std::string& path;
  source_mark mark;
  std::vector<fault>& faults;

  document_node* fail(std::string sentence) const {
    faults.push_back({mark, std::move(sentence)});
    return nullptr;
  }

  document_node* into_list(document_node& list, const std::string& part) const {
    const auto position = read_integer(part);
    if (position && *position >= 0 && *position < std::ssize(list.items))
      return &list.items[static_cast<std::size_t>(*position)];
    const auto size = list.items.size();
    return fail(
      "'" + part + "' is no position in the list at " + list.mark.to_string() + ": it has "
      + (size == 0   ? "no entries"
         : size == 1 ? "only 0"
                     : "0 to " + std::to_string(size - 1)));
  }

  /// Only what the graph's own rules name may be added; the check of the meaning finds the others.
  bool may_add(
    const std::string& part, const std::vector<std::string>& above, document_node& map) const {
    if (above.empty()) {
      if (std::ranges::count(top_level_keys(), part) > 0)
        return true;
      fail("a graph has no key '" + part + "': " + suggestion(part, top_level_keys()));
      return false;
    }
    if (above.size() == 1 && above[0] == "stages") {
      fail("the graph has no stage '" + part + "': " + suggestion(part, keys_of(map)));
      return false;
    }
    return true;
  }

  document_node* into_map(
    document_node& map, const std::string& part, const std::vector<std::string>& above) const {
    if (auto* e = map.find(part))
      return &e->value;
    if (part.empty())
      return fail("the path has an empty part: expected keys and positions with dots between them");
    if (!may_add(part, above, map))
      return nullptr;
    map.entries.push_back({part, mark, {}});
    map.entries.back().value.mark = mark;
    map.entries.back().value.source = value_source::command_line;
    return &map.entries.back().value;
  }

  document_node*
  into(document_node& n, const std::string& part, const std::vector<std::string>& above) const {
    if (n.what == kind::list)
      return into_list(n, part);
    if (n.what == kind::scalar && !above.empty() && above.back() == "from") {
      auto stage = std::exchange(n, {});
      n.mark = stage.mark;
      n.source = stage.source;
      n.entries.push_back({"stage", stage.mark, std::move(stage)});
      n.what = kind::map;
    }
    if (n.what == kind::null)
      n.what = kind::map;
    if (n.what == kind::scalar)
      return fail(
        "'" + part + "' cannot be set: " + join_words(above, ".") + " is " + in_words(n) + " at "
        + n.mark.to_string());
    return into_map(n, part, above);
  }
};

document_node
read_override(const std::string& text, const source_mark& mark, std::vector<fault>& faults) {
  if (!text.starts_with('[') && !text.starts_with('{'))
    return document_node::scalar(text, mark, value_source::command_line);
  std::vector<fault> own;
  auto parsed = parse_document(text, mark.file, own);
  for (auto& f : own)
    faults.push_back({mark, f.message});
  auto result = parsed ? std::move(*parsed) : document_node{};
  mark_all(result, mark, value_source::command_line);
  return result;
}

void apply_override(
  document_node& root, const std::string& path, const std::string& value,
  std::vector<fault>& faults) {
  const override_step step{path, {"--set " + path, 0, 0}, faults};
  std::vector<std::string> above;
  auto* n = &root;
  for (const auto& part : split_path(path)) {
    n = step.into(*n, part, above);
    if (!n)
      return;
    above.push_back(part);
  }
  *n = read_override(value, step.mark, faults);
}

// --- ranges

struct range {
  std::string text; ///< "{1..4}"
  std::vector<std::string> values;
};

/// @returns the range that stands at `i`.
std::optional<range> range_at(const std::string& s, std::size_t i) {
  const auto end = s.find('}', i);
  if (s[i] != '{' || end == std::string::npos)
    return {};
  const std::string_view inside{s.data() + i + 1, end - i - 1};
  const auto dots = inside.find("..");
  if (dots == std::string_view::npos)
    return {};
  const auto first_text = inside.substr(0, dots);
  const auto first = read_integer(first_text);
  const auto last = read_integer(inside.substr(dots + 2));
  if (
    !first || !last || *first < 0 || *last < 0
    || std::abs(*last - *first) >= std::int64_t{most_copies})
    return {};
  range r;
  r.text = s.substr(i, end - i + 1);
  for (auto n = *first;; n += *first <= *last ? 1 : -1) {
    auto digits = std::to_string(n);
    if (first_text.starts_with('0') && digits.size() < first_text.size())
      digits.insert(0, first_text.size() - digits.size(), '0');
    r.values.push_back(std::move(digits));
    if (n == *last)
      return r;
  }
}

/// @param inside what stands between the braces of something that is no range.
std::string problem_of_range(std::string_view inside) {
  const auto whole = "'{" + std::string{inside} + "}'";
  const auto dots = inside.find("..");
  if (dots == std::string_view::npos)
    return whole + " is no range: expected {first..last}, such as {1..4}";
  const auto first = read_integer(inside.substr(0, dots));
  const auto last = read_integer(inside.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < 0)
    return whole
           + " is no range: expected whole numbers from 0 on both sides of the dots, such as {1..4}";
  return whole + " has more than " + std::to_string(most_copies) + " values";
}

void add_ranges(const std::string& text, std::vector<range>& into) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (auto r = range_at(text, i))
      if (std::ranges::none_of(into, [&](const range& o) { return o.text == r->text; }))
        into.push_back(std::move(*r));
}

void add_ranges(const document_node& n, std::vector<range>& into) {
  if (n.what == kind::scalar)
    add_ranges(n.text, into);
  for (const auto& i : n.items)
    add_ranges(i, into);
  for (const auto& e : n.entries)
    add_ranges(e.value, into);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + by.size()))
    text.replace(i, what.size(), by);
}

void replace_all(document_node& n, const std::string& what, const std::string& by) {
  if (n.what == kind::scalar)
    replace_all(n.text, what, by);
  for (auto& i : n.items)
    replace_all(i, what, by);
  for (auto& e : n.entries)
    replace_all(e.value, what, by);
}

std::size_t copies_of(const std::vector<range>& ranges) {
  std::size_t copies = 1;
  for (const auto& r : ranges)
    copies = std::min(copies * r.values.size(), most_copies + 1);
  return copies;
}

/// Each combination of the ranges' values put into a copy of `original`; the last range is fastest.
template <class T, class Replace>
std::vector<T> combine(const T& original, const std::vector<range>& ranges, Replace replace) {
  std::vector<T> result{original};
  for (const auto& r : ranges) {
    std::vector<T> next;
    next.reserve(result.size() * r.values.size());
    for (const auto& one : result)
      for (const auto& value : r.values) {
        next.push_back(one);
        replace(next.back(), r.text, value);
      }
    result = std::move(next);
  }
  return result;
}

} // namespace

void apply_overrides(
  document_node& root, const std::vector<std::pair<std::string, std::string>>& overrides,
  std::vector<fault>& faults) {
  std::set<std::string> seen;
  for (const auto& [path, value] : overrides) {
    if (!seen.insert(path).second)
      faults.push_back({{"--set " + path, 0, 0}, "this value is set twice: remove one of them"});
    else
      apply_override(root, path, value, faults);
  }
}

std::vector<document_node> expand_ranges(const document_node& entry, std::vector<fault>& faults) {
  std::vector<range> ranges;
  if (const auto* id = entry.find("id"))
    add_ranges(id->value, ranges);
  const auto in_id = ranges.size();
  add_ranges(entry, ranges);
  if (const auto* id = entry.find("id"); ranges.size() > in_id && id && !id->value.unknown) {
    faults.push_back(
      {id->value.mark,
       "the range " + ranges[in_id].text + " stands in this stream but not in its id: the ids "
         + "would not be unique; put " + ranges[in_id].text + " into `id`"});
    ranges.resize(in_id);
  }
  if (copies_of(ranges) > most_copies) {
    faults.push_back(
      {entry.mark, "the ranges give more than " + std::to_string(most_copies) + " streams"});
    return {entry};
  }
  return combine(
    entry, ranges, [](document_node& n, const std::string& what, const std::string& by) {
      replace_all(n, what, by);
    });
}

std::string range_problem(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '}')
      return "'}' has no '{' before it: expected a range such as {1..4}";
    if (text[i] != '{')
      continue;
    const auto end = text.find('}', i);
    if (end == std::string::npos)
      return "'" + text.substr(i) + "' has no '}' behind it: expected a range such as {1..4}";
    if (!range_at(text, i))
      return problem_of_range(std::string_view{text}.substr(i + 1, end - i - 1));
    i = end;
  }
  return {};
}

std::vector<std::string> expand_ranges(const std::string& text) {
  std::vector<range> ranges;
  add_ranges(text, ranges);
  if (copies_of(ranges) > most_copies)
    return {text};
  return combine(text, ranges, [](std::string& s, const std::string& what, const std::string& by) {
    replace_all(s, what, by);
  });
}

} // namespace hyperframes
