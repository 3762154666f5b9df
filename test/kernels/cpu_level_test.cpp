// Which level of the kernels runs: chosen for CPUs that are none, and in this process.
#include "error_of.hpp"
#include "kernels/harness.hpp"

#include "dice/kernels/cpu_level.hpp"

#include <cstdlib>
#include <string>

namespace {

using namespace harness;
using kernels::cpu_level;
using this_host::instruction_sets;

// Levels that need the first instruction set of the architecture, then also the second, then also the third.
const cpu_level three[]{{"low", 1}, {"middle", 3}, {"high", 7}};
std::size_t choose(this_host::instructions has, const char* wanted = nullptr) {
  return kernels::choose_level(three, has, wanted);
}
std::string refusal(this_host::instructions has, const char* wanted = nullptr) {
  return test::error_of([&] { choose(has, wanted); });
}
const std::string set_names[]{instruction_sets[0].name, instruction_sets[1].name, instruction_sets[2].name};

TEST(cpu_level, the_last_that_the_cpu_can_run) {
  EXPECT_EQ(choose(1), 0u);
  EXPECT_EQ(choose(1 | 4), 0u);
  EXPECT_EQ(choose(3), 1u);
  EXPECT_EQ(choose(7), 2u);
  EXPECT_EQ(choose(~this_host::instructions{}), 2u);
  EXPECT_EQ(kernels::choose_level({}, 7, nullptr), 0u);
}

TEST(cpu_level, the_one_that_is_wanted) {
  EXPECT_EQ(choose(7, "low"), 0u);
  EXPECT_EQ(choose(7, "middle"), 1u);
  EXPECT_EQ(choose(7, "high"), 2u);
}

TEST(cpu_level, refusals_name_what_is_lacking_and_the_remedy) {
  const auto lack = refusal(0), board = std::string(this_host::board_for(0));
  EXPECT_EQ(lack.find("this CPU"), 0u) << lack;
  const auto end =
      " lacks " + set_names[0] +
      ", for which the kernels of this program were compiled (DICE_BOARD=low); build it with -DDICE_BOARD=" + board;
  EXPECT_EQ(lack.substr(lack.find(" lacks")), end);
  EXPECT_EQ(refusal(0, "high"), lack);
  const auto high = refusal(1, "high");
  EXPECT_EQ(high.find("DICE_CPU_LEVEL is 'high', but this CPU"), 0u) << high;
  EXPECT_EQ(high.substr(high.find(" lacks")),
            " lacks " + set_names[1] + ", " + set_names[2] + "; unset the variable, or name low");
  EXPECT_EQ(refusal(7, ""),
            "DICE_CPU_LEVEL is '', which this program does not have; unset the variable, or name low or middle or high");
  EXPECT_EQ(test::error_of([] { kernels::choose_level({}, 7, "low"); }),
            "DICE_CPU_LEVEL is 'low', but this program has no kernels for CPUs; unset the variable");
}

TEST(cpu_level, cmake_knows_the_instructions_of_the_lowest) {
  for (const auto& level : kernels::cpu_levels()) {
    if (std::string(level.name) != DICE_STATED_BOARD) continue;  // of the library that has levels for tests
    std::string names;
    for (int i = 0; i < this_host::instruction_set_count; ++i)
      if ((level.needs >> i & 1) != 0) names += (names.empty() ? "" : " ") + std::string(instruction_sets[i].name);
    EXPECT_EQ(names, DICE_STATED_INSTRUCTIONS);
  }
}

TEST(cpu_level, in_this_process) {
  const auto levels = kernels::cpu_levels();
  ASSERT_FALSE(levels.empty());
  for (std::size_t i = 1; i < levels.size(); ++i) EXPECT_EQ(levels[i].needs & levels[i - 1].needs, levels[i - 1].needs);
  const auto has = this_host::sets_here();
  EXPECT_EQ(levels[kernels::cpu_level_here()].needs & ~has, 0u);
  const char* wanted = std::getenv("DICE_CPU_LEVEL");
  const auto next = kernels::cpu_level_here() + 1;
  if (wanted) {
    EXPECT_STREQ(kernels::cpu_level_name(), wanted);
  } else if (next < levels.size()) {
    EXPECT_NE(levels[next].needs & ~has, 0u);
  }
#ifdef __x86_64__
  for (const auto& level : levels)
    for (const auto& known : this_host::x86_levels)
      if (std::string(known.name) == level.name) {
        EXPECT_EQ(known.needs, level.needs) << level.name;
      }
#endif
}

#ifdef __x86_64__
// A sum of two products that is 0 if the second is rounded before it is added: so kernels compiled for FMA run if, and only
// if, the level has it.
TEST(cpu_level, its_instructions_run) {
  const auto& level = kernels::cpu_levels()[kernels::cpu_level_here()];
  const bool fuses = (level.needs & this_host::sets_named(" fma")) != 0;
  auto p = make(ops::conv{.channels = 16, .kernel = {1, 1}, .bias = false}, {{1, 2, 1, 1}}, {{16, 2, 1, 1}});
  const float x = 1 + 0x1p-12f;
  p.inputs[0] = {1, x};
  for (std::size_t i = 0; i < 32; i += 2) {
    p.parameters[0][i] = -(1 + 0x1p-11f);
    p.parameters[0][i + 1] = x;
  }
  for (const float y : compute<compared>(p)) EXPECT_EQ(y, fuses ? 0x1p-24f : 0) << level.name;
}
#endif

}  // namespace
