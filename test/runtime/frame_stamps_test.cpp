// Stamps of frames over an endpoint whose messages move when the test says so, and in a run of several ranks.
#include "dice/runtime/control/frame_stamps.hpp"

#include "manual_endpoint.hpp"
#include "toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dice;
using kind = runtime::letter::kind;

constexpr std::int64_t second = 1'000'000'000;

/// Rank 0's stamps for rank 1, which gives it credits.
const std::vector<runtime::letter_path> stamp_paths{test::letters(0, 1, kind::stamp, 2, 2),
                                                    test::letters(1, 0, kind::credit, 2, 2)};

struct stamped_rank {
  test::manual end;
  runtime::mailbox box;
  runtime::credits left{box};
  runtime::frame_stamps stamps;

  explicit stamped_rank(int rank) : box(stamp_paths, 0, rank, end), stamps(box, left, rank, 0, 2) {
    stamps.turn(true);
    box.advance();
  }
};

/// Stamps of its own, and those that sinks see.
struct stamping final : frames::source {
  void fill(int, std::int64_t frame, std::byte* to, const tensor::type& as) override {
    std::fill_n(frames::floats(to, as), as.elements(), static_cast<float>(frame));
  }
  frames::frame_stamp stamp(int layer, std::int64_t frame) override {
    return {1000 * layer + frame, meta::now(), 3 * frame};
  }
};
struct seeing final : frames::sink {
  std::vector<frames::frame_stamp> stamps;
  void stamp(std::int64_t frame, const frames::frame_stamp& when) override {
    EXPECT_EQ(frame, static_cast<std::int64_t>(stamps.size()));
    stamps.push_back(when);
  }
  void take(int, std::int64_t, const std::byte*, const tensor::type&) override {}
};

}  // namespace

TEST(shortest_delay, of_the_last_seconds) {
  runtime::shortest_delay d;
  EXPECT_EQ(d.shortest(), runtime::shortest_delay::unknown);
  d.add(50, 100 * second);
  d.add(30, 101 * second);
  d.add(40, 102 * second);
  EXPECT_EQ(d.shortest(), 30);
  d.add(45, 111 * second);
  EXPECT_EQ(d.shortest(), 30) << "ten seconds are not over for long";
  d.add(44, 122 * second);
  EXPECT_EQ(d.shortest(), 44) << "30 is forgotten";
  d.add(60, 150 * second);
  EXPECT_EQ(d.shortest(), 60) << "nothing came for a while";
}

TEST(frame_stamps, go_to_ranks_with_outputs) {
  stamped_rank r(0);
  EXPECT_TRUE(r.stamps.makes(0));
  EXPECT_TRUE(r.stamps.known(0)) << "a segment may let a frame enter and leave";
  r.stamps.put(0, {5, 6, 7});
  EXPECT_FALSE(r.stamps.makes(0)) << "another input has stamped it";
  EXPECT_TRUE(r.stamps.makes(1));
  r.stamps.put(1, {8, 9, 10});
  ASSERT_EQ(r.end.sends.size(), 2u);
  const auto first = r.end.take(), next = r.end.take();
  EXPECT_EQ(first.is, kind::stamp);
  EXPECT_TRUE(first.says[0] == 0 && first.says[1] == 5 && first.says[2] == 6 && first.says[3] == 7);
  EXPECT_TRUE(next.says[0] == 1 && next.says[3] == 10);
  EXPECT_EQ(first.says[5], runtime::shortest_delay::unknown);
  EXPECT_EQ(r.stamps.of(1).steady, 9) << "by its own clock";
  r.end.give(1, kind::credit, {meta::now() - second});
  r.box.advance();
  r.stamps.put(2, {});
  EXPECT_NEAR(static_cast<double>(r.end.take().says[5]), 1e9, 1e8) << "what the credit seemed to take";
}

TEST(frame_stamps, wait_for_room) {
  stamped_rank r(0);
  r.stamps.put(5, {50, 51, 52});  // the first one that is stamped
  r.stamps.put(6, {60, 61, 62});
  ASSERT_EQ(r.end.sends.size(), 2u);
  r.stamps.put(7, {70, 71, 72});
  ASSERT_EQ(r.end.sends.size(), 2u) << "both slots are in use";
  r.stamps.advance();
  ASSERT_EQ(r.end.sends.size(), 2u);
  EXPECT_EQ(r.end.take().says[0], 5);
  r.stamps.advance();
  ASSERT_EQ(r.end.sends.size(), 2u);
  EXPECT_EQ(r.end.take().says[0], 6);
  EXPECT_EQ(r.end.take().says[1], 70);
}

TEST(frame_stamps, are_known_when_their_letter_has_come) {
  stamped_rank r(1);
  EXPECT_FALSE(r.stamps.makes(0));
  EXPECT_FALSE(r.stamps.known(0));
  // The other clock is 100 s ahead; letters take 1 s each way.
  const auto letter = [&](std::int64_t frame, std::int64_t back) {
    const auto there = meta::now() - second + 100 * second;
    r.end.give(0, kind::stamp, {frame, 77, there, 4 * frame, there, back});
    r.box.advance();
  };
  letter(0, runtime::shortest_delay::unknown);
  ASSERT_TRUE(r.stamps.known(0));
  EXPECT_FALSE(r.stamps.known(1));
  const auto age = [&](std::int64_t frame) { return static_cast<double>(meta::now() - r.stamps.of(frame).steady) * 1e-9; };
  EXPECT_NEAR(age(0), 0, 0.2) << "as if letters took no time";
  letter(1, 101 * second);
  EXPECT_NEAR(age(1), 1, 0.2);
  EXPECT_EQ(r.stamps.of(1).time, 77);
  EXPECT_EQ(r.stamps.of(1).number, 4);
  r.stamps.turn(false);
  EXPECT_TRUE(r.stamps.known(50)) << "nobody waits for a stamp that is not made";
}

TEST(frame_stamps, of_a_run) {
  toy::program toy(toy::diamond(), {0, 0, 0, 1, 1, 1, 2, 2, 2, 2}, 3);
  const auto p = toy.view();
  const std::string file = "/tmp/dice_stamps_" + std::to_string(::getpid()) + ".safetensors";
  toy.write_weights(file);
  channels::in_process::hub hub(p.ranks());
  std::vector<seeing> seen(static_cast<std::size_t>(p.ranks()));
  const auto before = meta::now();
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator ranks(hub, r);
      const weights::file w(file, p.network, p.weights);
      const runtime::needed_weights needed(p, r);
      const weights::store store(w, needed.items());
      const auto end = ranks.connect(runtime::paths_of(p.plan, 3));
      runtime::executor e(p, r, {store, needed.of_plan(0)}, *end, 3);
      stamping in;
      runtime::figures f;
      e.run(4, &in, nullptr, f);  // without stamps
      e.stamp_frames(true);
      e.run(20, &in, &seen[static_cast<std::size_t>(r)], f);
      end->settle();
    });
  for (auto& t : threads) t.join();
  ::unlink(file.c_str());
  EXPECT_TRUE(seen[0].stamps.empty() && seen[1].stamps.empty());
  const auto after = meta::now();
  ASSERT_EQ(seen[2].stamps.size(), 20u);
  for (std::int64_t f = 0; f < 20; ++f) {
    const auto& s = seen[2].stamps[static_cast<std::size_t>(f)];
    EXPECT_TRUE(s.time % 1000 == f && s.number == 3 * f);
    EXPECT_GT(s.steady, before - second / 10);
    EXPECT_LT(s.steady, after + second / 10);
  }
}
