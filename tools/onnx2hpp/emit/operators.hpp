// Tables of ONNX's operators and what onnx2hpp reads of them, for people and for docs/operators.md.
#pragma once

#include "diagnostics.hpp"

#include <string>
#include <vector>

namespace onnx2hpp {

/// A row for each of the operators `names` (all, if empty): opsets, inputs and notes, below them the attributes; without a
/// line break at the end. Throws usage_error if ONNX has no such operator.
std::string list_operators(const std::vector<std::string>& names);

/// The standard operators that the problems are about, separated by commas.
std::string operators_of(const std::vector<problem>& problems);

}  // namespace onnx2hpp
