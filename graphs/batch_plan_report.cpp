#include "graphs/batch_plan_report.hpp"

#include "graphs/text_table.hpp"
#include "graphs/values.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace hyperframes {

namespace {

/// Three digits: nothing that is predicted is better known.
std::string number(double n) {
  if (std::isinf(n))
    return "any";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), n >= 1000 ? "%.0f" : "%.3g", n);
  return text.data();
}

std::string ms(duration d) {
  return number(in_ms(d)) + " ms";
}

std::string percent(double share) {
  return number(std::round(share * 100)) + " %";
}

std::uint32_t slots_of(const plan_report& r, const batch_choice& c) {
  return c.with.size * r.task.load.members;
}

std::string load_in_words(const flow_load& l) {
  std::string text =
    l.live ? counted(l.streams, "live stream") + ", " + number(l.fps) + " frames per second each"
           : counted(l.streams, "file") + ", as fast as the graph takes its frames";
  if (l.members > 1)
    text += ", " + std::to_string(l.members) + " of them share a hyperframe";
  else if (l.group > 1)
    text += ", aligned in groups of " + std::to_string(l.group);
  return text;
}

std::string costs_in_words(const plan_report& r) {
  const auto& c = r.costs.costs();
  text_table table;
  table.add({"acquire", ms(c.acquire), "a frame, read by its camera"});
  table.add({"pack", ms(c.pack), "a frame alone; in a hyperframe k = " + number(c.k) + " of it"});
  table.add({"schedule", ms(c.schedule), "a hyperframe"});
  for (const auto& i : c.infer)
    table.add(
      {"infer", ms(i.time),
       counted(i.slots, "slot") + (i.slots > 1 ? ", " + ms(i.time / i.slots) + " each" : "")
         + (c.infer_on_cpu ? "" : ", on a device beside the cores")});
  if (c.deliver + c.other > duration{0}) {
    table.add({"deliver", ms(c.deliver), "a frame, into order and to the sinks"});
    table.add({"other", ms(c.other), "CPU time of a frame: messages, align"});
  }
  std::string text =
    "costs, " + r.source + '\n' + table.text() + "  a frame alone costs " + ms(r.costs.alone());
  const auto slots = slots_of(r, r.plan.best);
  if (slots > 1)
    text +=
      ", in a hyperframe of " + counted(slots, "slot") + ' ' + ms(r.costs.in_hyperframe(slots));
  return text + '\n';
}

std::string limit_of(const batch_choice& c) {
  std::string text = to_string(c.limit);
  if (c.limit == flow_limit::cameras)
    text += ", then " + std::string{to_string(c.capacity.by)};
  return text;
}

std::string waits_of(const plan_report& r) {
  text_table table;
  const auto& a = r.plan.as_is;
  const auto& b = r.plan.best;
  const auto row = [&](const char* what, auto value) { table.add({what, value(a), value(b)}); };
  using choice = const batch_choice&;
  table.add({"", "as it is", "planned"});
  row(
    "B, frames of a stream in a hyperframe", [](choice c) { return std::to_string(c.with.size); });
  row("batch, slots", [](choice c) { return std::to_string(c.with.batch); });
  row("workers", [](choice c) { return std::to_string(c.with.shared.workers); });
  row("queue, hyperframes", [](choice c) { return std::to_string(c.with.hyperframes); });
  if (r.task.load.live) {
    row("release time-out", [](choice c) { return c.timeout > duration{0} ? ms(c.timeout) : "-"; });
    table.add(
      {"ring, frames of a stream under way", std::to_string(a.ring), std::to_string(b.ring)});
    row("a frame waits for its hyperframe, up to", [](choice c) { return ms(c.frame_wait); });
    row("an event waits, up to", [](choice c) { return ms(c.event_wait); });
  }
  table.add(
    {"memory", about_bytes(r.memory), r.memory_planned > 0 ? about_bytes(r.memory_planned) : "-"});
  row("can carry, frames per second", [](choice c) { return number(c.capacity.fps); });
  row("throughput, frames per second", [](choice c) { return number(c.played.fps); });
  row("latency p50", [](choice c) { return ms(c.played.p50); });
  row("latency p99", [](choice c) { return ms(c.played.p99); });
  row("infer busy", [](choice c) { return percent(c.played.infer_busy); });
  if (a.played.dropped + b.played.dropped > 0)
    row("frames lost of those played", [](choice c) {
      return percent(
        static_cast<double>(c.played.dropped)
        / static_cast<double>(c.played.dropped + c.played.delivered));
    });
  row("limit", limit_of);
  return table.text();
}

std::string target_of(const plan_report& r) {
  if (!r.task.target)
    return {};
  std::string text = "target: p99 within " + write_duration(*r.task.target);
  if (r.task.load.live)
    text += ", by formula B up to " + std::to_string(r.plan.largest_size);
  return text + (r.plan.best.in_time ? ": can be met\n" : ": CANNOT be met\n");
}

} // namespace

std::string to_yaml(const plan_report& r) {
  std::string text;
  std::vector<std::string> open; // maps that the last line stands in
  for (const auto& [path, value] : values_of(r.plan, r.task)) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= path.size();) {
      const auto dot = std::min(path.find('.', at), path.size());
      parts.push_back(path.substr(at, dot - at));
      at = dot + 1;
    }
    std::size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same])
      ++same;
    open.assign(parts.begin(), parts.end() - 1);
    for (auto i = same; i + 1 < parts.size(); ++i) {
      text += std::string(2 * i, ' ') + parts[i] + ":\n";
      if (parts[i] == "from")
        text += std::string(2 * i + 2, ' ') + "stage: " + r.task.above_schedule + '\n';
    }
    text += std::string(2 * open.size(), ' ') + parts.back() + ": " + value + '\n';
  }
  return text;
}

std::string to_arguments(const plan_report& r) {
  std::string text;
  for (const auto& [path, value] : values_of(r.plan, r.task))
    text += (text.empty() ? "--set " : " --set ") + path + '=' + value;
  return text;
}

std::string sweep_table(const plan_report& r) {
  text_table table;
  table.add(
    {"B", "batch", "cost of a frame", "can carry fps", "throughput fps", "p50", "p99",
     "waits up to", "limit", r.task.target ? "in time" : ""});
  for (const auto& c : r.plan.sweep)
    table.add(
      {std::to_string(c.with.size), std::to_string(c.with.batch),
       ms(r.costs.in_hyperframe(slots_of(r, c))), number(c.capacity.fps), number(c.played.fps),
       ms(c.played.p50), ms(c.played.p99), ms(c.frame_wait), to_string(c.limit),
       !r.task.target ? ""
       : c.in_time    ? "yes"
                      : "no"});
  return table.text();
}

std::string to_text(const plan_report& r) {
  std::string text = r.task.graph + (r.task.simulated ? " (simulated)" : "") + ": "
                     + load_in_words(r.task.load) + "; "
                     + counted(static_cast<std::uint64_t>(r.task.as_is.shared.cores), "core") + "\n\n" + costs_in_words(r)
                     + '\n' + waits_of(r) + '\n' + target_of(r);
  for (const auto& remark : r.plan.remarks)
    text += wrap(remark, 0);
  return text;
}

} // namespace hyperframes
