#pragma once

#include "graph/convert.hpp"

#include <optional>
#include <set>

namespace onnx2hpp {

/// Extents of symbolic dimensions, by name.
using symbol_extents = std::map<std::string, std::int64_t>;

struct known_inputs {
  std::map<std::string, shape> shapes;
  symbol_extents symbols;  ///< as the user fixes them by -d or -i, or 1 for the batch; no placeholders
};

/// Symbols that do not stand for one number: "?" and "None", and those of the first extent of an input (the batch) and of
/// another extent. Exporters and scripts write one symbol for all extents that they do not know.
std::set<std::string> placeholders(const model& m);

/// A shape as models declare it: 1, 3, height, ?.
std::string declared_text(const value_info& v);

/// The shapes of the graph inputs except `left_out`: as declared or as the user fixes them, a symbolic batch as 1. A
/// placeholder stands for one number only if -d gives it. Inputs without a shape are left out and reported in `problems`.
/// Throws usage_error if `settings` names inputs or symbols that the model lacks.
known_inputs input_shapes(const model& m, const std::set<std::string>& left_out, const conversion& settings,
                          const messages& out, std::vector<problem>& problems);

/// A remedy if -i gives an input a shape that contradicts the model's; else "".
std::string undeclared_input(const model& m, const conversion& settings);

/// The declared shape of a float32 tensor inside the graph, if all of it is known.
std::optional<shape> declared_shape(const value_info& v, const symbol_extents& symbols);

}  // namespace onnx2hpp
