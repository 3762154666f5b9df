#pragma once

#include "dice/runtime/frames.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dice::runtime {

/// `elements` numbers for frame `frame` of graph input `input`: sums of eight uniform numbers, scaled to mean 0 and variance 1,
/// near enough to the normal distribution. Integer arithmetic and one product: the same bits on every board and rank.
inline void random_frame(std::uint64_t seed, int input, std::int64_t frame, float* to, std::int64_t elements) {
  const auto mix = [](std::uint64_t z) {  // SplitMix64's finaliser
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t state = mix(mix(mix(seed + golden) + static_cast<std::uint64_t>(input)) + golden * static_cast<std::uint64_t>(frame + 1));
  const auto sum = [](std::uint64_t z) {
    return static_cast<std::int32_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
  };
  constexpr float scale = 1.8688124e-5f;  // 1 / (2^16 · sqrt(8 / 12))
  for (std::int64_t i = 0; i < elements; ++i) {
    state += golden;
    const std::uint64_t first = mix(state);
    state += golden;
    to[i] = static_cast<float>(sum(first) + sum(mix(state)) - 4 * 65535) * scale;
  }
}

/// Frames for the graph inputs of a rank: tensors' frames over again in turn, or random ones.
class tensor_source final : public source {
public:
  /// Frames of input `layer` of shape `one`: those of `given`, one tensor after the other. All are stacks of `one`.
  void add(int layer, const dice::tensor::shape& one, std::vector<tensor> given) {
    auto& in = inputs_[layer];
    in = {};
    in.elements = one.elements();
    in.given = std::move(given);
    for (const auto& t : in.given)
      for (std::int64_t at = 0; at < static_cast<std::int64_t>(t.size()); at += in.elements) in.frames.push_back(t.data() + at);
  }
  /// Random frames for input `layer`, the `ordinal`-th graph input; the first `ahead` are made at once.
  void add_random(int layer, const dice::tensor::shape& one, int ordinal, std::uint64_t seed, std::int64_t ahead) {
    auto& in = inputs_[layer];
    in = {};
    in.elements = one.elements();
    in.seed = seed;
    in.ordinal = ordinal;
    in.made.resize(static_cast<std::size_t>(ahead * in.elements));
    for (std::int64_t f = 0; f < ahead; ++f) random_frame(seed, ordinal, f, in.made.data() + f * in.elements, in.elements);
    for (std::int64_t f = 0; f < ahead; ++f) in.frames.push_back(in.made.data() + f * in.elements);
    in.random = true;
  }
  /// Frames given for input `layer`; 0 if they are random.
  std::int64_t frames(int layer) const {
    const auto& in = inputs_.at(layer);
    return in.random ? 0 : static_cast<std::int64_t>(in.frames.size());
  }

  void fill(int layer, std::int64_t frame, float* to, std::int64_t elements) override {
    const auto& in = inputs_.at(layer);
    const auto known = static_cast<std::int64_t>(in.frames.size());
    if (in.random && frame >= known)
      random_frame(in.seed, in.ordinal, frame, to, elements);
    else
      std::memcpy(to, in.frames[static_cast<std::size_t>(frame % known)], static_cast<std::size_t>(elements) * sizeof(float));
  }

private:
  struct input {
    std::int64_t elements = 0;
    std::vector<tensor> given;
    std::vector<const float*> frames;
    bool random = false;
    std::uint64_t seed = 0;
    int ordinal = 0;
    std::vector<float> made;
  };
  std::map<int, input> inputs_;
};

}  // namespace dice::runtime
