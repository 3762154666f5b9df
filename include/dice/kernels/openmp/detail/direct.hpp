// Direct convolution of a whole tensor: packs the weights as algorithm::convolution says, pads bands of the input, divides
// the work among the threads.
#pragma once

#include "dice/kernels/openmp/convolutions.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/depthwise.hpp"
#include "dice/kernels/openmp/detail/pooled.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// Packs the weights in the order that algorithm::convolution states.
inline void prepare_direct(const ops::conv& op, const algorithm::convolution& f, floats from, float* to) {
  const auto taps = f.taps(), channels = f.group_channels;
  float* const bias = to + f.weight_elements();
  std::fill_n(to, f.packed_bytes() / tensor::float_bytes, 0.0f);
  for (std::int64_t b = 0; b < f.out_blocks(); ++b) {
    const auto first_out = b * block, there = std::min<std::int64_t>(block, f.out_channels - first_out);
    // For each output channel: its first input channel, and its weights.
    std::int64_t group[block] = {};
    const float* own[block] = {};
    for (std::int64_t o = 0; o < there; ++o) {
      if (!f.depthwise) group[o] = (first_out + o) / f.group_outputs * channels;
      own[o] = from[0] + (first_out + o) * channels * taps;
      if (op.bias) bias[first_out + o] = from[1][first_out + o];
    }
    const auto reads = f.depthwise ? algorithm::convolution::range{0, 1} : f.reads(b);
    float* w = to + b * (f.depthwise ? 1 : f.depth) * taps * block;
    for (auto first = reads.from; first < reads.to;) {  // blocks of input channels
      const auto last = std::min(reads.to, (first / f.lanes + 1) * f.lanes);
      for (std::int64_t t = 0; t < taps; ++t)
        for (auto c = first; c < last; ++c, w += block)
          for (std::int64_t o = 0; o < there; ++o)
            if (c >= group[o] && c < group[o] + channels) w[o] = own[o][(c - group[o]) * taps + t];
      first = last;
    }
  }
}

/// The convolution of planes, or of blocks of `Lanes` adjacent elements, by all threads, as far as `w` goes.
template <int Lanes> void convolve(const algorithm::convolution& f, const window& w, const call& c, const epilogue& e) {
  const float* weights = reinterpret_cast<const float*>(c.packed);
  // The scratch: offsets of the taps, then the padded input. One tap has the offset 0.
  const std::ptrdiff_t zero = 0;
  const std::ptrdiff_t* taps = &zero;
  if (f.taps() > 1) {
    auto* table = reinterpret_cast<std::ptrdiff_t*>(c.scratch);
    for (std::int64_t ky = 0, t = 0; ky < f.y.kernel; ++ky)
      for (std::int64_t kx = 0; kx < f.x.kernel; ++kx, ++t) table[t] = f.tap(ky, kx) * Lanes;
    taps = table;
  }
  float* padded = f.in_place ? nullptr : reinterpret_cast<float*>(c.scratch + f.table_bytes());
  const auto size = c.plane(0, f.y.in * f.x.in * Lanes), blocks = f.in_blocks();
  const auto plane = c.output_plane(output_pixels(f.y.out, f.x.out, e) * block), outputs = f.out_blocks() * plane;
  const auto work = f.out_blocks() * w.pixels() * block * f.depth * f.taps() / width;
  const int threads = threads_for(work, work);
  team::run(threads, [&](std::int64_t t, std::int64_t n) {
    for (std::int64_t image = 0; image < f.images; ++image)
      for (auto first = w.top; first < w.bottom; first += f.band) {
        const float* input = c.inputs[0] + image * blocks * size;
        const auto rows = std::min(f.band, w.bottom - first);
        if (padded) {
          team::share(blocks, t, n,
                      [&](std::int64_t k) { pad<Lanes>(f, first, rows, input + k * size, padded + k * f.plane * Lanes); });
          team::barrier();
        }
        const band b{.form = &f,
                     .input = padded ? padded : input + first * f.pitch * Lanes,
                     .step = padded ? f.plane * Lanes : size,
                     .weights = weights,
                     .bias = weights + f.weight_elements(),
                     .taps = taps,
                     .output = c.output + image * outputs,
                     .plane = plane,
                     .first_row = first,
                     .rows = rows,
                     .first_column = w.left,
                     .columns = w.columns(),
                     .finish = &e};
        e.pools_2x2 ? convolve_pooled<Lanes>(b, t, n) : convolve_band<Lanes>(b, t, n);
        if (image + 1 < f.images || first + f.band < w.bottom) team::barrier();
      }
  });
}

}  // namespace dice::kernels::openmp
