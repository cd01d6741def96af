#include "cameras/images.hpp"

#include "cameras/empty_pool.hpp"
#include "cameras/growing_pool.hpp"
#include "cameras/source_file.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include <glob.h>

namespace hyperframes {

namespace {

namespace fs = std::filesystem;

bool is_picture_name(const fs::path& path) {
  constexpr std::array endings{".png",  ".jpg", ".jpeg", ".jpe", ".bmp", ".dib", ".tif", ".tiff",
                               ".webp", ".pgm", ".ppm",  ".pbm", ".pnm", ".jp2", ".exr", ".hdr"};
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{folder, ignored})
    if (entry.is_regular_file(ignored) && is_picture_name(entry.path()))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      if (std::error_code ignored; fs::is_regular_file(found.gl_pathv[i], ignored))
        files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  std::sort(files.begin(), files.end());
  return files;
}

/// Lets OpenCV decode straight into a buffer: the first matrix that is made through it lies there,
/// any further one (pictures that are turned after decoding) in OpenCV's own memory.
class slot_allocator final : public cv::MatAllocator {
public:
  /// @param place gives memory for so many bytes, or null.
  explicit slot_allocator(std::function<std::byte*(std::size_t)> place)
    : place_(std::move(place)) {}

  cv::UMatData* allocate(
    int dims, const int* sizes, int type, void* data, std::size_t* step, cv::AccessFlag flags,
    cv::UMatUsageFlags usage) const override {
    std::size_t bytes = CV_ELEM_SIZE(type);
    for (int i = dims - 1; i >= 0; --i) {
      if (step)
        step[i] = bytes;
      bytes *= static_cast<std::size_t>(sizes[i]);
    }
    auto* to = data || used_ ? nullptr : place_(bytes);
    if (!to)
      return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
    used_ = true;
    auto* u = new cv::UMatData(this);
    u->data = u->origdata = reinterpret_cast<uchar*>(to);
    u->size = bytes;
    return u;
  }
  bool allocate(cv::UMatData* u, cv::AccessFlag, cv::UMatUsageFlags) const override {
    return u != nullptr;
  }
  void deallocate(cv::UMatData* u) const override { delete u; }

private:
  std::function<std::byte*(std::size_t)> place_;
  mutable bool used_ = false;
};

class images_camera final : public camera {
public:
  images_camera(const settings& config, const std::string& folder)
    : path_((fs::path{folder} / config.text("path")).string()),
      fps_(config.number("fps")),
      loop_(config.flag("loop")),
      realtime_(config.flag("realtime")) {}

  expected<camera_info> probe() override {
    if (auto listed = list(); listed.has_error())
      return listed.error();
    cv::Mat first;
    for (std::size_t i = 0; i < files_.size() && first.empty(); ++i)
      first = decode(files_[i], nullptr);
    if (first.empty())
      return make_error(
        errc::io_failed, path_,
        "none of the " + std::to_string(files_.size())
          + " files can be decoded as a picture; `path` names a folder or a glob of pictures");
    media_ = type_of(first);
    camera_info info;
    info.media = *media_;
    info.fps = fps_;
    info.live = realtime_;
    if (!loop_) {
      info.frame_count = files_.size();
      info.length = at(files_.size());
    }
    info.frame_bytes = media_->video.size_bytes();
    info.own_frames = 1; // the one that is being decoded
    info.blocks = true;
    return info;
  }

  expected<void> open(const camera_environment& environment) override {
    stream_ = environment.stream;
    pool_.reset(stream_, environment.frames_ahead + 1, environment.pool);
    if (interrupted_)
      return stopped();
    if (auto probed = probe(); probed.has_error())
      return probed.error();
    start_.reset();
    next_ = 0;
    return pool_.fit(media_->video.size_bytes());
  }

  camera_event read(graph_time now) override {
    if (interrupted_)
      return stopped();
    if (!start_)
      start_ = now;
    if (!loop_ && next_ >= files_.size())
      return end_of_stream{};
    if (realtime_)
      if (const auto due = later_by(*start_, at(next_)); now < due)
        return not_before{due};
    captured_frame f;
    f.captured = capture_time{at(next_)};
    f.device_id = next_;
    f.flags = frame_key;
    if (auto failed = fill(f); failed.has_error())
      return failed.error();
    ++next_;
    return f;
  }

  void interrupt() noexcept override { interrupted_ = true; }

private:
  error stopped() const {
    return make_error(errc::stopped, stream_, "reading " + path_ + " was interrupted");
  }
  duration at(std::uint64_t n) const {
    return duration{std::llround(static_cast<double>(n) * 1e9 / fps_)};
  }

  expected<void> list() {
    if (auto special = refuse_special_file(path_))
      return std::move(*special);
    std::error_code ignored;
    const bool folder = fs::is_directory(path_, ignored);
    const bool file = fs::is_regular_file(path_, ignored); // its name may look like a glob
    files_ = folder ? files_in(path_) : file ? std::vector{path_} : files_like(path_);
    if (!files_.empty())
      return {};
    return make_error(
      errc::io_failed, path_,
      folder ? "the folder has no pictures (.png, .jpg, .bmp, .tif, .webp and the like); name "
               "others by a glob such as "
                 + path_ + "/*.dat"
             : "no file has this name or matches this glob");
  }

  static media_type_ptr type_of(const cv::Mat& picture) {
    return make_video_type(video_format::packed(
      pixel_format::bgr24, static_cast<std::uint32_t>(picture.cols),
      static_cast<std::uint32_t>(picture.rows)));
  }

  /// Decodes into memory from `allocator`, or OpenCV's own.
  /// @returns an empty picture where the file is none.
  cv::Mat decode(const std::string& file, cv::MatAllocator* allocator) {
    std::ifstream in{file, std::ios::binary | std::ios::ate};
    const auto size = in ? static_cast<std::streamoff>(in.tellg()) : 0;
    if (size <= 0)
      return {};
    bytes_.resize(static_cast<std::size_t>(size));
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(bytes_.data()), size))
      return {};
    cv::Mat picture;
    picture.allocator = allocator;
    try {
      cv::imdecode(bytes_, cv::IMREAD_COLOR, &picture);
    } catch (const cv::Exception&) { // for some damaged files instead of an empty picture
      return {};
    }
    return picture;
  }

  /// Puts the next picture into `f`.
  expected<void> fill(captured_frame& f) {
    const auto& file = files_[next_ % files_.size()];
    f.media = media_;
    if (pool_.fit(media_->video.size_bytes()).has_error()) {
      f.flags |= frame_no_memory;
      return {};
    }
    f.buffer = pool_.acquire();
    if (!f.buffer) {
      if (realtime_) {
        f.flags |= frame_no_buffer;
        return {};
      }
      return empty_pool(stream_, pool_.slots());
    }
    bool too_large = false;
    slot_allocator allocator{[&](std::size_t bytes) -> std::byte* {
      if (bytes > pool_.slot_bytes()) {
        f.buffer = {};
        too_large = pool_.fit(bytes).has_error();
        if (too_large)
          return nullptr;
        f.buffer = pool_.acquire();
      }
      return f.buffer.data();
    }};
    const cv::Mat picture = decode(file, &allocator);
    if (picture.empty()) {
      f.buffer = {};
      f.flags |= frame_corrupt;
      return {};
    }
    if (too_large) {
      f.media = type_of(picture);
      f.flags |= frame_no_memory;
      return {};
    }
    if (
      static_cast<std::uint32_t>(picture.cols) != media_->video.width
      || static_cast<std::uint32_t>(picture.rows) != media_->video.height)
      media_ = f.media = type_of(picture);
    if (reinterpret_cast<std::byte*>(picture.data) != f.buffer.data()) // was turned after decoding
      picture.copyTo(cv::Mat{
        picture.rows, picture.cols, CV_8UC3, f.buffer.data(), media_->video.planes[0].stride});
    return {};
  }

  std::string path_;
  double fps_;
  bool loop_, realtime_;

  std::string stream_;
  std::vector<std::string> files_;
  std::vector<std::uint8_t> bytes_; ///< of the file in hand
  media_type_ptr media_;            ///< of the last picture
  growing_pool pool_;
  std::optional<graph_time> start_; ///< the first `read`
  std::uint64_t next_ = 0;
  std::atomic<bool> interrupted_{false};
};

} // namespace

camera_description images_description() {
  using enum parameter_type;
  camera_description d;
  d.name = "images";
  d.summary = "Reads picture files one after the other.";
  d.parameters = {
    {.name = "path",
     .type = text,
     .help = "A folder, or a glob such as parts/*.png; in the order of the names.",
     .required = true},
    {.name = "fps",
     .type = number,
     .help = "Pictures in a second: what their times are made from.",
     .initial = initial_value(30.0),
     .least = 0.001,
     .most = 1000,
     .unit = "Hz"},
    {.name = "loop",
     .type = boolean,
     .help = "Begins anew after the last one; times go on rising.",
     .initial = initial_value(false)},
    {.name = "realtime",
     .type = boolean,
     .help = "true: pictures come at their times, as from a live camera, and are dropped where "
             "they do not fit; "
             "false: as fast as the graph takes them.",
     .initial = initial_value(false)},
  };
  d.make = [](const settings& config, const std::string& folder) -> std::unique_ptr<camera> {
    return std::make_unique<images_camera>(config, folder);
  };
  return d;
}

} // namespace hyperframes
