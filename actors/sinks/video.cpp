#include "actors/sinks/annotate.hpp"
#include "actors/sinks/film_file.hpp"
#include "actors/sinks/sink_path.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/sinks/stream_ends.hpp"
#include "actors/sinks/to_bgr.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace hyperframes {

namespace {

/// One stream's film; used by one piece of work at a time.
struct filming {
  filming(film_options options, std::string stream) : output(std::move(options)), id(std::move(stream)) {}

  /// @returns bytes that were written.
  std::size_t add(const frame_result& r) {
    auto picture = to_picture.convert(*r.content);
    annotate(picture, r, id);
    output.add(picture, r.meta.epoch, r.content->meta.captured);
    return picture.total() * picture.elemSize();
  }

  bgr_converter to_picture;
  film_file output;
  std::string id;
};

/// What a piece of work comes back with.
struct work_done {
  std::string failed; ///< a sentence, or empty
  std::size_t copied = 0;
};

/// Encoding is slower than a stage's function may be, so it is work on a lane for each stream. The
/// queue is the stage's own: what waits for its lane keeps its credit.
class video_stage final : public stage {
public:
  explicit video_stage(const stage_plan& plan);

  void on_item(item i, stage_context& context) override;
  void on_end(const stream_end& end, stage_context& context) override {
    ends_.add(end);
    close_when_over(context);
  }
  void on_done(std::uint32_t lane, std::shared_ptr<void> value, stage_context& context) override;
  std::optional<item> evict(overflow_policy) override {
    if (queue_.empty())
      return std::nullopt; // all are being encoded
    auto oldest = std::move(queue_.front());
    queue_.pop_front();
    return item{std::move(oldest)};
  }
  void give_up(outcome, reason, outcome_batch&) noexcept override { queue_.clear(); }
  std::uint64_t held_frames() const noexcept override { return 0; }

private:
  struct lane {
    stream_index stream = 0;
    std::shared_ptr<filming> target; ///< shared with the work, which may outlive this stage
    bool busy = false;
  };
  lane* lane_of(stream_index stream) {
    const auto at = std::ranges::find(lanes_, stream, &lane::stream);
    return at == lanes_.end() ? nullptr : &*at;
  }
  void begin_what_can(stage_context& context);
  void submit(lane& l, std::function<std::size_t()> action, stage_context& context);
  void close_when_over(stage_context& context);

  std::string name_;
  stream_ends ends_;
  std::vector<lane> lanes_; ///< one for each stream that is filmed
  std::deque<frame_result_ptr> queue_;
  bool closing_ = false;
};

/// @returns the streams that are filmed, as places in `ids`; an error where they cannot be told apart.
expected<std::vector<std::size_t>> filmed_streams(const settings& config, std::span<const std::string> ids) {
  std::string all;
  for (const auto& id : ids)
    all += (all.empty() ? "" : ", ") + id;
  if (config.has("stream")) {
    const auto wanted = std::ranges::find(ids, config.text("stream"));
    if (wanted == ids.end())
      return make_error(errc::graph_invalid, "",
                        "stream " + config.text("stream") + " does not pass here; those that do: " + all);
    return std::vector{static_cast<std::size_t>(wanted - ids.begin())};
  }
  if (ids.size() > 1 && config.text("path").find("{stream}") == std::string::npos)
    return make_error(errc::graph_invalid, "",
                      "several streams pass here (" + all
                        + "): name one in `stream`, or put {stream} into `path` for a film of each");
  std::vector<std::size_t> places(ids.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// A film's settings; whether its stream is live is not among them.
film_options options_of(const settings& config, const std::string& id) {
  return {path_for_stream(config.text("path"), id), config.text("codec"),
          static_cast<int>(config.integer("quality")), false};
}

std::vector<std::string> films_of(const settings& config, std::span<const std::string> ids) {
  std::vector<std::string> paths;
  if (const auto filmed = filmed_streams(config, ids))
    for (const auto place : *filmed)
      paths.push_back(path_for_stream(config.text("path"), ids[place]));
  return paths;
}

void check_films(const settings& config, std::span<const std::string> ids, const source_mark& where,
                 std::vector<fault>& faults) {
  const auto filmed = filmed_streams(config, ids);
  if (!filmed) {
    faults.push_back({where, filmed.error().message});
    return;
  }
  if (filmed->empty())
    return;
  try {
    check_codec(options_of(config, ids[filmed->front()])); // all films have the same extension
  } catch (const failure& e) {
    const auto& at = config.at("path").mark;
    faults.push_back({at.file.empty() ? where : at, e.what()});
  }
}

video_stage::video_stage(const stage_plan& plan) : name_(plan.name), ends_(plan.streams, plan.settles) {
  std::vector<std::string> ids;
  for (auto s : plan.streams)
    ids.push_back(plan.graph->streams.at(s).id);
  const auto filmed = filmed_streams(*plan.config, ids);
  if (!filmed)
    throw failure(make_error(errc::graph_invalid, plan.name, filmed.error().message));
  for (const auto place : *filmed) {
    auto options = options_of(*plan.config, ids[place]);
    options.live = plan.graph->streams.at(plan.streams[place]).live;
    lanes_.push_back(
      {plan.streams[place], std::make_shared<filming>(std::move(options), ids[place]), false});
  }
}

void video_stage::on_item(item i, stage_context& context) {
  auto r = std::get<frame_result_ptr>(std::move(i));
  const bool filmed = lane_of(r->meta.stream) != nullptr;
  if (filmed && !r->content && r->what == outcome::delivered)
    throw failure(make_error(errc::stage_failed, name_,
                             "the results that come here hold no pictures: set `keep_frames: true` "
                             "at the bundle stage above"));
  if (!filmed || !r->content || !r->content->buffer) {
    context.release(1);
    return;
  }
  queue_.push_back(std::move(r));
  begin_what_can(context);
}

void video_stage::begin_what_can(stage_context& context) {
  for (auto at = queue_.begin(); at != queue_.end();) {
    auto& l = *lane_of((*at)->meta.stream);
    if (l.busy) {
      ++at;
      continue;
    }
    submit(l, [to = l.target, r = std::move(*at)] { return to->add(*r); }, context);
    at = queue_.erase(at);
    context.release(1);
  }
}

void video_stage::submit(lane& l, std::function<std::size_t()> action, stage_context& context) {
  l.busy = true;
  blocking_work work;
  work.lane = static_cast<std::uint32_t>(&l - lanes_.data());
  work.run = [action = std::move(action)]() -> std::shared_ptr<void> {
    auto done = std::make_shared<work_done>();
    try {
      done->copied = action();
    } catch (const std::exception& e) {
      done->failed = e.what();
    }
    return done;
  };
  work.simulated = duration::zero();
  context.submit(std::move(work));
}

void video_stage::on_done(std::uint32_t lane, std::shared_ptr<void> value, stage_context& context) {
  const auto& done = *std::static_pointer_cast<work_done>(value);
  lanes_.at(lane).busy = false;
  if (!done.failed.empty())
    throw failure(make_error(errc::io_failed, "", done.failed));
  context.copied(done.copied);
  begin_what_can(context);
  close_when_over(context);
}

void video_stage::close_when_over(stage_context& context) {
  if (!ends_.all_over() || !queue_.empty() || std::ranges::any_of(lanes_, &lane::busy))
    return;
  if (closing_) {
    context.done();
    return;
  }
  closing_ = true;
  for (auto& l : lanes_)
    submit(l, [to = l.target] { return to->output.close(), std::size_t{0}; }, context);
}

} // namespace

stage_description describe_video() {
  stage_description d;
  d.name = "video";
  d.summary = "Writes a film of each stream with boxes, labels and outcomes drawn into it.";
  d.inputs = {{.name = "in",
               .types = {port_type::frame_result},
               .help = "results with their frames (`keep_frames: true` at the bundle stage)"}};
  d.parameters = {
    {.name = "path",
     .type = parameter_type::text,
     .help = "The film, replaced where it exists; ends in .mkv, .mp4, .mov or .avi. {stream} stands "
             "for the stream's id: a film of each.",
     .required = true},
    {.name = "stream",
     .type = parameter_type::text,
     .help = "The only stream that is filmed; without it, all that pass here."},
    {.name = "codec",
     .type = parameter_type::choice,
     .help = "How pictures are compressed; auto takes the first one that goes into the file.",
     .initial = initial_value(std::string{"auto"}),
     .choices = {"auto", "mpeg4", "mjpeg", "ffv1", "h264"}},
    {.name = "quality",
     .type = parameter_type::integer,
     .help = "From a small file to good pictures; ffv1 loses nothing and takes no notice.",
     .initial = initial_value(std::int64_t{75}),
     .least = 1,
     .most = 100},
  };
  d.own_queue = true;
  // The frame that is being encoded; those that wait are the edge's.
  d.holds = [](const settings&) { return stage_holds{0, 1, 0}; };
  d.check_streams = check_films;
  d.writes = films_of;
  d.make = [](const stage_plan& plan) { return std::make_unique<video_stage>(plan); };
  return d;
}

} // namespace hyperframes
