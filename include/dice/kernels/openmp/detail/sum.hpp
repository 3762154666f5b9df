#pragma once

#include "dice/kernels/detail/arithmetic.hpp"
#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>
#include <limits>

namespace dice::kernels::openmp {

/// x². GCC must not fuse the product with the sum to which it is added: it does so in some copies of a loop only, and then
/// the sums of a part of a layer would not have the bits of the whole layer's.
template <class T> DICE_INLINED inline T square(T x) {
  x *= x;
#if defined(__AVX512F__)
  __asm__("" : "+v"(x));
#elif defined(__x86_64__)
  __asm__("" : "+x"(x));
#elif defined(__aarch64__)
  __asm__("" : "+w"(x));
#endif
  return x;
}

/// How a reduction joins elements.
template <graph::arithmetic F> struct joining {
  using join = combined<F>;
  static constexpr float start = F == graph::arithmetic::mul   ? 1.0f
                                 : F == graph::arithmetic::max ? -std::numeric_limits<float>::infinity()
                                 : F == graph::arithmetic::min ? std::numeric_limits<float>::infinity()
                                                               : 0.0f;
};

/// Sum (product, …) of the vectors get(0) to get(n - 1): four partial sums for each 256 vectors, added up at the end of
/// each, so that rounding errors grow more slowly.
template <graph::arithmetic F = graph::arithmetic::add, class Get> vec total(std::int64_t n, const Get& get) {
  constexpr typename joining<F>::join join;
  constexpr float start = joining<F>::start;
  vec all = splat(start);
  for (std::int64_t k = 0; k < n;) {
    const auto stop = std::min(n, k + 256);
    vec part[4] = {splat(start), splat(start), splat(start), splat(start)};
    for (; k + 4 <= stop; k += 4) {
      DICE_UNROLL
      for (int i = 0; i < 4; ++i) part[i] = join(part[i], get(k + i));
    }
    for (; k < stop; ++k) part[0] = join(part[0], get(k));
    all = join(all, join(join(part[0], part[1]), join(part[2], part[3])));
  }
  return all;
}

/// Sum (product, …) of f(x) over n neighbouring elements.
template <graph::arithmetic F = graph::arithmetic::add, class Of> float total(const float* x, std::int64_t n, const Of& f) {
  constexpr typename joining<F>::join join;
  const vec all = total<F>(n / width, [&](std::int64_t k) { return f(load(x + k * width)); });
  const auto full = n / width * width;
  if constexpr (F == graph::arithmetic::add) {
    vec rest{};
    for (auto k = full; k < n; ++k) rest[k - full] = f(x[k]);
    return sum(all + rest);
  } else {
    float out = joining<F>::start;
    for (int i = 0; i < width; ++i) out = join(out, all[i]);
    for (auto k = full; k < n; ++k) out = join(out, f(x[k]));
    return out;
  }
}

}  // namespace dice::kernels::openmp
