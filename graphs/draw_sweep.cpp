#include "graphs/batch_plan_report.hpp"
#include "graphs/svg_text.hpp"
#include "graphs/values.hpp"

#include <algorithm>
#include <cmath>

namespace hyperframes {

namespace {

constexpr double width = 720, height = 360, left = 64, right = 64, top = 64, bottom = 52;
constexpr int ticks = 4;

/// 1, 2 or 5 times a power of ten, not below `v`.
double round_above(double v) {
  if (!(v > 0) || std::isinf(v))
    return 1;
  const auto power = std::pow(10, std::floor(std::log10(v)));
  for (const auto f : {1.0, 2.0, 4.0, 5.0, 8.0})
    if (v <= f * power)
      return f * power;
  return 10 * power;
}

std::string text_at(const char* kind, double x, double y, const std::string& text) {
  return std::string{"<text class=\""} + kind + "\" x=\"" + pixels(x) + "\" y=\"" + pixels(y)
         + "\">" + in_xml(text) + "</text>\n";
}

double x_of(std::size_t i, std::size_t n) {
  return left + (width - left - right) * (n > 1 ? double(i) / double(n - 1) : 0.5);
}

double y_of(double v, double most) {
  return height - bottom - (height - top - bottom) * std::min(1.0, v / most);
}

std::string line(const char* kind, const std::vector<double>& values, double most) {
  std::string path, dots;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = pixels(x_of(i, values.size())), y = pixels(y_of(values[i], most));
    path += (i == 0 ? 'M' : 'L') + x + ',' + y;
    dots += std::string{"<circle class=\""} + kind + "-dot\" cx=\"" + x + "\" cy=\"" + y
            + "\" r=\"3.5\"/>\n";
  }
  return std::string{"<path class=\""} + kind + "\" d=\"" + path + "\"/>\n" + dots;
}

std::string axes(double most_fps, double most_ms, const std::vector<batch_choice>& sweep) {
  std::string out;
  for (int t = 0; t <= ticks; ++t) {
    const auto share = double(t) / ticks;
    const auto y = y_of(share, 1);
    out += "<path class=\"grid\" d=\"M" + pixels(left) + ',' + pixels(y) + 'H'
           + pixels(width - right) + "\"/>\n";
    out += text_at("fps-tick", left - 10, y + 4, write_number(share * most_fps));
    out += text_at("ms-tick", width - right + 10, y + 4, write_number(share * most_ms));
  }
  for (std::size_t i = 0; i < sweep.size(); ++i)
    out += text_at(
      "tick", x_of(i, sweep.size()), height - bottom + 20, std::to_string(sweep[i].with.size));
  return out + text_at("tick", width / 2, height - 12, "B, frames of a stream in a hyperframe")
         + text_at("fps-name", left - 40, top - 16, "frames per second that can be carried")
         + text_at("ms-name", width - right + 40, top - 16, "p50 (dashed) and p99 latency, ms");
}

/// A line where the target is.
std::string target_line(const plan_report& r, double most_ms) {
  if (!r.task.target || in_ms(*r.task.target) > most_ms)
    return {};
  const auto y = y_of(in_ms(*r.task.target), most_ms);
  return "<path class=\"target\" d=\"M" + pixels(left) + ',' + pixels(y) + 'H'
         + pixels(width - right) + "\"/>\n"
         + text_at("ms-tick", width - right - 62, y - 6, "target");
}

constexpr const char* style = R"(<style>
text { font-family: system-ui, sans-serif; font-size: 11px; fill: #52606f; }
.title { font-size: 15px; font-weight: 600; fill: #1d2733; }
.tick { text-anchor: middle; }
.fps-tick { text-anchor: end; fill: #2f5d94; }
.ms-tick { fill: #9a5a1c; }
.fps-name { fill: #2f5d94; font-weight: 600; }
.ms-name { fill: #9a5a1c; font-weight: 600; text-anchor: end; }
.grid { stroke: #e3e8ee; fill: none; }
.fps, .p50, .p99, .target, .planned { fill: none; stroke-width: 2; }
.fps { stroke: #2f5d94; }
.fps-dot { fill: #2f5d94; }
.p50, .p99, .target { stroke: #c97a2b; }
.p50 { stroke-dasharray: 4 4; }
.p50-dot, .p99-dot { fill: #c97a2b; }
.target { stroke-width: 1; stroke-dasharray: 2 3; }
.planned { stroke: #6f9350; stroke-width: 14; stroke-opacity: 0.25; }
</style>
)";

} // namespace

std::string draw_sweep(const plan_report& r) {
  const auto& sweep = r.plan.sweep;
  std::vector<double> fps, p50, p99;
  double most_fps = 0, most_ms = 0;
  std::string planned;
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    const auto& c = sweep[i];
    fps.push_back(std::isinf(c.capacity.fps) ? 0 : c.capacity.fps);
    p50.push_back(in_ms(c.played.p50));
    p99.push_back(in_ms(c.played.p99));
    most_fps = std::max(most_fps, fps.back());
    most_ms = std::max(most_ms, p99.back());
    if (c.with.size == r.plan.best.with.size)
      planned = "<path class=\"planned\" d=\"M" + pixels(x_of(i, sweep.size())) + ',' + pixels(top)
                + 'V' + pixels(height - bottom) + "\"/>\n";
  }
  most_fps = round_above(most_fps);
  most_ms = round_above(most_ms);
  const auto title = r.task.graph + (r.task.simulated ? " (simulated)" : "")
                     + ": what hyperframes of B carry, and how long a frame takes";
  const auto w = pixels(width), h = pixels(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h
         + "\" viewBox=\"0 0 " + w + ' ' + h + "\" role=\"img\">\n<title>" + in_xml(title)
         + "</title>\n" + style
         + "<rect width=\"100%\" height=\"100%\" rx=\"12\" fill=\"#ffffff\"/>\n"
         + text_at("title", 24, 28, title) + planned + axes(most_fps, most_ms, sweep)
         + target_line(r, most_ms) + line("fps", fps, most_fps) + line("p50", p50, most_ms)
         + line("p99", p99, most_ms) + "</svg>\n";
}

} // namespace hyperframes
