#include "cameras/synthetic.hpp"

#include "cameras/empty_pool.hpp"
#include "cameras/parts_scene.hpp"
#include "cameras/picture.hpp"
#include "cameras/random_draw.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hyperframes {

namespace {

/// A scene draws picture `index` and says what class it shows.
class scene {
public:
  virtual ~scene() = default;
  /// @returns the truth, or -1.
  virtual int draw(std::uint64_t index, cv::Mat& bgr) = 0;
};

class parts final : public scene {
public:
  parts(pixel_size size, std::uint64_t seed) : scene_(size, seed) {}
  int draw(std::uint64_t index, cv::Mat& bgr) override {
    return scene_.render(index, bgr.data, bgr.step);
  }

private:
  parts_scene scene_;
};

/// Blue runs along x, green along y, red along both; all move by one step a picture.
class gradient final : public scene {
public:
  int draw(std::uint64_t index, cv::Mat& bgr) override {
    const auto step = static_cast<unsigned>(index);
    for (int y = 0; y < bgr.rows; ++y) {
      auto* to = bgr.ptr(y);
      const unsigned v = static_cast<unsigned>(y) * 256 / static_cast<unsigned>(bgr.rows);
      for (int x = 0; x < bgr.cols; ++x, to += 3) {
        const unsigned u = static_cast<unsigned>(x) * 256 / static_cast<unsigned>(bgr.cols);
        to[0] = static_cast<std::uint8_t>(u + step);
        to[1] = static_cast<std::uint8_t>(v + step);
        to[2] = static_cast<std::uint8_t>((u + v) / 2 + step);
      }
    }
    return -1;
  }
};

class noise final : public scene {
public:
  explicit noise(std::uint64_t seed) : seed_(seed) {}
  int draw(std::uint64_t index, cv::Mat& bgr) override {
    random_draw draw{seed_, index};
    for (int y = 0; y < bgr.rows; ++y) {
      auto* to = bgr.ptr(y);
      const int bytes = bgr.cols * 3;
      for (int i = 0; i < bytes; i += 8) {
        auto bits = draw.bits();
        for (int j = i; j < std::min(i + 8, bytes); ++j, bits >>= 8)
          to[j] = static_cast<std::uint8_t>(bits);
      }
    }
    return -1;
  }

private:
  std::uint64_t seed_;
};

/// The index in digits, and as 32 squares along the top, lowest bit first, white for one.
class counter final : public scene {
public:
  int draw(std::uint64_t index, cv::Mat& bgr) override {
    bgr.setTo(cv::Scalar{48, 40, 32});
    for (int bit = 0; bit < 32; ++bit) {
      const int left = bgr.cols * bit / 32, right = bgr.cols * (bit + 1) / 32;
      const auto value = (index >> bit & 1) != 0 ? cv::Scalar::all(255) : cv::Scalar::all(0);
      bgr(cv::Rect{left, 0, right - left, std::max(1, bgr.rows / 8)}).setTo(value);
    }
    const double scale = bgr.cols / 200.0;
    cv::putText(
      bgr, std::to_string(index), {bgr.cols / 16, bgr.rows * 2 / 3}, cv::FONT_HERSHEY_SIMPLEX,
      scale, cv::Scalar{90, 220, 250}, std::max(1, static_cast<int>(scale * 2)), cv::LINE_AA);
    return -1;
  }
};

/// So that cameras without a seed of their own do not all show the same: FNV-1a of the name.
std::uint64_t seed_of(const std::string& stream) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : stream)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

class synthetic_camera final : public camera {
public:
  explicit synthetic_camera(const settings& config)
    : scene_name_(config.text("scene")),
      size_(config.size("size")),
      fps_(config.number("fps")),
      realtime_(config.flag("realtime")),
      jitter_(config.time("jitter")),
      drop_(config.number("drop")),
      offset_(config.time("offset")),
      drift_(config.number("drift") / 1e6) {
    if (config.has("frames"))
      frames_ = static_cast<std::uint64_t>(config.integer("frames"));
    if (config.has("seed"))
      seed_ = static_cast<std::uint64_t>(config.integer("seed"));
    media_ = make_video_type(
      video_format::packed(pixel_format_of(config.text("format")), size_.width, size_.height));
  }

  expected<camera_info> probe() override {
    camera_info info;
    info.media = *media_;
    info.fps = fps_;
    info.live = realtime_;
    info.frame_count = frames_;
    if (frames_)
      info.length = at(*frames_);
    info.knows_truth = scene_name_ == "parts";
    if (info.knows_truth)
      info.truth_labels = parts_scene::labels();
    info.frame_bytes = media_->video.size_bytes();
    info.own_frames = 1; // the one that is being drawn
    info.simulated = true;
    return info;
  }

  expected<void> open(const camera_environment& environment) override {
    stream_ = environment.stream;
    const auto seed = seed_.value_or(seed_of(stream_));
    if (scene_name_ == "parts")
      scene_ = std::make_unique<parts>(size_, seed);
    else if (scene_name_ == "noise")
      scene_ = std::make_unique<noise>(seed);
    else if (scene_name_ == "counter")
      scene_ = std::make_unique<counter>();
    else
      scene_ = std::make_unique<gradient>();
    faults_seed_ = seed ^ 0x6a09e667f3bcc908;
    try {
      pool_ = {};
      pool_ =
        buffer_pool{environment.frames_ahead + 1, media_->video.size_bytes(), environment.pool};
    } catch (const failure& f) {
      return make_error(f.what_failed().code, stream_, f.what_failed().message);
    }
    start_.reset();
    given_ = next_ = 0;
    return {};
  }

  camera_event read(graph_time now) override {
    if (!start_)
      start_ = realtime_ ? next_tick(now) : now;
    if (frames_ && given_ >= *frames_)
      return end_of_stream{};
    const auto first = next_;
    next_ = kept_from(first);
    if (realtime_) // it holds one picture, as a device does: the next one takes its place
      for (auto n = kept_from(next_ + 1); due(n) <= now; n = kept_from(n + 1))
        next_ = n;
    gap_ = gap_ || next_ != first;
    if (realtime_ && now < due(next_))
      return not_before{due(next_)};
    captured_frame f;
    f.buffer = pool_.acquire();
    if (!f.buffer) {
      if (!realtime_)
        return empty_pool(stream_, pool_.slots());
      f.flags |= frame_no_buffer;
    }
    const auto taken = taken_at(next_);
    f.captured = capture_time{
      offset_ + taken + duration{std::llround(static_cast<double>(taken.count()) * drift_)}};
    f.device_id = next_;
    f.media = media_;
    if (std::exchange(gap_, false) && given_ > 0)
      f.flags |= frame_gap_before;
    if (f.buffer)
      f.truth = draw(f.buffer);
    ++next_;
    ++given_;
    return f;
  }

private:
  duration at(std::uint64_t n) const {
    return duration{std::llround(static_cast<double>(n) * 1e9 / fps_)};
  }
  /// Live cameras of one rate run in step, as if one signal triggered them.
  graph_time next_tick(graph_time now) const {
    const auto period = at(1);
    return graph_time{(now.time_since_epoch() + period - duration{1}) / period * period};
  }
  duration shake(std::uint64_t n) const {
    return duration{static_cast<std::int64_t>(
      random_draw{faults_seed_, 2 * n + 1}.unit() * static_cast<double>(jitter_.count()))};
  }
  duration taken_at(std::uint64_t n) const { return at(n) + shake(n); }
  graph_time due(std::uint64_t n) const { return later_by(*start_, taken_at(n)); }
  /// The first frame from `n` on that the device does not lose.
  std::uint64_t kept_from(std::uint64_t n) const {
    while (random_draw{faults_seed_, 2 * n}.unit() < drop_)
      ++n;
    return n;
  }

  int draw(buffer_ref& to) {
    const auto width = static_cast<int>(size_.width), height = static_cast<int>(size_.height);
    if (media_->video.format == pixel_format::bgr24) {
      cv::Mat picture{height, width, CV_8UC3, to.data(), media_->video.planes[0].stride};
      return scene_->draw(next_, picture);
    }
    canvas_.create(height, width, CV_8UC3);
    const int truth = scene_->draw(next_, canvas_);
    write_picture(canvas_, media_->video, to.data());
    return truth;
  }

  std::string scene_name_;
  pixel_size size_;
  double fps_;
  bool realtime_;
  duration jitter_;
  double drop_;
  duration offset_;
  double drift_;
  std::optional<std::uint64_t> frames_, seed_;
  media_type_ptr media_;

  std::string stream_;
  std::unique_ptr<scene> scene_;
  std::uint64_t faults_seed_ = 0;
  buffer_pool pool_;
  cv::Mat canvas_;
  std::optional<graph_time> start_;
  std::uint64_t next_ = 0;          ///< device id
  std::uint64_t given_ = 0;
  bool gap_ = false;
};

void check(const settings& config, const source_mark&, std::vector<fault>& faults) {
  const auto interval = 1 / config.number("fps");
  if (in_seconds(config.time("jitter")) > interval)
    faults.push_back(
      {config.at("jitter").mark, "jitter must not exceed the time between two frames, "
                                   + std::to_string(interval * 1e3)
                                   + " ms at this fps, or frames would overtake each other"});
  const auto& format = config.text("format");
  const auto size = config.size("size");
  if ((format == "i420" || format == "nv12") && (size.width % 2 != 0 || size.height % 2 != 0))
    faults.push_back(
      {config.at("size").mark, "format " + format + " halves its colour planes: both sides of size "
                                 + std::to_string(size.width) + 'x' + std::to_string(size.height)
                                 + " must be even"});
}

} // namespace

camera_description synthetic_description() {
  using enum parameter_type;
  camera_description d;
  d.name = "synthetic";
  d.summary = "Draws pictures: the same ones for the same settings. `parts` knows what it shows.";
  d.parameters = {
    {.name = "scene",
     .type = choice,
     .help =
       "What it shows: machined parts on a belt with and without defects (knows the truth), moving "
       "colour gradients, noise, or the frame's number.",
     .initial = initial_value(std::string{"parts"}),
     .choices = {"parts", "gradient", "noise", "counter"}},
    {.name = "size",
     .type = size,
     .help = "Width and height of the pictures.",
     .initial = initial_value(pixel_size{640, 480}),
     .least = 16,
     .most = 16384,
     .unit = "pixels"},
    {.name = "fps",
     .type = number,
     .help = "Frames in a second.",
     .initial = initial_value(30.0),
     .least = 0.001,
     .most = 1000,
     .unit = "Hz"},
    {.name = "frames",
     .type = integer,
     .help = "Ends after so many frames; endless by default.",
     .least = 1,
     .unit = "frames"},
    {.name = "seed",
     .type = integer,
     .help =
       "Chooses pictures, jitter and losses; by default it follows from the stream's id, so that "
       "each camera shows something else.",
     .least = 0},
    {.name = "realtime",
     .type = boolean,
     .help = "true: a live camera, frames come at their times and are dropped where they do not "
             "fit, or lost where the machine does not come to fetch them before the next one; "
             "false: as fast as the graph takes them.",
     .initial = initial_value(true)},
    {.name = "format",
     .type = choice,
     .help = "Pixel format.",
     .initial = initial_value(std::string{"bgr24"}),
     .choices = {"bgr24", "rgb24", "i420", "nv12", "gray8"}},
    {.name = "jitter",
     .type = parameter_type::duration,
     .help = "Each frame is taken up to so much later than at its regular time.",
     .initial = initial_value(hyperframes::duration{0}),
     .least = 0},
    {.name = "drop",
     .type = number,
     .help = "Share of frames that the device loses: its counter jumps.",
     .initial = initial_value(0.0),
     .least = 0,
     .most = 0.99},
    {.name = "offset",
     .type = parameter_type::duration,
     .help = "What the camera's clock shows at its first frame.",
     .initial = initial_value(hyperframes::duration{0})},
    {.name = "drift",
     .type = number,
     .help = "How much faster than true time the camera's clock runs; slower where negative.",
     .initial = initial_value(0.0),
     .least = -100000,
     .most = 100000,
     .unit = "ppm"},
  };
  d.check = check;
  d.make = [](const settings& config, const std::string&) -> std::unique_ptr<camera> {
    return std::make_unique<synthetic_camera>(config);
  };
  return d;
}

} // namespace hyperframes
