#include "actors/sinks/any_item.hpp"

namespace hyperframes {

port any_item(std::string help) {
  using enum port_type;
  return {.name = "in",
          .types = {frame_result, frame, aligned_set, hyperframe, batch, result, outcome, trigger},
          .help = std::move(help)};
}

} // namespace hyperframes
