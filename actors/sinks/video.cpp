#include "actors/sinks/annotate.hpp"
#include "actors/sinks/film_file.hpp"
#include "actors/sinks/sink_path.hpp"
#include "actors/sinks/sinks.hpp"
#include "actors/sinks/stream_ends.hpp"
#include "actors/sinks/to_bgr.hpp"

#include <algorithm>
#include <deque>

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

/// @returns the streams that the stage films. Throws `failure` where they cannot be told apart.
std::vector<stream_index> filmed_streams(const stage_plan& plan) {
  const auto id_of = [&](stream_index s) { return plan.graph->streams.at(s).id; };
  std::string ids;
  for (auto s : plan.streams)
    ids += (ids.empty() ? "" : ", ") + id_of(s);
  const auto fail = [&](const std::string& sentence) {
    throw failure(make_error(errc::graph_invalid, plan.name, sentence));
  };
  if (plan.config->has("stream")) {
    const auto& wanted = plan.config->text("stream");
    for (auto s : plan.streams)
      if (id_of(s) == wanted)
        return {s};
    fail("stream " + wanted + " does not pass here; those that do: " + ids);
  }
  if (plan.streams.size() > 1 && plan.config->text("path").find("{stream}") == std::string::npos)
    fail("several streams pass here (" + ids
         + "): name one in `stream`, or put {stream} into `path` for a film of each");
  return plan.streams;
}

video_stage::video_stage(const stage_plan& plan) : name_(plan.name), ends_(plan.streams, plan.settles) {
  for (auto s : filmed_streams(plan)) {
    const auto& facts = plan.graph->streams.at(s);
    film_options o{path_for_stream(sink_path(plan), facts.id), plan.config->text("codec"),
                   static_cast<int>(plan.config->integer("quality")), facts.live};
    lanes_.push_back({s, std::make_shared<filming>(std::move(o), facts.id), false});
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
  d.make = [](const stage_plan& plan) { return std::make_unique<video_stage>(plan); };
  return d;
}

} // namespace hyperframes
