// Clusters with GPUs, as a program with the GPU backend sees them: memory of their own, and fewer layers fused than on CPUs.
#include "dice/partition/partition.hpp"
#include "sample.hpp"
#include "schedule/random_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace dice;
namespace part = dice::partition;

/// A board whose CPU and second CPU share `Ram` bytes, and whose GPU has `Own`.
template <std::int64_t Ram, std::int64_t Own>
using with_gpu = board<"g", ram<Ram>, processor<cores<0>, gflops<0.01>, gbytes_per_s<0.01>, watts<3, 1>>,
                       processor<cores<1>, gflops<0.01>, gbytes_per_s<0.01>, watts<3, 1>>,
                       processor<gpu, gflops<0.03>, gbytes_per_s<0.03>, watts<30, 9>, ram<Own>>>;

TEST(gpus, have_memory_of_their_own) {
  constexpr auto& view = platform::cluster_values<cluster<host<"g", with_gpu<1000, 5000>>>>::view;
  constexpr std::array<std::int64_t, 3> limits{1000, 1000, 5000};
  static_assert(!view.processors[0].own_memory && view.processors[2].own_memory && view.processors[2].memory == 5000);
  const auto tightened = [&](std::int64_t first, std::int64_t second, std::int64_t on_gpu) {
    auto counted = limits;
    meta::array<part::rank_memory> ranks;
    const std::int64_t planned[] = {first, second, on_gpu};
    for (int k = 0; k < 3; ++k)
      if (planned[k]) ranks.push_back({k, planned[k], planned[k]});
    const bool any = part::tighten(counted, limits, view, {}, ranks);
    EXPECT_EQ(any, counted != limits);
    return counted;
  };
  EXPECT_EQ(tightened(600, 0, 4900), limits) << "what the GPU holds does not lie in the board's memory";
  EXPECT_EQ(tightened(600, 400, 5000), limits);
  EXPECT_EQ(tightened(600, 500, 0), (std::array<std::int64_t, 3>{1000, 400, 5000})) << "CPUs share the board's memory";
  EXPECT_EQ(tightened(0, 0, 5100), (std::array<std::int64_t, 3>{1000, 1000, 4900}));
}

/// A convolution with a pooling that only the CPU computes together.
struct pooled {
  test::network net;
  std::vector<algorithm::choice> on_cpu, on_gpu;
  std::array<std::span<const algorithm::choice>, 3> algorithms;

  pooled() {
    net.add("Input", {1, 16, 4, 4}, {}).is_input = true;
    net.add("Conv", {1, 32, 4, 4}, {0}).fuses = {.takes_residual = true, .takes_activation = true};
    net.layers[1].parameter_bytes = 1000;
    net.add("MaxPool", {1, 32, 2, 2}, {1}).fuses.pools_2x2 = true;
    net.add_output(2);
    on_cpu.resize(net.layers.size());
    on_gpu.resize(net.layers.size());
    on_cpu[1] = {.packed_bytes = 1200, .scratch_bytes = 64, .pools_2x2 = true};
    on_gpu[1].scratch_bytes = 512;
    on_gpu[2].scratch_bytes = 256;
    algorithms = {on_cpu, on_cpu, on_gpu};
  }
};

TEST(gpus, need_memory_for_what_they_do_not_fuse) {
  const pooled p;
  const std::array<double, 4> seconds{0, 3, 1, 0};
  const std::array<std::span<const double>, 3> all{seconds, seconds, seconds};
  constexpr std::array usable{true, true, true};
  constexpr auto& view = platform::cluster_values<cluster<host<"g", with_gpu<1_MiB, 1_MiB>>>>::view;
  const auto problem = cost::problem_of({p.net.view(), view, all, p.algorithms, usable});
  ASSERT_EQ(problem.devices.size(), 3);
  ASSERT_EQ(problem.cut_units, 3);
  const auto& cpu = problem.kinds[problem.devices[0].kind];
  const auto& gpu = problem.kinds[problem.devices[2].kind];
  const std::int64_t input = 4 * 16 * 16, middle = 4 * 32 * 16, pool = 4 * 32 * 4;
  EXPECT_EQ(cpu.live[1], input + pool + 64);
  EXPECT_EQ(gpu.live[1], input + middle + pool + 512 + 256);
  EXPECT_EQ(cpu.weights[2], 1200);
  EXPECT_EQ(gpu.weights[2], 1000);
  // The pooling costs the CPU nothing extra, and the GPU its time.
  EXPECT_EQ(cpu.seconds[2], 3);
  EXPECT_EQ(gpu.seconds[2], 4);
}

/// The setting of a program in which every processor is usable.
template <class Cluster> cost::setting usable_on() {
  static constexpr std::array usable{true, true, true};
  auto s = cost::setting_of<sample::network, Cluster>;
  s.usable = usable;
  return s;
}
part::search_result best_with_gpus(const cost::setting& s, part::objective by) {
  part::request r;
  r.aim.best = by;
  return part::find_best(s, r);
}

TEST(gpus, get_layers_if_they_are_fast_and_have_the_memory) {
  const auto quick = best_with_gpus(usable_on<cluster<host<"g", with_gpu<1_GiB, 1_GiB>>>>(), part::objective::latency);
  ASSERT_EQ(quick.ranks.devices.size(), 1);
  EXPECT_EQ(quick.ranks.devices[0], 2);
  // A GPU that is too small for the whole network gets a part of it, or none.
  const auto s = usable_on<cluster<host<"g", with_gpu<1_GiB, 8000>>>>();
  const auto small = best_with_gpus(s, part::objective::latency);
  ASSERT_FALSE(small.empty());
  const auto memory = part::detail::planned_memory_of(s, cost::problem_of(s), small.stages, small.ranks);
  for (const auto& r : memory.ranks) EXPECT_LE(r.planned, s.cluster.processors[r.processor].memory);
  EXPECT_GT(small.expected.latency, quick.expected.latency);
}

// A board that is too small for what the ranks on CPU and GPU need together, but not for the CPU's.
TEST(gpus, leave_the_boards_memory_to_cpus) {
  const auto roomy = usable_on<cluster<host<"g", with_gpu<1_GiB, 1_GiB>>>>();
  const auto wanted = best_with_gpus(roomy, part::objective::throughput);
  std::int64_t on_cpus = 0, on_gpu = 0;
  for (const auto& r : part::detail::planned_memory_of(roomy, cost::problem_of(roomy), wanted.stages, wanted.ranks).ranks)
    (r.processor == 2 ? on_gpu : on_cpus) += r.planned;
  constexpr std::int64_t ram = 24'000;
  ASSERT_GT(on_gpu, 0);
  ASSERT_GT(on_cpus, 0);
  ASSERT_LE(on_cpus, ram);
  ASSERT_GT(on_cpus + on_gpu, ram);
  const auto found = best_with_gpus(usable_on<cluster<host<"g", with_gpu<ram, 1_GiB>>>>(), part::objective::throughput);
  EXPECT_EQ(found.rounds, 1);
  EXPECT_EQ(found.expected.throughput, wanted.expected.throughput);
}

}  // namespace
