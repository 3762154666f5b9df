#include "dice/assembly/check_kernels.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace dice;

// A CPU with layers 0 to 2, a GPU with layers 3 and 4.
placement::finding check(algorithm::backend lacks, int layer) {
  constexpr std::array<int, 5> owner{0, 0, 0, 1, 1};
  const std::array<platform::device, 2> devices{{{.rank = 0}, {.rank = 1, .unit = {.what = platform::unit::kind::gpu}}}};
  schedule::plan_view p;
  p.owner = owner;
  return assembly::check_kernels(p, {}, devices, [&](algorithm::backend by, int l) { return by != lacks || l != layer; });
}

TEST(check_kernels, asks_the_backend_of_each_layers_rank) {
  const auto cpu = algorithm::backend_of({}), gpu = algorithm::backend::cudnn;
  for (const int layer : {0, 1, 2, 3, 4}) {
    const bool on_cpu = layer < 3;
    EXPECT_EQ(check(on_cpu ? cpu : gpu, layer),
              (placement::finding{.what = placement::mistake::layer_without_kernel, .number = layer}));
    EXPECT_FALSE(check(on_cpu ? gpu : cpu, layer)) << "the other backend's kernel is not needed";
  }
}

}  // namespace
