// What keeps programs from running on hosts, and what deploy and a job's start make of it.
#include "suitability.hpp"
#include "answering_hosts.hpp"
#include "deploy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdlib.h>
#include <sys/utsname.h>

namespace dice_run {
namespace {

host_facts that_says(const std::string& printed) {
  host_facts out;
  read_facts(printed, {}, out);
  return out;
}
words obstacles(const std::string& printed) { return obstacles_on(that_says(printed), "/f", false); }

const std::string needs_64 = ", and programs need a 64-bit one; install that, such as Raspberry Pi OS (64-bit)";

TEST(Suitability, ASystemMayHaveFewerBitsThanItsKernel) {
  const std::string kernel = "architecture aarch64\n", but = ", although its kernel is 64-bit" + needs_64;
  EXPECT_EQ(obstacles(kernel + "bits 64\ndebian arm64\nloader ld-linux-aarch64.so.1\n"), words());
  EXPECT_EQ(obstacles(kernel + "bits 32\ndebian armhf\nloader ld-linux-armhf.so.3\n"),
            words{"its system is 32-bit (armhf)" + but});
  EXPECT_EQ(obstacles(kernel + "bits 32\ndebian \n"), words{"its system is 32-bit" + but});
  EXPECT_EQ(obstacles("architecture armv7l\nbits 32\ndebian \n"), words{"its system is 32-bit" + needs_64});
  // One of the three may be missing, or two.
  EXPECT_EQ(obstacles(kernel + "bits \ndebian armhf\n"), words{"its system is 32-bit (armhf)" + but});
  EXPECT_EQ(obstacles(kernel + "bits undefined\ndebian arm64\nloader ld-linux-armhf.so.3\n"), words());
  EXPECT_EQ(obstacles(kernel + "bits \ndebian \nloader ld-linux-armhf.so.3\n"), words{"its system is 32-bit" + but});
  EXPECT_EQ(obstacles(kernel + "bits \ndebian \nloader ld-linux-armhf.so.3\nloader ld-linux-aarch64.so.1\n"), words());
  EXPECT_EQ(obstacles("architecture x86_64\nbits \ndebian \nloader ld-linux.so.2\nloader ld-linux-x86-64.so.2\n"), words());
  EXPECT_EQ(obstacles(kernel + "bits \ndebian \n"), words());  // not known
}

TEST(Suitability, ProgramsDoNotRunWhereTheirFileSystemIsMountedNoexec) {
  const std::string why = "programs cannot run in /f, because its file system is mounted noexec; choose another folder ";
  EXPECT_EQ(obstacles("mount rw,nosuid,noexec\n"), words{why + "with --to"});
  EXPECT_EQ(obstacles_on(that_says("mount noexec,rw"), "/f", true), words{why + "as FOLDER of dice_add_deployment"});
  EXPECT_EQ(obstacles("mount rw,x-noexecutive\n"), words());
  EXPECT_EQ(obstacles("mount rw,noexec\nmount rw\n"), words());  // another was mounted over it
}

TEST(Suitability, AProgramNeedsInstructionsAndGlibc) {
  utsname here{};
  ::uname(&here);
  const std::string toolchain = std::string_view(here.machine) == "aarch64" ? "" : " TOOLCHAIN aarch64-linux-gnu.cmake";
  package p;
  p.board = "x86";
  p.processor = "x86_64";
  p.instructions = {"sse3", "sse4.1", "lzcnt", "avx2", "fma"};
  p.glibc = "2.9";
  const std::string pc = "architecture x86_64\ncpuinfo model name : Celeron\nlibc glibc 2.36\n",
                    old = "flags flags : pni sse4_1 ssse3 sse4_2 cx16 lahf_lm popcnt fma\n";
  EXPECT_EQ(obstacles_for(that_says(pc + "flags flags : pni sse4_1 abm avx2 fma\n"), p), words());
  EXPECT_EQ(obstacles_for(that_says(pc + old), p),
            words{"its CPU (Celeron) lacks lzcnt, avx2, which its program needs; let CMakeLists.txt have dice_add_board(x86 "
                  "DICE_BOARD x86-64-v2), and build the packages again"});
  EXPECT_EQ(obstacles_for(that_says(pc), p), words());  // its flags are not known
  EXPECT_EQ(obstacles_for(that_says("architecture aarch64\nflags Features : fp\nlibc glibc 2.1"), p),
            words{"its processor is aarch64, and its package is for x86_64: take another board for this host in the plan"});
  p.board = "raspberry_pi_5";
  p.processor = "aarch64";
  p.instructions = {"crc", "lse", "dotprod"};
  EXPECT_EQ(
      obstacles_for(
          that_says(
              "architecture aarch64\nflags Features : fp crc32 \ncpuinfo processor : 0\ncpuinfo CPU implementer : 0x41\n"
              "cpuinfo CPU part : 0xd08\ncore 0 - -\n"),
          p),
      words{"its CPU (Cortex-A72) lacks lse, dotprod, which its program needs; let CMakeLists.txt have "
            "dice_add_board(raspberry_pi_5 DICE_BOARD -mcpu=cortex-a72" +
            toolchain + "), and build the packages again"});
}

TEST(Suitability, NamesOfInstructionsAreThoseOfTheKernel) {
  package p;
  p.instructions = {
      "sse4.2",     "sahf",       "bmi",     "avx512f", "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq",
      "avx512bf16", "avx512fp16", "avxvnni", "gfni",    "lse",         "fp16",       "rdma",         "rcpc",
      "dotprod",    "fp16fml",    "sve"};
  EXPECT_EQ(obstacles_for(
                that_says("flags x : sse4_2 lahf_lm bmi1 avx512f avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq "
                          "avx512_bf16 avx512_fp16 avx_vnni gfni atomics fphp asimdrdm lrcpc asimddp asimdfhm sve"),
                p),
            words());
}

TEST(Suitability, GlibcIsComparedByNumbers) {
  package p;
  p.glibc = "2.9";
  for (const char* has : {"libc glibc 2.9", "libc glibc 2.31", "libc ldd (Debian GLIBC 2.36-9+deb12u10) 2.36", "libc ", "x"})
    EXPECT_EQ(obstacles_for(that_says(has), p), words()) << has;
  const std::string remedy =
      "; install a newer system there, or build the packages for its system (docs/building.md, Which systems fit)";
  EXPECT_EQ(obstacles_for(that_says("libc glibc 2.8.90"), p),
            words{"it has glibc 2.8.90, and its program needs 2.9 or newer" + remedy});
  p.glibc = "2.38";
  EXPECT_EQ(obstacles_for(that_says("libc ldd (Debian GLIBC 2.31-13) 2.31"), p),
            words{"it has glibc 2.31, and its program needs 2.38 or newer" + remedy});
  const words musl{"its C library is musl, and its program needs glibc; install a system with glibc there, such as Debian"};
  EXPECT_EQ(obstacles_for(that_says("libc musl libc (x86_64)"), p), musl);
  EXPECT_EQ(obstacles_for(that_says("libc \nloader ld-musl-x86_64.so.1"), p), musl);
  EXPECT_EQ(obstacles_for(that_says("libc glibc 2.40\nloader ld-musl-x86_64.so.1"), p), words());  // it has both
  p.glibc = "";  // an old package, or one for musl
  EXPECT_EQ(obstacles_for(that_says("libc musl libc (x86_64)"), p), words());
}

TEST(Suitability, DeployRefusesBeforeItChangesAnything) {
  conversation c;
  c.answers["facts b"] = {says("bits 32\ndebian armhf\nmount rw,noexec\narchitecture other\n")};
  c.answers["facts a"] = {says("architecture other\n")};
  EXPECT_EQ(
      said_by(c, plan_of({"b", "a", "c"}), [](const site& s) { return deploy(s, {}); }),
      (words{
          "error: b: its system is 32-bit (armhf)" + needs_64,
          "error: b: programs cannot run in /f, because its file system is mounted noexec; choose another folder with --to",
          "error: a: its processor is other, and its package is for cpu-of-a: take another board for this host in the plan",
          "error: nothing was changed on any host"}));
  EXPECT_EQ(c.asked, (words{"facts b", "facts a", "facts c"}));
}

/// What a start on b says, or on `starter`, and its options at the end.
words options_of(conversation& c, const char* given = nullptr, const std::string& starter = "b") {
  if (given != nullptr) ::setenv("MPIRUN_OPTIONS", given, 1);
  std::string options;
  auto out = said_by(c, plan_of({"b", "a"}), [&](const site& s) {
    options = mpirun_options(s, s.plan, starter);
    return 0;
  });
  ::unsetenv("MPIRUN_OPTIONS");
  out.push_back(options);
  return out;
}

TEST(Suitability, JobsUseNetworksInWhichAllHostsHaveTheirOwnAddresses) {
  const std::string docker = "network docker0 172.17.0.1/16\nmpirun mpirun (Open MPI) ";
  conversation c;
  c.answers["facts b"] = {says(docker + "5.0.7\nnetwork eth0 10.0.0.1/24\n")};
  c.answers["facts a"] = {says(docker + "4.1.4\nnetwork eth0 10.0.0.2/24\nnetworks chosen\n")};  // for its own jobs
  const std::string note = "note: b, a have the address 172.17.0.1 (docker0); the job uses only 10.0.0.0/24",
                    options = "--mca btl_tcp_if_include 10.0.0.0/24 --prtemca prte_if_include 10.0.0.0/24";
  EXPECT_EQ(options_of(c), (words{note, options}));
  EXPECT_EQ(options_of(c, "--mca a b"), (words{note, "--mca a b " + options}));
  for (const char* chosen : {"--mca btl_tcp_if_include eth0", "--mca oob_tcp_if_exclude docker0"})
    EXPECT_EQ(options_of(c, chosen), words{chosen});
  c.answers["facts b"][0].out += "networks chosen\n";
  EXPECT_EQ(options_of(c), words{""});
  c.answers["facts a"] = {says(docker + "4.1.4\nnetwork eth0 10.0.0.2/24\n")};
  EXPECT_EQ(options_of(c, nullptr, "a"),
            (words{note, "--mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24"}))
      << "those of the mpirun that is started";
  c.answers["facts b"] = {is_cut()};
  EXPECT_EQ(options_of(c, "--x"), words{"--x"});
  c.answers["facts b"] = {says("mount noexec\n")};
  EXPECT_EQ(options_of(c),
            (words{"error: b: programs cannot run in /f, because its file system is mounted noexec; choose another folder "
                   "with --to",
                   "error: nothing was started", ""}));
}

}  // namespace
}  // namespace dice_run
