// The time of a team's threads to begin and end a job together, and to meet in it: dice's own implementation and OpenMP's.
#include <dice/kernels/openmp/team.hpp>

#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdint>

namespace {

namespace team = dice::kernels::team;

const auto nothing = [](std::int64_t, std::int64_t) {};

void openmp_region(benchmark::State& state) {
  for (auto _ : state) {
#pragma omp parallel
    benchmark::ClobberMemory();
  }
}

void jobs(benchmark::State& state) {
  for (auto _ : state) team::run(team::available_threads(), nothing);
}

void kept_jobs(benchmark::State& state) {
  team::keep([](void* s) { jobs(*static_cast<benchmark::State*>(s)); }, &state);
}

constexpr std::int64_t meetings = 100;  ///< in each iteration

void openmp_barrier(benchmark::State& state) {
  for (auto _ : state) {
#pragma omp parallel
    for (std::int64_t i = 0; i < meetings; ++i) {
#pragma omp barrier
    }
  }
  state.SetItemsProcessed(state.iterations() * meetings);
}

void barrier(benchmark::State& state) {
  for (auto _ : state)
    team::run(team::available_threads(), [](std::int64_t, std::int64_t) {
      for (std::int64_t i = 0; i < meetings; ++i) team::barrier();
    });
  state.SetItemsProcessed(state.iterations() * meetings);
}

BENCHMARK(openmp_region)->UseRealTime();
BENCHMARK(jobs)->UseRealTime();
BENCHMARK(kept_jobs)->UseRealTime();
BENCHMARK(openmp_barrier)->UseRealTime();
BENCHMARK(barrier)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
