// Where a network begins and ends: the names of its inputs and outputs.
#pragma once

#include "diagnostics.hpp"
#include "read/model.hpp"

#include <set>
#include <string>
#include <vector>

namespace onnx2hpp {

struct conversion;

/// Those of `names` that a graph may have; the others are problems. `what`: the kind of thing that they name, "input".
std::vector<std::string> distinct(const char* what, const std::vector<std::string>& names, std::vector<problem>& problems);
std::vector<std::string> distinct(const char* what, const std::vector<value_info>& values, std::vector<problem>& problems);

/// The outputs that --outputs chooses, or the model's. Throws usage_error if no node and no input makes one of the former.
std::vector<std::string> choose_outputs(const model& m, const std::vector<node>& nodes, const conversion& settings,
                                        std::vector<problem>& problems);

/// Inputs that only the part cut off by --outputs reads. Without --outputs all inputs stay, read or not. `order` has the
/// nodes that the outputs need.
std::set<std::string> inputs_cut_off(const model& m, const std::vector<node>& nodes, const std::vector<std::size_t>& order,
                                     const std::vector<std::string>& outputs, const conversion& settings);

}  // namespace onnx2hpp
