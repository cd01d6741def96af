// What coordinators and nodes write to each other, and what they make of what is none of it.
#include "runtime/net/batch_wire.hpp"
#include "runtime/net/node_wire.hpp"
#include "runtime/net/receive_memory.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

using namespace hyperframes;

namespace {

hyperframe_ptr some_hyperframe(std::uint32_t slots) {
  auto h = std::make_shared<hyperframe>();
  h->pack.width = h->pack.height = 2;
  for (std::uint32_t i = 0; i < slots; ++i) {
    slot s;
    s.meta.stream = 3;
    s.meta.frame_id = 40 + i;
    s.meta.deadline = graph_time{std::chrono::seconds{7}};
    s.valid = s.own = i != 1;
    s.absent = i == 1 ? reason::corrupt : reason::none;
    s.geometry.scale_x = 0.5F;
    h->descriptor.slots.push_back(s);
  }
  buffer_pool pool{1, slots * h->pack.slot_bytes()};
  h->tensor = pool.acquire();
  for (std::size_t i = 0; i < h->tensor.size(); ++i)
    h->tensor.data()[i] = static_cast<std::byte>(i);
  return h;
}

/// Slots 2 and 3 of four.
batch part_of_one() {
  batch work;
  work.parts.push_back({some_hyperframe(4), 2, 2});
  work.slots = 2;
  return work;
}

batch_answer some_answer() {
  batch_answer a;
  a.seat = 2;
  a.ticket = 77;
  a.errors = {"why"};
  a.bytes_copied = 5;
  auto& slots = a.parts.emplace_back();
  slots.resize(2);
  auto i = std::make_shared<inference>();
  i->classes.push_back({4, 0.75F});
  i->boxes.push_back({1, 2, 3, 4, 0.5F, 6});
  i->raw.push_back({"out", data_type::float32, {1}, std::vector<std::byte>(4)});
  slots[0].inferred = i;
  slots[1].what = outcome::failed;
  slots[1].why = reason::inference;
  slots[1].refers_to = 0;
  return a;
}

} // namespace

TEST_CASE(
  "a call carries the slots that are asked for, as bytes where the receiver cannot borrow") {
  const auto work = part_of_one();
  content_sender contents{nullptr, 0};
  const auto head = write_call(9, 1234, std::uint8_t{2}, work, contents);
  const auto bulk = contents.take_bulk();
  const auto call = read_call(head);
  REQUIRE(call);
  CHECK(call->seat == 9);
  CHECK(call->ticket == 1234);
  CHECK(call->fault == std::uint8_t{2});
  REQUIRE(call->parts.size() == 1);
  CHECK(call->parts[0].slots.size() == 2);
  CHECK(call->parts[0].slots[1].meta.frame_id == 43);
  CHECK(call->parts[0].slots[0].meta.deadline == graph_time{std::chrono::seconds{7}});
  CHECK(call->parts[0].slots[0].geometry.scale_x == 0.5F);
  const auto each = work.parts[0].source->pack.slot_bytes();
  REQUIRE(bulk.size() == 1);
  CHECK(bulk[0].offset == 2 * each);
  CHECK(bulk[0].bytes == 2 * each);

  // As the link does: received into memory of the other end.
  buffer_pool there{1, 2 * each};
  std::vector<bulk_part> received{{there.acquire(), bulk[0].bytes, 0}};
  std::memcpy(received[0].buffer.data(), bulk[0].buffer.data() + bulk[0].offset, 2 * each);
  shared_importer importer;
  const auto made =
    batch_of(*call, {content_at(call->parts[0].tensor, received, importer, nullptr)});
  REQUIRE(made);
  CHECK(made->slots == 2);
  CHECK(made->parts[0].first == 0);
  CHECK(made->parts[0].source->tensor.data()[0] == work.parts[0].source->tensor.data()[2 * each]);
}

TEST_CASE("a call whose parts do not fit their tensors makes no batch") {
  const auto work = part_of_one();
  content_sender contents{nullptr, 0};
  const auto head = write_call(0, 1, std::nullopt, work, contents);
  const auto bulk = contents.take_bulk();
  const auto each = work.parts[0].source->pack.slot_bytes();
  const auto made = [&](auto change, content tensor) {
    auto call = *read_call(head);
    change(call.parts[0]);
    return batch_of(call, {std::move(tensor)}) != nullptr;
  };
  const auto& buffer = bulk[0].buffer;
  const auto same = [](auto&) {};
  CHECK(made(same, {buffer, 2 * each, 2 * each}));
  CHECK(!made(same, {buffer, 2 * each, each}));     // too short
  CHECK(!made(same, {buffer, 2 * each, 3 * each})); // too long
  CHECK(!made(same, {buffer, each / 2, 2 * each})); // between slots
  CHECK(!made(same, {{}, 0, 0}));                   // not there
  CHECK(!made([](auto& p) { p.slots.clear(); }, {buffer, 0, 0}));
  CHECK(!made([](auto& p) { p.pack.width = 0xffffffff; }, {buffer, 0, 2 * each}));
  CHECK(!made([](auto& p) { p.pack.width = 0; }, {buffer, 0, 2 * each}));
}

TEST_CASE("a call cannot make the other end take memory for slots that it does not send") {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  buffer_pool pool{1, bytes};
  const auto made = [buffer = pool.acquire()](std::uint64_t first, std::size_t parts) {
    batch_call call;
    std::vector<content> tensors;
    for (std::size_t i = 0; i < parts; ++i) {
      auto& p = call.parts.emplace_back();
      p.slots.resize(1);
      p.pack.width = p.pack.height = 1;
      p.pack.channels = channel_order::gray;
      p.pack.type = data_type::uint8;
      tensors.push_back({buffer, first, 1});
    }
    return batch_of(call, std::move(tensors)) != nullptr;
  };
  CHECK(made(call_slots - 1, 1));
  CHECK(!made(call_slots, 1));
  CHECK(!made(bytes - 1, 1));
  CHECK(made(call_slots / 4 - 1, 4));
  CHECK(!made(call_slots / 4, 4));
}

TEST_CASE("an answer comes as it was given") {
  receive_memory memory;
  memory.allow(4);
  const auto written = write_answer(some_answer(), memory);
  REQUIRE(written.bulk.size() == 1); // the raw output, and nothing else
  CHECK(written.bulk[0].bytes == 4);
  const auto read = read_answer(written.head, written.bulk);
  REQUIRE(read);
  CHECK(read->seat == 2);
  CHECK(read->ticket == 77);
  CHECK(read->errors == std::vector<std::string>{"why"});
  REQUIRE(read->parts.size() == 1);
  const auto& slots = read->parts[0];
  REQUIRE(slots[0].inferred);
  CHECK(slots[0].inferred->classes[0].label == 4);
  CHECK(slots[0].inferred->boxes[0].label == 6);
  CHECK(slots[0].inferred->raw[0].name == "out");
  CHECK(slots[0].inferred->raw[0].bytes == some_answer().parts[0][0].inferred->raw[0].bytes);
  CHECK(!slots[1].inferred);
  CHECK(slots[1].why == reason::inference);
  CHECK(slots[1].refers_to == 0);
}

TEST_CASE("an answer that is larger than a head comes as bulk, with raw outputs or without") {
  receive_memory there, here;
  there.allow(answer_bytes);
  here.allow(answer_bytes);
  for (const bool raw : {false, true}) {
    auto answer = some_answer();
    auto many = std::make_shared<inference>(*answer.parts[0][0].inferred);
    many->boxes.resize(80'000, {1, 2, 3, 4, 0.5F, 6});
    many->raw.clear();
    if (raw)
      many->raw = {
        {"first", data_type::uint8, {2, 1000}, std::vector<std::byte>(2000, std::byte{1})},
        {"empty", data_type::float32, {0, 4}, {}},
        {"last", data_type::float32, {500}, std::vector<std::byte>(2000, std::byte{2})}};
    answer.parts[0][0].inferred = many;
    const auto written = write_answer(answer, there);
    CHECK(written.head.size() == 1);
    std::vector<std::uint64_t> sizes;
    for (const auto& part : written.bulk)
      sizes.push_back(part.bytes);
    std::vector<buffer_ref> into;
    REQUIRE(place_answer(written.head, sizes, here, into));
    REQUIRE(into.size() == sizes.size());
    for (std::size_t i = 0; i < into.size(); ++i)
      CHECK(into[i].size() >= sizes[i]);
    const auto read = read_answer(written.head, written.bulk);
    REQUIRE(read);
    const auto& inferred = *read->parts[0][0].inferred;
    CHECK(inferred.boxes.size() == 80'000);
    REQUIRE(inferred.raw.size() == many->raw.size());
    for (std::size_t i = 0; i < inferred.raw.size(); ++i) {
      CHECK(inferred.raw[i].name == many->raw[i].name);
      CHECK(inferred.raw[i].bytes == many->raw[i].bytes);
    }
  }
}

TEST_CASE("an answer beyond its bounds is not written, and none is received") {
  receive_memory memory;
  memory.allow(answer_bytes);
  const auto with = [](std::size_t boxes, std::size_t raw) {
    auto answer = some_answer();
    auto i = std::make_shared<inference>();
    i->boxes.resize(boxes);
    if (raw > 0)
      i->raw.push_back(
        {"out", data_type::uint8, {static_cast<std::int64_t>(raw)}, std::vector<std::byte>(raw)});
    answer.parts[0][0].inferred = i;
    return answer;
  };
  CHECK(write_answer(with(0, answer_bytes - 1000), memory).bulk.size() == 1);
  CHECK_THROWS_WITH_AS(
    write_answer(with(0, answer_bytes), memory),
    "an answer: has 73 bytes and 67108864 of raw outputs; a node's may have 16777216, and "
    "67108864 together: lower batch.max",
    failure);
  CHECK_THROWS_AS(write_answer(with(answer_facts_bytes / 24, 0), memory), failure);
  receive_memory less;
  less.allow(1000);
  CHECK_THROWS_WITH_AS(
    write_answer(with(0, 2000), less),
    "an answer: of 2000 bytes finds no memory: those before it are still there", failure);

  struct attempt {
    batch_message kind;
    std::vector<std::uint64_t> sizes;
    bool placed;
  };
  const attempt table[] = {
    {batch_message::answer, {1000}, true},
    {batch_message::answer, {1000, 1000}, false},
    {batch_message::answer, {answer_bytes + 1}, false},
    {batch_message::answer, {~std::uint64_t{0}}, false},
    {batch_message::long_answer, {answer_facts_bytes}, true},
    {batch_message::long_answer, {answer_facts_bytes, 1000}, true},
    {batch_message::long_answer, {answer_facts_bytes + 1}, false},
    {batch_message::long_answer, {answer_facts_bytes, answer_bytes}, false},
    {batch_message::long_answer, {1, 1, 1}, false},
    {batch_message::call, {1000}, false},
  };
  for (const auto& row : table) {
    CAPTURE(&row - table);
    std::vector<buffer_ref> into;
    CHECK(place_answer(write_word(row.kind), row.sizes, memory, into) == row.placed);
  }
}

TEST_CASE("an answer whose bulk is not what it speaks of is none") {
  receive_memory memory;
  memory.allow(answer_bytes);
  auto answer = some_answer();
  const auto raw = [&](std::vector<std::int64_t> shape, std::size_t bytes) {
    auto i = std::make_shared<inference>();
    i->raw.push_back({"out", data_type::float32, std::move(shape), std::vector<std::byte>(bytes)});
    answer.parts[0][0].inferred = i;
    auto written = write_answer(answer, memory);
    return read_answer(written.head, written.bulk).has_value();
  };
  constexpr auto huge = std::int64_t{1} << 62;
  CHECK(raw({2, 3}, 24));
  CHECK(raw({0}, 0));
  CHECK(raw({huge, 0, huge}, 0));
  CHECK(raw({}, 4)); // one value
  CHECK(!raw({2, 3}, 20));
  CHECK(!raw({2, 3}, 28));
  CHECK(!raw({-2, -3}, 24));
  CHECK(!raw({huge, 4}, 16)); // no product may wrap
  CHECK(!raw({1}, 0));
  const auto refers = [&](std::int32_t to) {
    auto changed = some_answer();
    changed.parts[0][1].refers_to = to;
    const auto written = write_answer(changed, memory);
    return read_answer(written.head, written.bulk).has_value();
  };
  CHECK(refers(-1));
  CHECK(refers(1));
  CHECK(!refers(2));
  CHECK(!refers(-2));
  const auto whole = write_answer(some_answer(), memory);
  CHECK(read_answer(whole.head, whole.bulk));
  CHECK(!read_answer(whole.head, {}));
  auto bulk = whole.bulk;
  bulk[0].bytes = 3;
  CHECK(!read_answer(whole.head, bulk));
  bulk = whole.bulk;
  bulk.push_back(bulk[0]);
  CHECK(!read_answer(whole.head, bulk));
  CHECK(!read_answer(write_word(batch_message::long_answer), {}));
}

TEST_CASE("a node's facts, orders and seats come as they were given") {
  node_facts f;
  f.name = "a";
  f.protocol = 3;
  f.load = 0.25;
  f.leaving = true;
  const auto facts = read_facts(write_message(f));
  REQUIRE(facts);
  CHECK(facts->name == "a");
  CHECK(facts->protocol == 3);
  CHECK(facts->load == 0.25);
  CHECK(facts->leaving);
  deployment_order o;
  o.text = "graph";
  o.overrides = {{"a", "b"}};
  const auto order = read_deploy(write_message(o));
  REQUIRE(order);
  CHECK(order->text == "graph");
  CHECK(order->overrides == o.overrides);
  seat_opened s;
  s.seat = 8;
  s.answer.full = true;
  s.answer.labels = {"x"};
  const auto seat = read_seat(write_message(s));
  REQUIRE(seat);
  CHECK(seat->seat == 8);
  CHECK(seat->answer.full);
  CHECK(seat->answer.labels == s.answer.labels);
  CHECK(!read_facts(write_message(s)));
  CHECK(read_deployed(write_deployed("no")) == "no");
  CHECK(read_close_seat(write_close_seat(5)) == 5U);
}

TEST_CASE(
  "messages that are cut, longer, or changed at random are read or refused, and nothing else") {
  const auto seed = std::random_device{}();
  MESSAGE("seed ", seed);
  std::mt19937 random{seed};
  const auto work = part_of_one();
  content_sender contents{nullptr, 0};
  receive_memory memory;
  memory.allow(answer_bytes);
  const auto answer = write_answer(some_answer(), memory);
  const std::vector<std::vector<std::byte>> messages{
    write_call(9, 1234, std::nullopt, work, contents),
    answer.head,
    write_message(node_facts{}),
    write_message(deployment_order{}),
    write_message(seat_opened{}),
    write_probe({})};
  const auto read_all = [&](std::span<const std::byte> head) {
    return read_call(head) || read_answer(head, answer.bulk) || read_loans(head) || read_probe(head)
           || read_facts(head) || read_deploy(head) || read_open_seat(head) || read_seat(head)
           || read_close_seat(head) || read_deployed(head);
  };
  for (const auto& m : messages) {
    CHECK(read_all(m));
    for (std::size_t cut = 0; cut < m.size(); ++cut)
      CHECK(!read_all(std::span{m}.first(cut)));
    auto longer = m;
    longer.push_back({});
    CHECK(!read_all(longer));
    for (int i = 0; i < 2000; ++i) {
      auto changed = m;
      for (unsigned n = 1 + random() % 4; n > 0; --n)
        changed[random() % changed.size()] = static_cast<std::byte>(random());
      read_all(changed); // must return
    }
  }
}

TEST_CASE("memory for what peers send is bounded by what was allowed") {
  receive_memory memory;
  CHECK(!memory.take(1).data());
  memory.allow(1000);
  auto first = memory.take(600);
  CHECK(first.size() >= 600);
  CHECK(!memory.take(600).data());
  auto second = memory.take(400);
  CHECK(second.size() >= 400);
  CHECK(!memory.take(1).data());
  first = {};
  CHECK(memory.take(500).data());
  CHECK(!memory.take(~std::uint64_t{0}).data());
  CHECK(!memory.take(0).data());
  memory.withdraw(1000);
  CHECK(!memory.take(1).data());
}
