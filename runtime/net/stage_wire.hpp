#pragma once

#include "runtime/net/item_wire.hpp"
#include "runtime/net/stage_messages.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

/// The messages of a part of a graph as bytes: heads, beside the contents of items.
namespace hyperframes {

/// An item on its way, without what its buffers hold.
struct wire_put {
  stage_index to = 0;
  edge_index edge = 0;
  wire_item value;
};

/// A part's message as it is read: an item's buffers are to be found first.
using read_message = std::variant<wire_put, part_message>;

/// @param contents gets what an item holds.
std::vector<std::byte> write_message(const part_message& m, content_sender& contents);
/// True where it must keep its place among items: it goes on their lane.
bool behind_items(const part_message& m);
/// Nothing where the head is no message of a part, cut short, or too long.
std::optional<read_message> read_part_message(std::span<const std::byte> head);
/// True for heads that `read_part_message` is for.
bool is_part_message(std::span<const std::byte> head);

} // namespace hyperframes
