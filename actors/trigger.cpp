#include "actors/trigger.hpp"

#include "actors/sinks/stream_ends.hpp"
#include "actors/trigger_listener.hpp"

#include <algorithm>

namespace hyperframes {

namespace {

using targets = std::map<std::string, std::vector<stream_index>, std::less<>>;

constexpr stream_index all_streams = ~stream_index{0};

std::optional<listen_address> address_of(const settings& s, std::string_view name) {
  return s.has(name) ? read_address(s.text(name)) : std::nullopt;
}

/// The streams that each name stands for: streams, groups, and the stage itself for what it fires at.
/// Throws `failure` where `streams` names something that there is not.
targets targets_of(const stage_plan& plan) {
  targets by_name;
  const auto& graph = *plan.graph;
  for (const auto& g : graph.groups)
    by_name[g.name] = g.streams;
  for (stream_index s = 0; s < graph.streams.size(); ++s)
    by_name[graph.streams[s].id] = {s};
  std::vector<stream_index> own;
  if (plan.config->has("streams"))
    for (const auto& name : plan.config->texts("streams")) {
      const auto found = by_name.find(name);
      if (found == by_name.end())
        throw failure(make_error(
          errc::graph_invalid, plan.name,
          "`streams` names '" + name + "', but there is no stream or group of that name"));
      own.insert(own.end(), found->second.begin(), found->second.end());
    }
  else
    own.push_back(all_streams);
  std::ranges::sort(own);
  own.erase(std::ranges::unique(own).begin(), own.end());
  by_name[plan.name] = own;
  by_name[""] = std::move(own);
  return by_name;
}

std::shared_ptr<trigger_port> port_of(const stage_plan& plan) {
  const auto resource = std::dynamic_pointer_cast<const trigger_resource>(plan.resource);
  return resource && resource->port ? resource->port : std::make_shared<trigger_port>();
}

class trigger_stage final : public stage {
public:
  explicit trigger_stage(const stage_plan& plan)
    : name_(plan.name),
      targets_(targets_of(plan)),
      port_(port_of(plan)),
      udp_(address_of(*plan.config, "udp")),
      http_(address_of(*plan.config, "http")),
      threads_(plan.threads),
      ends_(plan.streams, plan.settles) {}
  ~trigger_stage() override { close(); }

  bool start(stage_context& context) override {
    if (!threads_ && (udp_ || http_))
      throw failure(make_error(
        errc::graph_invalid, name_,
        "it listens for messages, which are real: on the virtual clock only frames and the program "
        "fire triggers"));
    std::function<graph_time()> now;
    if (threads_)
      now = [ticks = std::make_shared<system_clock>(), begin = context.now()] {
        return begin + (ticks->now() - graph_time{});
      };
    port_->open(targets_, std::move(now), context.poke());
    open_ = true;
    if (!udp_ && !http_)
      return true;
    listener_ = std::make_unique<trigger_listener>(name_, udp_, http_, port_);
    if (udp_ && udp_->port == 0)
      context.alarm("listens for datagrams on port " + std::to_string(listener_->udp_port()));
    if (http_ && http_->port == 0)
      context.alarm("listens for HTTP requests on port " + std::to_string(listener_->http_port()));
    return true;
  }

  void on_item(item i, stage_context& context) override {
    for (const auto s : targets_.find("")->second)
      send({std::get<frame>(i).meta.timeline, s, true}, context);
    tell(context);
    ends_.add(i);
    finish(context);
  }
  void on_outcomes(std::span<const outcome_range> ranges, stage_context& context) override {
    ends_.add(ranges);
    finish(context);
  }
  void on_end(const stream_end& end, stage_context& context) override {
    ends_.add(end);
    finish(context);
  }
  void on_poke(stage_context& context) override {
    if (!open_)
      return;
    auto waiting = port_->take(context.now());
    for (const auto& t : waiting.triggers)
      send(t, context);
    refused_ = waiting.refused;
    lost_at_port_ = waiting.lost;
    why_ = std::move(waiting.why);
    tell(context);
  }
  void drain(stage_context&) override { close(); }
  void give_up(outcome, reason, outcome_batch&) noexcept override { close(); }
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  void send(const trigger& t, stage_context& context) {
    if (context.credit() > 0)
      context.emit(t);
    else
      ++lost_;
  }

  /// The first one, the tenth, the hundredth, and so on: a sender that goes on is not heard each time.
  void tell(stage_context& context) {
    const auto due = [](std::uint64_t count, std::uint64_t& next) {
      if (count < next)
        return false;
      while (next <= count)
        next *= 10;
      return true;
    };
    if (due(lost_ + lost_at_port_, tell_lost_))
      context.alarm(
        "triggers lost so far, as too many waited: " + std::to_string(lost_ + lost_at_port_));
    if (due(refused_, tell_refused_))
      context.alarm("messages refused so far: " + std::to_string(refused_) + "; the last one: " + why_);
  }

  void finish(stage_context& context) {
    if (!ends_.all_over())
      return;
    close();
    context.done();
  }

  void close() noexcept {
    if (!std::exchange(open_, false))
      return;
    port_->close();
    listener_.reset();
  }

  std::string name_;
  targets targets_;
  std::shared_ptr<trigger_port> port_;
  std::optional<listen_address> udp_, http_;
  bool threads_;
  stream_ends ends_;
  std::unique_ptr<trigger_listener> listener_;
  bool open_ = false;
  std::uint64_t lost_ = 0, lost_at_port_ = 0, refused_ = 0;
  std::uint64_t tell_lost_ = 1, tell_refused_ = 1; ///< the counts that are told next
  std::string why_;
};

void check(const settings& s, const source_mark& mark, std::vector<fault>& faults) {
  for (const auto* name : {"udp", "http"})
    if (s.has(name) && !read_address(s.text(name))) {
      const auto& own = s.at(name).mark;
      faults.push_back(
        {own.line > 0 ? own : mark, "`" + std::string{name} + ": " + s.text(name)
                                      + "` is no address to listen at: expected an IP address of this "
                                        "machine and a port, such as 127.0.0.1:5005 or [::1]:5005"});
    }
}

} // namespace

stage_description describe_trigger() {
  stage_description d;
  d.name = "trigger";
  d.summary = "Fires triggers for `bundle`: when a frame or a message comes, or the program says so.";
  d.inputs = {{"in", {port_type::frame}, "Frames, each of which fires; they are delivered here.", true}};
  d.outputs = {{"out", {port_type::trigger}, "Triggers."}};
  d.many_inputs = true;
  d.parameters = {
    {.name = "udp",
     .type = parameter_type::text,
     .help =
       "Listens at this address for datagrams, such as 127.0.0.1:5005. Each is the name of a stream "
       "or group, or empty, and fires. Port 0 takes a free one, and says which."},
    {.name = "http",
     .type = parameter_type::text,
     .help =
       "Listens at this address for HTTP requests, such as 127.0.0.1:8080. POST /trigger fires, and "
       "POST /trigger/NAME for one stream or group. Whoever reaches the address may fire."},
    {.name = "streams",
     .type = parameter_type::list,
     .help = "Whose hyperframes it releases where nothing else is named: streams or groups, by "
             "default all.",
     .element = parameter_type::text}};
  d.check = check;
  d.make = [](const stage_plan& plan) { return std::make_unique<trigger_stage>(plan); };
  return d;
}

} // namespace hyperframes
