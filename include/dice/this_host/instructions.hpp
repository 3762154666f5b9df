// Instruction sets that only some CPUs of an architecture have: which of them a file is compiled for, and which a CPU has.
#pragma once

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

// For functions that must run on every CPU, even in a file that is compiled for newer ones: they call only each other and
// the C library.
#if defined(__x86_64__)
#define DICE_ON_ANY_CPU [[gnu::target("arch=x86-64,no-sse3,no-popcnt,no-bmi,no-bmi2,no-lzcnt,no-movbe")]]
#elif defined(__aarch64__) && !defined(__clang__)
#define DICE_ON_ANY_CPU [[gnu::target("arch=armv8-a")]]
#else
#define DICE_ON_ANY_CPU
#endif

// Those that compilers use without being asked by the source: set(name, the compilers' macro, word, bit, saved), the members
// of instruction_set.
// clang-format off
#if defined(__x86_64__)
#define DICE_INSTRUCTION_SETS(set) \
  set("sse3", __SSE3__, 0, 0, 0) set("ssse3", __SSSE3__, 0, 9, 0) \
  set("cx16", __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16, 0, 13, 0) set("sse4.1", __SSE4_1__, 0, 19, 0) \
  set("sse4.2", __SSE4_2__, 0, 20, 0) set("popcnt", __POPCNT__, 0, 23, 0) set("sahf", __LAHF_SAHF__, 5, 0, 0) \
  set("avx", __AVX__, 0, 28, 6) set("avx2", __AVX2__, 1, 5, 6) set("bmi", __BMI__, 1, 3, 0) \
  set("bmi2", __BMI2__, 1, 8, 0) set("f16c", __F16C__, 0, 29, 6) set("fma", __FMA__, 0, 12, 6) \
  set("lzcnt", __LZCNT__, 5, 5, 0) set("movbe", __MOVBE__, 0, 22, 0) \
  set("avx512f", __AVX512F__, 1, 16, 0xe6) set("avx512bw", __AVX512BW__, 1, 30, 0xe6) \
  set("avx512cd", __AVX512CD__, 1, 28, 0xe6) set("avx512dq", __AVX512DQ__, 1, 17, 0xe6) \
  set("avx512vl", __AVX512VL__, 1, 31, 0xe6) set("avx512ifma", __AVX512IFMA__, 1, 21, 0xe6) \
  set("avx512vbmi", __AVX512VBMI__, 2, 1, 0xe6) set("avx512vbmi2", __AVX512VBMI2__, 2, 6, 0xe6) \
  set("avx512vnni", __AVX512VNNI__, 2, 11, 0xe6) set("avx512bitalg", __AVX512BITALG__, 2, 12, 0xe6) \
  set("avx512vpopcntdq", __AVX512VPOPCNTDQ__, 2, 14, 0xe6) set("avx512bf16", __AVX512BF16__, 4, 5, 0xe6) \
  set("avx512fp16", __AVX512FP16__, 3, 23, 0xe6) set("avxvnni", __AVXVNNI__, 4, 4, 6) set("gfni", __GFNI__, 2, 8, 0) \
  set("fma4", __FMA4__, 5, 16, 6) set("xop", __XOP__, 5, 11, 6) set("tbm", __TBM__, 5, 21, 0)
#elif defined(__aarch64__)
#define DICE_INSTRUCTION_SETS(set) \
  set("crc", __ARM_FEATURE_CRC32, 0, 7, 0) set("lse", __ARM_FEATURE_ATOMICS, 0, 8, 0) \
  set("fp16", __ARM_FEATURE_FP16_SCALAR_ARITHMETIC, 0, 9, 0) set("rdma", __ARM_FEATURE_QRDMX, 0, 12, 0) \
  set("jscvt", __ARM_FEATURE_JCVT, 0, 13, 0) set("fcma", __ARM_FEATURE_COMPLEX, 0, 14, 0) \
  set("rcpc", __ARM_FEATURE_RCPC, 0, 15, 0) set("dotprod", __ARM_FEATURE_DOTPROD, 0, 20, 0) \
  set("sve", __ARM_FEATURE_SVE, 0, 22, 0) set("fp16fml", __ARM_FEATURE_FP16_FML, 0, 23, 0) \
  set("sve2", __ARM_FEATURE_SVE2, 1, 1, 0) set("i8mm", __ARM_FEATURE_MATMUL_INT8, 1, 13, 0) \
  set("bf16", __ARM_FEATURE_BF16_VECTOR_ARITHMETIC, 1, 14, 0)
#else
#define DICE_INSTRUCTION_SETS(set) set("", __DICE_UNKNOWN, 0, 0, 0)
#endif
// clang-format on

namespace dice::this_host {

/// Some instruction sets: bit i is the i-th of instruction_sets.
using instructions = std::uint64_t;

/// What a CPU, or on ARM the system, says of its instructions.
struct cpu_words {
  /// x86: ecx of cpuid's leaf 1; ebx, ecx and edx of leaf 7; eax of leaf 7, part 1; ecx of leaf 0x80000001. ARM: AT_HWCAP,
  /// AT_HWCAP2.
  std::uint64_t of[6];
  std::uint64_t saved;  ///< x86: XCR0, the registers that the operating system saves
};

struct instruction_set {
  const char* name;        ///< as compilers call it (-mavx2)
  std::uint8_t word, bit;  ///< the bit of cpu_words::of that says whether a CPU has it
  std::uint8_t saved;      ///< the bits of cpu_words::saved that it needs
};
#define DICE_INSTRUCTION_SET(name, macro, word, bit, saved) {name, word, bit, saved},
inline constexpr instruction_set instruction_sets[]{DICE_INSTRUCTION_SETS(DICE_INSTRUCTION_SET)};
#undef DICE_INSTRUCTION_SET
inline constexpr int instruction_set_count = std::size(instruction_sets);
static_assert(instruction_set_count <= 64);

namespace {
// A macro that is defined is a number.
#define DICE_TEXT_OF(macro) #macro
#define DICE_IS_COMPILED(name, macro, word, bit, saved) out |= instructions{DICE_TEXT_OF(macro)[0] != '_'} << i++;
/// Those that the compiler uses in the file that includes this.
[[maybe_unused]] constexpr instructions compiled_for = [] {
  instructions out = 0;
  int i = 0;
  DICE_INSTRUCTION_SETS(DICE_IS_COMPILED)
  return out;
}();
#undef DICE_IS_COMPILED
#undef DICE_TEXT_OF
}  // namespace

/// The sets with these names, each with a blank before it.
consteval instructions sets_named(std::string_view names) {
  instructions out = 0;
  while (!names.empty()) {
    names.remove_prefix(1);
    const auto end = std::min(names.find(' '), names.size());
    const auto* found = std::find_if(std::begin(instruction_sets), std::end(instruction_sets),
                                     [&](const instruction_set& s) { return s.name == names.substr(0, end); });
    out |= instructions{1} << (found - instruction_sets);
    names.remove_prefix(end);
  }
  return out;
}

/// A level of the x86-64 ABI: a value of -march.
struct x86_level {
  const char* name;
  instructions needs;
};
#ifdef __x86_64__
inline constexpr instructions x86_64_v2 = sets_named(" sse3 ssse3 cx16 sse4.1 sse4.2 popcnt sahf");
inline constexpr instructions x86_64_v3 = x86_64_v2 | sets_named(" avx avx2 bmi bmi2 f16c fma lzcnt movbe");
inline constexpr instructions x86_64_v4 = x86_64_v3 | sets_named(" avx512f avx512bw avx512cd avx512dq avx512vl");
inline constexpr x86_level x86_levels[]{
    {"x86-64", 0}, {"x86-64-v2", x86_64_v2}, {"x86-64-v3", x86_64_v3}, {"x86-64-v4", x86_64_v4}};
#endif

/// The sets of a CPU that says this of itself, as far as the operating system supports them.
DICE_ON_ANY_CPU constexpr instructions sets_of(const cpu_words& cpu) {
  instructions out = 0;
  for (int i = 0; i < instruction_set_count; ++i)
    if (const auto& s = instruction_sets[i]; (cpu.of[s.word] >> s.bit & 1) != 0 && (cpu.saved & s.saved) == s.saved)
      out |= instructions{1} << i;
  return out;
}

#ifdef __x86_64__
struct cpuid_words {
  unsigned eax, ebx, ecx, edx;
};
DICE_ON_ANY_CPU inline cpuid_words cpuid_unchecked(unsigned leaf, unsigned part) {
  cpuid_words out{};
  asm volatile("cpuid" : "=a"(out.eax), "=b"(out.ebx), "=c"(out.ecx), "=d"(out.edx) : "a"(leaf), "c"(part));
  return out;
}
/// A leaf of cpuid; zeros if this CPU does not have it.
DICE_ON_ANY_CPU inline cpuid_words cpuid(unsigned leaf, unsigned part = 0) {
  return cpuid_unchecked(leaf & 0x80000000, 0).eax < leaf ? cpuid_words{} : cpuid_unchecked(leaf, part);
}
#endif

/// What this process's CPU says of itself.
DICE_ON_ANY_CPU inline cpu_words this_cpu() {
  cpu_words out{};
#if defined(__x86_64__)
  const auto one = cpuid(1), seven = cpuid(7), more = cpuid(7, 1);
  out.of[0] = one.ecx;
  out.of[1] = seven.ebx;
  out.of[2] = seven.ecx;
  out.of[3] = seven.edx;
  out.of[4] = seven.eax >= 1 ? more.eax : 0;
  out.of[5] = cpuid(0x80000001).ecx;
  if ((one.ecx >> 27 & 1) != 0) {  // the system saves more than SSE's registers
    unsigned low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    out.saved = low;
  }
#elif defined(__aarch64__)
  out.of[0] = ::getauxval(AT_HWCAP);
  out.of[1] = ::getauxval(AT_HWCAP2);
#endif
  return out;
}
/// The sets that this process can use.
DICE_ON_ANY_CPU inline instructions sets_here() { return sets_of(this_cpu()); }

/// A text of limited length.
struct short_text {
  char text[1000];
  std::size_t size;

  DICE_ON_ANY_CPU void add(const char* more) {
    for (; *more != 0 && size + 1 < sizeof text; ++more) text[size++] = *more;
    text[size] = 0;
  }
};

/// "this CPU (name) lacks …": what `needs` has and `has` has not.
DICE_ON_ANY_CPU inline short_text lack_text(instructions needs, instructions has) {
  short_text out{};
  out.add("this CPU");
#ifdef __x86_64__
  if (cpuid_unchecked(0x80000000, 0).eax >= 0x80000004) {
    cpuid_words name[4]{};
    for (unsigned i = 0; i < 3; ++i) name[i] = cpuid(0x80000002 + i);
    const char* text = reinterpret_cast<const char*>(name);
    while (*text == ' ') ++text;
    out.add(" (");
    out.add(text);
    while (out.text[out.size - 1] == ' ') --out.size;
    out.add(")");
  }
#endif
  const char* before = " lacks ";
  for (int i = 0; i < instruction_set_count; ++i)
    if (((needs & ~has) >> i & 1) != 0) {
      out.add(before);
      out.add(instruction_sets[i].name);
      before = ", ";
    }
  return out;
}

/// The DICE_BOARD of programs for a CPU that has `has`.
DICE_ON_ANY_CPU inline const char* board_for([[maybe_unused]] instructions has) {
#ifdef __x86_64__
  const char* best = "";
  for (const auto& level : x86_levels)
    if ((level.needs & ~has) == 0) best = level.name;
  return best;
#else
  return "generic";
#endif
}

}  // namespace dice::this_host
