#pragma once

#include "runtime/error.hpp"
#include "runtime/item.hpp"
#include "runtime/settings.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What can be put into a graph. One description of a stage or a camera feeds the checker, the
/// JSON Schema, `explain`, the docs and the factory.
namespace hyperframes {

enum class parameter_type : std::uint8_t {
  boolean,
  integer,
  number,
  text,
  duration, ///< "40ms", "1.5s"; units ns us ms s min h
  bytes,    ///< "256MB", "64KiB", or a bare number of bytes; arrives as an integer
  size,     ///< "640x480"
  choice,   ///< one of `choices`; arrives as text
  list,     ///< of `element`; a single value is taken as a list of one
  object,   ///< of `fields`
};

struct parameter {
  std::string name;
  parameter_type type = parameter_type::text;
  std::string help; ///< a sentence
  std::optional<setting> initial{}; ///< the default; none: unset, or required
  bool required = false;
  std::optional<double> least{}, most{}; ///< inclusive; durations in seconds, sizes per side
  std::string unit{};                    ///< for docs: "frames", "pixels", "Hz"
  std::vector<std::string> choices{};
  std::vector<parameter> fields{};                ///< of an object
  parameter_type element = parameter_type::text;  ///< of a list
  bool existing_file = false; ///< text that names a file, relative to the graph file's folder
  /// The longest that a frame may have to wait because of this value; `explain` adds these up.
  /// Holds for durations only.
  bool causes_wait = false;
};

/// `parameter{...}.initial` from a bare value.
template <class T>
setting initial_value(T value) {
  setting s;
  s.value = std::move(value);
  return s;
}

enum class overflow_policy : std::uint8_t { block, drop_newest, drop_oldest, fail };
const char* to_string(overflow_policy p);

struct port {
  std::string name; ///< "in", "out" for the only one
  std::vector<port_type> types; ///< what it takes or gives; an output with several has one per wiring
  std::string help{};
  bool optional = false; ///< an output that nobody needs to take, an input that nothing needs to give
};

/// A fault in a graph file, found before anything starts.
struct fault {
  source_mark where;
  std::string message;
};

struct stage_plan;
class stage;

/// What a stage loads before the graph starts, and what the stages above it must know of that:
/// the infer stage's model decides how the bundler packs.
struct stage_resource {
  virtual ~stage_resource() = default;
  std::string summary;                ///< for `explain`
  std::optional<pack_spec> tensor{};  ///< how hyperframes must be packed; none: not at all
  std::uint32_t fixed_batch = 0;      ///< slots per run; 0: any
  std::uint32_t batch_slots = 0;      ///< slots that it wants in a batch; 0: no wish
  bool adaptive = false;              ///< up to so many, as many as pay
  duration batch_target = duration::max(); ///< the longest that it should be at one batch
  std::uint32_t workers = 1;          ///< batches that it works on side by side
  std::uint32_t time_axis = 0;        ///< slots that form one sample; 0: one frame does
  bool result_per_slot = true;
  bool simulated = false;
};
using stage_resource_ptr = std::shared_ptr<const stage_resource>;

/// What `explain`, the plan of memory and the reorder space need to know of a stage's settings.
/// All of it holds for one stream, or one group where the stage works on groups.
struct stage_holds {
  std::uint64_t frames = 0;      ///< frames whose outcome the stage may owe at once
  std::uint64_t buffers = 0;     ///< frame buffers that it may keep in use
  std::uint64_t hyperframes = 0; ///< open or queued hyperframes, each with a tensor
  std::uint64_t ahead = 0;       ///< items of its input that it may finish before an earlier one
};

/// What of a stage can run on nodes (`node:`).
enum class node_use : std::uint8_t {
  none,    ///< it runs in the process that runs the graph
  workers, ///< its workers, each on one of its nodes
  whole,   ///< all of it, on one of its nodes
};

/// What a stage wants to know of its place before it is made, and tells the checker about itself.
struct stage_description {
  std::string name;    ///< as in `type:`
  std::string summary; ///< a sentence
  std::vector<port> inputs;  ///< empty: a source
  std::vector<port> outputs; ///< empty: a sink
  bool many_inputs = false;  ///< `from:` may name several stages
  std::vector<parameter> parameters;
  /// Rules between several parameters; appends a fault for each that does not hold.
  std::function<void(const settings&, const source_mark&, std::vector<fault>&)> check{};
  /// Rules between the settings and what comes in, a type an edge; appends a fault for each that does
  /// not hold.
  std::function<void(const settings&, std::span<const port_type>, const source_mark&,
                     std::vector<fault>&)>
    check_inputs{};
  /// Rules between the settings and the streams that pass here, given by their ids; appends a fault
  /// for each that does not hold.
  std::function<void(const settings&, std::span<const std::string>, const source_mark&,
                     std::vector<fault>&)>
    check_streams{};
  /// The files that it writes while these streams pass, which the parameter `path` names: from the
  /// working folder; `-` is the standard output. The checker looks whether they can be written, and
  /// that each is written by one stage and read by none. None: it writes nothing.
  std::function<std::vector<std::string>(const settings&, std::span<const std::string>)> writes{};
  /// Loads what the stage needs (a model); called once, before anything starts.
  /// @param folder that relative paths start from.
  std::function<expected<stage_resource_ptr>(const settings&, const std::string& folder)> load{};
  /// The bound on what it holds; none: nothing.
  std::function<stage_holds(const settings&)> holds{};
  /// Slots of the hyperframes that it makes, for one group of `members` streams; none: it makes none.
  std::function<std::uint32_t(const settings&, std::uint32_t members)> bundle_size{};
  /// It ends streams' accounts: every outcome of the streams that reach it comes here.
  bool settles = false;
  node_use on_nodes = node_use::none;
  /// It owns its queue: its mailbox's items leave when the stage says so (`schedule`).
  bool own_queue = false;
  /// Makes the logic. Called again after a failure. Throws `failure`.
  std::function<std::unique_ptr<stage>(const stage_plan&)> make{};
};

/// Finds a description by name; keeps the order of registration.
template <class Description>
class catalogue {
public:
  void add(Description d) { entries_.push_back(std::make_shared<const Description>(std::move(d))); }
  const Description* find(std::string_view name) const {
    for (const auto& e : entries_)
      if (e->name == name)
        return e.get();
    return nullptr;
  }
  const std::vector<std::shared_ptr<const Description>>& all() const { return entries_; }

private:
  std::vector<std::shared_ptr<const Description>> entries_;
};

using stage_catalogue = catalogue<stage_description>;

} // namespace hyperframes
