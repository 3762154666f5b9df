#pragma once

#include "dice/runtime/arena.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/weights_of.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::runtime {

/// Calls the kernels of a rank with its tensors and weights. The program, the store and the arena must outlive it.
class kernel_calls {
 public:
  kernel_calls(const program& p, const group_weights& weights, const arena& tensors)
      : program_(p), arena_(tensors), plain_(p.plan.groups.size()), packed_(p.plan.groups.size()) {
    for (std::size_t g = 0; g < weights.items.size(); ++g)
      if (const int i = weights.items[g]; i >= 0) plain_[g] = weights.in.plain(i), packed_[g] = weights.in.packed(i);
    int most = 1;
    for (const auto& s : p.plan.steps) most = std::max(most, s.operands);
    inputs_.resize(most);
  }

  /// Runs the kernel or the conversion of a step for a frame in a slot.
  void run(const schedule::step& s, int in_slot) {
    const auto& plan = program_.plan;
    if (s.what == schedule::action::convert) {
      const auto& from = plan.operands[s.first_operand];
      return program_.converter(plan.groups[s.group].rank)(
          {program_.layers.layers[s.layer].output, from.stored(), s.output.stored()}, arena_.address(from, in_slot),
          arena_.address(s.output, in_slot));
    }
    for (int k = 0; k < s.operands; ++k) inputs_[k] = arena_.address(plan.operands[s.first_operand + k], in_slot);
    const auto& all = program_.layers.layers[s.layer].output;
    program_.kernels[s.group].run({inputs_.data(), arena_.address(s.output, in_slot), plain_[s.group], packed_[s.group],
                                   arena_.address(s.scratch, in_slot),
                                   s.part == dice::tensor::whole(all) ? nullptr : &s.part});
  }

  /// The same for an accelerator that records the kernel. Throws std::runtime_error, which names the layer.
  void record(const schedule::step& s, int in_slot) {
    try {
      run(s, in_slot);
    } catch (const std::exception& e) {
      throw std::runtime_error("layer '" + std::string(program_.layers.layers[s.layer].onnx_name) + "': " + e.what());
    }
  }

 private:
  const program& program_;
  const arena& arena_;
  std::vector<const void* const*> plain_;  ///< by fusion group
  std::vector<const std::byte*> packed_;   ///< by fusion group
  std::vector<const void*> inputs_;        ///< of the call being made
};

}  // namespace dice::runtime
