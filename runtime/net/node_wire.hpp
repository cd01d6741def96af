#pragma once

#include "runtime/net/node_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// What a coordinator asks of a node, on the control lane of a link, and the answers.
namespace hyperframes {

/// The first byte of a message's head; below it are the messages of deployments (batch_wire.hpp).
enum class node_message : std::uint8_t {
  ask_facts = 64,
  facts,
  deploy,    ///< `deployment_order`
  deployed,  ///< why not, empty: it is
  open_seat, ///< `seat_order`
  seat,      ///< `seat_opened`
  close_seat, ///< its number
  look,       ///< `deployment_order`: what do the cameras and models of its stages say?
  looked      ///< `look_answer`
};

struct seat_opened {
  std::uint32_t seat = 0;
  seat_answer answer;
};

std::vector<std::byte> write_ask_facts();
std::vector<std::byte> write_message(const node_facts& facts);
std::vector<std::byte> write_message(const deployment_order& order);
std::vector<std::byte> write_deployed(const std::string& problem);
std::vector<std::byte> write_message(const seat_order& order);
std::vector<std::byte> write_message(const seat_opened& opened);
std::vector<std::byte> write_close_seat(std::uint32_t seat);
std::vector<std::byte> write_look(const deployment_order& order);
std::vector<std::byte> write_message(const look_answer& answer);

/// Nothing where the head is no message of a node.
std::optional<node_message> node_message_of(std::span<const std::byte> head);
/// Nothing where the head is another message, cut short, or too long.
std::optional<node_facts> read_facts(std::span<const std::byte> head);
std::optional<deployment_order> read_deploy(std::span<const std::byte> head);
std::optional<std::string> read_deployed(std::span<const std::byte> head);
std::optional<seat_order> read_open_seat(std::span<const std::byte> head);
std::optional<seat_opened> read_seat(std::span<const std::byte> head);
std::optional<std::uint32_t> read_close_seat(std::span<const std::byte> head);
std::optional<deployment_order> read_look(std::span<const std::byte> head);
std::optional<look_answer> read_looked(std::span<const std::byte> head);

} // namespace hyperframes
