// How the OpenMP backend lays out a convolution: constants of the layer that fix its scratch and packed bytes. They do not
// depend on the instruction set, so that boards of different kinds compute the same plan.
#pragma once

#include "dice/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::algorithm {

/// Direct convolution, by blocks of output channels. If the window leaves the input or has a stride, the part of the input
/// under a band of output rows is first copied into scratch with its padding, split by the strides into phases (all rows and
/// columns with the same remainder), one after the other. There, with rows `pitch` apart, output pixel (y, x) reads tap t at
/// y · pitch + x + tap offset t, for every stride and dilation. Otherwise the input is read in place.
struct convolution {
  /// Bytes of a band of the padded input beyond which a new band begins: what second-level caches hold.
  static constexpr std::int64_t band_bytes = 768 * 1024;
  /// Rows and columns up to which regions of the result are computed by themselves.
  static constexpr std::int64_t most_extent = 16384;

  /// One axis of the window: phases, and the extents in each.
  struct axis {
    std::int64_t in = 1, out = 1;  ///< extents of input and output
    std::int64_t stride = 1, dilation = 1, kernel = 1, pad = 0;
    std::int64_t period = 1;  ///< taps k and k + period have the same phase
    std::int64_t phases = 1;  ///< phases that some tap reads
    std::int64_t halo = 0;    ///< elements of a phase beyond the output's extent

    constexpr axis() = default;
    constexpr axis(std::int64_t i, std::int64_t o, int s, int d, int k, int p)
        : in(i), out(o), stride(s), dilation(d), kernel(k), pad(p) {
      std::int64_t a = s, b = d;
      while (b != 0) {
        const auto rest = a % b;
        a = b;
        b = rest;
      }
      period = s / a;
      phases = std::min<std::int64_t>(k, period);
      halo = (k - 1) * dilation / stride;
    }
    constexpr std::int64_t phase(std::int64_t tap) const { return tap % period; }
    /// Position of tap k within its phase.
    constexpr std::int64_t shift(std::int64_t tap) const { return tap * dilation / stride; }
    /// Position in the unpadded input of element i of a phase; may lie outside.
    constexpr std::int64_t source(std::int64_t of_phase, std::int64_t i) const {
      return i * stride + of_phase * dilation % stride - pad;
    }
  };

  /// Input channels [from, to) that a block of output channels reads: those of its groups.
  struct range {
    std::int64_t from = 0, to = 0;
    constexpr std::int64_t size() const { return to - from; }
  };

  std::int64_t images = 1, channels = 0, out_channels = 0, groups = 1;
  std::int64_t group_channels = 0, group_outputs = 0;  ///< of one group
  axis y, x;
  bool depthwise = false;                  ///< each output channel reads only the input channel of its own number
  bool plain = false;                      ///< reads a plain input: few channels would leave most of a block empty
  bool in_place = false;                   ///< no padded copy
  std::int64_t lanes = tensor::block;      ///< adjacent channels in the input: a block, or 1 if it is plain
  std::int64_t overlap = 0;                ///< zeros at the end of a row that also begin the next
  std::int64_t pitch = 0;                  ///< pixels between rows of a phase
  std::int64_t band = 0;                   ///< output rows per band
  std::int64_t phase_size = 0, plane = 0;  ///< pixels of a phase, of a block of channels with all its phases
  std::int64_t depth = 0;                  ///< most input channels that a block of output channels reads

  constexpr std::int64_t taps() const { return y.kernel * x.kernel; }
  constexpr std::int64_t bands() const { return (y.out + band - 1) / band; }
  constexpr std::int64_t in_blocks() const { return (channels + lanes - 1) / lanes; }
  constexpr std::int64_t out_blocks() const { return tensor::blocks(out_channels); }
  /// What block `b` of the output channels reads.
  constexpr range reads(std::int64_t b) const {
    const auto first = b * tensor::block / group_outputs,
               last = (std::min((b + 1) * tensor::block, out_channels) - 1) / group_outputs;
    return {first * group_channels, (last + 1) * group_channels};
  }
  /// Offset in pixels of tap (ky, kx) from the output pixel, within the padded block.
  constexpr std::int64_t tap(std::int64_t ky, std::int64_t kx) const {
    return (y.phase(ky) * x.phases + x.phase(kx)) * phase_size + y.shift(ky) * pitch + x.shift(kx);
  }
  /// Bytes of the table of tap offsets, at the beginning of the scratch; one tap has the offset 0.
  constexpr std::int64_t table_bytes() const { return taps() == 1 ? 0 : (taps() * 8 + 63) / 64 * 64; }
  constexpr std::int64_t scratch_bytes() const {
    if (depthwise) return 0;
    return table_bytes() + (in_place ? 0 : in_blocks() * plane * lanes * tensor::float_bytes);
  }
  /// Whether the whole plane of the result counts as one row.
  constexpr bool is_flat(const tensor::shape& result) const { return result.rank == 4 && y.out != result[2]; }
  /// Gives it its rows back.
  constexpr void unfold(const tensor::shape& result) {
    y.in = y.out = band = result[2];
    x.in = x.out = pitch = result[3];
  }
  /// Rows and columns of results for which reading all weights takes a tenth of the time: reading one takes as long as some
  /// 18 products (algorithm::winograd::load).
  constexpr std::array<std::int16_t, 2> rows_and_columns(const tensor::shape& result) const {
    if (result.rank != 4 || result[2] > most_extent || result[3] > most_extent) return {0, 0};
    if (depthwise) return {1, tensor::block};
    constexpr std::int64_t pixels = 180;
    const auto over = [&](std::int64_t n) { return static_cast<std::int16_t>((pixels + n - 1) / n); };
    return {over(result[3]), over(result[2])};
  }
  /// (block of output channels, block of input channels, tap, input channel, output channel); depthwise (block, tap,
  /// channel).
  constexpr std::int64_t weight_elements() const { return out_blocks() * (depthwise ? 1 : depth) * taps() * tensor::block; }
  /// Weights, then the bias, both padded with zeros.
  constexpr std::int64_t packed_bytes() const {
    return (weight_elements() + out_blocks() * tensor::block) * tensor::float_bytes;
  }

  constexpr convolution() = default;
  constexpr convolution(const ops::conv& op, const tensor::shape& in, const tensor::shape& result)
      : images(in[0]),
        channels(in[1]),
        out_channels(op.channels),
        groups(op.group),
        group_channels(in[1] / op.group),
        group_outputs(op.channels / op.group) {
    const bool flat = in.rank == 3;
    y = {flat ? 1 : in[2], flat ? 1 : result[2], op.strides[0], op.dilations[0], op.kernel[0], op.pads[0]};
    x = {in[flat ? 2 : 3], result[flat ? 2 : 3], op.strides[1], op.dilations[1], op.kernel[1], op.pads[1]};
    depthwise = group_channels == 1 && group_outputs == 1 && groups > 1;
    plain = channels < tensor::block && !depthwise;
    lanes = plain ? 1 : tensor::block;
    for (std::int64_t b = 0; b < out_blocks(); ++b) depth = std::max(depth, reads(b).size());

    in_place = y.stride == 1 && x.stride == 1;
    for (int p : op.pads) in_place = in_place && p == 0;
    if (in_place) {
      pitch = x.in;
      band = y.out;
      plane = phase_size = y.in * x.in;
      if (taps() == 1) {  // the whole plane as one row
        x.in = x.out = pitch = plane;
        y.in = y.out = band = 1;
      }
      return;
    }
    // No more than the halo, so that no two outputs share a pixel.
    if (x.stride == 1) overlap = std::min<std::int64_t>({op.pads[1], op.pads[3], x.halo});
    pitch = x.out + x.halo - overlap;
    const auto phases = y.phases * x.phases;
    const auto row = in_blocks() * lanes * phases * pitch * tensor::float_bytes;
    band = std::clamp<std::int64_t>(band_bytes / row - y.halo, std::min<std::int64_t>(y.out, 1 + 2 * y.halo), y.out);
    band = (y.out + bands() - 1) / bands();
    if (band < y.out) band += band % 2;  // pooling takes rows in pairs
    phase_size = (band + y.halo) * pitch + overlap;
    plane = phases * phase_size;
  }
};

}  // namespace dice::algorithm
