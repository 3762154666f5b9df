// What CPUs say of themselves, by words that were read on them.
#include "dice/this_host/instructions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

using namespace dice;

namespace {

std::string names(this_host::instructions sets) {
  std::string out;
  for (int i = 0; i < this_host::instruction_set_count; ++i)
    if ((sets >> i & 1) != 0) out += std::string(out.empty() ? "" : " ") + this_host::instruction_sets[i].name;
  return out;
}

// The compiler's macros of this file are what its code uses, and this CPU, which compiles the tests, can run that.
TEST(instructions, this_file_runs_here) {
  EXPECT_EQ(names(this_host::compiled_for & ~this_host::sets_here()), "");
#ifdef __AVX2__
  EXPECT_NE((" " + names(this_host::compiled_for) + " ").find(" avx2 "), std::string::npos);
#elif defined(__SSE2__)
  EXPECT_EQ(names(this_host::compiled_for).find("avx2"), std::string::npos);
#endif
}

#ifdef __x86_64__
// Leaves 1 and 7, 7 part 1, 0x80000001, and XCR0.
constexpr this_host::cpu_words nehalem{{0x009ae3bd, 0, 0, 0, 0, 1}, 0}, haswell{{0x7ffafbbf, 0x27ab, 0, 0, 0, 0x21}, 7},
    skylake_x{{0x7ffefbff, 0xd39ffffb, 0x8, 0, 0, 0x121}, 0xe7};

TEST(instructions, of_known_cpus) {
  const auto v2 = names(this_host::x86_64_v2), v3 = names(this_host::x86_64_v3), v4 = names(this_host::x86_64_v4);
  EXPECT_EQ(v2, "sse3 ssse3 cx16 sse4.1 sse4.2 popcnt sahf");
  EXPECT_EQ(v3, v2 + " avx avx2 bmi bmi2 f16c fma lzcnt movbe");
  EXPECT_EQ(v4, v3 + " avx512f avx512bw avx512cd avx512dq avx512vl");
  EXPECT_EQ(names(sets_of(nehalem)), v2);
  EXPECT_EQ(names(sets_of(haswell)), v3);
  EXPECT_EQ(names(sets_of(skylake_x)), v4);
  EXPECT_EQ(this_host::sets_of({}), 0u);
}

// Skylake-X with one more bit of each kind, as Intel's and AMD's manuals number them.
TEST(instructions, of_newer_cpus) {
  const struct {
    int word, bit;
    const char* name;
  } more[]{{1, 21, "avx512ifma"},
           {2, 1, "avx512vbmi"},
           {2, 6, "avx512vbmi2"},
           {2, 11, "avx512vnni"},
           {2, 12, "avx512bitalg"},
           {2, 8, "gfni"},
           {2, 14, "avx512vpopcntdq"},
           {3, 23, "avx512fp16"},
           {4, 4, "avxvnni"},
           {4, 5, "avx512bf16"},
           {5, 11, "xop"},
           {5, 16, "fma4"},
           {5, 21, "tbm"}};
  for (const auto& [word, bit, name] : more) {
    auto cpu = skylake_x;
    cpu.of[word] |= std::uint64_t{1} << bit;
    EXPECT_EQ(names(sets_of(cpu)), names(this_host::x86_64_v4) + ' ' + name);
  }
}

TEST(instructions, on_registers_that_the_system_does_not_save_are_lacking) {
  auto cpu = skylake_x;
  cpu.saved = 7;  // as the kernel does with clearcpuid=avx512f, or an old virtual machine
  EXPECT_EQ(sets_of(cpu), this_host::x86_64_v3);
  cpu.saved = 3;
  EXPECT_EQ(names(sets_of(cpu)), names(this_host::x86_64_v2) + " bmi bmi2 lzcnt movbe");
}

TEST(instructions, the_board_for_a_cpu) {
  EXPECT_STREQ(this_host::board_for(0), "x86-64");
  EXPECT_STREQ(this_host::board_for(sets_of(nehalem)), "x86-64-v2");
  EXPECT_STREQ(this_host::board_for(sets_of(haswell)), "x86-64-v3");
  EXPECT_STREQ(this_host::board_for(~this_host::instructions{}), "x86-64-v4");
}

TEST(instructions, what_a_cpu_lacks) {
  const std::string text = this_host::lack_text(this_host::x86_64_v4, this_host::x86_64_v3).text;
  EXPECT_EQ(text.find("this CPU ("), 0u) << text;
  EXPECT_NE(text.find(") lacks avx512f, avx512bw, avx512cd, avx512dq, avx512vl"), std::string::npos) << text;
  EXPECT_EQ(text.find(" ("), text.rfind(" (")) << text;
}

// Old CPUs, and some virtual machines, have few leaves: the last one counts.
TEST(instructions, the_last_leaf_of_cpuid) {
  const auto last = this_host::cpuid_unchecked(0x80000000, 0).eax;
  const auto words = [](const this_host::cpuid_words& w) { return std::array{w.eax, w.ebx, w.ecx, w.edx}; };
  EXPECT_EQ(words(this_host::cpuid(last)), words(this_host::cpuid_unchecked(last, 0)));
  EXPECT_EQ(words(this_host::cpuid(last + 1)), words({}));
}
#endif

TEST(instructions, a_text_is_no_longer_than_its_room) {
  this_host::short_text out{};
  std::string all;
  for (int i = 0; i < 101; ++i, all += "0123456789") out.add("0123456789");
  EXPECT_EQ(out.size, sizeof out.text - 1);
  EXPECT_EQ(out.text, all.substr(0, sizeof out.text - 1));
}

}  // namespace
