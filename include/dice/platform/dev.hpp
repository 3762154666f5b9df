#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/meta/view.hpp"
#include "dice/platform/bytes.hpp"
#include "dice/platform/unit.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dice {

/// Limit of a device: weights and arena of its rank take at most `Bytes` bytes.
template <std::int64_t Bytes> struct memory final {};

/// Lets a GPU compute convolutions and matrix products in these numbers: tf32, fp16 or bf16. The default is float32.
template <class Numbers> struct precision final {};

/// Lets a device compute convolutions only as sums of products, without the transforms of Winograd's algorithm and FFTs:
/// what is outside of a window has no effect on its result, however large it is.
struct direct_convolutions final {};

/// Ties a rank to the host of this name: predictions count on it, and the rank warns when it runs elsewhere.
template <meta::fixed_string Host> struct on final {};

/// The device of MPI rank `Rank`: the unit that computes, and limits: memory, precision, direct_convolutions, on.
template <int Rank, class Unit = cpu, class... Limits> struct dev final {
  static constexpr int rank = Rank;  ///< of the mapping
  using unit = Unit;                 ///< what computes
};

namespace platform {

template <class T> inline constexpr bool is_dev = false;
template <int Rank, class Unit, class... Limits> inline constexpr bool is_dev<dev<Rank, Unit, Limits...>> = true;

/// A limit of a dev as a value.
struct limit {
  enum class kind : unsigned char { none, memory, precision, direct, host };
  kind what = kind::none;                ///< none: it is not a limit
  std::int64_t bytes = 0;                ///< of memory<…>
  numbers precision = numbers::float32;  ///< of precision<…>
  std::string_view host{};               ///< of on<…>
};
template <class T> inline constexpr limit limit_of{};
template <std::int64_t Bytes> inline constexpr limit limit_of<memory<Bytes>>{.what = limit::kind::memory, .bytes = Bytes};
template <meta::fixed_string Host> inline constexpr limit limit_of<on<Host>>{.what = limit::kind::host, .host = Host.view()};
template <> inline constexpr limit limit_of<direct_convolutions>{.what = limit::kind::direct};
template <> inline constexpr limit limit_of<precision<tf32>>{.what = limit::kind::precision, .precision = numbers::tf32};
template <> inline constexpr limit limit_of<precision<fp16>>{.what = limit::kind::precision, .precision = numbers::fp16};
template <> inline constexpr limit limit_of<precision<bf16>>{.what = limit::kind::precision, .precision = numbers::bf16};

/// A dev as it is written, right or wrong.
struct written_dev {
  int rank = 0;
  bool is_unit = true;  ///< whether what stands for the unit is one
  platform::unit unit{};
  std::span<const int> cores{};  ///< of cores<…>
  meta::view<limit> limits{};
};

/// A dev as a value.
struct device {
  int rank = 0;
  platform::unit unit{};
  std::int64_t memory_limit = -1;  ///< bytes; -1: none
  std::string_view host{};         ///< of on<…>; empty: any
  std::span<const int> cores{};    ///< of cores<…>
};

/// The device of a valid dev. Of several memory limits the smallest counts.
constexpr device device_of(const written_dev& w) {
  device out{w.rank, w.unit, -1, {}, w.cores};
  for (const auto& l : w.limits) {
    if (l.what == limit::kind::precision) out.unit.precision = l.precision;
    if (l.what == limit::kind::direct) out.unit.direct = true;
    if (l.what == limit::kind::host) out.host = l.host;
    if (l.what == limit::kind::memory && (out.memory_limit < 0 || l.bytes < out.memory_limit)) out.memory_limit = l.bytes;
  }
  return out;
}

template <class Dev> struct dev_traits;
template <int Rank, class Unit, class... Limits> struct dev_traits<dev<Rank, Unit, Limits...>> {
  using unit_type = Unit;
  static constexpr limit limits[]{limit_of<Limits>..., {}};
  static constexpr written_dev written{
      Rank, unit_traits<Unit>::is_unit, unit_traits<Unit>::value, unit_traits<Unit>::core_list, {limits, sizeof...(Limits)}};
  static constexpr device value = device_of(written);
};

}  // namespace platform
}  // namespace dice
