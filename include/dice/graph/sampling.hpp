// Which elements a resized axis reads, and with what weights: ONNX Resize. Shared with CUDA kernels.
#pragma once

#ifdef __CUDACC__
#define DICE_ON_GPUS __host__ __device__
#else
#define DICE_ON_GPUS
#endif

namespace dice::ops {

/// How the elements between those of the input are computed; `repeat` only copies whole elements by integer factors.
enum class resizing : unsigned char { repeat, nearest, linear, cubic };
/// From positions in the output to positions in the input: ONNX's coordinate_transformation_mode.
enum class coordinates : unsigned char {
  asymmetric,
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};
/// Of positions between two elements: ONNX's nearest_mode.
enum class rounding : unsigned char { round_prefer_floor, round_prefer_ceil, floor, ceil };

/// One axis that is resized.
struct sampled_axis {
  resizing mode = resizing::nearest;
  coordinates from = coordinates::half_pixel;
  rounding nearest = rounding::round_prefer_floor;
  bool exclude_outside = false;  ///< weights of cubic elements outside become 0, and the others larger
  float cubic_a = -0.75f;
  float scale = 1;           ///< output elements for each input element, perhaps rounded
  int in = 1, out = 1;       ///< extents
  float begin = 0, end = 1;  ///< the part that tf_crop_and_resize takes, of 0 … 1
};

/// What an element of the output reads: elements first … first + count - 1 of the input, which may lie outside of it: then
/// its first or last element counts.
struct samples {
  int first = 0, count = 1;
  float weight[4] = {1, 0, 0, 0};
  bool beyond = false;  ///< outside what tf_crop_and_resize takes

  DICE_ON_GPUS constexpr int at(int k, int extent) const {
    const int i = first + k;
    return i < 0 ? 0 : i < extent ? i : extent - 1;
  }
};

namespace detail {

DICE_ON_GPUS constexpr int floor_of(float x) {
  const int whole = static_cast<int>(x);
  return static_cast<float>(whole) > x ? whole - 1 : whole;
}

/// Where element k of the output lies in the input.
DICE_ON_GPUS constexpr float source_of(const sampled_axis& a, int k) {
  const float x = static_cast<float>(k), in = static_cast<float>(a.in), out = static_cast<float>(a.out);
  switch (a.from) {
    case coordinates::asymmetric:
      return x / a.scale;
    case coordinates::half_pixel:
      return (x + 0.5f) / a.scale - 0.5f;
    case coordinates::half_pixel_symmetric:  // if the scale is rounded, both ends are cut off equally
      return in / 2 * (1 - out / (a.scale * in)) + (x + 0.5f) / a.scale - 0.5f;
    case coordinates::pytorch_half_pixel:
      return a.out > 1 ? (x + 0.5f) / a.scale - 0.5f : 0.0f;
    case coordinates::align_corners:
      return a.out > 1 ? x * (in - 1) / (out - 1) : 0.0f;
    case coordinates::tf_half_pixel_for_nn:
      return (x + 0.5f) / a.scale;
    case coordinates::tf_crop_and_resize:
      return a.out > 1 ? a.begin * (in - 1) + x * (a.end - a.begin) * (in - 1) / (out - 1)
                       : (a.begin + a.end) / 2 * (in - 1);
  }
  return 0;
}

}  // namespace detail

/// Whether each element of the output is the input's: the axis is not resized.
DICE_ON_GPUS constexpr bool samples_one(const sampled_axis& a) {
  return a.in == a.out && a.scale == 1 && a.from != coordinates::tf_crop_and_resize;
}

/// What element k of the output reads.
DICE_ON_GPUS constexpr samples samples_of(const sampled_axis& a, int k) {
  if (samples_one(a)) return {k, 1, {1, 0, 0, 0}, false};
  const float x = detail::source_of(a, k);
  samples s;
  // Also if what it takes is no number, or too large for an int.
  s.beyond = a.from == coordinates::tf_crop_and_resize && !(x >= 0 && x <= static_cast<float>(a.in - 1));
  if (s.beyond) return s;
  const int below = detail::floor_of(x);
  const float t = x - static_cast<float>(below);
  s.first = below;
  if (t == 0) return s;
  if (a.mode == resizing::linear) {
    s.count = 2;
    s.weight[0] = 1 - t, s.weight[1] = t;
  } else if (a.mode == resizing::cubic) {
    const float c = a.cubic_a, u = 1 - t;
    s.first = below - 1, s.count = 4;
    s.weight[0] = ((c * (t + 1) - 5 * c) * (t + 1) + 8 * c) * (t + 1) - 4 * c;
    s.weight[1] = ((c + 2) * t - (c + 3)) * t * t + 1;
    s.weight[2] = ((c + 2) * u - (c + 3)) * u * u + 1;
    s.weight[3] = ((c * (u + 1) - 5 * c) * (u + 1) + 8 * c) * (u + 1) - 4 * c;
    if (a.exclude_outside) {
      float sum = 0;
      for (int i = 0; i < 4; ++i) {
        if (s.first + i < 0 || s.first + i >= a.in) s.weight[i] = 0;
        sum += s.weight[i];
      }
      for (float& w : s.weight) w /= sum;
    }
  } else {
    const bool up = a.nearest == rounding::ceil || (a.nearest == rounding::round_prefer_floor && t > 0.5f) ||
                    (a.nearest == rounding::round_prefer_ceil && t >= 0.5f);
    s.first = below + up;
  }
  return s;
}

}  // namespace dice::ops
