// Which backends there are, in which numbers they compute, and what computes for a unit.
#pragma once

#include "dice/meta/enum_name.hpp"
#include "dice/platform/unit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace dice::algorithm {

enum class backend : std::uint8_t { reference, openmp, cudnn };
inline constexpr int backends = static_cast<int>(meta::value_count<backend>);  ///< how many there are

/// Its bit in a set of backends.
constexpr unsigned bit(backend b) { return 1u << static_cast<unsigned>(b); }

/// Calls f.template operator()<B>() for each backend B.
template <class F> constexpr void for_each_backend(F&& f) {
  [&]<int... B>(std::integer_sequence<int, B...>) { (f.template operator()<static_cast<backend>(B)>(), ...); }
  (std::make_integer_sequence<int, backends>{});
}

/// A value for each backend.
template <class T> struct by_backend {
  T values[backends]{};

  constexpr T& operator[](backend b) { return values[static_cast<int>(b)]; }
  constexpr const T& operator[](backend b) const { return values[static_cast<int>(b)]; }
};

/// The processor on which a backend computes.
constexpr platform::processor processor_of(backend b) {
  return b == backend::cudnn ? platform::processor::gpu : platform::processor::cpu;
}

/// The set of all backends that compute on such processors.
constexpr unsigned backends_on(platform::processor p) {
  unsigned out = 0;
  for_each_backend([&]<backend B>() { out |= processor_of(B) == p ? bit(B) : 0; });
  return out;
}

/// The backend that computes for a unit in this build: OpenMP where it is built in, else the reference kernels; cuDNN for
/// GPUs.
constexpr backend backend_of(const platform::unit& u) {
  if (u.processor() == platform::processor::gpu) return backend::cudnn;
#ifdef DICE_WITH_OPENMP
  return backend::openmp;
#else
  return backend::reference;
#endif
}
static_assert(
    [] {
      unsigned used = bit(backend::reference) | bit(backend::openmp);  // one of them computes for CPUs
      for (std::size_t k = 0; k < meta::value_count<platform::unit::kind>; ++k)
        used |= bit(backend_of({.what = static_cast<platform::unit::kind>(k)}));
      return used == (1u << backends) - 1;
    }(),
    "backend_of must give each backend to a kind of unit, or no mapping could use it");

/// A backend, and the numbers in which it computes convolutions and products.
struct method {
  backend by;
  platform::numbers in;

  constexpr method(backend b, platform::numbers n = platform::numbers::float32) : by(b), in(n) {}
  friend constexpr bool operator==(const method&, const method&) = default;
};

/// The numbers besides float32 that need algorithms of their own; every backend computes in float32. (TF32 has those of
/// float32; the GPU rounds when it multiplies.)
inline constexpr method in_other_numbers[]{{backend::cudnn, platform::numbers::fp16},
                                           {backend::cudnn, platform::numbers::bf16}};

inline constexpr std::size_t method_count = backends + std::size(in_other_numbers);
inline constexpr auto methods = []<int... B, std::size_t... M>(std::integer_sequence<int, B...>, std::index_sequence<M...>) {
  return std::array<method, method_count>{method(static_cast<backend>(B))..., in_other_numbers[M]...};
}
(std::make_integer_sequence<int, backends>{}, std::make_index_sequence<std::size(in_other_numbers)>{});

/// How a unit computes in this build.
constexpr method method_of(const platform::unit& u) {
  return {backend_of(u), u.precision == platform::numbers::tf32 ? platform::numbers::float32 : u.precision};
}

/// Calls f.template operator()<M>() for each method M.
template <class F> constexpr void for_each_method(F&& f) {
  [&]<std::size_t... M>(std::index_sequence<M...>) { (f.template operator()<methods[M]>(), ...); }
  (std::make_index_sequence<method_count>{});
}

namespace detail {

struct places {
  int of[backends][platform::number_types]{};

  constexpr places() {
    for (int b = 0; b < backends; ++b)
      for (int& place : of[b]) place = b;  // that of float32
    int i = 0;
    for (const auto& m : methods) of[static_cast<int>(m.by)][static_cast<int>(m.in)] = i++;
  }
};
inline constexpr places all_places;

}  // namespace detail

/// The place of a method in `methods`; in numbers without algorithms of their own, that of float32.
constexpr int place_of(const method& m) { return detail::all_places.of[static_cast<int>(m.by)][static_cast<int>(m.in)]; }

/// A value for each method.
template <class T> struct by_method {
  T values[method_count]{};

  constexpr T& operator[](const method& m) { return values[place_of(m)]; }
  constexpr const T& operator[](const method& m) const { return values[place_of(m)]; }
};

}  // namespace dice::algorithm
