#pragma once

#include "graphs/graph.hpp"

#include <string>

namespace hyperframes {

/// The JSON Schema (draft 2020-12) of a graph file, made from the same descriptions that the
/// checker uses; for editors. It is a little wider than the checker: what `${NAME}` or a range may
/// stand for passes as text, and wiring is not looked at.
/// @returns JSON text, indented.
std::string graph_schema(const catalogues& known);

} // namespace hyperframes
