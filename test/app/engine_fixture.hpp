// What tests of engines without their types begin with.
#pragma once

#include "runtime/toy.hpp"

#include "dice/job/stream_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace engine_tests {

using dice::job::stream_job;

/// A toy network on the ranks `owner`, and calls of its engines.
struct fixture {
  explicit fixture(std::vector<int> owner, toy::network net = toy::diamond(), int in_flight = 4)
      : toy(std::move(net), std::move(owner), in_flight), program(toy.view()) {
    options.weights = "/tmp/dice_engine_" + std::to_string(::getpid()) + ".safetensors";
    options.by = dice::job::transport::in_process;
    toy.write_weights(options.weights);
    toy::failing_after = -1;
    toy::jitter = 0;
  }
  ~fixture() { ::unlink(options.weights.c_str()); }

  /// Pushes a frame that `frame` writes.
  static bool write(stream_job& job, int layer, stream_job::writer frame,
                    dice::frames::deadline until = dice::frames::never) {
    return job.push(
        layer, [&] { return std::move(frame); }, until);
  }
  static bool push(stream_job& job, int layer, std::int64_t frame, dice::frames::deadline until = dice::frames::never) {
    return write(
        job, layer,
        [=](float* to, std::int64_t n) {
          const auto from = toy::frame(layer, frame);
          std::copy(from.begin(), from.begin() + n, to);
        },
        until);
  }
  static bool take(stream_job& job, int layer, dice::frames::tensor& into) {
    return job.take(layer, into, dice::frames::never);
  }
  /// The expected numbers of output `layer`.
  toy::values expected(int layer, std::int64_t frame, int inputs = 1) const {
    std::map<int, toy::values> in;
    for (int i = 0; i < inputs; ++i) in[i] = toy::frame(i, frame);
    return toy.compute(in).at(layer);
  }
  static toy::values numbers(const dice::frames::tensor& t) { return {t.begin(), t.end()}; }

  toy::program toy;
  dice::runtime::program program;
  dice::engine_options options;
};

inline const std::vector<std::vector<int>> placements{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                                      {0, 0, 1, 1, 0, 1, 2, 2, 2, 2},
                                                      {0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                                                      {3, 2, 1, 0, 1, 2, 3, 0, 1, 2}};

}  // namespace engine_tests
