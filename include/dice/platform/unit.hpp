// Units: what computes for a rank; how mappings write units, and what can be wrong with them.
#pragma once

#include "dice/meta/enum_name.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace dice {

/// Computes on the CPU with as many threads as OMP_NUM_THREADS or the process's binding allows.
struct cpu final {};
/// Computes on the CPU with one thread pinned to each of these cores (numbers as the operating system gives them).
template <int... Core> struct cores final {};
/// Computes on the CPU with N threads, pinned to no core.
template <int N> struct threads final {};
/// Computes on the first GPU of the host. A program with GPUs in its mapping links dice::cudnn.
struct gpu final {};
/// Computes on GPU `Index` of the host.
template <int Index> struct gpu_at final {};

/// tf32: 32-bit numbers that are multiplied with 10 bits of fraction. fp16: 16 bits, 10 of fraction and 5 of exponent. bf16:
/// 16 bits, 7 of fraction and 8 of exponent.
struct tf32 final {};
struct fp16 final {};
struct bf16 final {};

namespace platform {

/// The numbers in which a GPU computes convolutions and matrix products; tensors are always float32.
enum class numbers : unsigned char { float32, tf32, fp16, bf16 };
inline constexpr int number_types = static_cast<int>(meta::value_count<numbers>);  ///< how many there are

/// Kinds of processors, each with backends of its own. All but the CPU are accelerators (kernels/accelerator.hpp).
enum class processor : unsigned char { cpu, gpu };

/// Its bit in a set of processors.
constexpr unsigned bit(processor p) { return 1u << static_cast<unsigned>(p); }

/// The processors that mappings may use: their kernels are built in (the target dice::cudnn), or in programs on other hosts
/// (DICE_CUDA=ELSEWHERE).
inline constexpr unsigned usable_processors = bit(processor::cpu)
#if defined(DICE_WITH_CUDNN) || defined(DICE_WITH_GPUS_ELSEWHERE)
                                              | bit(processor::gpu)
#endif
    ;

inline constexpr int max_threads = 1024;  ///< of a unit

/// A unit as a value.
struct unit {
  enum class kind : unsigned char { cpu, cores, threads, gpu };
  kind what = kind::cpu;
  int count = 0;                         ///< threads; 0: as many as the process may use
  int index = 0;                         ///< of several accelerators of the host
  numbers precision = numbers::float32;  ///< of a GPU
  bool direct = false;                   ///< convolutions only as sums of products (direct_convolutions)

  friend constexpr bool operator==(const unit&, const unit&) = default;
  constexpr platform::processor processor() const {
    return what == kind::gpu ? platform::processor::gpu : platform::processor::cpu;
  }
  constexpr bool is_accelerator() const { return processor() != platform::processor::cpu; }
};

/// How mappings write units: a word, and what is between < and > after it.
struct unit_word {
  enum class argument : unsigned char { none, count, index, cores };
  std::string_view word;
  unit::kind what;
  argument takes = argument::none;
  std::string_view number{};  ///< what the number is
};
inline constexpr unit_word unit_words[]{
    {"cpu", unit::kind::cpu},
    {"cores", unit::kind::cores, unit_word::argument::cores, "the number of a core"},
    {"threads", unit::kind::threads, unit_word::argument::count, "a number of threads"},
    {"gpu", unit::kind::gpu},
    {"gpu_at", unit::kind::gpu, unit_word::argument::index, "the number of a GPU"},
};
static_assert(
    [] {
      unsigned has = 0;
      for (const auto& w : unit_words) has |= 1u << static_cast<unsigned>(w.what);
      return has == (1u << meta::value_count<unit::kind>)-1;
    }(),
    "each kind of unit needs a word, or mappings could not be written as text");

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

/// What is wrong with a unit; `value` is the core, count or number concerned.
struct unit_check {
  enum class mistake : unsigned char {
    none,
    not_a_unit,
    core_listed_twice,
    core_number_negative,
    no_core_listed,
    too_few_threads,
    too_many_threads,
    unit_without_backend,
    gpu_number_negative
  };
  mistake what = mistake::none;
  int value = 0;
};

/// The first mistake in a unit, whose cores are `cores` if it is cores<…>; `processors`: those that mappings may use.
constexpr unit_check check_unit(const unit& on, std::span<const int> cores, unsigned processors = usable_processors) {
  using enum unit_check::mistake;
  switch (on.what) {
    case unit::kind::cpu:
      break;
    case unit::kind::cores:
      if (cores.empty()) return {no_core_listed, 0};
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (cores[i] < 0) return {core_number_negative, cores[i]};
        for (std::size_t j = 0; j < i; ++j)
          if (cores[i] == cores[j]) return {core_listed_twice, cores[i]};
      }
      break;
    case unit::kind::threads:
      if (on.count <= 0) return {too_few_threads, on.count};
      if (on.count > max_threads) return {too_many_threads, on.count};
      break;
    case unit::kind::gpu:
      if (on.index < 0) return {gpu_number_negative, on.index};
      if ((processors & bit(on.processor())) == 0) return {unit_without_backend, on.index};
      break;
  }
  return {};
}

/// What is wrong with a type as a unit.
template <class T>
inline constexpr unit_check unit_mistake = unit_traits<T>::is_unit
                                               ? check_unit(unit_traits<T>::value, unit_traits<T>::core_list)
                                               : unit_check{unit_check::mistake::not_a_unit, 0};

}  // namespace platform
}  // namespace dice
