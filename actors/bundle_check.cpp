#include "actors/bundle_parameters.hpp"

#include <algorithm>

// Which settings of `bundle` go together.
namespace hyperframes {

namespace {

/// One stage's settings while they are checked.
struct checked {
  const settings& all;
  const settings* release; ///< none: it is not written
  bundle_options options;
  source_mark mark;
  std::vector<fault>& faults;

  bool has(std::string_view name) const { return release && release->has(name); }
  void fail(const settings& s, std::string_view name, std::string sentence) const {
    const bool known = s.has(name) && s.at(name).mark.line > 0;
    faults.push_back({known ? s.at(name).mark : mark, std::move(sentence)});
  }
};

void check_size(const checked& c) {
  if (bundle_over_of(c.all) != bundle_over::cameras || !c.all.has("size") || c.all.integer("size") == 1)
    return;
  c.fail(
    c.all, "size",
    "`over: cameras` makes a hyperframe of one set, and `size` is "
      + std::to_string(c.all.integer("size"))
      + "; leave `size` out, or use `over: both` for several sets");
}

void check_count(const checked& c) {
  if (!c.has("count"))
    return;
  const auto size = c.options.size;
  const auto count = c.release->integer("count");
  if (count > size)
    c.fail(
      *c.release, "count",
      "`count: " + std::to_string(count) + "` is more than a hyperframe of " + std::to_string(size)
        + " can hold; use at most " + std::to_string(size) + " or a larger `size`");
  else if (count < size && c.options.stride < size)
    c.fail(
      *c.release, "count",
      "`count: " + std::to_string(count) + "` with `stride: " + std::to_string(c.options.stride)
        + "`: hyperframes that overlap are released when they are full; leave `count` out or make it "
        + std::to_string(size));
}

void check_pre(const checked& c) {
  if (!c.options.pre)
    return;
  const auto pre = std::to_string(*c.options.pre);
  if (!c.options.trigger)
    c.fail(
      *c.release, "pre",
      "`pre: " + pre + "` counts the frames from before a trigger; add `trigger: true`, or leave `pre` out");
  if (*c.options.pre > c.options.size)
    c.fail(
      *c.release, "pre",
      "`pre: " + pre + "` is more than a hyperframe of " + std::to_string(c.options.size)
        + " can hold; use at most " + std::to_string(c.options.size) + " or a larger `size`");
  const auto useless = [&](const settings& s, const char* name) {
    c.fail(
      s, name,
      "`" + std::string{name} + "` with `pre`: the triggers alone say which frames come into a hyperframe; leave one of them out");
  };
  if (c.options.stride != c.options.size)
    useless(c.all, "stride");
  if (c.options.count != c.options.size)
    useless(*c.release, "count");
  if (c.options.window)
    useless(*c.release, "window");
}

void check_stream_first(const checked& c) {
  if (!c.options.stream_first)
    return;
  const auto& o = c.options;
  const std::string says =
    "`stream_first` sends the first frame of a hyperframe ahead of the others, but ";
  const std::string out = "leave `stream_first` out, or ";
  if (bundle_over_of(c.all) == bundle_over::cameras)
    c.fail(
      c.all, "stream_first",
      says + "`over: cameras` makes hyperframes of one set, whose frames come at once; " + out
        + "use `over: both` for several sets");
  else if (o.size == 1)
    c.fail(
      c.all, "stream_first",
      says + "`size: 1` leaves no others; " + out + "use a `size` of 2 or more");
  else if (o.count == 1)
    c.fail(
      *c.release, "count",
      says + "`count: 1` leaves no others; " + out + "use a `count` of 2 or more");
  if (o.stride < o.size)
    c.fail(
      c.all, "stride",
      says + "`stride: " + std::to_string(o.stride) + "` puts " + std::to_string(o.size - o.stride)
        + " that were sent before in front of it, for models that take several frames together; "
        + out + "use a `stride` of " + std::to_string(o.size) + " or more");
}

} // namespace

void check_bundle(const settings& s, const source_mark& mark, std::vector<fault>& faults) {
  const checked c{
    s, s.has("release") ? &s.group("release") : nullptr, bundle_options_of(s), mark, faults};
  check_size(c);
  check_count(c);
  check_pre(c);
  check_stream_first(c);
}

void check_bundle_inputs(
  const settings& s, std::span<const port_type> inputs, const source_mark& mark,
  std::vector<fault>& faults) {
  const bool triggers = std::ranges::count(inputs, port_type::trigger) > 0;
  const bool waits = bundle_options_of(s).trigger;
  if (waits && !triggers)
    faults.push_back(
      {mark, "it is released by triggers, but none come in: add a stage of type `trigger`, and name it "
             "in `from` beside the frames, as in from: [capture, trigger]"});
  if (triggers && !waits)
    faults.push_back(
      {mark, "triggers come in, but release nothing: add release: { trigger: true }, or take the "
             "trigger out of `from`"});
  if (std::ranges::all_of(inputs, [](port_type t) { return t == port_type::trigger; }))
    faults.push_back(
      {mark, "only triggers come in, and no frames: name a stage that gives frames or sets in `from` "
             "too"});
}

} // namespace hyperframes
