// How many frames a model is converted for at once, and whether it keeps them apart.
#pragma once

#include "graph/input_shapes.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace onnx2hpp {

/// The batch: the common first extent of the inputs for which the model leaves it open (if there are none, of all inputs).
struct batch {
  std::int64_t frames = 1;
  bool free = false;                ///< the model leaves it open
  std::set<std::string> symbols{};  ///< of the inputs' first extents, except placeholders
  conversion of_one{};              ///< settings for a batch of 1
  std::string option{};             ///< with which the user asks for a batch of 1

  /// Adds a remedy to those of `problems` that are not among `others`, the problems of a batch of 1.
  void blame(std::vector<problem>& problems, const std::vector<problem>& others) const;
};

/// The batch of inputs with these shapes; 1 if they disagree.
batch find_batch(const model& m, const conversion& settings, const std::map<std::string, shape>& inputs);

/// The model's declaration of one of its outputs or inner values; null: none.
const value_info* declared_value(const model& m, const std::string& name);

/// How the computed shape of an output differs from the one that the model declares.
struct contradiction {
  std::string reason;
  bool loses_frames = false;  ///< the batch is more than 1, and the output does not have it
};

/// Compares the result of layer `computed` with the model's declaration of the output that it becomes, which may be null.
/// Numbers in the declaration count only if `numbers`: the inputs have the shapes that the model declares. Where the batch
/// is free, its number in the declaration does not count.
std::optional<contradiction> compare_output(const network& net, int computed, const value_info* declared, const batch& b,
                                            const symbol_extents& symbols, bool numbers);

}  // namespace onnx2hpp
