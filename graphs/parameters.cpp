#include "graphs/parameters.hpp"

#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <filesystem>

namespace hyperframes {

namespace {

using kind = document_node::kind;

setting from_node(const document_node& n) {
  setting s;
  s.mark = n.mark;
  s.source = n.source;
  return s;
}

/// Checks one value. `path` is its name in sentences: "bundle.release.timeout".
class value_check {
public:
  value_check(const parameter& p, std::string path, std::vector<fault>& faults)
    : p_(p), path_(std::move(path)), faults_(faults) {}

  /// @returns monostate where there is a fault.
  setting check(const document_node& n) {
    auto s = from_node(n);
    if (n.unknown)
      return s;
    if (n.what == kind::null) {
      fail(n, path_ + " has no value: expected " + type_in_words(p_) + ", or leave the key out");
      return s;
    }
    if (p_.type == parameter_type::list)
      s.value = entries(n);
    else if (p_.type == parameter_type::object)
      object(n, s);
    else if (n.what != kind::scalar)
      fail(n, path_ + " is " + in_words(n) + ": expected " + type_in_words(p_));
    else
      scalar(n, s);
    return s;
  }

private:
  void fail(const document_node& n, std::string sentence) {
    faults_.push_back({n.mark, std::move(sentence)});
  }

  void object(const document_node& n, setting& s) {
    if (n.what != kind::map)
      return fail(
        n, path_ + " is " + in_words(n) + ": expected keys and values, out of "
             + join_words(names_of(p_.fields)));
    s.value = check_parameters(p_.fields, n, path_, {}, faults_);
  }

  setting::list entries(const document_node& n) {
    auto element = p_;
    element.type = p_.element;
    setting::list result;
    const auto add = [&](const document_node& entry, const std::string& path) {
      result.push_back(value_check(element, path, faults_).check(entry));
    };
    if (n.what != kind::list)
      add(n, path_);
    else
      for (std::size_t i = 0; i < n.items.size(); ++i)
        add(n.items[i], path_ + '.' + std::to_string(i));
    if (n.what == kind::list && n.items.empty() && p_.required)
      fail(n, path_ + " is an empty list: expected at least one entry");
    return result;
  }

  void scalar(const document_node& n, setting& s) {
    switch (p_.type) {
      case parameter_type::text:
        return text(n, s);
      case parameter_type::choice:
        return choice(n, s);
      case parameter_type::boolean:
        return boolean(n, s);
      case parameter_type::integer:
        return ranged(n, s, read_integer(n.text));
      case parameter_type::number:
        return ranged(n, s, read_number(n.text));
      case parameter_type::bytes:
        return ranged(n, s, read_bytes(n.text));
      case parameter_type::duration:
        return ranged(n, s, read_duration(n.text));
      case parameter_type::size:
        return ranged(n, s, read_size(n.text));
      case parameter_type::list:
      case parameter_type::object:
        return;
    }
  }

  void text(const document_node& n, setting& s) {
    if (n.text.empty() && (p_.required || p_.existing_file))
      return fail(
        n, path_ + " is empty: expected " + (p_.existing_file ? "the name of a file" : "a text")
             + (p_.help.empty() ? std::string{} : " (" + p_.help + ')')
             + (p_.required ? "" : ", or leave the key out"));
    s.value = p_.existing_file ? file_of(n) : n.text;
  }

  /// What the file itself names is found from its folder; what the user names at the command line or in
  /// the environment, from the working folder.
  static std::string file_of(const document_node& n) {
    const bool from_user =
      n.source == value_source::command_line || n.source == value_source::environment;
    return from_user ? std::filesystem::absolute(n.text).string() : n.text;
  }

  void choice(const document_node& n, setting& s) {
    if (std::ranges::count(p_.choices, n.text) > 0) {
      s.value = n.text;
      return;
    }
    const auto near = nearest_name(n.text, p_.choices);
    fail(
      n, path_ + " is '" + n.text + "': expected " + type_in_words(p_)
           + (near.empty() ? std::string{} : "; did you mean '" + near + "'?"));
  }

  void boolean(const document_node& n, setting& s) {
    if (n.text == "true" || n.text == "false")
      s.value = n.text == "true";
    else
      fail(n, path_ + " is '" + n.text + "': expected true or false");
  }

  template <class T>
  void ranged(const document_node& n, setting& s, const std::optional<T>& value) {
    if (!value && is_out_of_range(p_, n.text))
      return fail(n, path_ + " is " + n.text + ": expected " + widest_range(n.text));
    if (!value)
      return fail(
        n, path_ + " is '" + n.text + "': expected " + type_in_words(p_) + unit_hint(n.text));
    if (!in_range(*value))
      return fail(n, path_ + " is " + n.text + ": expected " + range_in_words(p_) + side_hint());
    s.value = *value;
  }

  bool in_range(double v) const {
    return !(p_.least && v < *p_.least) && !(p_.most && v > *p_.most);
  }
  bool in_range(std::int64_t v) const { return in_range(static_cast<double>(v)); }
  bool in_range(duration v) const { return in_range(in_seconds(v)); }
  bool in_range(pixel_size v) const {
    return in_range(double{v.width * 1.0}) && in_range(double{v.height * 1.0});
  }

  /// For values that no number of ours can hold.
  std::string widest_range(const std::string& text) const {
    auto range = range_in_words(p_);
    if (p_.most || (p_.least && text.starts_with('-')))
      return range + side_hint();
    const auto most = p_.type == parameter_type::bytes      ? "9200 PB"
                      : p_.type == parameter_type::duration ? "292 years"
                      : p_.type == parameter_type::size     ? "2^32 for each side"
                                                            : "2^63";
    return (range.empty() ? std::string{} : range + " and ") + "below " + most;
  }

  std::string side_hint() const { return p_.type == parameter_type::size ? " for each side" : ""; }

  /// A number without a unit, or with one of another kind, is the most frequent slip.
  std::string unit_hint(const std::string& text) const {
    const bool bare = read_number(text).has_value();
    if (p_.type == parameter_type::duration && bare)
      return "; it needs a unit: " + text + "ms or " + text + "s?";
    if (p_.type == parameter_type::duration)
      return "; units are ns, us, ms, s, min and h";
    if (p_.type == parameter_type::bytes)
      return "; units are kB, MB, GB, TB, KiB, MiB, GiB and TiB";
    if (
      (p_.type == parameter_type::integer || p_.type == parameter_type::number)
      && read_duration(text))
      return ", without a unit" + (p_.unit.empty() ? std::string{} : ": it counts " + p_.unit);
    return {};
  }

  const parameter& p_;
  std::string path_;
  std::vector<fault>& faults_;
};

bool needs_a_field(const parameter& p) {
  return std::ranges::any_of(p.fields, [](const parameter& f) { return f.required; });
}

/// The value of a parameter that is not in the text.
setting absent_value(const parameter& p) {
  setting s;
  if (p.initial)
    s = *p.initial;
  else if (p.type == parameter_type::object && !needs_a_field(p))
    s.value = default_settings(p.fields);
  s.source = value_source::built_in;
  return s;
}

parameter make(std::string name, parameter_type type, std::string help) {
  parameter p;
  p.name = std::move(name);
  p.type = type;
  p.help = std::move(help);
  return p;
}

} // namespace

std::vector<std::string> names_of(const std::vector<parameter>& parameters) {
  std::vector<std::string> names;
  for (const auto& p : parameters)
    names.push_back(p.name);
  return names;
}

std::shared_ptr<settings> default_settings(const std::vector<parameter>& parameters) {
  auto result = std::make_shared<settings>();
  for (const auto& p : parameters)
    result->set(p.name, absent_value(p));
  return result;
}

std::shared_ptr<settings> check_parameters(
  const std::vector<parameter>& parameters, const document_node& map, const std::string& owner,
  std::span<const std::string> reserved, std::vector<fault>& faults) {
  auto known = names_of(parameters);
  known.insert(known.end(), reserved.begin(), reserved.end());
  for (const auto& e : map.entries)
    if (std::ranges::count(known, e.key) == 0)
      faults.push_back(
        {e.mark, owner + " has no parameter '" + e.key + "': " + suggestion(e.key, known)});

  auto result = std::make_shared<settings>();
  for (const auto& p : parameters) {
    const auto path = owner.empty() ? p.name : owner + '.' + p.name;
    if (const auto* e = map.find(p.name)) {
      result->set(p.name, value_check(p, path, faults).check(e->value));
      continue;
    }
    if (p.required)
      faults.push_back(
        {map.mark, owner + " needs '" + p.name + "': expected " + type_in_words(p)
                     + (p.help.empty() ? std::string{} : " (" + p.help + ')')});
    result->set(p.name, absent_value(p));
  }
  return result;
}

const std::vector<parameter>& graph_parameters() {
  static const auto parameters = [] {
    auto name = make(
      "name", parameter_type::text,
      "The graph's name in metrics and results; default: the file's name.");
    auto budget = make(
      "latency_budget", parameter_type::duration,
      "From capture to result: what cannot make it expires. Default: no limit.");
    budget.least = 1e-6;
    auto memory = make(
      "memory", parameter_type::bytes, "What the graph may take; above it, it does not start.");
    memory.least = 1;
    memory.initial = initial_value(static_cast<std::int64_t>(defaults::memory));
    auto seed = make("seed", parameter_type::integer, "Where everything random starts from.");
    seed.least = 0;
    seed.initial = initial_value(std::int64_t{0});
    return std::vector{name, budget, memory, seed};
  }();
  return parameters;
}

const std::vector<parameter>& stream_parameters() {
  static const auto parameters = [] {
    auto id =
      make("id", parameter_type::text, "The stream's unique name; `cam{1..4}` makes four streams.");
    id.required = true;
    auto group = make(
      "group", parameter_type::text,
      "Streams of one group see the same scene; default: a group of its own.");
    auto priority = make(
      "priority", parameter_type::integer, "Higher goes first where a stage orders by priority.");
    priority.initial = initial_value(std::int64_t{0});
    priority.least = -1'000'000;
    priority.most = 1'000'000;
    auto attached = make(
      "attached", parameter_type::boolean,
      "Whether its camera is there from the start; a program or a command may let it come and go.");
    attached.initial = initial_value(true);
    return std::vector{id, group, priority, attached};
  }();
  return parameters;
}

const std::vector<parameter>& edge_parameters() {
  static const auto parameters = [] {
    auto stage = make("stage", parameter_type::text, "The stage that the items come from.");
    stage.required = true;
    auto port = make("port", parameter_type::text, "Its output, where it has several.");
    auto capacity = make(
      "capacity", parameter_type::integer,
      "How many items may wait on the edge; per stream where they are frames.");
    capacity.least = 1;
    capacity.most = 1'000'000;
    capacity.unit = "items";
    auto bytes = make(
      "capacity_bytes", parameter_type::bytes,
      "How many bytes may wait on the edge; default: no limit.");
    bytes.least = 1;
    auto overflow = make(
      "overflow", parameter_type::choice,
      "What happens when the edge is full. Default: block; behind live cameras drop_oldest.");
    for (const auto policy :
         {overflow_policy::block, overflow_policy::drop_newest, overflow_policy::drop_oldest,
          overflow_policy::fail})
      overflow.choices.emplace_back(to_string(policy));
    return std::vector{stage, port, capacity, bytes, overflow};
  }();
  return parameters;
}

} // namespace hyperframes
