#include "actors/sinks/item_json.hpp"

#include "actors/half_float.hpp"
#include "actors/sinks/json_text.hpp"

#include <algorithm>
#include <cstring>

namespace hyperframes {

namespace {

template <class Stored>
Stored stored_at(const tensor& t, std::size_t i) {
  Stored v;
  std::memcpy(&v, t.bytes.data() + i * sizeof v, sizeof v);
  return v;
}

/// One line under way.
class line_writer {
public:
  line_writer(const graph_facts& facts, const raw_detail& raw, std::string& line)
    : facts_(facts), raw_(raw), json_(line) {}

  void write(const frame& f);
  void write(const aligned_set_ptr& s);
  void write(const hyperframe_ptr& h);
  void write(const batch_ptr& b);
  void write(const result_ptr& r);
  void write(const frame_result_ptr& r) { write(*r); }
  void write(const frame_result& r);
  void write(const outcome_range& r);
  void write(const trigger& t);

private:
  void stream(stream_index s) {
    if (s < facts_.streams.size())
      json_.field("stream", facts_.streams[s].id);
    else
      json_.field("stream", nullptr);
  }
  void group(std::uint32_t g) {
    if (g < facts_.groups.size())
      json_.field("group", facts_.groups[g].name);
    else
      json_.field("group", nullptr);
  }
  template <class Time>
  void time(std::string_view name, Time t, bool known = true) {
    if (known)
      json_.field(name, t.time_since_epoch().count());
    else
      json_.field(name, nullptr);
  }
  void deadline(graph_time t) { time("deadline_ns", t, t != never); }
  void position(const frame_meta& m) {
    json_.field("epoch", m.epoch);
    json_.field("frame_id", m.frame_id);
  }
  void captured(const frame_meta& m, bool known);
  void flags(std::uint16_t bits);
  void truth(const frame_meta& m);
  void label(std::int32_t label, const std::vector<std::string>* names);
  void sequence(const hyperframe_sequence& s);
  void absent(reason why);
  void descriptor(const hyperframe_descriptor& d);
  void slot_members(const slot& s);
  void found(const inference* inferred, const std::vector<std::string>* names);
  void raw(const tensor& t);
  void values(const tensor& t);
  void timings(const frame_result& r);

  const graph_facts& facts_;
  const raw_detail& raw_;
  json_text json_;
};

void line_writer::captured(const frame_meta& m, bool known) {
  if (known)
    json_.field("trace_id", m.trace_id);
  else
    json_.field("trace_id", nullptr);
  time("capture_time_ns", m.captured, known);
  time("timeline_ns", m.timeline, known);
  time("arrived_ns", m.arrived, known);
}

void line_writer::flags(std::uint16_t bits) {
  constexpr const char* names[] = {"corrupt",    "key",  "duplicate", "interpolated",
                                   "gap_before", "late", "no_buffer"};
  json_.key("flags").array([&] {
    for (std::size_t i = 0; i < std::size(names); ++i)
      if (bits >> i & 1U)
        json_.value(names[i]);
  });
}

void line_writer::label(std::int32_t label, const std::vector<std::string>* names) {
  json_.field("label", label);
  if (names && label >= 0 && static_cast<std::size_t>(label) < names->size())
    json_.field("name", (*names)[static_cast<std::size_t>(label)]);
  else
    json_.field("name", nullptr);
}

void line_writer::truth(const frame_meta& m) {
  json_.key("truth");
  if (m.truth < 0) {
    json_.value(nullptr);
    return;
  }
  const auto* names
    = m.stream < facts_.streams.size() ? &facts_.streams[m.stream].truth_labels : nullptr;
  json_.object([&] { label(m.truth, names); });
}

void line_writer::sequence(const hyperframe_sequence& s) {
  json_.key("hyperframe").object([&] {
    json_.field("node", s.node);
    json_.field("run", s.run);
    json_.field("counter", s.counter);
  });
}

void line_writer::absent(reason why) {
  if (why == reason::none)
    json_.field("absent", nullptr);
  else
    json_.field("absent", to_string(why));
}

void line_writer::found(const inference* inferred, const std::vector<std::string>* names) {
  json_.key("result");
  if (!inferred) {
    json_.value(nullptr);
    return;
  }
  json_.object([&] {
    json_.key("classes").array([&] {
      for (const auto& c : inferred->classes)
        json_.object([&] {
          label(c.label, names);
          json_.field("score", c.score);
        });
    });
    json_.key("boxes").array([&] {
      for (const auto& b : inferred->boxes)
        json_.object([&] {
          json_.field("x", b.x);
          json_.field("y", b.y);
          json_.field("width", b.width);
          json_.field("height", b.height);
          json_.field("score", b.score);
          label(b.label, names);
        });
    });
    json_.key("raw").array([&] {
      for (const auto& t : inferred->raw)
        raw(t);
    });
  });
}

void line_writer::raw(const tensor& t) {
  json_.object([&] {
    json_.field("name", t.name);
    json_.field("type", to_string(t.type));
    json_.key("shape").array([&] {
      for (auto d : t.shape)
        json_.value(d);
    });
    if (raw_.values)
      values(t);
  });
}

void line_writer::values(const tensor& t) {
  const auto all = t.bytes.size() / size_of(t.type);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(all, raw_.limit));
  json_.key("values").array([&] {
    for (std::size_t i = 0; i < count; ++i) {
      switch (t.type) {
        case data_type::float32:
          json_.value(stored_at<float>(t, i));
          break;
        case data_type::float16:
          json_.value(float_from_half(stored_at<std::uint16_t>(t, i)));
          break;
        case data_type::uint8:
          json_.value(static_cast<unsigned>(stored_at<std::uint8_t>(t, i)));
          break;
        case data_type::int32:
          json_.value(stored_at<std::int32_t>(t, i));
          break;
        case data_type::int64:
          json_.value(stored_at<std::int64_t>(t, i));
          break;
      }
    }
  });
  json_.field("left_out", all - count);
}

void line_writer::timings(const frame_result& r) {
  const bool whole = r.what == outcome::delivered;
  const auto& t = r.times;
  // A frame that was not delivered passed the stages whose time stands; zero is no time.
  const auto span = [&](const char* name, graph_time from, graph_time to) {
    if (whole || to != graph_time{})
      json_.field(name, in_ms(to - from));
    else
      json_.field(name, nullptr);
  };
  json_.key("timings_ms").object([&] {
    span("bundle", t.arrived, t.bundled);
    span("queue", t.bundled, t.dispatched);
    span("infer", t.dispatched, t.inferred);
    if (whole) {
      json_.field("deliver", in_ms(t.delivered - t.inferred));
      json_.field("total", in_ms(t.delivered - t.arrived));
    } else {
      json_.field("deliver", nullptr);
      json_.field("total", nullptr);
    }
  });
}

void line_writer::write(const frame_result& r) {
  const auto& m = r.meta;
  // A gap of which only stream, epoch and id came.
  const bool known = r.what == outcome::delivered || m.trace_id != 0
                     || m.arrived != arrival_time{} || m.captured != capture_time{};
  const auto optional_slot = [this](const char* name, std::int32_t slot) {
    if (slot >= 0)
      json_.field(name, slot);
    else
      json_.field(name, nullptr);
  };
  json_.object([&] {
    json_.field("type", "frame_result");
    stream(m.stream);
    position(m);
    captured(m, known);
    json_.field("outcome", to_string(r.what));
    json_.field("reason", to_string(r.why));
    json_.field("late", r.why == reason::late || (m.flags & frame_late) != 0);
    flags(m.flags);
    if (r.sequence)
      sequence(*r.sequence);
    else
      json_.field("hyperframe", nullptr);
    optional_slot("slot", r.slot);
    optional_slot("refers_to", r.refers_to);
    truth(m);
    found(r.inferred.get(), r.labels.get());
    timings(r);
  });
}

void line_writer::write(const frame& f) {
  json_.object([&] {
    json_.field("type", "frame");
    stream(f.meta.stream);
    position(f.meta);
    captured(f.meta, true);
    deadline(f.meta.deadline);
    json_.field("device_id", f.meta.device_id);
    flags(f.meta.flags);
    truth(f.meta);
    if (f.meta.change_score >= 0)
      json_.field("change_score", f.meta.change_score);
    else
      json_.field("change_score", nullptr);
    if (f.media)
      json_.field("media", f.media->to_string());
    else
      json_.field("media", nullptr);
  });
}

void line_writer::write(const aligned_set_ptr& s) {
  json_.object([&] {
    json_.field("type", "aligned_set");
    group(s->group);
    time("moment_ns", s->moment);
    time("arrived_ns", s->arrived);
    json_.key("members").array([&] {
      for (const auto& member : s->members)
        json_.object([&] {
          stream(member.stream);
          json_.field("own", member.own);
          absent(member.item ? reason::none : member.absent);
          json_.key("frame");
          if (!member.item) {
            json_.value(nullptr);
            return;
          }
          json_.object([&] {
            position(member.item->meta);
            captured(member.item->meta, true);
          });
        });
    });
  });
}

void line_writer::slot_members(const slot& s) {
  stream(s.meta.stream);
  json_.field("valid", s.valid);
  json_.field("own", s.own);
  absent(s.valid ? reason::none : s.absent);
  json_.key("frame");
  // A slot whose frame could not be packed is not valid, but the frame is known.
  if (!s.valid && !s.own) {
    json_.value(nullptr);
    return;
  }
  json_.object([&] {
    position(s.meta);
    captured(s.meta, true);
  });
}

void line_writer::descriptor(const hyperframe_descriptor& d) {
  sequence(d.sequence);
  group(d.group);
  json_.field("members", d.members);
  json_.field("released_by", to_string(d.released_by));
  time("opened_ns", d.opened);
  time("released_ns", d.released);
  json_.field("span_ns", d.span.count());
  deadline(d.deadline());
  json_.field("consecutive", d.consecutive);
  json_.field("priority", d.priority);
}

void line_writer::write(const hyperframe_ptr& h) {
  json_.object([&] {
    json_.field("type", "hyperframe");
    descriptor(h->descriptor);
    json_.key("slots").array([&] {
      for (const auto& s : h->descriptor.slots)
        json_.object([&] { slot_members(s); });
    });
  });
}

void line_writer::write(const batch_ptr& b) {
  json_.object([&] {
    json_.field("type", "batch");
    json_.field("number", b->number);
    json_.field("slots", b->slots);
    time("dispatched_ns", b->dispatched);
    json_.key("parts").array([&] {
      for (const auto& part : b->parts)
        json_.object([&] {
          sequence(part.source->descriptor.sequence);
          group(part.source->descriptor.group);
          json_.field("first", part.first);
          json_.field("count", part.count);
        });
    });
  });
}

void line_writer::write(const result_ptr& r) {
  json_.object([&] {
    json_.field("type", "result");
    descriptor(r->descriptor);
    time("dispatched_ns", r->dispatched);
    time("inferred_ns", r->inferred);
    json_.field("worker", r->worker);
    json_.field("batch_slots", r->batch_slots);
    json_.key("slots").array([&] {
      for (std::size_t i = 0; i < r->slots.size(); ++i)
        json_.object([&] {
          const auto& s = r->slots[i];
          if (i < r->descriptor.slots.size())
            slot_members(r->descriptor.slots[i]);
          json_.field("outcome", to_string(s.what));
          json_.field("reason", to_string(s.why));
          if (s.refers_to >= 0)
            json_.field("refers_to", s.refers_to);
          else
            json_.field("refers_to", nullptr);
          found(s.inferred.get(), r->labels.get());
        });
    });
  });
}

void line_writer::write(const outcome_range& r) {
  json_.object([&] {
    json_.field("type", "outcome");
    stream(r.stream);
    json_.field("epoch", r.epoch);
    json_.field("first", r.first);
    json_.field("count", r.count);
    json_.field("outcome", to_string(r.what));
    json_.field("reason", to_string(r.why));
  });
}

void line_writer::write(const trigger& t) {
  json_.object([&] {
    json_.field("type", "trigger");
    time("moment_ns", t.moment);
    stream(t.stream);
  });
}

} // namespace

item_json::item_json(std::shared_ptr<const graph_facts> facts, raw_detail raw)
  : facts_(std::move(facts)), raw_(raw) {}

void item_json::append(const item& i, std::string& line) const {
  line_writer writer{*facts_, raw_, line};
  std::visit([&](const auto& value) { writer.write(value); }, i);
}

void item_json::append_gap(
  const outcome_range& range, std::uint64_t frame_id, std::string& line) const {
  frame_result gap;
  gap.meta.stream = range.stream;
  gap.meta.epoch = range.epoch;
  gap.meta.frame_id = frame_id;
  gap.what = range.what;
  gap.why = range.why;
  line_writer{*facts_, raw_, line}.write(gap);
}

} // namespace hyperframes
