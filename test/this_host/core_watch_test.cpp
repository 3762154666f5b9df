// What the host says of a rank's cores, read from files like its own.
#include "dice/this_host/core_watch.hpp"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace dice;

namespace {

struct cores_of {
  cores_of() { std::filesystem::create_directories(root); }
  ~cores_of() { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  const std::filesystem::path root = std::filesystem::temp_directory_path() / ("dice_cores_" + std::to_string(::getpid()));
};

/// Of this process, in ns.
std::int64_t cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1'000'000'000LL + used.tv_nsec;
}

TEST(core_use, from_the_files_of_the_host) {
  const cores_of h;
  const auto hz = ::sysconf(_SC_CLK_TCK);
  const auto tell = [&](long times) {
    const auto n = [&](long value) { return std::to_string(value * times) + " "; };
    h.write("proc/self/task/7/schedstat", "5 " + n(900) + "1");
    h.write("proc/self/task/8/schedstat", "5 " + n(300) + "1");
    h.write("proc/thread-self/schedstat", "5 " + n(100) + "1");
    const auto cpu = n(hz) + n(hz) + n(hz) + n(50) + n(60) + n(70) + n(80) + n(2 * hz) + "0 0\n";
    h.write("proc/stat", "cpu  " + cpu + "cpu0 " + cpu + "cpu1 " + cpu + "cpu10 " + cpu + "intr 1 2 3\n");
    h.write("proc/self/cgroup", "12:cpu,cpuacct:/docker/x\n3:memory:/y\n4:cpuset:/z\n0::/of the/host\n");
    h.write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 3\nthrottled_time " + n(4000) + "\n");
    h.write("sys/fs/cgroup/cpuset/cpu.stat", "throttled_time " + n(1000000) + "\n");  // of another controller
    h.write("sys/fs/cgroup/of the/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec " + n(50) + "\n");
  };
  tell(1);
  const auto before = cpu_time(), begin = meta::now();
  const this_host::core_watch process({0, 10}, 3, true, h.root), thread({1}, 1, false, h.root);
  tell(3);
  h.write("proc/self/task/9/schedstat", "5 1000000 1");  // began during the run
  auto use = process.used();
  EXPECT_GT(use.time, 0);
  EXPECT_LE(use.time, meta::now() - begin);
  EXPECT_EQ(use.waited, 1800);
  EXPECT_EQ(use.busy, 2 * 3 * 2'000'000'000LL);
  EXPECT_EQ(use.stolen, 4'000'000'000LL);
  EXPECT_EQ(use.throttled, 100'000);
  EXPECT_GT(use.used, 0);
  EXPECT_LE(use.used, cpu_time() - before);
  EXPECT_EQ(use.process, ::getpid());
  EXPECT_EQ(use.threads, 3);
  EXPECT_EQ(use.cores, (std::vector<std::int64_t>{0, 10}));
  use = thread.used();
  EXPECT_EQ(use.waited, 200);
  EXPECT_EQ(use.busy, 3 * 2'000'000'000LL);
  // Nothing where the host says nothing.
  std::filesystem::remove_all(h.root);
  const this_host::core_watch silent({0}, 1, true, h.root);
  use = silent.used();
  EXPECT_EQ(use.waited + use.busy + use.stolen + use.throttled, 0);
}

}  // namespace
