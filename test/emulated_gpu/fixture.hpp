// What tests on the emulated GPU share: numbers in its memory, and a check for leaks.
#pragma once

#include "emulated.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace emulated {

inline std::vector<float> noise(std::int64_t n, unsigned seed = 1, float low = -1, float high = 1) {
  std::minstd_rand rng(seed);
  std::vector<float> out(static_cast<std::size_t>(n));
  for (auto& x : out) x = low + (high - low) * static_cast<float>(rng() % 10007) / 10006.0f;
  return out;
}

/// Floats in the GPU's memory, `skip` floats after the start of an allocation; NaN unless something was put there.
class numbers {
 public:
  explicit numbers(std::int64_t n, int skip = 0) : n_(static_cast<std::size_t>(n)), skip_(skip) {
    EXPECT_EQ(cudaMalloc(&memory_, (n_ + static_cast<std::size_t>(skip)) * sizeof(float)), cudaSuccess);
  }
  explicit numbers(const std::vector<float>& from, int skip = 0) : numbers(static_cast<std::int64_t>(from.size()), skip) {
    EXPECT_EQ(cudaMemcpy(at(), from.data(), n_ * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  }
  numbers(const numbers&) = delete;
  ~numbers() { cudaFree(memory_); }
  float* at() const { return static_cast<float*>(memory_) + skip_; }
  std::vector<float> get() const {
    std::vector<float> out(n_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(out.data(), at(), n_ * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }

 private:
  void* memory_ = nullptr;
  std::size_t n_;
  int skip_;
};

inline void expect_near(const std::vector<float>& found, const std::vector<float>& expected, float tolerance = 1e-5f) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "at " << i;  // NaN is never near
}

class gpu_test : public ::testing::Test {
 protected:
  void SetUp() override {
    reset();
    before_ = alive();
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    cudaStreamDestroy(stream);
    EXPECT_EQ(alive(), before_) << "something was not given back";
    reset();
  }
  cudaStream_t stream = nullptr;

 private:
  std::size_t before_ = 0;
};

}  // namespace emulated
