#pragma once

#include "dice/meta/fixed_string.hpp"
#include "dice/platform/bytes.hpp"
#include "dice/platform/unit.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

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

/// What is wrong with a unit or limit; `value` is the core, count or number concerned.
struct unit_check {
  enum class mistake : unsigned char {
    none,
    not_a_unit,
    core_twice,
    core_negative,
    no_core,
    too_few_threads,
    no_backend,
    gpu_negative
  };
  mistake what = mistake::none;
  int value = 0;
};

template <class T> struct unit_traits {
  static constexpr unit value{};
  static constexpr unit_check check{unit_check::mistake::not_a_unit, 0};
  static constexpr std::array<int, 0> core_list{};
};
template <> struct unit_traits<cpu> {
  static constexpr unit value{unit::kind::cpu, 0, 0};
  static constexpr unit_check check{};
  static constexpr std::array<int, 0> core_list{};
};
template <int... Core> struct unit_traits<cores<Core...>> {
  static constexpr std::array<int, sizeof...(Core)> core_list{Core...};
  static constexpr unit value{unit::kind::cores, sizeof...(Core), 0};
  static constexpr unit_check check = [] {
    using enum unit_check::mistake;
    if (core_list.empty()) return unit_check{no_core, 0};
    for (std::size_t i = 0; i < core_list.size(); ++i) {
      if (core_list[i] < 0) return unit_check{core_negative, core_list[i]};
      for (std::size_t j = 0; j < i; ++j)
        if (core_list[i] == core_list[j]) return unit_check{core_twice, core_list[i]};
    }
    return unit_check{};
  }();
};
template <int N> struct unit_traits<threads<N>> {
  static constexpr unit value{unit::kind::threads, N, 0};
  static constexpr unit_check check{N > 0 ? unit_check::mistake::none : unit_check::mistake::too_few_threads, N};
  static constexpr std::array<int, 0> core_list{};
};
template <int Index> struct unit_traits<gpu_at<Index>> {
  static constexpr unit value{unit::kind::gpu, 0, Index};
  static constexpr unit_check check{Index < 0   ? unit_check::mistake::gpu_negative
                                    : has_cudnn ? unit_check::mistake::none
                                                : unit_check::mistake::no_backend,
                                    Index};
  static constexpr std::array<int, 0> core_list{};
};
template <> struct unit_traits<gpu> : unit_traits<gpu_at<0>> {};

template <class T> inline constexpr bool is_dev = false;
template <int Rank, class Unit, class... Limits> inline constexpr bool is_dev<dev<Rank, Unit, Limits...>> = true;

template <class T> inline constexpr bool is_limit = false;
template <std::int64_t Bytes> inline constexpr bool is_limit<memory<Bytes>> = true;
template <meta::fixed_string Host> inline constexpr bool is_limit<on<Host>> = true;
template <> inline constexpr bool is_limit<precision<tf32>> = true;
template <> inline constexpr bool is_limit<precision<fp16>> = true;
template <> inline constexpr bool is_limit<precision<bf16>> = true;

/// Numbers of a precision; float32 for other types.
template <class T> inline constexpr numbers numbers_of = numbers::float32;
template <> inline constexpr numbers numbers_of<precision<tf32>> = numbers::tf32;
template <> inline constexpr numbers numbers_of<precision<fp16>> = numbers::fp16;
template <> inline constexpr numbers numbers_of<precision<bf16>> = numbers::bf16;

template <class T> inline constexpr bool memory_limits = false;
template <std::int64_t Bytes> inline constexpr bool memory_limits<memory<Bytes>> = true;
/// Bytes that a limit allows; -1 for other types.
template <class T> inline constexpr std::int64_t memory_of = -1;
template <std::int64_t Bytes> inline constexpr std::int64_t memory_of<memory<Bytes>> = Bytes;

/// Name of the host that a limit ties to; empty for other types.
template <class T> inline constexpr std::string_view host_of = {};
template <meta::fixed_string Host> inline constexpr std::string_view host_of<on<Host>> = Host.view();

/// A dev as a value.
struct device {
  int rank = 0;
  unit on{};
  std::int64_t memory_limit = -1;  ///< bytes; -1: none
  std::string_view host{};         ///< of on<…>; empty: any
};

template <class Dev> struct dev_traits;
template <int Rank, class Unit, class... Limits> struct dev_traits<dev<Rank, Unit, Limits...>> {
  using unit_type = Unit;
  static constexpr device value = [] {
    device d{Rank, unit_traits<Unit>::value, -1, {}};
    for (std::int64_t bytes : {std::int64_t{-1}, memory_of<Limits>...})
      if (bytes >= 0 && (d.memory_limit < 0 || bytes < d.memory_limit)) d.memory_limit = bytes;
    for (numbers n : {numbers::float32, numbers_of<Limits>...})
      if (n != numbers::float32) d.on.precision = n;
    for (std::string_view host : {std::string_view{}, host_of<Limits>...})
      if (!host.empty()) d.host = host;
    return d;
  }();
  /// Whether it asks for a precision that its unit has not, or for two.
  static constexpr bool wrong_precision = [] {
    const int wanted = (0 + ... + (numbers_of<Limits> != numbers::float32));
    return wanted > (value.on.on() == processor::gpu ? 1 : 0);
  }();
  /// Position of the first limit that is none, or -1.
  static constexpr int wrong_limit = [] {
    int at = 0, found = -1;
    for (bool good : {true, is_limit<Limits>...}) {
      if (!good && found < 0) found = at - 1;
      ++at;
    }
    return found;
  }();
  /// Smallest memory limit that is no positive number of bytes, or 1.
  static constexpr std::int64_t bad_memory = [] {
    for (std::int64_t bytes :
         {std::int64_t{1}, (memory_limits<Limits> && memory_of<Limits> <= 0 ? memory_of<Limits> : 1)...})
      if (bytes <= 0) return bytes;
    return std::int64_t{1};
  }();
};

}  // namespace platform
}  // namespace dice
