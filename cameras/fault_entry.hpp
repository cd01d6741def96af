#pragma once

#include "cameras/faults.hpp"

/// For faults.cpp alone.
namespace hyperframes {

/// A frame on its way through the entries of `faults`.
struct faulty_camera::passing {
  captured_frame frame;
  graph_time now{};
  bool live = false;
  bool lost = false;
  std::uint64_t copies = 0;
  duration delay{0};
};

/// One entry at work.
class faulty_camera::entry {
public:
  /// @param what outlives it.
  entry(const injected_fault& what, std::uint64_t seed) : what_(what), seed_(seed) {}

  /// Makes the type and memory of resized pictures. Throws `failure` where there is no memory.
  void prepare(const media_type& from, std::size_t slots, std::shared_ptr<pool_stats> counted);
  /// Does to the frame what is due, and counts what begins.
  void pass(passing& p, fault_counts& counts);

private:
  bool happens(std::uint64_t id, double drawn);
  bool lasts(graph_time now) const { return left_ > 0 || now < silent_until_; }
  void begin(const passing& p);
  bool take_one();
  void apply(passing& p, bool hit, double drawn);
  void resize(captured_frame& f);

  const injected_fault& what_;
  std::uint64_t seed_;
  media_type_ptr media_;
  buffer_pool pool_;
  std::size_t next_ = 0; ///< of `at`
  bool begun_ = false;   ///< with the first frame
  bool on_ = false;
  std::uint64_t left_ = 0; ///< frames that it lasts
  graph_time silent_until_ = graph_time::min();
  capture_time first_{};
  std::uint64_t first_id_ = 0;
  capture_time jumped_{}; ///< how far, from 0
};

} // namespace hyperframes
