#include "cameras/timeline.hpp"
#include "cameras/timeline_table.hpp"

namespace hyperframes {

namespace {

std::optional<std::string> stream_in(const settings& config) {
  return config.has("stream") ? std::optional{config.text("stream")} : std::nullopt;
}

void check(const settings& config, const source_mark& mark, std::vector<fault>& faults) {
  const bool path = config.has("path"), rows = config.has("rows");
  if (path == rows)
    faults.push_back(
      {mark, path
               ? "the camera has both path and rows: keep one of them"
               : "the camera needs path (a table of frames) or rows (the same in the graph file)"});
  if (!read_table_time(config.text("origin")))
    faults.push_back(
      {config.at("origin").mark, "camera.origin is '" + config.text("origin")
                                   + "': expected a time such as 33ms, or seconds such as 0.033"});
  if (!rows || path)
    return;
  for (auto& f : read_timeline_rows(config.items("rows"), stream_in(config)).faults)
    faults.push_back({f.where.file.empty() ? mark : f.where, std::move(f.message)});
}

/// A stream plays its own rows where the file does not say otherwise.
void complete(settings& config, const std::string& stream) {
  if (config.has("stream") || stream.empty())
    return;
  setting own;
  own.value = stream;
  own.source = value_source::derived;
  config.set("stream", std::move(own));
}

} // namespace

camera_description timeline_description() {
  using enum parameter_type;
  camera_description d;
  d.name = "timeline";
  d.summary =
    "Plays a table of frames with their times, so that what was recorded can be run again.";
  d.parameters = {
    {.name = "path",
     .type = text,
     .help =
       "The table, CSV with a header or a JSON object in each line. Columns: stream, frame_id, "
       "capture_time, arrival_time, flags, image, value; a line that jsonl wrote for a frame "
       "result "
       "is a row too.",
     .existing_file = true},
    {.name = "rows",
     .type = list,
     .help = "The table in place of `path`.",
     .fields = timeline_row_parameters(),
     .element = object},
    {.name = "stream",
     .type = text,
     .help = "Whose rows are played; default: those of this stream's id."},
    {.name = "origin",
     .type = text,
     .help = "Which arrival time of the table is the graph's start, such as 1.5s or 1764687286.25.",
     .initial = initial_value(std::string{"0"})},
    {.name = "realtime",
     .type = boolean,
     .help =
       "true: a live camera, frames come at their arrival times and are dropped where they do not "
       "fit; false: as fast as the graph takes them.",
     .initial = initial_value(true)},
    {.name = "fps",
     .type = number,
     .help = "What the camera says of its rate; default: by the middle one of the steps between "
             "captures.",
     .least = 0.001,
     .most = 1000,
     .unit = "Hz"},
    {.name = "size",
     .type = size,
     .help = "Of the pictures that are drawn where the table names none.",
     .initial = initial_value(pixel_size{64, 48}),
     .least = 8,
     .most = 4096,
     .unit = "pixels"},
  };
  d.complete = complete;
  d.check = check;
  d.make = make_timeline_camera;
  return d;
}

} // namespace hyperframes
