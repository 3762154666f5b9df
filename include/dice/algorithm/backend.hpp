// Which backends there are, and which one computes for a unit.
#pragma once

#include "dice/platform/unit.hpp"

#include <cstdint>
#include <utility>

namespace dice::algorithm {

enum class backend : std::uint8_t {
  reference,
  openmp,
  cudnn,
  cudnn_fp16,  ///< the same with convolutions and products in numbers of 16 bits
  cudnn_bf16
};
inline constexpr int backends = 5;  ///< how many there are

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
  return b == backend::reference || b == backend::openmp ? platform::processor::cpu : platform::processor::gpu;
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
  if (u.processor() == platform::processor::gpu) {
    if (u.precision == platform::numbers::fp16) return backend::cudnn_fp16;
    return u.precision == platform::numbers::bf16 ? backend::cudnn_bf16 : backend::cudnn;
  }
#ifdef DICE_WITH_OPENMP
  return backend::openmp;
#else
  return backend::reference;
#endif
}

}  // namespace dice::algorithm
