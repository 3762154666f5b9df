// How long a rank polls before it sleeps, and how long it sleeps then.
#include "dice/channels/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

using namespace dice::channels;

TEST(patience, polls_then_sleeps_longer_and_longer) {
  using from = patience::source;
  struct {
    from what;
    int polls;
    std::int64_t longest;
  } const all[]{{from::accelerator, 600, 50'000}, {from::neighbour, 600, 1'000'000}, {from::network, 20, 1'000'000}};
  for (const auto& one : all) {
    patience p(one.what);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int64_t> naps;
      const auto sleep = [&](std::int64_t time) {
        naps.push_back(time);
        std::this_thread::sleep_for(std::chrono::milliseconds(naps.size() == 2 ? 30 : 2));
      };
      for (int i = 0; i < one.polls; ++i) p.pause(sleep);
      EXPECT_TRUE(naps.empty());
      for (int i = 0; i < 3; ++i) p.pause(sleep);
      ASSERT_EQ(naps.size(), 3u);
      EXPECT_EQ(naps[0], 5'000);
      EXPECT_GE(naps[1], std::min<std::int64_t>(one.longest, 2'000'000 / 16));
      EXPECT_EQ(naps[2], one.longest);
      p.reset();
    }
  }
}
