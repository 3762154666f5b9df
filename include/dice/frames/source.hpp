#pragma once

#include "dice/frames/ends.hpp"
#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace dice::frames {

/// `elements` numbers for frame `frame` of graph input `input`: sums of eight uniform numbers, scaled to mean 0 and variance
/// 1, close to a normal distribution. Integer arithmetic and one product give the same bits on every board and rank.
inline void random_frame(std::uint64_t seed, int input, std::int64_t frame, float* to, std::int64_t elements) {
  const auto mix = [](std::uint64_t z) {  // SplitMix64's finaliser
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t state =
      mix(mix(mix(seed + golden) + static_cast<std::uint64_t>(input)) + golden * static_cast<std::uint64_t>(frame + 1));
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

/// How many of `frames` random frames of type `one` are made before a run, so that it need not wait for them (0.6 ms for
/// 3×224×224 numbers): at most 256 MiB. Later ones are made as they enter.
inline std::int64_t made_ahead(const dice::tensor::type& one, std::int64_t frames) {
  return std::max<std::int64_t>(std::min(frames, (std::int64_t{256} << 20) / std::max<std::int64_t>(one.bytes(), 1)), 1);
}

/// Frames for the graph inputs of a rank: given ones, repeated cyclically, or random ones.
class tensor_source final : public source {
 public:
  /// Writes a frame to `to`.
  using reader = std::function<void(std::int64_t frame, float* to)>;

  /// `frames` frames for input `layer`, each written to its place by `read` when it enters.
  void add(int layer, std::int64_t frames, reader read) { inputs_[layer] = {frames, std::move(read)}; }
  /// Random frames for input `layer`, the `ordinal`-th graph input; the first `ahead` are made now.
  void add_random(int layer, const dice::tensor::shape& one, int ordinal, std::uint64_t seed, std::int64_t ahead) {
    const auto n = one.elements();
    std::vector<float> made(ahead * n);
    for (std::int64_t f = 0; f < ahead; ++f) random_frame(seed, ordinal, f, made.data() + f * n, n);
    add(layer, 0, [=, made = std::move(made)](std::int64_t frame, float* to) {
      if (frame < ahead) std::copy_n(made.data() + frame * n, n, to);
      else random_frame(seed, ordinal, frame, to, n);
    });
  }

  void fill(int layer, std::int64_t frame, std::byte* to, const dice::tensor::type& as) override {
    const auto& in = inputs_.at(layer);
    in.read(in.frames > 0 ? frame % in.frames : frame, floats(to, as));
  }

 private:
  struct input {
    std::int64_t frames = 0;  ///< 0: any number
    reader read;
  };
  std::map<int, input> inputs_;
};

}  // namespace dice::frames
