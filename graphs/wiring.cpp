#include "graphs/check.hpp"
#include "graphs/parameters.hpp"
#include "graphs/values.hpp"
#include "runtime/defaults.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>

namespace hyperframes {

namespace {

constexpr std::size_t none = ~std::size_t{0};
constexpr std::size_t port_types = 8;

std::size_t index_of(const checked_graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.stages.size(); ++i)
    if (graph.stages[i].name == name)
      return i;
  return none;
}

bool takes(const stage_description& kind, port_type type) {
  return std::ranges::any_of(
    kind.inputs, [&](const port& p) { return std::ranges::count(p.types, type) > 0; });
}

/// False for sources, and for stages to which nothing has to come.
bool needs_input(const stage_description& kind) {
  return !std::ranges::all_of(kind.inputs, &port::optional);
}

bool gives(const stage_description& kind, port_type type) {
  return std::ranges::any_of(
    kind.outputs, [&](const port& p) { return std::ranges::count(p.types, type) > 0; });
}

std::vector<port_type> taken_types(const stage_description& kind) {
  std::vector<port_type> result;
  for (const auto& p : kind.inputs)
    result.insert(result.end(), p.types.begin(), p.types.end());
  return result;
}

std::vector<port_type> given_types(const stage_description& kind) {
  std::vector<port_type> result;
  for (const auto& p : kind.outputs)
    result.insert(result.end(), p.types.begin(), p.types.end());
  return result;
}

/// "frame", "frame or aligned set".
std::string in_words(const std::vector<port_type>& types) {
  std::vector<std::string> words;
  for (const auto t : types)
    words.emplace_back(to_string(t));
  return join_words(words, " or ");
}

/// The shortest chain of stage types that turns one of `from` into one of `to`; empty: there is
/// none.
std::vector<std::string> stages_between(
  const stage_catalogue& known, const std::vector<port_type>& from,
  const std::vector<port_type>& to) {
  std::array<std::vector<std::string>, port_types> chain;
  std::array<bool, port_types> seen{};
  std::deque<port_type> queue(from.begin(), from.end());
  for (const auto t : from)
    seen[static_cast<std::size_t>(t)] = true;
  for (; !queue.empty(); queue.pop_front()) {
    const auto at = queue.front();
    if (std::ranges::count(to, at) > 0)
      return chain[static_cast<std::size_t>(at)];
    for (const auto& d : known.all()) {
      if (!takes(*d, at))
        continue;
      for (const auto next : given_types(*d)) {
        const auto n = static_cast<std::size_t>(next);
        if (seen[n])
          continue;
        seen[n] = true;
        chain[n] = chain[static_cast<std::size_t>(at)];
        chain[n].push_back(d->name);
        queue.push_back(next);
      }
    }
  }
  return {};
}

/// Everything about the inputs of one stage.
class input_wiring {
public:
  input_wiring(std::size_t index, graph_check& check) : index_(index), check_(check) {}

  /// @returns true where there is no fault.
  bool join() {
    const auto before = check_.faults.size();
    const auto& kind = here().kind;
    const auto& written = check_.written[index_];
    if (kind && kind->inputs.empty() && !written.empty()) {
      check_.fail(
        written.front().mark, here().name + " takes no input, it is a source: remove `from`");
      return false;
    }
    if (kind && needs_input(*kind) && written.empty() && check_.inputs_known[index_])
      check_.fail(here().mark, here().name + " has no input: " + likely_input());
    const bool too_many = kind && !kind->many_inputs && written.size() > 1;
    if (too_many && written[0].stage == written[1].stage)
      check_.fail(written[1].mark, twice(written[1]));
    else if (too_many)
      check_.fail(
        written[1].mark, here().name + " has one input, which comes from '" + written[0].stage
                           + "' already: '" + written[1].stage + "' cannot be wired to it as well");
    for (std::size_t i = 0; i < (too_many ? 1 : written.size()); ++i)
      join(written, i);
    const bool good = kind && check_.inputs_known[index_] && check_.faults.size() == before;
    if (good && here().sound && kind->check_inputs)
      check_types();
    return good;
  }

private:
  void check_types() {
    std::vector<port_type> types;
    for (const auto e : here().inputs)
      types.push_back(check_.graph.edges[e].type);
    const auto before = check_.faults.size();
    here().kind->check_inputs(*here().config, types, here().mark, check_.faults);
    for (auto i = before; i < check_.faults.size(); ++i)
      check_.faults[i].message.insert(0, here().name + ": ");
  }

  std::string twice(const written_input& in) {
    return here().name + " is wired to '" + in.stage + "' twice: remove one of them";
  }

  checked_stage& here() { return check_.graph.stages[index_]; }

  void join(const std::vector<written_input>& written, std::size_t i) {
    const auto& in = written[i];
    for (std::size_t k = 0; k < i; ++k)
      if (written[k].stage == in.stage && written[k].port == in.port)
        return check_.fail(in.mark, twice(in));
    const auto from = index_of(check_.graph, in.stage);
    if (from == none) {
      std::vector<std::string> names;
      for (const auto& s : check_.graph.stages)
        if (s.name != here().name)
          names.push_back(s.name);
      const auto port = port_hint(in.stage);
      return check_.fail(
        in.mark, here().name + " takes from '" + in.stage + "', but there is no such stage: "
                   + (port.empty() ? suggestion(in.stage, names) : port));
    }
    checked_edge edge;
    edge.from = from;
    edge.to = index_;
    edge.mark = in.mark;
    edge.capacity = in.capacity;
    edge.capacity_bytes = in.capacity_bytes;
    edge.overflow = in.overflow;
    const auto& above = check_.graph.stages[from];
    if (here().kind && above.kind && !here().kind->inputs.empty())
      if (!find_port(in, above, edge))
        return;
    defaults(edge);
    const auto number = check_.graph.edges.size();
    check_.graph.stages[from].outputs.push_back(number);
    here().inputs.push_back(number);
    check_.graph.edges.push_back(std::move(edge));
  }

  /// For `schedule.expired`, `schedule:expired` and `schedule/expired`: how an output is named.
  std::string port_hint(const std::string& text) const {
    const auto split = text.find_first_of(".:/");
    const auto at = index_of(check_.graph, text.substr(0, split));
    if (split == std::string::npos || at == none || !check_.graph.stages[at].kind)
      return {};
    const auto& above = check_.graph.stages[at];
    const auto port = text.substr(split + 1);
    const auto& outputs = above.kind->outputs;
    std::vector<std::string> names;
    for (const auto& o : outputs)
      names.push_back(o.name);
    if (std::ranges::count(names, port) == 0)
      return "the stage '" + above.name + "' has no output '" + port + "' either, "
             + (names.empty() ? "it is a sink" : suggestion(port, names));
    return "to take the output '" + port + "' of '" + above.name + "', write `from: "
           + (outputs.size() == 1 ? above.name
                                  : "{ stage: " + above.name + ", port: " + port + " }")
           + '`';
  }

  /// Picks the output and the type that the edge carries.
  bool find_port(const written_input& in, const checked_stage& above, checked_edge& edge) {
    const auto& outputs = above.kind->outputs;
    const auto wanted = taken_types(*here().kind);
    std::vector<std::string> names, fitting;
    std::vector<port_type> offered;
    for (std::size_t p = 0; p < outputs.size(); ++p) {
      names.push_back(outputs[p].name);
      if (!in.port.empty() && outputs[p].name != in.port)
        continue;
      offered.insert(offered.end(), outputs[p].types.begin(), outputs[p].types.end());
      const auto fits = std::ranges::find_if(
        outputs[p].types, [&](port_type t) { return std::ranges::count(wanted, t) > 0; });
      if (fits == outputs[p].types.end())
        continue;
      fitting.push_back(outputs[p].name);
      edge.from_port = p;
      edge.type = *fits;
    }
    if (outputs.empty())
      check_.fail(
        in.mark, here().name + " takes from '" + above.name
                   + "', which is a sink and gives nothing (" + above.kind->name
                   + "): take from the stage above it");
    else if (offered.empty())
      check_.fail(
        in.mark,
        "'" + above.name + "' has no output '" + in.port + "': " + suggestion(in.port, names));
    else if (fitting.empty())
      check_.fail(in.mark, mismatch(in, above, offered, wanted));
    else if (fitting.size() > 1)
      check_.fail(
        in.mark, "'" + above.name + "' has several outputs that " + here().name
                   + " can take: name one as in { stage: " + above.name
                   + ", port: " + fitting.front() + " }; they are " + join_words(fitting));
    return fitting.size() == 1;
  }

  std::string mismatch(
    const written_input& in, const checked_stage& above, const std::vector<port_type>& offered,
    const std::vector<port_type>& wanted) {
    const auto& into = here().kind->inputs.front().name;
    const auto out = in.port.empty() ? above.kind->outputs.front().name : in.port;
    const auto between = stages_between(check_.known.stages, offered, wanted);
    auto text = "the edge " + above.name + '.' + out + " -> " + here().name + '.' + into
                + " does not fit: " + here().name + " (" + here().kind->name + ") takes "
                + in_words(wanted) + ", but " + above.name + " (" + above.kind->name + ") gives "
                + in_words(offered);
    if (between.empty())
      return text + "; take from another stage: " + likely_input();
    return text + "; put " + (between.size() == 1 ? "a stage of type " : "stages of the types ")
           + join_words(between) + " in between";
  }

  /// Which of the graph's stages, or which types, this stage could take from.
  std::string likely_input() {
    const auto wanted = taken_types(*here().kind);
    std::vector<std::string> names, types;
    for (const auto& s : check_.graph.stages)
      if (s.kind && s.name != here().name && std::ranges::any_of(wanted, [&](port_type t) {
            return gives(*s.kind, t);
          }))
        names.push_back(s.name);
    for (const auto& d : check_.known.stages.all())
      if (std::ranges::any_of(wanted, [&](port_type t) { return gives(*d, t); }))
        types.push_back(d->name);
    const auto takes_text = "it takes " + in_words(wanted);
    if (!names.empty())
      return takes_text + ", write `from: " + names.front() + "`"
             + (names.size() > 1 ? ", or " + join_words({names.begin() + 1, names.end()}, " or ") : "");
    return takes_text + ", which " + join_words(types, " or ")
           + (types.size() == 1 ? " gives" : " give");
  }

  /// What holds where the file does not say. Behind a source it depends on the cameras: the plan
  /// decides.
  void defaults(checked_edge& edge) {
    const auto& above = check_.graph.stages[edge.from];
    const bool behind_source = above.kind && above.kind->inputs.empty();
    if (std::holds_alternative<std::monostate>(edge.capacity.value)) {
      edge.capacity.value = default_capacity(edge);
      edge.capacity.source = value_source::built_in;
    }
    if (std::holds_alternative<std::monostate>(edge.overflow.value) && !behind_source) {
      edge.overflow.value = std::string{to_string(overflow_policy::block)};
      edge.overflow.source = value_source::built_in;
    }
  }

  std::int64_t default_capacity(const checked_edge& edge) {
    if (edge.type == port_type::batch) {
      const auto workers = here().config->has("workers")
                             ? std::get_if<std::int64_t>(&here().config->at("workers").value)
                             : nullptr;
      return (workers ? *workers : 1) * (hyperframes::defaults::batches_queued + 1);
    }
    const bool owns_queue = here().kind && here().kind->own_queue;
    return owns_queue ? hyperframes::defaults::schedule_capacity
                      : hyperframes::defaults::edge_capacity;
  }

  std::size_t index_;
  graph_check& check_;
};

/// True where an edge takes from the port, or a stage whose inputs have a fault may be meant to.
bool is_taken(const graph_check& check, std::size_t stage, std::size_t port) {
  const auto& s = check.graph.stages[stage];
  for (const auto e : s.outputs)
    if (check.graph.edges[e].from_port == port)
      return true;
  const auto& types = s.kind->outputs[port].types;
  for (std::size_t i = 0; i < check.graph.stages.size(); ++i) {
    const auto* kind = check.graph.stages[i].kind;
    if (i != stage && !check.wired[i] && (!kind || std::ranges::any_of(types, [&](port_type t) {
          return takes(*kind, t);
        })))
      return true;
  }
  return false;
}

/// What a stage gives must have a taker.
void check_outputs(graph_check& check) {
  for (std::size_t i = 0; i < check.graph.stages.size(); ++i) {
    const auto& s = check.graph.stages[i];
    for (std::size_t p = 0; s.kind && p < s.kind->outputs.size(); ++p) {
      const auto& output = s.kind->outputs[p];
      if (output.optional || is_taken(check, i, p))
        continue;
      std::vector<std::string> types;
      for (const auto& d : check.known.stages.all())
        if (std::ranges::any_of(output.types, [&](port_type t) { return takes(*d, t); }))
          types.push_back(d->name);
      const bool only = s.kind->outputs.size() == 1;
      check.fail(
        s.mark, "nobody takes what " + s.name + " gives"
                  + (only ? "" : " at its output " + output.name) + " (" + in_words(output.types)
                  + "): add a stage with `from: "
                  + (only ? s.name : "{ stage: " + s.name + ", port: " + output.name + " }") + '`'
                  + (types.empty() ? "" : ", such as " + join_words(types, " or "))
                  + (only ? ", or remove " + s.name : ""));
    }
  }
}

} // namespace

void check_wiring(graph_check& check) {
  const auto before = check.faults.size();
  for (std::size_t i = 0; i < check.graph.stages.size(); ++i)
    check.wired.push_back(input_wiring{i, check}.join());
  check_outputs(check);
  check_cycles(check);
  check_paths(check);
  if (check.faults.size() == before && check.streams_known
      && std::ranges::all_of(check.wired, std::identity{}))
    check_passing_streams(check);
}

} // namespace hyperframes
