// Pictures that are drawn in a thread of their own.
#include "dice/app/output/drawn_pictures.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <semaphore>
#include <string>
#include <thread>

using namespace dice;
namespace fs = std::filesystem;

namespace {

/// Pictures in a folder, each of which is made once go() allows it.
struct drawn {
  fs::path path = fs::temp_directory_path() / ("dice_drawn_" + std::to_string(::getpid()));
  std::counting_semaphore<> may{0};
  std::atomic<int> begun{0}, changes{0};
  app::drawn_pictures pictures;

  explicit drawn(bool all) : pictures({.file = [this](std::int64_t f) { return file(f); }, .all = all}) {
    fs::remove_all(path);
    fs::create_directory(path);
    pictures.on_change([this] { ++changes; });
  }
  ~drawn() {
    go(99);
    fs::remove_all(path);
  }
  std::string file(std::int64_t frame) const { return (path / (std::to_string(frame) + ".png")).string(); }
  void go(int more) { may.release(more); }
  void draw(std::int64_t frame) {
    pictures.keep(frame, [this] {
      ++begun;
      may.acquire();
      return app::rgb_picture(4, 4);
    });
    pictures.draw(frame, {});
  }
};

/// Whether it becomes true within 10 s.
template <class F> bool soon(F f) {
  for (int i = 0; i < 10'000 && !f(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return f();
}

}  // namespace

TEST(drawn_pictures, are_all_drawn_and_frames_wait_for_them) {
  drawn all(true);
  all.draw(0);
  EXPECT_TRUE(all.pictures.ready());
  all.draw(1);
  all.draw(2);
  EXPECT_FALSE(all.pictures.ready());
  all.go(1);
  EXPECT_TRUE(soon([&] { return all.pictures.ready(); }));
  EXPECT_TRUE(soon([&] { return all.changes > 0; })) << "whoever waits hears of it";
  all.go(2);
  EXPECT_EQ(all.pictures.finish(), 0);
  for (int f = 0; f < 3; ++f) EXPECT_TRUE(fs::exists(all.file(f))) << f;
}

TEST(drawn_pictures, are_left_out_if_newer_ones_come) {
  drawn live(false);
  live.draw(0);
  ASSERT_TRUE(soon([&] { return live.begun == 1; }));
  for (int f = 1; f < 4; ++f) {
    live.draw(f);
    EXPECT_TRUE(live.pictures.ready()) << "no frame waits";
  }
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    live.go(2);
  });
  EXPECT_EQ(live.pictures.finish(), 2);
  for (int f = 0; f < 4; ++f) EXPECT_EQ(fs::exists(live.file(f)), f == 0 || f == 3) << f;
}

TEST(drawn_pictures, are_waited_for_while_the_last_is_drawn) {
  drawn one(false);
  one.draw(0);
  ASSERT_TRUE(soon([&] { return one.begun == 1; }));
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    one.go(1);
  });
  EXPECT_EQ(one.pictures.finish(), 0);
  EXPECT_TRUE(fs::exists(one.file(0)));
}
