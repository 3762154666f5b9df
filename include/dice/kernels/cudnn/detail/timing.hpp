#pragma once

#include "dice/kernels/cudnn/detail/recorded.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace dice::kernels::cudnn {

/// The least of `times` times that run() takes on the stream, in milliseconds. Throws std::runtime_error.
template <class Run> float fastest_of(int times, const setting& on, const Run& run) {
  event begin, end;
  on.check(cudaEventCreate(begin.put()), "measure kernels");
  on.check(cudaEventCreate(end.put()), "measure kernels");
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < times; ++i) {
    on.check(cudaEventRecord(begin.get(), on.stream), "measure kernels");
    run();
    on.check(cudaEventRecord(end.get(), on.stream), "measure kernels");
    on.check(cudaEventSynchronize(end.get()), "compute");
    float ms = 0;
    on.check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "measure kernels");
    least = std::min(least, ms);
  }
  return least;
}

/// The milliseconds that the work enqueued by run() takes in a graph, as in a job; short work is repeated ten times, since
/// otherwise the host's time to enqueue it would be measured. Throws std::runtime_error, also if it cannot be recorded.
template <class Run> float time_of(setting& on, const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    run();
    on.check(cudaStreamSynchronize(on.stream), "compute");
  } while (!on.awake && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100));
  on.awake = true;
  const int repeats = fastest_of(1, on, run) < 0.1f ? 10 : 1;
  const auto job = recorded(on, repeats, run);
  const auto launch = [&] { on.check(cudaGraphLaunch(job.get(), on.stream), "compute"); };
  return fastest_of(3, on, launch) / static_cast<float>(repeats);
}

}  // namespace dice::kernels::cudnn
