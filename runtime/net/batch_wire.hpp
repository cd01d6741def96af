#pragma once

#include "runtime/hyperframe.hpp"
#include "runtime/net/content.hpp"
#include "runtime/net/receive_memory.hpp"
#include "runtime/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What passes on a link between the stage that infers and its workers on nodes.
namespace hyperframes {

/// The first byte of a message's head.
enum class batch_message : std::uint8_t {
  call,        ///< `batch_call`, to the worker
  answer,      ///< `batch_answer`, back; its raw outputs are its bulk
  loans,       ///< numbers of loans that were returned
  leaving,     ///< the node takes no more calls: its seats are to be given back
  probe,       ///< memory of the sender's: can it be borrowed from?
  borrows,     ///< it can
  long_answer, ///< an answer that is no head any more: it is the first part of the bulk
};

/// What an answer may be at most: with its raw outputs, and without them. Whoever receives one has
/// taken memory for no more than that, for each call that is under way.
inline constexpr std::uint64_t answer_bytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t answer_facts_bytes = std::uint64_t{16} << 20;

/// Slots of a call, with those that stand before them in what was lent, over all parts: these cost
/// memory and no message. A head has room for some 9000.
inline constexpr std::uint64_t call_slots = std::uint64_t{1} << 16;

/// A batch for one seat.
struct batch_call {
  std::uint32_t seat = 0;
  std::uint64_t ticket = 0;          ///< stands in the answer
  std::optional<std::uint8_t> fault; ///< `worker_fault_kind` that was asked for
  struct part {
    recycled_vector<slot> slots; ///< of the hyperframe, only those that are asked for
    pack_spec pack;
    content_place tensor; ///< of these slots
  };
  std::vector<part> parts;
};

/// What became of it.
struct batch_answer {
  std::uint32_t seat = 0;
  std::uint64_t ticket = 0;
  std::vector<recycled_vector<result::slot_result>>
    parts; ///< as the call's, a result for each slot;
           ///< `refers_to` counts from the part's first
  std::uint64_t bytes_copied = 0;
  std::vector<std::string> errors;
  std::string lost; ///< why the worker cannot go on; then there are no parts
};

/// @param contents gets the tensors.
std::vector<std::byte> write_call(
  std::uint32_t seat, std::uint64_t ticket, std::optional<std::uint8_t> fault, const batch& work,
  content_sender& contents);
struct written_answer {
  std::vector<std::byte> head;
  std::vector<bulk_part> bulk;
};
/// @param memory for the bulk. Throws `failure` where the answer is beyond its bounds, or the
/// memory beyond its own.
written_answer write_answer(batch_answer answer, receive_memory& memory);
std::vector<std::byte> write_loans(std::span<const std::uint64_t> loans);
std::vector<std::byte> write_probe(const segment_address& probe);
/// Of a kind that says everything: `leaving`, `borrows`.
std::vector<std::byte> write_word(batch_message kind);

/// Nothing where the head is no such message, cut short, or too long.
std::optional<batch_message> kind_of(std::span<const std::byte> head);
std::optional<batch_call> read_call(std::span<const std::byte> head);
/// Nothing also where the bulk is not the raw outputs that the answer speaks of, each as its shape
/// says, or where a slot refers to one beyond its part.
std::optional<batch_answer>
read_answer(std::span<const std::byte> head, std::span<const bulk_part> bulk);
/// Where the bulk of an answer is received: as `link_user::place`.
bool place_answer(
  std::span<const std::byte> head, std::span<const std::uint64_t> sizes, receive_memory& memory,
  std::vector<buffer_ref>& into);
std::optional<std::vector<std::uint64_t>> read_loans(std::span<const std::byte> head);
std::optional<segment_address> read_probe(std::span<const std::byte> head);

/// The batch of a call whose tensors are here; `tensors` as its parts. Null where a part does not
/// fit its tensor, or there are more than `call_slots`. The slots of a part stand where they stood; those before them are empty.
batch_ptr batch_of(const batch_call& call, std::vector<content> tensors);

} // namespace hyperframes
