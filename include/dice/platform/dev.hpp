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

/// Limit of a device: weights and arena of its rank take at most so many bytes.
template <std::int64_t Bytes> struct memory final {};

/// Lets a GPU compute convolutions and products of matrices in these numbers: tf32, fp16 or bf16. Without, they are float32.
template <class Numbers> struct precision final {};

/// Ties a rank to the host of this name: predictions count on it, and the rank warns when it runs elsewhere.
template <meta::fixed_string Host> struct on final {};

/// The device of MPI rank `Rank`: the unit that computes, and limits: memory, precision, on.
template <int Rank, class Unit = cpu, class... Limits> struct dev final {
  static constexpr int rank = Rank;  ///< of the mapping
  using unit = Unit;                 ///< what computes
};

namespace platform {

/// Whether mappings may have GPU ranks: they are built in (the target dice::cudnn), or in programs on other hosts
/// (DICE_CUDA=ELSEWHERE).
#if defined(DICE_WITH_CUDNN) || defined(DICE_WITH_GPUS_ELSEWHERE)
inline constexpr bool has_cudnn = true;
#else
inline constexpr bool has_cudnn = false;
#endif

/// What is wrong with a unit; `value` is the core, count or number concerned.
struct unit_check {
  enum class mistake : unsigned char {
    none,
    not_a_unit,
    core_twice,
    core_negative,
    no_core,
    too_few_threads,
    too_many_threads,
    no_backend,
    gpu_negative
  };
  mistake what = mistake::none;
  int value = 0;
};

/// The first mistake in a unit, whose cores are `cores` if it is cores<…>; `gpus`: whether mappings may have GPU ranks.
constexpr unit_check check_unit(const unit& on, std::span<const int> cores, bool gpus = has_cudnn) {
  using enum unit_check::mistake;
  switch (on.what) {
    case unit::kind::cpu:
      break;
    case unit::kind::cores:
      if (cores.empty()) return {no_core, 0};
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (cores[i] < 0) return {core_negative, cores[i]};
        for (std::size_t j = 0; j < i; ++j)
          if (cores[i] == cores[j]) return {core_twice, cores[i]};
      }
      break;
    case unit::kind::threads:
      if (on.count <= 0) return {too_few_threads, on.count};
      if (on.count > most_threads) return {too_many_threads, on.count};
      break;
    case unit::kind::gpu:
      if (on.gpu_index < 0) return {gpu_negative, on.gpu_index};
      if (!gpus) return {no_backend, on.gpu_index};
      break;
  }
  return {};
}

namespace detail {
template <unit Value> struct unit_traits {
  static constexpr bool is_unit = true;
  static constexpr unit value = Value;
  static constexpr std::span<const int> core_list{};
};
}  // namespace detail

/// A unit as a value, and the cores of cores<…>.
template <class T> struct unit_traits {
  static constexpr bool is_unit = false;
  static constexpr unit value{};
  static constexpr std::span<const int> core_list{};
};
template <> struct unit_traits<cpu> : detail::unit_traits<unit{}> {};
template <int... Core> struct unit_traits<cores<Core...>> {
  static constexpr bool is_unit = true;
  static constexpr unit value{unit::kind::cores, sizeof...(Core), 0};
  static constexpr int list[]{Core..., 0};
  static constexpr std::span<const int> core_list{list, sizeof...(Core)};
};
template <int N> struct unit_traits<threads<N>> : detail::unit_traits<unit{unit::kind::threads, N, 0}> {};
template <int Index> struct unit_traits<gpu_at<Index>> : detail::unit_traits<unit{unit::kind::gpu, 0, Index}> {};
template <> struct unit_traits<gpu> : unit_traits<gpu_at<0>> {};

/// What is wrong with a type as a unit.
template <class T>
inline constexpr unit_check unit_mistake = unit_traits<T>::is_unit
                                               ? check_unit(unit_traits<T>::value, unit_traits<T>::core_list)
                                               : unit_check{unit_check::mistake::not_a_unit, 0};

template <class T> inline constexpr bool is_dev = false;
template <int Rank, class Unit, class... Limits> inline constexpr bool is_dev<dev<Rank, Unit, Limits...>> = true;

/// A limit of a dev as a value.
struct limit {
  enum class kind : unsigned char { none, memory, precision, host };
  kind what = kind::none;                ///< none: it is not a limit
  std::int64_t bytes = 0;                ///< of memory<…>
  numbers precision = numbers::float32;  ///< of precision<…>
  std::string_view host{};               ///< of on<…>
};
template <class T> inline constexpr limit limit_of{};
template <std::int64_t Bytes> inline constexpr limit limit_of<memory<Bytes>>{.what = limit::kind::memory, .bytes = Bytes};
template <meta::fixed_string Host> inline constexpr limit limit_of<on<Host>>{.what = limit::kind::host, .host = Host.view()};
template <> inline constexpr limit limit_of<precision<tf32>>{.what = limit::kind::precision, .precision = numbers::tf32};
template <> inline constexpr limit limit_of<precision<fp16>>{.what = limit::kind::precision, .precision = numbers::fp16};
template <> inline constexpr limit limit_of<precision<bf16>>{.what = limit::kind::precision, .precision = numbers::bf16};

/// A dev as it is written, right or wrong.
struct written_dev {
  int rank = 0;
  bool is_unit = true;  ///< whether what stands for the unit is one
  unit on{};
  std::span<const int> cores{};  ///< of cores<…>
  meta::view<limit> limits{};
};

/// A dev as a value.
struct device {
  int rank = 0;
  unit on{};
  std::int64_t memory_limit = -1;  ///< bytes; -1: none
  std::string_view host{};         ///< of on<…>; empty: any
  std::span<const int> cores{};    ///< of cores<…>
};

/// The device that a right dev stands for: of several memory limits the smallest counts, of hosts the last.
constexpr device device_of(const written_dev& w) {
  device out{w.rank, w.on, -1, {}, w.cores};
  for (const auto& l : w.limits) {
    if (l.what == limit::kind::precision) out.on.precision = l.precision;
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
