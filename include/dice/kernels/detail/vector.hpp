// Vectors of float32 as wide as a register, by the vector extensions of GCC and Clang; intrinsics only for what the
// extensions lack (fused multiply-add, masked access), each with a portable form.
#pragma once

#include "dice/platform/simd.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#if defined(__clang__)
#define DICE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DICE_UNROLL _Pragma("GCC unroll 64")
#endif

// What kernels consist of is inlined into them where the compiler optimises. Elsewhere, as in tests, a copy at each call
// would only take three times as long to compile.
#ifdef __OPTIMIZE__
#define DICE_INLINED __attribute__((always_inline))
#else
#define DICE_INLINED
#endif

namespace dice::kernels::detail {

inline constexpr int width = platform::vector_width;

using vec = float __attribute__((vector_size(width * sizeof(float))));
using ivec = std::int32_t __attribute__((vector_size(width * sizeof(float))));
using uvec = std::uint32_t __attribute__((vector_size(width * sizeof(float))));

DICE_INLINED inline vec splat(float x) { return x - vec{}; }

/// Loads `width` elements from any address.
DICE_INLINED inline vec load(const float* p) {
  vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
DICE_INLINED inline void store(float* p, vec v) { __builtin_memcpy(p, &v, sizeof v); }

#if defined(__AVX__) && !defined(__AVX512F__)
inline constexpr std::int32_t first_lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif

/// Loads the first n < width elements and touches nothing beyond them; the other lanes are 0.
DICE_INLINED inline vec load_first(const float* p, std::ptrdiff_t n) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(
      _mm256_maskload_ps(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first_lanes + width - n))));
#else
  vec v{};
  for (std::ptrdiff_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}
/// Stores the first n < width elements.
DICE_INLINED inline void store_first(float* p, vec v, std::ptrdiff_t n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), reinterpret_cast<__m512>(v));
#elif defined(__AVX__)
  _mm256_maskstore_ps(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first_lanes + width - n)),
                      reinterpret_cast<__m256>(v));
#else
  for (std::ptrdiff_t i = 0; i < n; ++i) p[i] = v[i];
#endif
}

/// a · b + c, fused where the instruction set can.
DICE_INLINED inline vec fma(vec a, vec b, vec c) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__AVX__) && defined(__FMA__)
  return reinterpret_cast<vec>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(
      vfmaq_f32(reinterpret_cast<float32x4_t>(c), reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b)));
#else
  return a * b + c;
#endif
}

// For sums that fill the registers. On 64-bit ARM and with AVX2 each is one instruction and stays where it is written: GCC
// 12 would load so early that some sums no longer fit.
#if defined(__aarch64__)
inline constexpr bool multiplies_by_lane = true, pins_products = true;
/// sum += w · x[Lane].
template <int Lane> DICE_INLINED inline void add_product(vec& sum, vec w, vec x) {
  vec v = sum;  // GCC would keep an array's element in memory
  asm volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(v) : "w"(w), "w"(x), "i"(Lane));
  sum = v;
}
/// sum += w · x.
DICE_INLINED inline void add_product_of(vec& sum, vec w, vec x) {
  vec v = sum;
  asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(v) : "w"(w), "w"(x));
  sum = v;
}
/// Loads the width, or the 2 · width elements from p + Offset on.
template <int Offset> DICE_INLINED inline vec load_at(const float* p) {
  vec v;
  asm volatile("ldr %q0, [%1, %2]"
               : "=w"(v)
               : "r"(p), "i"(Offset * sizeof(float)), "m"(*reinterpret_cast<const float(*)[Offset + width]>(p)));
  return v;
}
template <int Offset> DICE_INLINED inline void load_pair(const float* p, vec& a, vec& b) {
  vec one, two;
  asm volatile("ldp %q0, %q1, [%2, %3]"
               : "=w"(one), "=w"(two)
               : "r"(p), "i"(Offset * sizeof(float)), "m"(*reinterpret_cast<const float(*)[Offset + 2 * width]>(p)));
  a = one, b = two;
}
/// Loads the 4 · width elements at p, and moves p behind them. The instruction takes registers in a row.
DICE_INLINED inline void load_next(const float*& p, vec (&to)[4]) {
  register vec a asm("v28"), b asm("v29"), c asm("v30"), d asm("v31");
  asm volatile("ld1 {%0.4s - %3.4s}, [%4], #64"
               : "=w"(a), "=w"(b), "=w"(c), "=w"(d), "+r"(p)
               : "m"(*reinterpret_cast<const float(*)[4 * width]>(p)));
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}
/// Stores the 2 · width elements from p + Offset on.
template <int Offset> DICE_INLINED inline void store_pair(float* p, vec a, vec b) {
  asm volatile("stp %q1, %q2, [%3, %4]"  // an operand at p + Offset would cost an addition
               : "+m"(*reinterpret_cast<float(*)[Offset + 2 * width]>(p))
               : "w"(a), "w"(b), "r"(p), "i"(Offset * sizeof(float)));
}
/// Prefetches p[Offset].
template <int Offset> DICE_INLINED inline void prefetch(const float* p) {
  asm volatile("prfm pldl1keep, [%0, %1]" : : "r"(p), "i"(Offset * sizeof(float)));
}
/// Loads p[Offset] into lane 0.
template <int Offset> DICE_INLINED inline vec load_one(const float* p) {
  vec v;
  asm volatile("ldr %s0, [%1, %2]"
               : "=w"(v)
               : "r"(p), "i"(Offset * sizeof(float)), "m"(*reinterpret_cast<const float(*)[Offset + 1]>(p)));
  return v;
}
#elif defined(__AVX__) && defined(__FMA__) && !defined(__AVX512F__)
inline constexpr bool multiplies_by_lane = false, pins_products = true;
/// sum += w · x.
DICE_INLINED inline void add_product_of(vec& sum, vec w, vec x) {
  asm volatile("vfmadd231ps %1, %2, %0" : "+x"(sum) : "x"(w), "x"(x));
}
template <int Offset> DICE_INLINED inline void load_pair(const float* p, vec& a, vec& b) {
  asm volatile("vmovups %c2(%1), %0"
               : "=x"(a)
               : "r"(p), "i"(Offset * sizeof(float)), "m"(*reinterpret_cast<const float(*)[Offset + width]>(p)));
  asm volatile("vmovups %c2(%1), %0"
               : "=x"(b)
               : "r"(p), "i"((Offset + width) * sizeof(float)),
                 "m"(*reinterpret_cast<const float(*)[Offset + 2 * width]>(p)));
}
template <int Offset> DICE_INLINED inline void prefetch(const float* p) {
  asm volatile("prefetcht0 %c1(%0)" : : "r"(p), "i"(Offset * sizeof(float)));
}
template <int Offset> DICE_INLINED inline vec load_one(const float* p) {
  vec v;
  asm volatile("vbroadcastss %c2(%1), %0"
               : "=x"(v)
               : "r"(p), "i"(Offset * sizeof(float)), "m"(*reinterpret_cast<const float(*)[Offset + 1]>(p)));
  return v;
}
#else
inline constexpr bool multiplies_by_lane = false, pins_products = false;
template <int Lane> DICE_INLINED inline void add_product(vec& sum, vec w, vec x) { sum = fma(splat(x[Lane]), w, sum); }
template <int Offset> DICE_INLINED inline void load_pair(const float* p, vec& a, vec& b) {
  a = load(p + Offset);
  b = load(p + Offset + width);
}
template <int Offset> DICE_INLINED inline void prefetch(const float* p) { __builtin_prefetch(p + Offset); }
template <int Offset> DICE_INLINED inline vec load_one(const float* p) { return splat(p[Offset]); }
#endif
#if !defined(__aarch64__)
template <int Offset> DICE_INLINED inline vec load_at(const float* p) { return load(p + Offset); }
template <int Offset> DICE_INLINED inline void store_pair(float* p, vec a, vec b) {
  store(p + Offset, a);
  store(p + Offset + width, b);
}
DICE_INLINED inline void load_next(const float*& p, vec (&to)[4]) {
  for (int i = 0; i < 4; ++i, p += width) to[i] = load(p);
}
#endif

/// Both return NaN if `a` is NaN. Written as intrinsics, since GCC does not see that they are one instruction.
DICE_INLINED inline vec maximum(vec a, vec b) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_max_ps(0xffff, reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(a)));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(_mm256_max_ps(reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(a)));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(vmaxq_f32(reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b)));
#else
  return a < b ? b : a;
#endif
}
DICE_INLINED inline vec minimum(vec a, vec b) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_min_ps(0xffff, reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(a)));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(_mm256_min_ps(reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(a)));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(vminq_f32(reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b)));
#else
  return a > b ? b : a;
#endif
}

/// The larger of each pair of lanes; NaN wins, as in PyTorch's pooling.
DICE_INLINED inline vec larger(vec a, vec b) {
#if defined(__aarch64__)
  return maximum(a, b);
#else
  return b != b ? b : maximum(a, b);
#endif
}

/// Every second of the 2 · width elements from p on: p[0], p[2], …
DICE_INLINED inline vec load_even(const float* p) {
  const vec a = load(p), b = load(p + width);
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif defined(__AVX__)
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#else
  return __builtin_shufflevector(a, b, 0, 2, 4, 6);
#endif
}

/// Sum of the lanes.
DICE_INLINED inline float sum(vec v) {
  float lane[width];
  store(lane, v);
  for (int n = width / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lane[i] += lane[i + n];
  return lane[0];
}
/// Largest lane.
DICE_INLINED inline float largest(vec v) {
  float lane[width];
  store(lane, v);
  float m = lane[0];
  for (int i = 1; i < width; ++i) m = lane[i] > m ? lane[i] : m;
  return m;
}

/// a / b of normal numbers, within 2 units in the last place where that is faster than a division; 0 or an infinity b gives
/// NaN there.
DICE_INLINED inline vec quotient(vec a, vec b) {
#if defined(__AVX512F__)
  const vec r = reinterpret_cast<vec>(_mm512_maskz_rcp14_ps(0xffff, reinterpret_cast<__m512>(b)));
  return a * fma(r, fma(-b, r, splat(1.0f)), r);
#else
  return a / b;
#endif
}
inline float quotient(float a, float b) { return a / b; }

/// e to the power of each lane, within 2 units in the last place, from -87.3 to 88.3; beyond these, what it is there. NaN
/// stays NaN. Cody-Waite reduction by multiples of ln 2, then Cephes' polynomial of degree 5 for |r| <= ln 2 / 2 (expf.c).
DICE_INLINED inline vec limited_exp(vec x) {
  const vec c = minimum(maximum(x, splat(-87.33654f)), splat(88.37625f));
  // Adding 1.5 · 2^23 rounds to an integer, held in the low bits; adding 127 makes it the exponent of 2^n.
  const vec magic = splat(12582912.0f + 127);
  const vec shifted = fma(c, splat(1.44269504f), magic);
  const vec n = shifted - magic;
  const vec r = fma(n, splat(2.12194440e-4f), fma(n, splat(-0.693359375f), c));
  vec p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, r * r, r) + 1.0f;
  return p * reinterpret_cast<vec>(reinterpret_cast<ivec>(shifted) << 23);
}
inline float limited_exp(float x) { return std::exp(x); }

/// The same; 0 below -87.3, and 2.4e38 above 88.3.
DICE_INLINED inline vec exp(vec x) { return x < splat(-87.33654f) ? vec{} : limited_exp(x); }
inline float exp(float x) { return std::exp(x); }

/// Hyperbolic tangent of each lane, within 3 units in the last place: Cephes' odd polynomial for |x| < 0.625, else by exp.
DICE_INLINED inline vec tanh(vec x) {
  const vec magnitude = x < 0.0f ? -x : x;
  const vec z = x * x;
  vec p = splat(-5.70498872745e-3f);
  p = fma(p, z, splat(2.06390887954e-2f));
  p = fma(p, z, splat(-5.37397155531e-2f));
  p = fma(p, z, splat(1.33314422036e-1f));
  p = fma(p, z, splat(-3.33332819422e-1f));
  const vec small = fma(p * z, x, x);
  const vec large = 1.0f - quotient(splat(2.0f), exp(magnitude + magnitude) + 1.0f);
  return magnitude < 0.625f ? small : (x < 0.0f ? -large : large);
}
inline float tanh(float x) { return std::tanh(x); }

DICE_INLINED inline vec abs(vec x) { return x < 0.0f ? -x : x; }
inline float abs(float x) { return std::fabs(x); }

/// Rounds each lane to the nearest integer, halves to even; `floor` rounds down. Intrinsics where there is an instruction;
/// elsewhere, floats from 2^23 on are integers.
DICE_INLINED inline vec round(vec x) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_roundscale_ps(0xffff, reinterpret_cast<__m512>(x), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(_mm256_round_ps(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(vrndnq_f32(reinterpret_cast<float32x4_t>(x)));
#else
  const vec magnitude = abs(x), rounded = magnitude + 8388608.0f - 8388608.0f;
  return magnitude < 8388608.0f ? (x < 0.0f ? -rounded : rounded) : x;
#endif
}
inline float round(float x) { return std::nearbyint(x); }
DICE_INLINED inline vec floor(vec x) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_roundscale_ps(0xffff, reinterpret_cast<__m512>(x), _MM_FROUND_TO_NEG_INF));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(_mm256_round_ps(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(vrndmq_f32(reinterpret_cast<float32x4_t>(x)));
#else
  const vec rounded = round(x);
  return rounded > x ? rounded - 1.0f : rounded;
#endif
}
inline float floor(float x) { return std::floor(x); }

DICE_INLINED inline vec sqrt(vec x) {
#if defined(__AVX512F__)
  return reinterpret_cast<vec>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(x)));
#elif defined(__AVX__)
  return reinterpret_cast<vec>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
#elif defined(__aarch64__)
  return reinterpret_cast<vec>(vsqrtq_f32(reinterpret_cast<float32x4_t>(x)));
#else
  for (int i = 0; i < width; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}
inline float sqrt(float x) { return std::sqrt(x); }

/// Natural logarithm of each lane, within 2 units in the last place: Cephes' polynomial for the mantissa (logf.c). NaN below
/// 0, -infinity for 0.
DICE_INLINED inline vec log(vec x) {
  const float infinity = std::bit_cast<float>(0x7f800000);
  const vec normal = x < 1.17549435e-38f ? x * 8388608.0f : x;  // no subnormal numbers
  const uvec bits = reinterpret_cast<uvec>(normal);
  // The mantissa in [sqrt(1/2), sqrt(2)), by moving the exponent's limit: 0x3f3504f3 is sqrt(1/2).
  const ivec exponent = reinterpret_cast<ivec>(bits - 0x3f3504f3) >> 23;
  const vec m = reinterpret_cast<vec>(bits - (reinterpret_cast<uvec>(exponent) << 23)) - 1.0f;
  const vec e = __builtin_convertvector(exponent, vec) - (x < 1.17549435e-38f ? splat(23.0f) : vec{});
  vec p = splat(7.0376836292e-2f);
  p = fma(p, m, splat(-1.1514610310e-1f));
  p = fma(p, m, splat(1.1676998740e-1f));
  p = fma(p, m, splat(-1.2420140846e-1f));
  p = fma(p, m, splat(1.4249322787e-1f));
  p = fma(p, m, splat(-1.6668057665e-1f));
  p = fma(p, m, splat(2.0000714765e-1f));
  p = fma(p, m, splat(-2.4999993993e-1f));
  p = fma(p, m, splat(3.3333331174e-1f));
  const vec z = m * m;
  vec y = m * z * p;
  y = fma(e, splat(-2.12194440e-4f), y);
  y = fma(z, splat(-0.5f), y);
  y = fma(e, splat(0.693359375f), m + y);
  y = x < infinity ? y : x;  // infinity and NaN stay what they are
  return x > 0.0f ? y : x == 0.0f ? splat(-infinity) : x - x + std::bit_cast<float>(0x7fc00000);
}
inline float log(float x) { return std::log(x); }

/// Error function of each lane, within 6 units in the last place: x P(x²) / Q(x²) for |x| <= 4, with the coefficients of
/// Eigen's (generic_fast_erf), whose results above 1 become 1.
DICE_INLINED inline vec erf(vec x) {
  const vec c = minimum(maximum(x, splat(-4.0f)), splat(4.0f)), z = c * c;
  vec p = splat(-2.72614225801306e-10f);
  p = fma(p, z, splat(2.77068142495902e-8f));
  p = fma(p, z, splat(-2.10102402082508e-6f));
  p = fma(p, z, splat(-5.69250639462346e-5f));
  p = fma(p, z, splat(-7.34990630326855e-4f));
  p = fma(p, z, splat(-2.95459980854025e-3f));
  p = fma(p, z, splat(-1.60960333262415e-2f));
  vec q = splat(-1.45660718464996e-5f);
  q = fma(q, z, splat(-2.13374055278905e-4f));
  q = fma(q, z, splat(-1.68282697438203e-3f));
  q = fma(q, z, splat(-7.37332916720468e-3f));
  q = fma(q, z, splat(-1.42647390514189e-2f));
  return minimum(maximum(quotient(c * p, q), splat(-1.0f)), splat(1.0f));
}
inline float erf(float x) { return std::erf(x); }

/// x to the power of a, as std::pow: each lane by itself.
DICE_INLINED inline vec pow(vec x, vec a) {
  for (int i = 0; i < width; ++i) x[i] = std::pow(x[i], a[i]);
  return x;
}
inline float pow(float x, float a) { return std::pow(x, a); }

}  // namespace dice::kernels::detail
