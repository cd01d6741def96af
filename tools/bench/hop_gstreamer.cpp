#include "tools/bench/hop.hpp"
#include "tools/bench/measure.hpp"

#include <stdexcept>

#include <gst/gst.h>

namespace hyperframes::bench {

double gstreamer_chain(const chain_load& load) {
  static const bool started = gst_init_check(nullptr, nullptr, nullptr) != 0;
  if (!started)
    throw std::runtime_error("GStreamer does not start");
  std::string text = "queue name=first";
  for (unsigned i = 1; i < load.stages; ++i)
    text += " ! queue";
  text += " ! fakesink sync=false";
  const auto before = cpu_seconds();
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(text.c_str(), &error);
  if (error) {
    const std::string why = error->message;
    g_error_free(error);
    throw std::runtime_error("GStreamer: " + why);
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstElement* first = gst_bin_get_by_name(GST_BIN(pipeline), "first");
  GstPad* in = gst_element_get_static_pad(first, "sink");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_send_event(in, gst_event_new_stream_start("frames"));
  gst_pad_send_event(in, gst_event_new_segment(&segment));
  pace due{load.every};
  bool whole = true;
  for (std::uint64_t i = 0; i < load.frames && whole; ++i) {
    due.wait();
    whole = gst_pad_chain(in, gst_buffer_new_allocate(nullptr, 64, nullptr)) == GST_FLOW_OK;
  }
  gst_pad_send_event(in, gst_event_new_eos());
  gst_object_unref(in);
  gst_object_unref(first);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* last = gst_bus_timed_pop_filtered(
    bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  whole = whole && GST_MESSAGE_TYPE(last) == GST_MESSAGE_EOS;
  gst_message_unref(last);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  if (!whole)
    throw std::runtime_error("GStreamer: the pipeline failed");
  return cpu_seconds() - before;
}

} // namespace hyperframes::bench
