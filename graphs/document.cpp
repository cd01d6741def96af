#include "graphs/document.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace hyperframes {

namespace {

/// Values that aliases may add up to: no graph needs more, and `*a` of `*b` of `*c` grows fast.
constexpr std::size_t most_nodes = 200'000;

source_mark mark_at(const std::string& file, const YAML::Mark& m) {
  return m.is_null() ? source_mark{file, 0, 0} : source_mark{file, m.line + 1, m.column + 1};
}

std::size_t size_of_tree(const document_node& n) {
  std::size_t sum = 1;
  for (const auto& i : n.items)
    sum += size_of_tree(i);
  for (const auto& e : n.entries)
    sum += size_of_tree(e.value);
  return sum;
}

/// Ends the reading of a text that is beyond repair.
struct give_up_reading {};

/// Builds the tree from the parser's events.
class tree_builder final : public YAML::EventHandler {
public:
  tree_builder(const std::string& text, const std::string& file, std::vector<fault>& faults)
    : file_(file), faults_(faults) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      lines_.push_back(std::move(line));
  }

  std::optional<document_node> root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  /// A `null` that is written is a text like any other: there is a stage of that name.
  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
    auto n = make(m, document_node::kind::null);
    n.text = written_null(m);
    if (!n.text.empty())
      n.what = document_node::kind::scalar;
    complete(std::move(n), anchor);
  }
  void OnScalar(
    const YAML::Mark& m, const std::string&, YAML::anchor_t anchor,
    const std::string& value) override {
    auto n = make(m, document_node::kind::scalar);
    n.text = value;
    complete(std::move(n), anchor);
  }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      faults_.push_back({mark_at(file_, m), "this alias stands inside of what it refers to"});
      throw give_up_reading{};
    }
    count(size_of_tree(found->second), m);
    complete(found->second, 0);
  }
  void OnSequenceStart(
    const YAML::Mark& m, const std::string&, YAML::anchor_t anchor,
    YAML::EmitterStyle::value) override {
    open_.push_back({make(m, document_node::kind::list), anchor, {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(
    const YAML::Mark& m, const std::string&, YAML::anchor_t anchor,
    YAML::EmitterStyle::value) override {
    open_.push_back({make(m, document_node::kind::map), anchor, {}});
  }
  void OnMapEnd() override {
    merge(open_.back().node);
    close();
  }

private:
  struct open_node {
    document_node node;
    YAML::anchor_t anchor = 0;
    std::optional<document_node> key;
  };

  /// The word for null at `m`; empty where nothing is written, and the mark is that of what
  /// follows.
  std::string written_null(const YAML::Mark& m) const {
    if (m.is_null() || static_cast<std::size_t>(m.line) >= lines_.size())
      return {};
    const auto& line = lines_[static_cast<std::size_t>(m.line)];
    const auto from = std::min(static_cast<std::size_t>(m.column), line.size());
    for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
      const auto rest = std::string_view{line}.substr(from);
      if (!rest.starts_with(word))
        continue;
      const auto after = rest.substr(word.size());
      const bool ends =
        after.empty() || std::string_view{" \t\r,]}"}.find(after.front()) != std::string_view::npos;
      const auto next = after.find_first_not_of(" \t");
      if (ends && (next == std::string_view::npos || after[next] != ':'))
        return std::string{word};
    }
    return {};
  }

  document_node make(const YAML::Mark& m, document_node::kind what) {
    count(1, m);
    document_node n;
    n.what = what;
    n.mark = mark_at(file_, m);
    return n;
  }

  void count(std::size_t more, const YAML::Mark& m) {
    nodes_ += more;
    if (nodes_ <= most_nodes)
      return;
    faults_.push_back(
      {mark_at(file_, m),
       "the graph has more than " + std::to_string(most_nodes) + " values: too many aliases?"});
    throw give_up_reading{};
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    complete(std::move(done.node), done.anchor);
  }

  void complete(document_node n, YAML::anchor_t anchor) {
    if (anchor != 0)
      anchors_[anchor] = n;
    if (open_.empty()) {
      root = std::move(n);
      return;
    }
    auto& parent = open_.back();
    if (parent.node.what == document_node::kind::list) {
      parent.node.items.push_back(std::move(n));
    } else if (!parent.key) {
      if (n.what != document_node::kind::scalar) {
        faults_.push_back({n.mark, "a key must be a text, found " + in_words(n)});
        n = document_node::scalar("", n.mark, value_source::file);
      }
      parent.key = std::move(n);
    } else {
      add(parent.node, *parent.key, std::move(n));
      parent.key.reset();
    }
  }

  void add(document_node& map, const document_node& key, document_node value) {
    if (const auto* first = map.find(key.text)) {
      faults_.push_back(
        {key.mark, "the key '" + key.text + "' stands twice, first on line "
                     + std::to_string(first->mark.line) + ": remove one of them"});
      return;
    }
    if (value.what == document_node::kind::null) // its own mark is that of what follows
      value.mark = key.mark;
    map.entries.push_back({key.text, key.mark, std::move(value)});
  }

  /// `<<: *defaults`: adds the keys of another map that this one does not have itself.
  void merge(document_node& map) {
    auto* found = map.find("<<");
    if (!found)
      return;
    auto from = std::move(found->value);
    std::erase_if(map.entries, [](const document_entry& e) { return e.key == "<<"; });
    auto maps =
      from.what == document_node::kind::list ? std::move(from.items) : std::vector{std::move(from)};
    for (auto& m : maps) {
      if (m.what != document_node::kind::map)
        faults_.push_back(
          {m.mark, "'<<' expects an alias of keys and values, found " + in_words(m)});
      for (auto& e : m.entries)
        if (!map.find(e.key))
          map.entries.push_back(std::move(e));
    }
  }

  const std::string& file_;
  std::vector<fault>& faults_;
  std::vector<std::string> lines_;
  std::vector<open_node> open_;
  std::map<YAML::anchor_t, document_node> anchors_;
  std::size_t nodes_ = 0;
};

/// @returns the length of the UTF-8 sequence at `i`, 0 where there is none.
std::size_t utf8_length(const std::string& s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
  const auto lead = byte(i);
  if (lead == 0)
    return 0;
  if (lead < 0x80)
    return 1;
  const std::size_t length = lead >= 0xF0 && lead < 0xF5 ? 4
                             : lead >= 0xE0              ? 3
                             : lead >= 0xC2              ? 2
                                                         : 0;
  if (length == 0 || lead >= 0xF5 || i + length > s.size())
    return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0) != 0x80)
      return 0;
  return length;
}

/// @returns true where all of `text` is UTF-8 without NUL.
bool check_text(const std::string& text, const std::string& name, std::vector<fault>& faults) {
  int line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto length = utf8_length(text, i);
    if (length == 0) {
      faults.push_back(
        {{name, line, static_cast<int>(i - line_start) + 1},
         "this is not a text: expected UTF-8, found a byte that it cannot contain here"});
      return false;
    }
    if (text[i] == '\n') {
      ++line;
      line_start = i + 1;
    }
    i += length;
  }
  return true;
}

std::string line_of(const std::string& text, int line) {
  std::istringstream in(text);
  std::string result;
  for (int i = 0; i <= line && std::getline(in, result); ++i) {
  }
  return result;
}

/// What often stands behind a text that does not parse.
std::string parse_hint(const std::string& text, const YAML::Mark& m) {
  if (m.is_null())
    return {};
  const auto line = line_of(text, m.line);
  const auto before = m.line > 0 ? line_of(text, m.line - 1) : std::string{};
  const auto has = [&](std::string_view what) {
    return line.find(what) != std::string::npos || before.find(what) != std::string::npos;
  };
  if (has("${") || has(".."))
    return "; inside of { } and [ ], a value with braces needs quotes: \"${NAME:-1}\", "
           "\"cam{1..4}\"";
  if (has("\t"))
    return "; indent with spaces, not with tabs";
  if (has(" *") || has(":*"))
    return "; a value that begins with * needs quotes: \"*\"";
  return {};
}

void check_is_only_document(
  YAML::Parser& parser, const std::string& text, const std::string& name,
  std::vector<fault>& faults) {
  tree_builder rest(text, name, faults);
  while (parser.HandleNextDocument(rest))
    if (rest.root && rest.root->what != document_node::kind::null) {
      faults.push_back({rest.root->mark, "a second document begins here: a graph file holds one"});
      return;
    }
}

} // namespace

const document_entry* document_node::find(std::string_view key) const {
  for (const auto& e : entries)
    if (e.key == key)
      return &e;
  return nullptr;
}

document_entry* document_node::find(std::string_view key) {
  return const_cast<document_entry*>(std::as_const(*this).find(key));
}

bool has_unknown(const document_node& n) {
  return n.unknown || std::ranges::any_of(n.items, has_unknown)
         || std::ranges::any_of(
           n.entries, [](const document_entry& e) { return has_unknown(e.value); });
}

document_node document_node::scalar(std::string text, source_mark mark, value_source source) {
  document_node n;
  n.what = kind::scalar;
  n.text = std::move(text);
  n.mark = std::move(mark);
  n.source = source;
  return n;
}

std::string in_words(const document_node& n) {
  switch (n.what) {
    case document_node::kind::null:
      return "nothing";
    case document_node::kind::scalar:
      return "'" + n.text + "'";
    case document_node::kind::list:
      return "a list";
    case document_node::kind::map:
      return "keys and values";
  }
  return {};
}

const std::vector<std::string>& top_level_keys() {
  static const std::vector<std::string> keys{"hyperframes", "name",    "latency_budget", "memory",
                                             "seed",        "streams", "stages",         "nodes"};
  return keys;
}

std::optional<document_node>
parse_document(const std::string& text, const std::string& name, std::vector<fault>& faults) {
  if (!check_text(text, name, faults))
    return {};
  tree_builder builder(text, name, faults);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    if (parser.HandleNextDocument(builder))
      check_is_only_document(parser, text, name, faults);
  } catch (const YAML::DeepRecursion& e) {
    faults.push_back(
      {mark_at(name, e.mark),
       "values stand in values too deep here: expected a graph, which needs no more than ten levels; "
       "is a bracket not closed?"});
    return {};
  } catch (const YAML::Exception& e) {
    faults.push_back(
      {mark_at(name, e.mark), "this is not valid YAML: " + e.msg + parse_hint(text, e.mark)});
    return {};
  } catch (const give_up_reading&) {
    return {};
  } catch (const std::exception& e) {
    faults.push_back({{name, 0, 0}, std::string{"this is not valid YAML: "} + e.what()});
    return {};
  }
  if (!builder.root || builder.root->what == document_node::kind::null) {
    faults.push_back(
      {{name, 1, 1},
       "the graph is empty: expected at least the keys hyperframes, streams and stages"});
    return {};
  }
  return std::move(builder.root);
}

} // namespace hyperframes
