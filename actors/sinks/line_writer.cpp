#include "actors/sinks/line_writer.hpp"

namespace hyperframes {

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
                                   "gap_before", "late", "no_buffer", "no_memory"};
  json_.key("flags").array([&] {
    for (std::size_t i = 0; i < std::size(names); ++i)
      if (bits >> i & 1U)
        json_.value(names[i]);
  });
}

void line_writer::truth(const frame_meta& m) {
  json_.key("truth");
  if (m.truth < 0) {
    json_.value(nullptr);
    return;
  }
  const auto* names
    = m.stream < facts_.streams.size() ? &facts_.streams[m.stream].truth_labels : nullptr;
  json_.object([&] { write_label(json_, m.truth, names); });
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
  json_.field("first_slot", d.first_slot);
  json_.field("released_by", to_string(d.released_by));
  time("opened_ns", d.opened);
  time("released_ns", d.released);
  json_.field("span_ns", d.span.count());
  deadline(d.deadline());
  json_.field("consecutive", d.consecutive);
  json_.field("off_pace", d.off_pace);
  json_.field("priority", d.priority);
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

} // namespace hyperframes
