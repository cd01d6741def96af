#pragma once

#include "actors/infer/network.hpp"

#include <string>
#include <vector>

/// The parts of `plan_network`.
namespace hyperframes {

/// Completes a plan whose input is known: slot axis, decoding, labels. Throws `failure`.
/// @returns whether decoding went by shapes that are open.
bool plan_outputs(network_plan& plan, const model_settings& from);

/// Throws `failure` (model_failed) in the name of the model's file.
[[noreturn]] void refuse_network(const network_plan& plan, const std::string& sentence);

/// "image [N,3,8,8], gain [1,3]", or "none".
std::string list_of(const std::vector<network_value>& values);

} // namespace hyperframes
