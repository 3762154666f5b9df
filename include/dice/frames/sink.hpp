#pragma once

#include "dice/frames/ends.hpp"
#include "dice/frames/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace dice::frames {

/// Collects the results of a rank's graph outputs, frames joined along the leading dimension.
class tensor_sink final : public sink {
 public:
  /// Keeps the results of output `layer` of shape `one` for `frames` frames. Outputs that were not added are dropped.
  void add(int layer, const dice::tensor::shape& one, std::int64_t frames) {
    results_[layer] = tensor::from_shape(stacked(one, frames));
  }
  void take(int layer, std::int64_t frame, const std::byte* from, const dice::tensor::type& as) override {
    if (const auto at = results_.find(layer); at != results_.end())
      std::copy_n(floats(from, as), as.elements(), at->second.data() + frame * as.elements());
  }
  /// Keeps only the first `frames` frames of output `layer`, of shape `one`.
  [[gnu::cold]] void keep_first(int layer, const dice::tensor::shape& one, std::int64_t frames) {
    auto fewer = tensor::from_shape(stacked(one, frames));
    std::copy_n(result(layer).data(), fewer.size(), fewer.data());
    result(layer) = std::move(fewer);
  }
  bool has(int layer) const { return results_.contains(layer); }
  tensor& result(int layer) { return results_.at(layer); }

 private:
  std::map<int, tensor> results_;
};

}  // namespace dice::frames
