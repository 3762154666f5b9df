// The transforms of Winograd's minimal filtering F(m, k) on vectors, by the Toom-Cook construction from the points 0, ±q for
// some q, and ∞ (Lavin and Gray, arXiv 1509.09308, section 4). Points ±q share the even and the odd part of their
// polynomials.
#pragma once

#include "dice/kernels/detail/vector.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace dice::kernels::openmp {

using namespace detail;

/// The values q for 2 · Pairs + 2 points. Two pairs: 5/8 and 3/2, which gave a third of the error of the usual 1 and 2 in
/// F(4, 3). Three pairs: the usual powers of two.
template <int Pairs>
inline constexpr std::array<double, Pairs> points = [] {
  if constexpr (Pairs == 1) return std::array{1.0};
  else if constexpr (Pairs == 2) return std::array{0.625, 1.5};
  else return std::array{1.0, 2.0, 0.5};
}();

/// F(m, Taps): o = Bᵀ d for `inputs` inputs, y = Aᵀ s for their products with the weights G w.
template <int Pairs, int Taps> struct filter {
  static constexpr int taps = Taps, inputs = 2 * Pairs + 2, outputs = inputs - Taps + 1;

  DICE_INLINED static void input(const vec* d, vec* o) {
    o[0] = polynomial<-1>(d);
    o[inputs - 1] = polynomial<-1>(d + 1);
    each_pair([&]<int Pair>() DICE_INLINED {
      const vec even = polynomial<Pair>(d + 2), odd = polynomial<Pair>(d + 1),
                q = splat(static_cast<float>(points<Pairs>[Pair]));
      o[1 + 2 * Pair] = fma(q, odd, even);
      o[2 + 2 * Pair] = fma(-q, odd, even);
    });
  }

  DICE_INLINED static void output(const vec* s, vec* y) {
    vec sums[Pairs], differences[Pairs];
    DICE_UNROLL
    for (int i = 0; i < Pairs; ++i) sums[i] = s[1 + 2 * i] + s[2 + 2 * i], differences[i] = s[1 + 2 * i] - s[2 + 2 * i];
    [&]<int... K>(std::integer_sequence<int, K...>) DICE_INLINED { ((y[K] = row<K>(K % 2 ? differences : sums)), ...); }
    (std::make_integer_sequence<int, outputs>{});
    y[0] += s[0];
    y[outputs - 1] += s[inputs - 1];
  }

  /// G.
  static constexpr std::array<std::array<double, Taps>, inputs> weights() {
    std::array<std::array<double, Taps>, inputs> g{};
    const auto q = points<Pairs>;
    double zero = 1;
    for (double p : q) zero *= -p * p;
    g[0][0] = 1 / zero;
    g[inputs - 1][Taps - 1] = 1;
    for (std::size_t i = 0; i < Pairs; ++i) {
      double n = 2 * q[i] * q[i];
      for (std::size_t j = 0; j < Pairs; ++j)
        if (j != i) n *= q[i] * q[i] - q[j] * q[j];
      for (int k = 0; k < Taps; ++k) {
        g[1 + 2 * i][k] = power(q[i], k) / n;
        g[2 + 2 * i][k] = power(-q[i], k) / n;
      }
    }
    return g;
  }

 private:
  /// Coefficients of Π (z - q²) over all q except that of pair `Without`, highest power first.
  template <int Without> static constexpr auto product() {
    std::array<double, Pairs + 1> c{1};
    std::size_t n = 0;
    for (int i = 0; i < Pairs; ++i) {
      if (i == Without) continue;
      const double q = points<Pairs>[i];
      for (std::size_t k = ++n; k > 0; --k) c[k] -= q * q * c[k - 1];
    }
    return c;
  }
  /// That polynomial with d[0], d[2], d[4] … in place of the powers of z, lowest power first.
  template <int Without> DICE_INLINED static vec polynomial(const vec* d) {
    static constexpr auto c = product<Without>();
    constexpr int degree = Without < 0 ? Pairs : Pairs - 1;
    vec sum = d[2 * degree];
    DICE_UNROLL
    for (int k = 1; k <= degree; ++k) sum = fma(splat(static_cast<float>(c[k])), d[2 * (degree - k)], sum);
    return sum;
  }
  template <class F> DICE_INLINED static void each_pair(const F& f) {
    [&]<int... Pair>(std::integer_sequence<int, Pair...>) DICE_INLINED { (f.template operator()<Pair>(), ...); }
    (std::make_integer_sequence<int, Pairs>{});
  }
  static constexpr double power(double q, int n) { return n == 0 ? 1 : q * power(q, n - 1); }
  /// The values qᴷ.
  template <int K>
  static constexpr std::array<float, Pairs> powers = [] {
    std::array<float, Pairs> all{};
    for (std::size_t i = 0; i < Pairs; ++i) all[i] = static_cast<float>(power(points<Pairs>[i], K));
    return all;
  }();
  /// Σ qᴷ · x over the pairs.
  template <int K> DICE_INLINED static vec row(const vec* x) {
    vec sum = K == 0 ? x[0] : splat(powers<K>[0]) * x[0];
    DICE_UNROLL
    for (int i = 1; i < Pairs; ++i) sum = K == 0 ? sum + x[i] : fma(splat(powers<K>[i]), x[i], sum);
    return sum;
  }
};

/// An axis with one tap.
template <int Pairs> struct filter<Pairs, 1> {
  static constexpr int taps = 1, inputs = 1, outputs = 1;
  DICE_INLINED static void input(const vec* d, vec* o) { *o = *d; }
  DICE_INLINED static void output(const vec* s, vec* y) { *y = *s; }
  static constexpr std::array<std::array<double, 1>, 1> weights() { return {{{1}}}; }
};

}  // namespace dice::kernels::openmp
