// How the OpenMP backend lays out a convolution: constants of the layer that fix its scratch and packed bytes. They do not
// depend on the instruction set, so that boards of different kinds compute the same plan.
#pragma once

#include "dice/model/model.hpp"
#include "dice/platform/simd.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::cost {

/// Direct convolution on padded rows. The input's part under a band of output rows is copied into scratch with its padding,
/// split by the strides into phases (all rows and columns with the same remainder), one after the other. There, with rows
/// `pitch` apart, output pixel (y, x) reads tap t at `y · pitch + x + tap offset t`: contiguous in x for every stride and
/// dilation, and across rows too, so that a vector may hold pixels of two rows. 1x1 convolutions read the input in place.
struct convolution {
  /// Output channels that lie together in the packed weights (group, panel, input channel, tap, lane).
  static constexpr std::int64_t panel = 8;
  /// Bytes of a band of the padded input, beyond which another band is begun: what second-level caches hold.
  static constexpr std::int64_t band_bytes = 768 * 1024;
  /// Elements behind the padded input that tiles may read (and ignore).
  static constexpr std::int64_t slack = 4 * platform::widest_vector;

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
        a = b, b = rest;
      }
      period = s / a;
      phases = std::min<std::int64_t>(k, period);
      halo = (k - 1) * dilation / stride;
    }
    constexpr std::int64_t phase(std::int64_t tap) const { return tap % period; }
    /// Position of tap k within its phase.
    constexpr std::int64_t place(std::int64_t tap) const { return tap * dilation / stride; }
    /// Position in the unpadded input of element i of a phase; may lie outside.
    constexpr std::int64_t source(std::int64_t of_phase, std::int64_t i) const {
      return i * stride + of_phase * dilation % stride - pad;
    }
  };

  std::int64_t images = 1, channels = 0, out_channels = 0, groups = 1;
  std::int64_t group_channels = 0, group_outputs = 0;  ///< of one group
  axis y, x;
  bool depthwise = false;                  ///< one input channel per group: weights in place, no panels
  bool reads_in_place = false;             ///< no padded copy
  std::int64_t overlap = 0;                ///< zeros that end a row and begin the next
  std::int64_t pitch = 0;                  ///< elements between rows of a phase
  std::int64_t band = 0;                   ///< output rows per band
  std::int64_t phase_size = 0, plane = 0;  ///< elements of a phase, of a channel with all its phases
  std::int64_t panels = 0;                 ///< of a group

  constexpr std::int64_t taps() const { return y.kernel * x.kernel; }
  constexpr std::int64_t bands() const { return (y.out + band - 1) / band; }
  /// Offset of tap (ky, kx) from the output pixel, within the padded channel.
  constexpr std::int64_t tap(std::int64_t ky, std::int64_t kx) const {
    return (y.phase(ky) * x.phases + x.phase(kx)) * phase_size + y.place(ky) * pitch + x.place(kx);
  }
  /// Bytes of the table of tap offsets, at the beginning of the scratch.
  constexpr std::int64_t table_bytes() const { return (taps() * 8 + 63) / 64 * 64; }
  constexpr std::int64_t scratch_bytes() const {
    return reads_in_place ? 0 : table_bytes() + (channels * plane + slack) * tensor::element_bytes;
  }
  constexpr std::int64_t weight_elements() const { return groups * panels * group_channels * taps() * panel; }
  /// Weights, then the bias padded like them.
  constexpr std::int64_t packed_bytes() const {
    return depthwise ? 0 : (weight_elements() + groups * panels * panel) * tensor::element_bytes;
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
    depthwise = group_channels == 1 && groups > 1;
    panels = (group_outputs + panel - 1) / panel;

    bool unpadded = true;
    for (int p : op.pads) unpadded = unpadded && p == 0;
    // Planes a multiple of 4 KiB apart share the sets of the first-level cache; a copy does not.
    const auto pixels = y.in * x.in;
    reads_in_place = !depthwise && taps() == 1 && y.stride == 1 && x.stride == 1 && unpadded &&
                     pixels >= platform::widest_vector && pixels * tensor::element_bytes % 4096 != 0;
    if (reads_in_place) {  // the whole plane as one row
      x.in = x.out = pitch = phase_size = plane = pixels;
      y.in = y.out = band = 1;
      return;
    }
    // No more than the halo, so that no two outputs are one pixel.
    if (x.stride == 1) overlap = std::min<std::int64_t>({op.pads[1], op.pads[3], x.halo});
    pitch = x.out + x.halo - overlap;
    const auto phases = y.phases * x.phases;
    band = y.out;
    if (!depthwise) {  // channels that are computed one by one need no bands
      const auto row = channels * phases * pitch * tensor::element_bytes;
      band = std::clamp<std::int64_t>(band_bytes / row - y.halo, std::min<std::int64_t>(y.out, 1 + 2 * y.halo), y.out);
      band = (y.out + bands() - 1) / bands();
    }
    phase_size = spread((band + y.halo) * pitch + overlap);
    plane = phases * phase_size;
  }

 private:
  /// Rounded up to a cache line, and away from multiples of 4 KiB.
  static constexpr std::int64_t spread(std::int64_t elements) {
    elements = (elements + 15) / 16 * 16;
    return elements % 1024 == 0 && elements > 0 ? elements + 16 : elements;
  }
};

}  // namespace dice::cost
