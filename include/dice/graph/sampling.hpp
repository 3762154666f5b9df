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
/// Of positions between two elements: ONNX's nearest_mode. `by_scale` is that of opset 10: ceil where an axis shrinks, else
/// floor.
enum class rounding : unsigned char { round_prefer_floor, round_prefer_ceil, floor, ceil, by_scale };

/// One axis that is resized.
struct sampled_axis {
  resizing mode = resizing::nearest;
  coordinates from = coordinates::half_pixel;
  rounding nearest = rounding::round_prefer_floor;
  bool exclude_outside = false;  ///< weights of cubic elements outside become 0, and the others larger
  float cubic_a = -0.75f;
  float scale = 1;           ///< output elements for each input element, perhaps rounded
  int over = 0, under = 1;   ///< over / under is the same, exactly, and so are positions; over = 0: there is only `scale`
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

/// Where element k of the output lies in the input, as ONNX Runtime computes it in float32. No product is part of a sum, so
/// no compiler can fuse them, and all give the same bits.
DICE_ON_GPUS constexpr float source_of(const sampled_axis& a, int k) {
  const float x = static_cast<float>(k), in = static_cast<float>(a.in), out = static_cast<float>(a.out);
  switch (a.from) {
    case coordinates::asymmetric:
      return x / a.scale;
    case coordinates::half_pixel:
      return (x + 0.5f) / a.scale - 0.5f;
    case coordinates::half_pixel_symmetric: {  // if the scale is rounded, both ends are cut off equally
      const float offset = in / 2 * (1 - out / (a.scale * in));
      return static_cast<float>(static_cast<double>(offset) + (static_cast<double>(x) + 0.5) / static_cast<double>(a.scale) -
                                0.5);
    }
    case coordinates::pytorch_half_pixel:
      return a.out > 1 ? (x + 0.5f) / a.scale - 0.5f : 0.0f;
    case coordinates::align_corners:
      return a.out > 1 ? x * (in - 1) / (out - 1) : 0.0f;
    case coordinates::tf_half_pixel_for_nn:
      return (x + 0.5f) / a.scale;
    case coordinates::tf_crop_and_resize: {
      const float start = static_cast<float>(static_cast<double>(a.begin) * (a.in - 1));
      return a.out > 1 ? start + x * (a.end - a.begin) * (in - 1) / (out - 1) : (a.begin + a.end) / 2 * (in - 1);
    }
  }
  return 0;
}

/// A place in the input: `t` of the way from element `below` to the next. `half` is -1, 0 or 1 if t is less than, equal to
/// or more than one half.
struct place {
  int below;
  float t;
  int half;
};

/// The place x. A half may be off by some rounding: ONNX Runtime takes 6.5000005 for 6.5.
DICE_ON_GPUS constexpr place near(float x) {
  constexpr float rounding_error = 1e-6f;
  const int below = floor_of(x);
  const float t = x - static_cast<float>(below), beyond = t - 0.5f;
  return {below, t, beyond > rounding_error ? 1 : beyond < -rounding_error ? -1 : 0};
}
/// The place n / d, of d > 0.
DICE_ON_GPUS constexpr place exactly(long long n, long long d) {
  constexpr long long most = 0x7fffffff;
  const bool narrow = n <= most && n >= -most && d <= most;  // GPUs divide 64-bit numbers slowly
  long long below = narrow ? static_cast<int>(n) / static_cast<int>(d) : n / d;
  if (below * d > n) --below;
  const long long rest = n - below * d;
  return {static_cast<int>(below), static_cast<float>(rest) / static_cast<float>(d),
          2 * rest > d   ? 1
          : 2 * rest < d ? -1
                         : 0};
}

DICE_ON_GPUS constexpr place place_of(const sampled_axis& a, int k) {
  const long long in = a.in, out = a.out, over = a.over, under = a.under, twice = 2LL * k + 1;  // half elements
  if (a.from == coordinates::align_corners) return out > 1 ? exactly(k * (in - 1), out - 1) : exactly(0, 1);
  if (over == 0) return near(source_of(a, k));
  switch (a.from) {
    case coordinates::asymmetric:
      return exactly(k * under, over);
    case coordinates::half_pixel:
      return exactly(twice * under - over, 2 * over);
    case coordinates::half_pixel_symmetric:
      return exactly((in - 1) * over + (twice - out) * under, 2 * over);
    case coordinates::pytorch_half_pixel:
      return out > 1 ? exactly(twice * under - over, 2 * over) : exactly(0, 1);
    case coordinates::tf_half_pixel_for_nn:
      return exactly(twice * under, 2 * over);
    default:
      return near(source_of(a, k));
  }
}

}  // namespace detail

/// Whether each element of the output is the input's: the axis is not resized.
DICE_ON_GPUS constexpr bool samples_one(const sampled_axis& a) {
  const bool as_many = a.over > 0 ? a.over == a.under : a.scale == 1;
  return a.in == a.out && as_many && a.from != coordinates::tf_crop_and_resize;
}

/// What element k of the output reads.
DICE_ON_GPUS constexpr samples samples_of(const sampled_axis& a, int k) {
  if (samples_one(a)) return {k, 1, {1, 0, 0, 0}, false};
  samples s;
  if (a.from == coordinates::tf_crop_and_resize) {
    const float x = detail::source_of(a, k);
    s.beyond = !(x >= 0 && x <= static_cast<float>(a.in - 1));  // also if x is not a number, or too large for an int
    if (s.beyond) return s;
  }
  const auto [below, t, half] = detail::place_of(a, k);
  s.first = below;
  if (t == 0) return s;
  if (a.mode == resizing::linear) {
    s.count = 2;
    s.weight[0] = 1 - t;
    s.weight[1] = t;
  } else if (a.mode == resizing::cubic) {
    const float c = a.cubic_a, u = 1 - t;
    s.first = below - 1;
    s.count = 4;
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
    const bool up = a.nearest == rounding::ceil || (a.nearest == rounding::round_prefer_floor && half > 0) ||
                    (a.nearest == rounding::round_prefer_ceil && half >= 0) ||
                    (a.nearest == rounding::by_scale && a.scale < 1);
    s.first = below + up;
  }
  return s;
}

}  // namespace dice::ops
