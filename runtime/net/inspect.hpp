#pragma once

#include "runtime/caf.hpp"
#include "runtime/item.hpp"
#include "runtime/net/content.hpp"
#include "runtime/stage.hpp"

/// How what passes between processes is written, field by field, for CAF's inspectors. What is read
/// is checked: a value outside of its enumeration fails the message.
namespace hyperframes {

/// A value of an enumeration whose last one is `last`.
template <class Inspector, class Enum>
auto enumeration(Inspector& f, caf::string_view name, Enum& value, Enum last) {
  return f.field(
    name, [&value] { return static_cast<std::uint8_t>(value); },
    [&value, last](std::uint8_t read) {
      if (read > static_cast<std::uint8_t>(last))
        return false;
      value = static_cast<Enum>(read);
      return true;
    });
}

/// A point in time, as nanoseconds of its clock.
template <class Inspector, class Time>
auto instant(Inspector& f, caf::string_view name, Time& value) {
  return f.field(
    name, [&value] { return static_cast<std::int64_t>(value.time_since_epoch().count()); },
    [&value](std::int64_t read) {
      value = Time{duration{read}};
      return true;
    });
}

/// A length of time, in nanoseconds.
template <class Inspector>
auto length(Inspector& f, caf::string_view name, duration& value) {
  return f.field(
    name, [&value] { return static_cast<std::int64_t>(value.count()); },
    [&value](std::int64_t read) {
      value = duration{read};
      return true;
    });
}

template <class Inspector>
bool inspect(Inspector& f, frame_meta& m) {
  return f.object(m).fields(
    f.field("stream", m.stream), f.field("epoch", m.epoch), f.field("frame_id", m.frame_id),
    f.field("device_id", m.device_id), f.field("trace_id", m.trace_id),
    instant(f, "captured", m.captured), instant(f, "arrived", m.arrived),
    instant(f, "timeline", m.timeline), instant(f, "deadline", m.deadline),
    f.field("flags", m.flags), f.field("truth", m.truth), f.field("change_score", m.change_score));
}

template <class Inspector>
bool inspect(Inspector& f, plane& p) {
  return f.object(p).fields(f.field("offset", p.offset), f.field("stride", p.stride));
}

template <class Inspector>
bool inspect(Inspector& f, video_format& v) {
  return f.object(v).fields(
    enumeration(f, "format", v.format, pixel_format::nv12), f.field("width", v.width),
    f.field("height", v.height), f.field("planes", v.planes), f.field("full_range", v.full_range),
    f.field("bt709", v.bt709));
}

template <class Inspector>
bool inspect(Inspector& f, audio_format& a) {
  return f.object(a).fields(
    enumeration(f, "sample", a.sample, data_type::int64), f.field("rate", a.rate),
    f.field("channels", a.channels), f.field("samples", a.samples));
}

template <class Inspector>
bool inspect(Inspector& f, tensor_format& t) {
  return f.object(t).fields(
    enumeration(f, "type", t.type, data_type::int64), f.field("shape", t.shape));
}

template <class Inspector>
bool inspect(Inspector& f, media_type& m) {
  return f.object(m).fields(
    enumeration(f, "what", m.what, media_type::kind::bytes), f.field("video", m.video),
    f.field("audio", m.audio), f.field("tensor", m.tensor), f.field("mime", m.mime));
}

template <class Inspector>
bool inspect(Inspector& f, pack_spec& p) {
  return f.object(p).fields(
    f.field("width", p.width), f.field("height", p.height),
    enumeration(f, "channels", p.channels, channel_order::gray),
    enumeration(f, "layout", p.layout, tensor_layout::nhwc),
    enumeration(f, "type", p.type, data_type::int64), enumeration(f, "fit", p.fit, fit_mode::crop),
    f.field("scale", p.scale), f.field("mean", p.mean), f.field("deviation", p.deviation),
    f.field("pad_value", p.pad_value));
}

template <class Inspector>
bool inspect(Inspector& f, slot_geometry& g) {
  return f.object(g).fields(
    f.field("scale_x", g.scale_x), f.field("scale_y", g.scale_y), f.field("offset_x", g.offset_x),
    f.field("offset_y", g.offset_y), f.field("frame_width", g.frame_width),
    f.field("frame_height", g.frame_height));
}

template <class Inspector>
bool inspect(Inspector& f, slot& s) {
  return f.object(s).fields(
    f.field("meta", s.meta), f.field("valid", s.valid), f.field("own", s.own),
    enumeration(f, "absent", s.absent, reason{reason_count - 1}), f.field("geometry", s.geometry));
}

template <class Inspector>
bool inspect(Inspector& f, hyperframe_sequence& s) {
  return f.object(s).fields(
    f.field("node", s.node), f.field("run", s.run), f.field("counter", s.counter));
}

template <class Inspector>
bool inspect(Inspector& f, hyperframe_descriptor& d) {
  return f.object(d).fields(
    f.field("sequence", d.sequence), f.field("group", d.group), f.field("slots", d.slots),
    f.field("first_slot", d.first_slot), f.field("members", d.members),
    enumeration(f, "released_by", d.released_by, release_reason::first),
    instant(f, "opened", d.opened), instant(f, "released", d.released), length(f, "span", d.span),
    f.field("consecutive", d.consecutive), f.field("off_pace", d.off_pace),
    f.field("priority", d.priority));
}

template <class Inspector>
bool inspect(Inspector& f, classification& c) {
  return f.object(c).fields(f.field("label", c.label), f.field("score", c.score));
}

template <class Inspector>
bool inspect(Inspector& f, detection& d) {
  return f.object(d).fields(
    f.field("x", d.x), f.field("y", d.y), f.field("width", d.width), f.field("height", d.height),
    f.field("score", d.score), f.field("label", d.label));
}

template <class Inspector>
bool inspect(Inspector& f, outcome_range& r) {
  return f.object(r).fields(
    f.field("stream", r.stream), f.field("epoch", r.epoch), f.field("first", r.first),
    f.field("count", r.count), enumeration(f, "what", r.what, outcome::lost),
    enumeration(f, "why", r.why, reason{reason_count - 1}));
}

template <class Inspector>
bool inspect(Inspector& f, stream_end& e) {
  return f.object(e).fields(
    f.field("stream", e.stream), f.field("epoch", e.epoch), f.field("frames", e.frames),
    f.field("last_epoch", e.last_epoch), f.field("away", e.away));
}

template <class Inspector>
bool inspect(Inspector& f, trigger& t) {
  return f.object(t).fields(
    instant(f, "moment", t.moment), f.field("stream", t.stream), f.field("of_frame", t.of_frame));
}

template <class Inspector>
bool inspect(Inspector& f, segment_address& a) {
  return f.object(a).fields(
    f.field("process", a.process), f.field("descriptor", a.descriptor), f.field("nonce", a.nonce));
}

template <class Inspector>
bool inspect(Inspector& f, shared_handle& h) {
  return f.object(h).fields(
    f.field("segment", h.segment), f.field("slot", h.slot), f.field("generation", h.generation),
    f.field("bytes", h.bytes));
}

template <class Inspector>
bool inspect(Inspector& f, content_place& p) {
  return f.object(p).fields(
    enumeration(f, "how", p.how, content_place::way::shared), f.field("index", p.index),
    f.field("offset", p.offset), f.field("bytes", p.bytes), f.field("handle", p.handle),
    f.field("loan", p.loan));
}

template <class Inspector>
bool inspect(Inspector& f, tensor& t) {
  return f.object(t).fields(
    f.field("name", t.name), enumeration(f, "type", t.type, data_type::int64),
    f.field("shape", t.shape), f.field("bytes", t.bytes));
}

template <class Inspector>
bool inspect(Inspector& f, inference& i) {
  return f.object(i).fields(
    f.field("classes", i.classes), f.field("boxes", i.boxes), f.field("raw", i.raw));
}

template <class Inspector>
bool inspect(Inspector& f, result::slot_result& s) {
  const auto apply = [&](bool& has, inference& inferred) {
    return f.object(s).fields(
      enumeration(f, "what", s.what, outcome::lost),
      enumeration(f, "why", s.why, reason{reason_count - 1}), f.field("refers_to", s.refers_to),
      f.field("has", has), f.field("inferred", inferred));
  };
  static const inference none;
  bool has = s.inferred != nullptr;
  if constexpr (Inspector::is_loading) {
    inference read;
    if (!apply(has, read))
      return false;
    s.inferred = has ? make_recycled<const inference>(std::move(read)) : nullptr;
    return true;
  } else {
    // Written, not changed: CAF's inspectors take a reference for both directions.
    return apply(has, const_cast<inference&>(has ? *s.inferred : none));
  }
}

} // namespace hyperframes
