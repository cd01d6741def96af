#include "runtime/net/item_wire.hpp"

#include <algorithm>
#include <stdexcept>

namespace hyperframes {

namespace {

constexpr std::uint32_t most_pixels = 16384; ///< a side

wire_frame to_wire(const frame& f, content_sender& contents) {
  wire_frame w;
  w.meta = f.meta;
  if (f.media)
    w.media = *f.media;
  w.content = contents.add(f.buffer, 0, f.buffer.size());
  return w;
}

wire_hyperframe to_wire(const hyperframe& h, content_sender& contents) {
  wire_hyperframe w;
  w.descriptor = h.descriptor;
  w.pack = h.pack;
  w.tensor = contents.add(h.tensor, 0, h.tensor.size());
  for (const auto& f : h.frames)
    w.frames.push_back(to_wire(f, contents));
  return w;
}

/// Every plane lies in the buffer. No product of a peer's numbers may wrap.
bool fits(const media_type& m, std::uint64_t bytes) {
  if (m.what != media_type::kind::video)
    return true;
  const auto& v = m.video;
  if (v.width == 0 || v.width > most_pixels || v.height == 0 || v.height > most_pixels)
    return false;
  for (std::size_t p = 0; p < v.plane_count(); ++p) {
    const auto& at = v.planes[p];
    if (at.stride < v.row_bytes(p) || at.stride > bytes || at.offset > bytes
        || at.stride * v.plane_rows(p) > bytes - at.offset)
      return false;
  }
  return true;
}

struct reader {
  const std::vector<bulk_part>& bulk;
  shared_importer& importer;
  const loan_returner& returned;

  /// Nothing where there should be content and is none.
  std::optional<buffer_ref> buffer(const content_place& place) const {
    auto c = content_at(place, bulk, importer, returned);
    if (place.how != content_place::way::none && (!c.buffer || c.offset != 0))
      return std::nullopt;
    return std::move(c.buffer);
  }

  std::optional<frame> read(wire_frame w) const {
    auto content = buffer(w.content);
    if (!content || (*content && w.media && !fits(*w.media, content->size())))
      return std::nullopt;
    frame f;
    f.meta = w.meta;
    if (w.media)
      f.media = std::make_shared<media_type>(std::move(*w.media));
    f.buffer = std::move(*content);
    return f;
  }

  hyperframe_ptr read(wire_hyperframe w) const {
    auto tensor = buffer(w.tensor);
    const auto slots = w.descriptor.slots.size();
    if (!tensor || w.pack.width > most_pixels || w.pack.height > most_pixels)
      return nullptr;
    const auto each = w.pack.slot_bytes();
    if (*tensor && (each == 0 || tensor->size() / each < slots))
      return nullptr;
    if (!w.frames.empty() && w.frames.size() != slots)
      return nullptr;
    auto h = make_recycled<hyperframe>();
    h->descriptor = std::move(w.descriptor);
    h->pack = w.pack;
    h->tensor = std::move(*tensor);
    for (auto& f : w.frames) {
      auto one = read(std::move(f));
      if (!one)
        return nullptr;
      h->frames.push_back(std::move(*one));
    }
    return h;
  }
};

} // namespace

bool crosses_processes(port_type type) {
  return type == port_type::hyperframe || type == port_type::batch || type == port_type::trigger;
}

wire_item to_wire(const item& i, content_sender& contents) {
  wire_item w;
  w.type = type_of(i);
  if (const auto* h = std::get_if<hyperframe_ptr>(&i)) {
    w.hyperframes.push_back(to_wire(**h, contents));
  } else if (const auto* b = std::get_if<batch_ptr>(&i)) {
    std::vector<const hyperframe*> sources;
    for (const auto& p : (*b)->parts) {
      const auto found = std::ranges::find(sources, p.source.get());
      w.parts.push_back({static_cast<std::uint32_t>(found - sources.begin()), p.first, p.count});
      if (found != sources.end())
        continue;
      sources.push_back(p.source.get());
      w.hyperframes.push_back(to_wire(*p.source, contents));
    }
    w.number = (*b)->number;
    w.slots = (*b)->slots;
    w.dispatched = (*b)->dispatched;
  } else if (const auto* t = std::get_if<trigger>(&i)) {
    w.asked = *t;
  } else {
    throw std::logic_error(std::string{"items of type "} + to_string(w.type) + " do not leave their process");
  }
  return w;
}

std::optional<item> from_wire(
  wire_item w, const std::vector<bulk_part>& bulk, shared_importer& importer,
  const loan_returner& returned) {
  const reader from{bulk, importer, returned};
  if (w.type == port_type::trigger)
    return w.asked;
  std::vector<hyperframe_ptr> hyperframes;
  for (auto& h : w.hyperframes)
    hyperframes.push_back(from.read(std::move(h)));
  // What is borrowed goes back with its buffer, also where the item is refused.
  if (hyperframes.empty() || std::ranges::count(hyperframes, nullptr) > 0)
    return std::nullopt;
  if (w.type == port_type::hyperframe)
    return hyperframes.size() == 1 ? std::optional<item>{hyperframes.front()} : std::nullopt;
  if (w.type != port_type::batch || w.parts.empty())
    return std::nullopt;
  auto b = make_recycled<batch>();
  b->number = w.number;
  b->slots = w.slots;
  b->dispatched = w.dispatched;
  std::uint64_t slots = 0;
  for (const auto& p : w.parts) {
    if (p.source >= hyperframes.size())
      return std::nullopt;
    const auto& source = hyperframes[p.source];
    const auto all = source->descriptor.slots.size();
    if (p.first > all || p.count > all - p.first)
      return std::nullopt;
    b->parts.push_back({source, p.first, p.count});
    slots += p.count;
  }
  if (w.slots > slots)
    return std::nullopt;
  return batch_ptr{std::move(b)};
}

} // namespace hyperframes
