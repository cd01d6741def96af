#include "runtime/net/node_wire.hpp"

#include "runtime/net/wire_bytes.hpp"

namespace hyperframes {

template <class Inspector>
bool inspect(Inspector& f, node_facts& n) {
  return f.object(n).fields(
    f.field("name", n.name), f.field("version", n.version), f.field("protocol", n.protocol),
    f.field("slots", n.slots), f.field("taken", n.taken), f.field("leaving", n.leaving),
    f.field("load", n.load), f.field("process", n.process));
}

template <class Inspector>
bool inspect(Inspector& f, deployment_order& d) {
  return f.object(d).fields(
    f.field("graph", d.graph), f.field("text", d.text), f.field("overrides", d.overrides),
    f.field("environment", d.environment), f.field("stages", d.stages),
    f.field("part", d.part), f.field("facts", d.facts));
}

template <class Inspector>
bool inspect(Inspector& f, look_answer& a) {
  return f.object(a).fields(f.field("problem", a.problem), f.field("found", a.found));
}

template <class Inspector>
bool inspect(Inspector& f, seat_order& s) {
  return f.object(s).fields(
    f.field("seat", s.seat), f.field("stage", s.stage), f.field("slots", s.slots),
    f.field("width", s.width), f.field("height", s.height), f.field("call_bytes", s.call_bytes));
}

template <class Inspector>
bool inspect(Inspector& f, seat_answer& a) {
  return f.object(a).fields(
    f.field("problem", a.problem), f.field("full", a.full), f.field("summary", a.summary),
    f.field("has_labels", a.has_labels), f.field("labels", a.labels));
}

template <class Inspector>
bool inspect(Inspector& f, seat_opened& s) {
  return f.object(s).fields(f.field("seat", s.seat), f.field("answer", s.answer));
}

namespace {

template <class T>
std::vector<std::byte> write_as(node_message kind, const T& value) {
  return write_bytes(static_cast<std::uint8_t>(kind), value);
}

template <class T>
std::optional<T> read_as(node_message expected, std::span<const std::byte> head) {
  if (node_message_of(head) != expected)
    return std::nullopt;
  return read_bytes<T>(head.subspan(1));
}

} // namespace

std::vector<std::byte> write_ask_facts() {
  return {static_cast<std::byte>(node_message::ask_facts)};
}
std::vector<std::byte> write_message(const node_facts& facts) {
  return write_as(node_message::facts, facts);
}
std::vector<std::byte> write_message(const deployment_order& order) {
  return write_as(node_message::deploy, order);
}
std::vector<std::byte> write_deployed(const std::string& problem) {
  return write_as(node_message::deployed, problem);
}
std::vector<std::byte> write_message(const seat_order& order) {
  return write_as(node_message::open_seat, order);
}
std::vector<std::byte> write_message(const seat_opened& opened) {
  return write_as(node_message::seat, opened);
}
std::vector<std::byte> write_close_seat(std::uint32_t seat) {
  return write_as(node_message::close_seat, seat);
}
std::vector<std::byte> write_look(const deployment_order& order) {
  return write_as(node_message::look, order);
}
std::vector<std::byte> write_message(const look_answer& answer) {
  return write_as(node_message::looked, answer);
}

std::optional<node_message> node_message_of(std::span<const std::byte> head) {
  if (
    head.empty() || head[0] < static_cast<std::byte>(node_message::ask_facts)
    || head[0] > static_cast<std::byte>(node_message::looked))
    return std::nullopt;
  return static_cast<node_message>(head[0]);
}

std::optional<node_facts> read_facts(std::span<const std::byte> head) {
  return read_as<node_facts>(node_message::facts, head);
}
std::optional<deployment_order> read_deploy(std::span<const std::byte> head) {
  return read_as<deployment_order>(node_message::deploy, head);
}
std::optional<std::string> read_deployed(std::span<const std::byte> head) {
  return read_as<std::string>(node_message::deployed, head);
}
std::optional<seat_order> read_open_seat(std::span<const std::byte> head) {
  return read_as<seat_order>(node_message::open_seat, head);
}
std::optional<seat_opened> read_seat(std::span<const std::byte> head) {
  return read_as<seat_opened>(node_message::seat, head);
}
std::optional<std::uint32_t> read_close_seat(std::span<const std::byte> head) {
  return read_as<std::uint32_t>(node_message::close_seat, head);
}
std::optional<deployment_order> read_look(std::span<const std::byte> head) {
  return read_as<deployment_order>(node_message::look, head);
}
std::optional<look_answer> read_looked(std::span<const std::byte> head) {
  return read_as<look_answer>(node_message::looked, head);
}

} // namespace hyperframes
