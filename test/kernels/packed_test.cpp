// Checks convolutions' packed weights by sums: files of packed weights outlive the program that wrote them.
#include "dice/kernels/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using tensor::shape;

struct kind {
  const char* name;
  ops::conv op;
  shape in;
  int variant;  ///< the size of Winograd's algorithm, 0: direct
  std::int64_t bytes;
  double sum;  ///< of the packed numbers, each multiplied by a random one
};

// If a sum differs, increase algorithm::packed_form, and copy the numbers that the test prints, and that form, to here.
constexpr int expected_form = 1;
constexpr kind kinds[] = {
    {"direct", {.channels = 37, .kernel = {3, 3}, .bias = true}, {1, 20, 9, 9}, 0, 34752, 9.18602126425},
    {"direct 1x1", {.channels = 40, .kernel = {1, 1}, .bias = true}, {1, 33, 9, 9}, 0, 6528, 2.62934223892},
    {"direct, groups", {.channels = 24, .kernel = {3, 3}, .group = 2}, {1, 40, 9, 9}, 0, 46208, 14.9805839888},
    {"depthwise", {.channels = 20, .kernel = {3, 3}, .group = 20, .bias = true}, {1, 20, 9, 9}, 0, 1280, -1.38903297849},
    {"first layer",
     {.channels = 20, .kernel = {7, 7}, .strides = {2, 2}, .bias = true},
     {1, 3, 19, 19},
     0,
     18944,
     -5.45658137431},
    {"Winograd 3x3", {.channels = 37, .kernel = {3, 3}, .bias = true}, {1, 20, 9, 9}, 1, 61632, 47.7931567018},
    {"Winograd 3x3", {.channels = 37, .kernel = {3, 3}, .bias = true}, {1, 20, 9, 9}, 2, 138432, -50.5620424376},
    {"Winograd 3x3", {.channels = 37, .kernel = {3, 3}, .bias = true}, {1, 20, 9, 9}, 3, 245952, -12.4177375557},
    {"Winograd 5x5", {.channels = 20, .kernel = {5, 5}, .bias = true}, {1, 20, 9, 9}, 1, 92288, -20.7106208699},
    {"Winograd 1x3", {.channels = 20, .kernel = {1, 3}, .bias = true}, {1, 20, 9, 9}, 1, 15488, -5.36155375699},
    {"Winograd 3x1", {.channels = 20, .kernel = {3, 1}, .bias = true}, {1, 20, 9, 9}, 1, 15488, -5.36155375699},
    {"Winograd 1x7", {.channels = 20, .kernel = {1, 7}, .bias = true}, {1, 20, 9, 9}, 1, 20608, -7.85939261393},
    {"Winograd 7x1", {.channels = 20, .kernel = {7, 1}, .bias = true}, {1, 20, 9, 9}, 1, 20608, -7.85939261393},
};

void check(const kind& k) {
  const graph::shapes in(&k.in, 1);
  const auto result = graph::infer(k.op, in);
  const auto how = algorithm::variant_openmp(k.op, in, result, k.variant);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1, 1);
  const auto random = [&](std::int64_t n) {
    std::vector<float> out(static_cast<std::size_t>(n));
    for (auto& x : out) x = values(engine);
    return out;
  };
  const auto bytes = how.packed_bytes;
  const auto weights = random(k.op.channels * k.in[1] / k.op.group * k.op.kernel[0] * k.op.kernel[1]);
  const auto bias = random(k.op.channels);
  const std::vector<const void*> from{weights.data(), bias.data()};
  std::vector<float> packed(static_cast<std::size_t>(bytes / 4), 7.0f);
  kernels::functions_for(kernels::openmp::backend{}, k.op, in, result)
      .pack({.op = &k.op, .inputs = in, .result = result, .how = how}, from, reinterpret_cast<std::byte*>(packed.data()));
  double sum = 0, magnitude = 0;
  for (const double x : packed) {
    const double part = x * values(engine);
    sum += part, magnitude += std::abs(part);
  }
  // The instruction set may change only the rounding.
  EXPECT_TRUE(bytes == k.bytes && std::abs(sum - k.sum) <= 1e-6 * magnitude)
      << k.name << ": " << k.variant << ", " << bytes << ", " << std::setprecision(12) << sum;
}

TEST(packed, is_of_the_form_that_its_number_says) {
  EXPECT_EQ(algorithm::packed_form, expected_form) << "the numbers above are those of another form";
  for (const auto& k : kinds) check(k);
}

TEST(packed, all_sizes_of_winograd_are_watched) {
  for (int h = 1; h <= 9; ++h)
    for (int w = 1; w <= 9; ++w) {
      const ops::conv op{.channels = 32, .kernel = {h, w}};
      for (int size = 1; size <= algorithm::winograd::sizes(op, {1, 32, 32, 32}); ++size)
        EXPECT_TRUE(std::any_of(std::begin(kinds), std::end(kinds),
                                [&](const kind& k) { return k.op.kernel == op.kernel && k.variant == size; }))
            << h << 'x' << w << ", size " << size;
    }
}

}  // namespace
