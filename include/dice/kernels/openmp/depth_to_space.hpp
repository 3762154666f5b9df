#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>
#include <cstring>

namespace dice::kernels {

/// In blocked tensors whole blocks of channels are copied.
template <> struct kernel<openmp::backend, ops::depth_to_space> : openmp::base<ops::depth_to_space> {
  static void compute(const ops::depth_to_space& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    c.result == tensor::layout::blocked ? copy<tensor::block>(op, in[0], result, c, e) : copy<1>(op, in[0], result, c, e);
  }

 private:
  template <std::int64_t Lanes>
  static void copy(const ops::depth_to_space& op, const tensor::shape& in, const tensor::shape& result, const call& c,
                   const detail::epilogue& e) {
    const auto pixels = [](const tensor::shape& s, int k) { return s.rank == 3 && k == 0 ? 1 : s[s.rank - 2 + k]; };
    const auto height = pixels(result, 0), width = pixels(result, 1), in_height = pixels(in, 0), in_width = pixels(in, 1);
    const auto fy = op.factor(0, in), fx = op.factors[1], crop_y = in.rank == 3 ? 0 : op.crop[0];
    // Channels or blocks of them: of the result, of a group of it, of the input.
    const auto planes = result[1] / Lanes, of_group = op.group_channels(in) / Lanes, in_planes = in[1] / Lanes;
    openmp::parallel_for(result[0] * planes * height, width * Lanes, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        const auto image = row / height / planes, plane = row / height % planes, y = row % height + crop_y;
        float* to = c.output + row * width * Lanes;
        for (std::int64_t bx = 0; bx < fx; ++bx) {
          const auto block = (plane / of_group * fy + y % fy) * fx + bx;
          const float* from =
              c.inputs[0] +
              ((image * in_planes + block * of_group + plane % of_group) * in_height + y / fy) * in_width * Lanes;
          for (auto x = (bx - op.crop[1] % fx + fx) % fx; x < width; x += fx)
            std::memcpy(to + x * Lanes, from + (x + op.crop[1]) / fx * Lanes, Lanes * sizeof(float));
        }
        e(to, width * Lanes);
      }
    });
  }
};

}  // namespace dice::kernels
