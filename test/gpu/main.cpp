// Tests that need a GPU: without one they say why and are skipped.
#include "gpu/bench.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!GTEST_FLAG_GET(list_tests)) try {
      harness::gpu_bench::get();
    } catch (const std::exception& e) {
      std::printf("skipped: %s\n", e.what());
      return 77;
    }
  return RUN_ALL_TESTS();
}
