// Writes the messages that the targets of the wire begin with, as the runtime itself writes them:
//   wire_seeds FOLDER    batch_0, batch_1, ..., node_0, ..., stage_0, ..., facts_0
#include "graphs/found_facts.hpp"
#include "runtime/net/batch_wire.hpp"
#include "runtime/net/node_wire.hpp"
#include "runtime/net/stage_wire.hpp"
#include "runtime/shared_memory.hpp"
#include "tests/fuzz/facts_graph.hpp"
#include "tests/fuzz/wire_input.hpp"

#include <cstdio>
#include <fstream>

using namespace hyperframes;
using test::write_wire_input;

namespace {

struct seed_folder {
  std::string path;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream out{path + '/' + name, std::ios::binary};
    out << text;
    if (!out.flush())
      throw std::runtime_error(path + '/' + name + " cannot be written");
  }
};

hyperframe_ptr some_hyperframe(buffer_pool& tensors, bool with_frames) {
  auto h = std::make_shared<hyperframe>();
  h->pack.width = h->pack.height = 2;
  h->pack.channels = channel_order::gray;
  h->descriptor.sequence = {1, 2, 3};
  h->descriptor.members = 2;
  for (std::uint32_t i = 0; i < 4; ++i) {
    slot s;
    s.meta.stream = i % 2;
    s.meta.frame_id = 40 + i / 2;
    s.valid = s.own = i != 1;
    s.absent = i == 1 ? reason::corrupt : reason::none;
    h->descriptor.slots.push_back(s);
    if (!with_frames)
      continue;
    buffer_pool pixels{1, 24};
    frame f;
    f.meta = s.meta;
    f.media =
      make_video_type(video_format::packed(i < 2 ? pixel_format::i420 : pixel_format::bgr24, 4, 2));
    f.buffer = pixels.acquire();
    std::memset(f.buffer.data(), 9, f.buffer.size());
    h->frames.push_back(f);
  }
  h->tensor = tensors.acquire();
  std::memset(h->tensor.data(), 7, h->tensor.size());
  return h;
}

constexpr std::size_t tensor_bytes = 4 * 2 * 2 * 4;

batch_ptr some_batch(buffer_pool& tensors) {
  auto b = std::make_shared<batch>();
  const auto one = some_hyperframe(tensors, false), two = some_hyperframe(tensors, false);
  b->number = 12;
  b->slots = 5;
  b->parts = {{one, 1, 2}, {two, 0, 2}, {one, 0, 1}};
  return b;
}

batch_answer some_answer(std::size_t boxes) {
  batch_answer a;
  a.seat = 2;
  a.ticket = 77;
  a.errors = {"why", ""};
  auto& slots = a.parts.emplace_back();
  slots.resize(3);
  auto i = std::make_shared<inference>();
  i->classes.push_back({4, 0.75F});
  i->boxes.resize(boxes, {1, 2, 3, 4, 0.5F, 6});
  i->raw.push_back({"out", data_type::float32, {1, 3}, std::vector<std::byte>(12)});
  i->raw.push_back({"none", data_type::uint8, {0, 3}, {}});
  slots[0].inferred = i;
  slots[1].refers_to = 0;
  slots[2].what = outcome::failed;
  slots[2].why = reason::inference;
  return a;
}

void write_batch_messages(const seed_folder& to) {
  buffer_pool tensors{2, tensor_bytes, nullptr, shared_backing()};
  const auto work = some_batch(tensors);
  content_sender sent{nullptr, 0};
  const auto call = write_call(9, 1234, std::uint8_t{2}, *work, sent);
  to.write("batch_0", write_wire_input(call, sent.take_bulk()));
  loan_book loans;
  content_sender lent{&loans, loans.join()};
  to.write("batch_1", write_wire_input(write_call(9, 1235, std::nullopt, *work, lent)));
  receive_memory memory;
  memory.allow(answer_bytes);
  const auto answer = write_answer(some_answer(2), memory);
  to.write("batch_2", write_wire_input(answer.head, answer.bulk));
  // One that is long is written with less in it: the bound of a head is no matter of what is read.
  const auto facts = write_answer(some_answer(3), memory);
  buffer_pool whole{1, facts.head.size()};
  bulk_part head{whole.acquire(), facts.head.size(), 0};
  std::ranges::copy(facts.head, head.buffer.data());
  std::vector<bulk_part> bulk{head};
  bulk.insert(bulk.end(), facts.bulk.begin(), facts.bulk.end());
  to.write("batch_3", write_wire_input(write_word(batch_message::long_answer), bulk));
  batch_answer lost;
  lost.lost = "its seat is closed";
  to.write("batch_4", write_wire_input(write_answer(lost, memory).head));
  to.write("batch_5", write_wire_input(write_loans(std::vector<std::uint64_t>{1, 2, 3})));
  to.write("batch_6", write_wire_input(write_probe({1, 2, {3, 4}})));
}

void write_node_messages(const seed_folder& to) {
  auto write = [&, n = 0](const std::vector<std::byte>& head) mutable {
    to.write(
      "node_" + std::to_string(n++), {reinterpret_cast<const char*>(head.data()), head.size()});
  };
  write(write_ask_facts());
  node_facts facts{"a", "0.1", node_protocol, 4, 1, true, 0.5, 77};
  write(write_message(facts));
  deployment_order order;
  order.graph = "demo";
  order.text = "hyperframes: 1\n";
  order.overrides = {{"infer.workers", "2"}};
  order.environment = {{"HOME", "/root"}};
  order.stages = {"capture", "bundle"};
  order.part = 2;
  order.facts.resize(9);
  write(write_message(order));
  write(write_deployed("no"));
  write(write_message(seat_order{3, "infer", 8, 640, 480, 1 << 20}));
  seat_opened opened;
  opened.seat = 3;
  opened.answer = {"", true, "a model", true, {"cat", "dog"}};
  write(write_message(opened));
  write(write_close_seat(3));
  write(write_look(order));
  write(write_message(look_answer{"", std::vector<std::byte>(9)}));
}

void write_facts_of_a_graph(const seed_folder& to) {
  auto graph = read_graph_text(test::graph_with_facts, "g.yaml", built_in()).graph.value();
  plan_graph(graph);
  const auto facts = write_facts(graph, {{{"g.yaml", 3, 1}, "the stream 'b' cannot be read"}});
  to.write("facts_0", {reinterpret_cast<const char*>(facts.data()), facts.size()});
}

void write_stage_messages(const seed_folder& to) {
  auto write = [&, n = 0](const part_message& m, loan_book* loans = nullptr) mutable {
    content_sender contents{loans, loans ? loans->join() : 0};
    const auto head = write_message(m, contents);
    to.write("stage_" + std::to_string(n++), write_wire_input(head, contents.take_bulk()));
  };
  buffer_pool tensors{5, tensor_bytes, nullptr, shared_backing()};
  part_begin begin;
  begin.run = 3;
  begin.turn = 2;
  begin.used = {{1, 2, 3, 4}};
  begin.streams = {{1, 2, 3, 4, true}};
  write(begin);
  loan_book loans;
  const auto put = [](auto value) {
    return stage_parcel{5, put_message{1, item{std::move(value)}}};
  };
  write(put(some_hyperframe(tensors, true)));
  write(put(some_hyperframe(tensors, false)), &loans);
  write(put(some_batch(tensors)));
  write(put(trigger{}));
  write(stage_parcel{4, credit_message{1, 2, 3, 4}});
  write(stage_parcel{4, end_message{1, {2, 3, 5, false}}});
  const outcome_range range{1, 0, 2, 3, outcome::dropped, reason::ttl};
  write(stage_parcel{4, outcome_message{{range, range}}});
  write(stage_parcel{4, control::drain});
  write(captured_frames{{range}});
  write(stage_changed{1, stage_state::failed, "why"});
  write(part_refused{"no"});
  write(camera_asked{7, true});
  write(event{{}, "a", "b", true});
  part_numbers numbers;
  numbers.stages.emplace_back().service.bins = {{3, 4}};
  numbers.edges.emplace_back();
  numbers.streams.emplace_back();
  numbers.faults.push_back({"cam", "gap", 2});
  write(numbers);
}

} // namespace

int main(int argc, char** argv) try {
  if (argc != 2)
    throw std::runtime_error("name the folder");
  const seed_folder to{argv[1]};
  write_batch_messages(to);
  write_node_messages(to);
  write_stage_messages(to);
  write_facts_of_a_graph(to);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
