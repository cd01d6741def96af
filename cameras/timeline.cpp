#include "cameras/timeline.hpp"

#include "cameras/empty_pool.hpp"
#include "cameras/growing_pool.hpp"
#include "cameras/source_file.hpp"
#include "cameras/timeline_table.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace hyperframes {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 64 << 20;

std::optional<std::string> stream_in(const settings& config) {
  return config.has("stream") ? std::optional{config.text("stream")} : std::nullopt;
}

/// One sentence for each fault, with its place, a line each.
error in_one(const std::vector<fault>& faults) {
  std::string all;
  for (const auto& f : faults)
    all += (all.empty() ? "" : "\n  ") + f.where.to_string() + ": " + f.message;
  return make_error(errc::io_failed, {}, std::move(all));
}

/// The middle one of the steps between captures, as a rate; 0 where there is none.
double rate_of(const std::vector<timeline_row>& rows) {
  std::vector<duration> steps;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (const auto step = rows[i].captured - rows[i - 1].captured; step > duration{0})
      steps.push_back(step);
  if (steps.empty())
    return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return 1 / in_seconds(*middle);
}

class timeline_camera final : public camera {
public:
  timeline_camera(const settings& config, const std::string& folder)
    : config_(config),
      folder_(folder),
      size_(config.size("size")),
      origin_(read_table_time(config.text("origin")).value_or(duration{0})),
      realtime_(config.flag("realtime")) {}

  expected<camera_info> probe() override {
    auto read = read_table();
    if (read.has_error())
      return read.error();
    rows_ = std::move(*read);
    if (auto typed = find_media(); typed.has_error())
      return typed.error();
    camera_info info;
    info.media = *media_;
    info.fps = config_.has("fps") ? config_.number("fps") : rate_of(rows_);
    info.live = realtime_;
    info.frame_count = rows_.size();
    info.length = rows_.back().arrival - rows_.front().arrival;
    info.frame_bytes = bytes_;
    info.own_frames = 1; // the one that is being made
    info.blocks = has_images();
    info.simulated = true;
    return info;
  }

  expected<void> open(const camera_environment& environment) override {
    stream_ = environment.stream;
    pool_.reset(stream_, environment.frames_ahead + 1, environment.pool);
    if (auto probed = probe(); probed.has_error())
      return probed.error();
    base_.reset();
    next_ = 0;
    return pool_.fit(bytes_);
  }

  camera_event read(graph_time now) override {
    if (!base_) {
      constexpr duration step = std::chrono::seconds{1};
      base_ = graph_time{(now.time_since_epoch() + step - duration{1}) / step * step};
    }
    if (next_ == rows_.size())
      return end_of_stream{};
    const auto& row = rows_[next_];
    if (realtime_)
      if (const auto due = later_by(*base_, row.arrival - origin_); now < due)
        return not_before{due};
    captured_frame f;
    f.captured = row.captured;
    f.device_id = row.device_id;
    f.flags = row.flags;
    f.media = media_;
    if (!is_empty(row) && !(row.flags & frame_no_buffer))
      if (auto filled = fill(row, f); filled.has_error())
        return filled.error();
    ++next_;
    return f;
  }

private:
  static bool is_empty(const timeline_row& row) {
    return (row.flags & frame_corrupt) != 0 && row.image.empty() && row.value.empty();
  }
  bool has_images() const {
    return std::any_of(
      rows_.begin(), rows_.end(), [](const timeline_row& r) { return !r.image.empty(); });
  }
  /// Where images are looked for: beside the table.
  fs::path place() const {
    return config_.has("path") ? (fs::path{folder_} / config_.text("path")).parent_path()
                               : fs::path{folder_};
  }

  expected<std::vector<timeline_row>> read_table() const {
    timeline_table table;
    if (config_.has("path")) {
      const auto path = (fs::path{folder_} / config_.text("path")).string();
      if (auto special = refuse_special_file(path))
        return std::move(*special);
      std::error_code none;
      const auto size = fs::file_size(path, none);
      std::string text;
      std::ifstream in{path, std::ios::binary};
      if (none || !in)
        return make_error(errc::io_failed, {}, path + " cannot be read: name a table of frames");
      if (size > most_bytes)
        return make_error(
          errc::io_failed, {},
          path + " has " + std::to_string(size >> 20)
            + " MiB, but a table may have 64 MiB: cut it");
      text.resize(static_cast<std::size_t>(size));
      in.read(text.data(), static_cast<std::streamsize>(size));
      text.resize(static_cast<std::size_t>(in.gcount()));
      table = read_timeline(text, path, stream_in(config_));
    } else {
      table = read_timeline_rows(config_.items("rows"), stream_in(config_));
    }
    if (!table.faults.empty())
      return in_one(table.faults);
    return std::move(table.rows);
  }

  expected<void> find_media() {
    std::vector<fault> missing;
    std::string image;
    std::size_t values = 0;
    for (const auto& row : rows_) {
      values = std::max(values, row.value.size());
      if (row.image.empty())
        continue;
      std::error_code ignored;
      if (const auto path = place() / row.image; fs::is_regular_file(path, ignored)) {
        if (image.empty() && !(row.flags & frame_corrupt))
          image = path.string();
      } else if (missing.size() < 20) {
        missing.push_back({row.mark, "there is no image " + path.string()});
      }
    }
    if (!missing.empty())
      return in_one(missing);
    if (values > 0) {
      media_type m;
      m.what = media_type::kind::tensor;
      m.tensor.shape = {static_cast<std::int64_t>(values)};
      media_ = std::make_shared<const media_type>(std::move(m));
      bytes_ = values * sizeof(float);
      return {};
    }
    if (!image.empty()) {
      const auto first = decode(image);
      if (first.empty())
        return make_error(errc::io_failed, {}, image + " cannot be decoded as a picture");
      show(first);
    } else {
      media_ =
        make_video_type(video_format::packed(pixel_format::gray8, size_.width, size_.height));
    }
    bytes_ = media_->video.size_bytes();
    return {};
  }

  static cv::Mat decode(const std::string& path) {
    try {
      return cv::imread(path, cv::IMREAD_COLOR);
    } catch (const cv::Exception&) { // for some damaged files instead of an empty picture
      return {};
    }
  }

  /// Frames are as `picture` from here on.
  void show(const cv::Mat& picture) {
    media_ = make_video_type(video_format::packed(
      pixel_format::bgr24, static_cast<std::uint32_t>(picture.cols),
      static_cast<std::uint32_t>(picture.rows)));
  }

  expected<void> fill(const timeline_row& row, captured_frame& f) {
    cv::Mat picture;
    if (!row.image.empty()) {
      picture = decode((place() / row.image).string());
      if (picture.empty()) {
        f.flags |= frame_corrupt;
        return {};
      }
      if (
        static_cast<std::uint32_t>(picture.cols) != media_->video.width
        || static_cast<std::uint32_t>(picture.rows) != media_->video.height)
        show(picture);
      f.media = media_;
    }
    if (pool_.fit(row.image.empty() ? bytes_ : media_->video.size_bytes()).has_error()) {
      f.flags |= frame_no_memory;
      return {};
    }
    f.buffer = pool_.acquire();
    if (!f.buffer) {
      if (!realtime_)
        return empty_pool(stream_, pool_.slots());
      f.flags |= frame_no_buffer;
      return {};
    }
    if (!row.value.empty())
      std::memcpy(f.buffer.data(), row.value.data(), row.value.size() * sizeof(float));
    else if (!picture.empty())
      picture.copyTo(cv::Mat{picture.rows, picture.cols, CV_8UC3, f.buffer.data()});
    else
      draw(row.device_id, f.buffer.data());
    return {};
  }

  /// The number in digits on a gray that goes round with it.
  void draw(std::uint64_t number, std::byte* to) const {
    cv::Mat gray{static_cast<int>(size_.height), static_cast<int>(size_.width), CV_8UC1, to};
    gray.setTo(cv::Scalar::all(static_cast<double>(32 + number * 5 % 128)));
    const double scale = gray.cols / 110.0;
    cv::putText(
      gray, std::to_string(number), {gray.cols / 16, gray.rows * 2 / 3}, cv::FONT_HERSHEY_SIMPLEX,
      scale, cv::Scalar::all(255), std::max(1, static_cast<int>(scale * 2)));
  }

  settings config_;
  std::string folder_;
  pixel_size size_;
  duration origin_;
  bool realtime_;

  std::string stream_;
  std::vector<timeline_row> rows_;
  media_type_ptr media_; ///< of the last frame
  std::size_t bytes_ = 0;
  growing_pool pool_;
  std::optional<graph_time> base_;
  std::size_t next_ = 0;
};

} // namespace

std::unique_ptr<camera> make_timeline_camera(const settings& config, const std::string& folder) {
  return std::make_unique<timeline_camera>(config, folder);
}

} // namespace hyperframes
