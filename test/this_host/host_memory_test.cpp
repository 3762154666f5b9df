// What a host's files say about its memory.
#include "dice/this_host/host_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

using namespace dice;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kib = 1024, gib = kib * kib * kib;

struct host {
  fs::path root = "/tmp/dice_host_" + std::to_string(::getpid());
  ~host() { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
};

}  // namespace

TEST(host_memory, of_meminfo) {
  const host at;
  EXPECT_EQ(this_host::memory_of_host(at.root).available, std::numeric_limits<std::int64_t>::max());
  at.write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          100 kB\nMemAvailable:    4194304 kB\n");
  const auto found = this_host::memory_of_host(at.root);
  EXPECT_EQ(found.total, 8 * gib);
  EXPECT_EQ(found.available, 4 * gib);
  EXPECT_FALSE(found.limited);
  const auto real = this_host::memory_of_host();
  EXPECT_GT(real.available, 0);
  EXPECT_LE(real.available, real.total);
}

TEST(host_memory, of_control_groups) {
  const host at;
  at.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n");
  at.write("proc/self/cgroup", "0::/a/b\n");
  at.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(this_host::memory_of_host(at.root).total, 8 * gib);
  at.write("sys/fs/cgroup/a/memory.max", std::to_string(3 * gib));  // of the group above
  at.write("sys/fs/cgroup/a/memory.current", std::to_string(2 * gib));
  at.write("sys/fs/cgroup/a/memory.stat", "anon 1\nfile 99\ninactive_file " + std::to_string(gib / 2) + "\n");
  auto found = this_host::memory_of_host(at.root);
  EXPECT_EQ(found.total, 3 * gib);
  EXPECT_EQ(found.available, gib + gib / 2);
  EXPECT_TRUE(found.limited);
  for (const auto used : {gib / 4, 5 * gib}) {  // less than its cached files; more than its limit, which was lowered
    at.write("sys/fs/cgroup/a/memory.current", std::to_string(used));
    found = this_host::memory_of_host(at.root);
    EXPECT_EQ(found.available, used < gib ? 3 * gib : -gib - gib / 2);
  }
  EXPECT_NE(this_host::judge_memory(gib, found).warning.find("only 0 GiB of 3 GiB"), std::string::npos);
  // cgroup v1, in a container that sees only the topmost folder.
  fs::remove_all(at.root / "sys");
  at.write("proc/self/cgroup", "5:cpu:/x\n4:memory:/on/the/host\n");
  at.write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(2 * gib));
  at.write("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(gib));
  found = this_host::memory_of_host(at.root);
  EXPECT_EQ(found.total, 2 * gib);
  EXPECT_EQ(found.available, gib);
  at.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");  // none
  EXPECT_FALSE(this_host::memory_of_host(at.root).limited);
  EXPECT_FALSE(this_host::memory_of_host(at.root).shared);
  fs::remove(at.root / "proc/meminfo");
  EXPECT_EQ(this_host::memory_of_host(at.root).total, std::numeric_limits<std::int64_t>::max());
}

TEST(host_memory, of_a_group_with_a_larger_limit_but_less_room) {
  const host at;
  at.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n");
  at.write("proc/self/cgroup", "0::/a/b\n");
  at.write("sys/fs/cgroup/a/b/memory.max", std::to_string(2 * gib));
  at.write("sys/fs/cgroup/a/b/memory.current", "0");
  at.write("sys/fs/cgroup/a/memory.max", std::to_string(4 * gib));  // shared with others, who use most of it
  at.write("sys/fs/cgroup/a/memory.current", std::to_string(3 * gib));
  auto found = this_host::memory_of_host(at.root);
  EXPECT_EQ(found.total, 2 * gib);
  EXPECT_EQ(found.available, gib);
  EXPECT_TRUE(found.limited);
  for (const auto limit : {8 * gib, 16 * gib}) {  // no less than the host has
    at.write("sys/fs/cgroup/a/b/memory.max", "max");
    at.write("sys/fs/cgroup/a/memory.max", std::to_string(limit));
    at.write("sys/fs/cgroup/a/memory.current", std::to_string(limit - gib));
    found = this_host::memory_of_host(at.root);
    EXPECT_EQ(found.total, 8 * gib);
    EXPECT_EQ(found.available, gib);
    EXPECT_FALSE(found.limited);
    EXPECT_NE(
        this_host::judge_memory(2 * gib, found).warning.find("only 1 GiB of 8 GiB are available to its control group;"),
        std::string::npos);
  }
}

TEST(host_memory, judged) {
  const this_host::host_memory host{4 * gib, 2 * gib, true};
  EXPECT_EQ(this_host::judge_memory(2 * gib, host).error + this_host::judge_memory(2 * gib, host).warning, "");
  EXPECT_NE(this_host::judge_memory(3 * gib, host).warning.find("plan 3 GiB of memory, but only 2 GiB of 4 GiB (the limit"),
            std::string::npos);
  EXPECT_EQ(this_host::judge_memory(3 * gib, host).error, "");
  EXPECT_EQ(this_host::judge_memory(4 * gib, host).error, "");
  EXPECT_NE(this_host::judge_memory(4 * gib, host).warning, "");
  EXPECT_EQ(this_host::judge_memory(3 * gib, {4 * gib, 2 * gib, true, true}).warning.find("available to"),
            std::string::npos);
  EXPECT_NE(this_host::judge_memory(5 * gib, host).error.find("(--in-flight)"), std::string::npos);
  const auto of_engine = this_host::judge_memory(5 * gib, host, true).error;
  EXPECT_EQ(of_engine.find("--"), std::string::npos) << of_engine;
  EXPECT_NE(of_engine.find("(engine_options::in_flight), or use more hosts"), std::string::npos) << of_engine;
  EXPECT_NE(this_host::judge_memory(5 * gib, host).error.find("plan 5 GiB of memory, but it has 4 GiB (the limit of its"),
            std::string::npos);
}
