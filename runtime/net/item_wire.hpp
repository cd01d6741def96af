#pragma once

#include "runtime/item.hpp"
#include "runtime/net/content.hpp"

#include <optional>
#include <vector>

/// Items of the edges that lead from one process to another, without what their buffers hold.
namespace hyperframes {

struct wire_frame {
  frame_meta meta;
  std::optional<media_type> media;
  content_place content;
};

struct wire_hyperframe {
  hyperframe_descriptor descriptor;
  pack_spec pack;
  content_place tensor;
  std::vector<wire_frame> frames;
};

/// A hyperframe, the parts of a batch, or a trigger.
struct wire_item {
  struct part {
    std::uint32_t source = 0; ///< in `hyperframes`
    std::uint32_t first = 0, count = 0;
  };
  port_type type = port_type::trigger;
  std::vector<wire_hyperframe> hyperframes;
  std::uint64_t number = 0; ///< this and the next three: of a batch
  std::uint32_t slots = 0;
  graph_time dispatched{};
  std::vector<part> parts;
  trigger asked;
};

/// True for what may lead to another process: frames and sets of them stay where their camera is.
bool crosses_processes(port_type type);

/// @param contents gets tensors and pixels. Throws std::logic_error for an item that must not cross.
wire_item to_wire(const item& i, content_sender& contents);

/// Nothing where it makes no sense: a hyperframe that does not fit its tensor, a frame that does not
/// fit its buffer, a part of no hyperframe. The sender is at fault, or its memory has gone.
std::optional<item> from_wire(
  wire_item w, const std::vector<bulk_part>& bulk, shared_importer& importer,
  const loan_returner& returned);

} // namespace hyperframes
