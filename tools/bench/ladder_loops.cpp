// The rungs without HyperFrames, as their users write them with OpenCV.
#include "runtime/error.hpp"
#include "tools/bench/bounded_queue.hpp"
#include "tools/bench/ladder_rungs.hpp"

#include <opencv2/dnn.hpp>
#include <opencv2/videoio.hpp>

#include <thread>

namespace hyperframes::bench {

namespace {

constexpr std::size_t room = 2 * ladder_batch; // places of a queue

cv::VideoCapture open(const std::string& film) {
  // OpenCV decodes with as many threads as there are cores; 4.6 cannot be told otherwise.
  cv::VideoCapture c{film, cv::CAP_FFMPEG};
  if (!c.isOpened())
    throw failure(make_error(errc::io_failed, film, "OpenCV cannot open this film"));
  return c;
}

using frames_queue = bounded_queue<cv::Mat>;

/// Lets the threads that fill a queue end, also where inference throws.
template <class Queue>
struct closes {
  Queue& queue;
  ~closes() { queue.close(); }
};

/// Decodes on a thread of its own; every frame has memory of its own.
std::jthread decoding(cv::VideoCapture source, frames_queue& to) {
  return std::jthread{[source = std::move(source), &to]() mutable {
    for (;;) {
      cv::Mat frame;
      if (!source.read(frame))
        break;
      to.push(std::move(frame));
    }
    to.close();
  }};
}

/// @returns fewer than asked for at the end of the film.
std::vector<cv::Mat> next_batch(frames_queue& from) {
  std::vector<cv::Mat> frames;
  while (frames.size() < ladder_batch)
    if (auto f = from.pop())
      frames.push_back(std::move(*f));
    else
      break;
  return frames;
}

cv::Mat blob_of(const cv::Mat& frame, const classifier& c) {
  return cv::dnn::blobFromImage(frame, 1 / 255.0, c.size(), {}, true);
}

cv::Mat blob_of(const std::vector<cv::Mat>& frames, const classifier& c) {
  return cv::dnn::blobFromImages(frames, 1 / 255.0, c.size(), {}, true);
}

} // namespace

std::uint64_t one_by_one(const ladder_work& work, const begin_counting& begin) {
  classifier c{work.model, work.threads, 1};
  auto source = open(work.film);
  begin();
  std::uint64_t done = 0;
  for (cv::Mat frame; source.read(frame);)
    done += c.run(blob_of(frame, c));
  return done;
}

std::uint64_t prefetch(const ladder_work& work, const begin_counting& begin) {
  classifier c{work.model, work.threads, 1};
  frames_queue decoded{room};
  auto source = open(work.film);
  begin();
  const auto decoder = decoding(std::move(source), decoded);
  const closes<frames_queue> at_end{decoded};
  std::uint64_t done = 0;
  while (auto frame = decoded.pop())
    done += c.run(blob_of(*frame, c));
  return done;
}

std::uint64_t batch(const ladder_work& work, const begin_counting& begin) {
  classifier c{work.model, work.threads, ladder_batch};
  frames_queue decoded{room};
  auto source = open(work.film);
  begin();
  const auto decoder = decoding(std::move(source), decoded);
  const closes<frames_queue> at_end{decoded};
  std::uint64_t done = 0;
  for (;;) {
    const auto frames = next_batch(decoded);
    if (frames.empty())
      return done;
    done += c.run(blob_of(frames, c));
  }
}

std::uint64_t pipeline(const ladder_work& work, const begin_counting& begin) {
  classifier c{work.model, work.threads, ladder_batch};
  frames_queue decoded{room};
  bounded_queue<cv::Mat> blobs{2};
  auto source = open(work.film);
  begin();
  const auto decoder = decoding(std::move(source), decoded);
  const closes<frames_queue> at_end{decoded};
  const std::jthread packer{[&] {
    for (;;) {
      const auto frames = next_batch(decoded);
      if (frames.empty())
        return blobs.close();
      blobs.push(blob_of(frames, c));
    }
  }};
  const closes<bounded_queue<cv::Mat>> blobs_at_end{blobs};
  std::uint64_t done = 0;
  while (auto blob = blobs.pop())
    done += c.run(*blob);
  return done;
}

} // namespace hyperframes::bench
