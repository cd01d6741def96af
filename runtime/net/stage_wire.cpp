#include "runtime/net/stage_wire.hpp"

#include "runtime/net/inspect.hpp"
#include "runtime/net/wire_bytes.hpp"

namespace hyperframes {

namespace {

/// The first byte of a head; those of nodes and of batches are below.
enum class kind : std::uint8_t {
  begin = 128,
  put,
  credit,
  end,
  outcomes,
  control,
  captured,
  changed,
  refused,
  camera,
  told,
  numbers,
};

template <class T>
struct addressed {
  stage_index to = 0;
  T what;
};

} // namespace

template <class Inspector>
bool inspect(Inspector& f, credit_message& m) {
  return f.object(m).fields(
    f.field("edge", m.edge), f.field("lane", m.lane), f.field("items", m.items),
    f.field("bytes", m.bytes));
}

template <class Inspector>
bool inspect(Inspector& f, end_message& m) {
  return f.object(m).fields(f.field("edge", m.edge), f.field("end", m.end));
}

template <class Inspector>
bool inspect(Inspector& f, outcome_message& m) {
  return f.object(m).fields(f.field("ranges", m.ranges));
}

template <class Inspector>
bool inspect(Inspector& f, captured_frames& m) {
  return f.object(m).fields(f.field("ranges", m.ranges));
}

template <class Inspector, class T>
bool inspect(Inspector& f, addressed<T>& m) {
  return f.object(m).fields(f.field("to", m.to), f.field("what", m.what));
}

template <class Inspector>
bool inspect(Inspector& f, addressed<control>& m) {
  return f.object(m).fields(f.field("to", m.to), enumeration(f, "what", m.what, control::ready));
}

template <class Inspector>
bool inspect(Inspector& f, captured_position& p) {
  return f.object(p).fields(
    f.field("stream", p.stream), f.field("epoch", p.epoch), f.field("frames", p.frames),
    f.field("before", p.before), f.field("ended", p.ended));
}

template <class Inspector>
bool inspect(Inspector& f, part_begin& m) {
  return f.object(m).fields(
    f.field("run", m.run), f.field("turn", m.turn), instant(f, "now", m.now),
    f.field("used", m.used), f.field("streams", m.streams));
}

template <class Inspector>
bool inspect(Inspector& f, stage_changed& m) {
  return f.object(m).fields(
    f.field("stage", m.stage), enumeration(f, "state", m.state, stage_state::failed),
    f.field("why", m.why));
}

template <class Inspector>
bool inspect(Inspector& f, part_refused& m) {
  return f.object(m).fields(f.field("why", m.why));
}

template <class Inspector>
bool inspect(Inspector& f, camera_asked& m) {
  return f.object(m).fields(f.field("stream", m.stream), f.field("attach", m.attach));
}

template <class Inspector>
bool inspect(Inspector& f, event& m) {
  return f.object(m).fields(
    instant(f, "when", m.when), f.field("where", m.where), f.field("sentence", m.sentence),
    f.field("failed", m.failed));
}

template <class Inspector>
bool inspect(Inspector& f, time_counts& c) {
  return f.object(c).fields(f.field("bins", c.bins), length(f, "longest", c.longest));
}

template <class Inspector>
bool inspect(Inspector& f, part_numbers::stage& n) {
  return f.object(n).fields(
    f.field("index", n.index), f.field("items_in", n.items_in), f.field("items_out", n.items_out),
    f.field("bytes_copied", n.bytes_copied), f.field("busy_ns", n.busy_ns),
    f.field("cpu_ns", n.cpu_ns), f.field("restarts", n.restarts), f.field("held", n.held),
    f.field("service", n.service));
}

template <class Inspector>
bool inspect(Inspector& f, part_numbers::edge& n) {
  return f.object(n).fields(
    f.field("index", n.index), f.field("items", n.items), f.field("drops", n.drops),
    f.field("receives", n.receives), f.field("depth", n.depth), f.field("peak", n.peak),
    f.field("average", n.average));
}

template <class Inspector>
bool inspect(Inspector& f, part_numbers::stream& n) {
  return f.object(n).fields(
    f.field("index", n.index), f.field("first_arrival", n.first_arrival_ns),
    f.field("offset", n.offset_ns), f.field("jitter", n.jitter_ns),
    f.field("device_lost", n.device_lost), f.field("off_pace", n.off_pace),
    f.field("drift", n.drift_ppm), f.field("fps", n.fps), f.field("confidence", n.confidence),
    f.field("by_arrival", n.by_arrival), f.field("attached", n.attached),
    f.field("silent", n.silent), f.field("silences", n.silences), f.field("epochs", n.epochs),
    f.field("lag", n.lag));
}

template <class Inspector>
bool inspect(Inspector& f, part_numbers::injected_fault& n) {
  return f.object(n).fields(
    f.field("where", n.where), f.field("kind", n.kind), f.field("count", n.count));
}

template <class Inspector>
bool inspect(Inspector& f, part_numbers& n) {
  return f.object(n).fields(
    f.field("stages", n.stages), f.field("edges", n.edges), f.field("streams", n.streams),
    f.field("faults", n.faults), f.field("pixel_writes", n.pixel_writes),
    f.field("batches", n.batches), f.field("batch_slots", n.batch_slots),
    f.field("batch_room", n.batch_room));
}

template <class Inspector>
bool inspect(Inspector& f, wire_frame& w) {
  return f.object(w).fields(
    f.field("meta", w.meta), f.field("media", w.media), f.field("content", w.content));
}

template <class Inspector>
bool inspect(Inspector& f, wire_hyperframe& w) {
  return f.object(w).fields(
    f.field("descriptor", w.descriptor), f.field("pack", w.pack), f.field("tensor", w.tensor),
    f.field("frames", w.frames));
}

template <class Inspector>
bool inspect(Inspector& f, wire_item::part& p) {
  return f.object(p).fields(
    f.field("source", p.source), f.field("first", p.first), f.field("count", p.count));
}

template <class Inspector>
bool inspect(Inspector& f, wire_item& w) {
  return f.object(w).fields(
    enumeration(f, "type", w.type, port_type::trigger), f.field("hyperframes", w.hyperframes),
    f.field("number", w.number), f.field("slots", w.slots), instant(f, "dispatched", w.dispatched),
    f.field("parts", w.parts), f.field("asked", w.asked));
}

template <class Inspector>
bool inspect(Inspector& f, wire_put& w) {
  return f.object(w).fields(
    f.field("to", w.to), f.field("edge", w.edge), f.field("value", w.value));
}

namespace {

template <class T>
std::vector<std::byte> write_as(kind k, const T& value) {
  return write_bytes(static_cast<std::uint8_t>(k), value);
}

struct writer {
  content_sender& contents;

  std::vector<std::byte> operator()(const part_begin& m) const { return write_as(kind::begin, m); }
  std::vector<std::byte> operator()(const captured_frames& m) const { return write_as(kind::captured, m); }
  std::vector<std::byte> operator()(const stage_changed& m) const { return write_as(kind::changed, m); }
  std::vector<std::byte> operator()(const part_refused& m) const { return write_as(kind::refused, m); }
  std::vector<std::byte> operator()(const camera_asked& m) const { return write_as(kind::camera, m); }
  std::vector<std::byte> operator()(const event& m) const { return write_as(kind::told, m); }
  std::vector<std::byte> operator()(const part_numbers& m) const { return write_as(kind::numbers, m); }
  std::vector<std::byte> operator()(const stage_parcel& p) const {
    return std::visit([&](const auto& m) { return write(p.to, m); }, p.what);
  }
  std::vector<std::byte> write(stage_index to, const put_message& m) const {
    return write_as(kind::put, wire_put{to, m.edge, to_wire(m.value, contents)});
  }
  std::vector<std::byte> write(stage_index to, const credit_message& m) const {
    return write_as(kind::credit, addressed<credit_message>{to, m});
  }
  std::vector<std::byte> write(stage_index to, const end_message& m) const {
    return write_as(kind::end, addressed<end_message>{to, m});
  }
  std::vector<std::byte> write(stage_index to, const outcome_message& m) const {
    return write_as(kind::outcomes, addressed<outcome_message>{to, m});
  }
  std::vector<std::byte> write(stage_index to, control m) const {
    return write_as(kind::control, addressed<control>{to, m});
  }
};

template <class T>
std::optional<read_message> read_as(std::span<const std::byte> body) {
  if (auto m = read_bytes<T>(body))
    return part_message{std::move(*m)};
  return std::nullopt;
}

template <class T>
std::optional<read_message> read_parcel(std::span<const std::byte> body) {
  if (auto m = read_bytes<addressed<T>>(body))
    return part_message{stage_parcel{m->to, std::move(m->what)}};
  return std::nullopt;
}

} // namespace

std::vector<std::byte> write_message(const part_message& m, content_sender& contents) {
  return std::visit(writer{contents}, m);
}

bool behind_items(const part_message& m) {
  if (std::holds_alternative<captured_frames>(m))
    return true;
  const auto* p = std::get_if<stage_parcel>(&m);
  return p
         && (std::holds_alternative<put_message>(p->what)
             || std::holds_alternative<end_message>(p->what));
}

bool is_part_message(std::span<const std::byte> head) {
  return !head.empty() && head[0] >= static_cast<std::byte>(kind::begin)
         && head[0] <= static_cast<std::byte>(kind::numbers);
}

std::optional<read_message> read_part_message(std::span<const std::byte> head) {
  if (!is_part_message(head))
    return std::nullopt;
  const auto body = head.subspan(1);
  switch (static_cast<kind>(head[0])) {
    case kind::begin:
      return read_as<part_begin>(body);
    case kind::put:
      if (auto w = read_bytes<wire_put>(body))
        return std::move(*w);
      return std::nullopt;
    case kind::credit:
      return read_parcel<credit_message>(body);
    case kind::end:
      return read_parcel<end_message>(body);
    case kind::outcomes:
      return read_parcel<outcome_message>(body);
    case kind::control:
      return read_parcel<control>(body);
    case kind::captured:
      return read_as<captured_frames>(body);
    case kind::changed:
      return read_as<stage_changed>(body);
    case kind::refused:
      return read_as<part_refused>(body);
    case kind::camera:
      return read_as<camera_asked>(body);
    case kind::told:
      return read_as<event>(body);
    case kind::numbers:
      return read_as<part_numbers>(body);
  }
  return std::nullopt;
}

} // namespace hyperframes
