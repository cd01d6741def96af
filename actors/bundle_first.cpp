#include "actors/bundle.hpp"

// First results before a hyperframe is complete.
namespace hyperframes {

/// Sends the first moment ahead once it is packed. Where nothing in it is new it goes with the
/// others.
void bundler::send_first(graph_time now, output& to) {
  if (!options_.stream_first || filled_ != 1 || ahead_ > 0)
    return;
  if (own_ == 0) {
    auto whole = make(options_.size, shared_.tensors, now);
    carry_over(*whole, 1, to);
    open_ = std::move(whole);
    return;
  }
  complete(release_reason::first, now);
  head_ = open_->descriptor;
  to.released.push_back(std::move(open_));
  open_.reset();
  own_ = 0;
  ahead_ = 1;
}

} // namespace hyperframes
