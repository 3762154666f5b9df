#include "links.hpp"
#include "check.hpp"
#include "cluster_header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace dice_run {
namespace {

TEST(Links, RoundsHaveEachPairOnceAndEachHostAtMostOnce) {
  for (std::size_t hosts = 0; hosts < 12; ++hosts) {
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    const auto rounds = rounds_of(hosts);
    EXPECT_EQ(rounds.size(), hosts < 2 ? 0 : hosts - 1 + hosts % 2);
    for (const auto& round : rounds) {
      std::set<std::size_t> busy;
      for (const auto& [a, b] : round) {
        EXPECT_TRUE(a < b && b < hosts);
        EXPECT_TRUE(pairs.emplace(a, b).second && busy.insert(a).second && busy.insert(b).second);
      }
    }
    EXPECT_EQ(pairs.size(), hosts < 2 ? 0 : hosts * (hosts - 1) / 2);
  }
}

host_facts pi(const char* name) {
  host_facts out;
  out.host = name;
  out.model = "Raspberry Pi 4 Model B";
  out.memory = std::int64_t{4} << 30;
  return out;
}

TEST(ClusterHeader, NearlyEqualConnectionsAreOne) {
  cluster_facts cluster{
      {pi("a"), pi("b"), pi("c")}, {{0, 1, 150, 930, 941, ""}, {0, 2, 160, 935, 935, ""}, {1, 2, 2100, 95, 18.7, ""}}, ""};
  const auto text = cluster_header(cluster);
  EXPECT_NE(text.find("dice::connection<dice::mbit_per_s<935>, dice::us<160>>,"), std::string::npos) << text;
  EXPECT_NE(text.find("dice::connection<dice::between<\"b\", \"c\">, dice::mbit_per_s<18.7>, dice::us<2100>>>;"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("// b – c has 95 Mbit/s there and 18.7 Mbit/s back"), std::string::npos) << text;
}

/// Which of nearly equal connections comes first makes no difference.
TEST(ClusterHeader, ConnectionsAreLikeMostOthers) {
  const cluster_facts cluster{
      {pi("a"), pi("b"), pi("c")}, {{0, 1, 369, 825, 825, ""}, {0, 2, 292, 825, 825, ""}, {1, 2, 283, 826, 826, ""}}, ""};
  const auto text = cluster_header(cluster);
  EXPECT_NE(text.find("dice::connection<dice::mbit_per_s<825>, dice::us<292>>>;"), std::string::npos) << text;
  EXPECT_EQ(text.find("between"), std::string::npos) << text;
}

TEST(Check, SaysWhichProgramsAHostHas) {
  auto h = pi("a");
  h.has_rsync = true;
  const auto text = json_of({{h}, {}, ""}, {});
  EXPECT_NE(text.find("\"perl\": false,\n      \"rsync\": true,"), std::string::npos) << text;
}

TEST(Links, WhatCannotMeasureIsNotAsked) {
  auto a = pi("a"), b = pi("b"), c = pi("c");
  a.has_perl = true;
  c.failure = "it does not answer";
  std::vector<std::pair<std::size_t, std::size_t>> rounds;
  const auto links = measure_links(remote({.ssh = "no such program"}), {a, b, c}, false,
                                   [&](std::size_t done, std::size_t total) { rounds.emplace_back(done, total); });
  std::vector<std::string> failures;
  for (const auto& l : links) failures.push_back(l.failure);
  EXPECT_EQ(failures, (std::vector<std::string>{"b has no perl (Debian: perl-base)", "c is not reached",
                                                "b has no perl (Debian: perl-base)"}));
  EXPECT_EQ(rounds, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(Links, WhatKeepsRanksApartIsAnError) {
  for (const auto& [failure, is_error] :
       {std::pair{"a: no TCP connection (b: Connection refused)", true}, {"b has no perl", false}}) {
    const auto found = findings_of({{pi("a"), pi("b")}, {{0, 1, 0, 0, 0, failure}}, ""});
    const auto of_link =
        std::ranges::find_if(found, [](const auto& f) { return f.text.starts_with("the connection between a and b"); });
    ASSERT_NE(of_link, found.end());
    EXPECT_EQ(of_link->is_error, is_error) << of_link->text;
  }
}

TEST(ClusterHeader, HostsWithOtherInstructionsAreOfAnotherKind) {
  auto a = pi("a"), b = pi("b"), c = pi("c");
  for (auto* h : {&a, &b, &c}) {
    h->architecture = "x86_64";
    h->model = "";
    h->flags = {"avx2", "fma"};
  }
  c.flags = {"avx2"};
  const auto kinds = kinds_of({a, b, c});
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_EQ(kinds[0].hosts, (std::vector<std::size_t>{0, 1}));
}

TEST(HostFacts, ACpuIsKnownByItsInstructionsAndItsCores) {
  host_facts a;
  a.architecture = "aarch64";
  a.flags = {"fp", "asimd"};
  a.cores.resize(2);
  a.cores[0].part = 0xd08;
  a.cores[1].part = 0xd03;
  for (auto& core : a.cores) core.implementer = 0x41;
  auto b = a;
  std::swap(b.cores[0], b.cores[1]);
  std::swap(b.flags[0], b.flags[1]);
  EXPECT_TRUE(a.has_cpu_of(b));
  b.cores[1].part = 0xd0b;
  EXPECT_FALSE(a.has_cpu_of(b));
  b = a;
  b.architecture = "armv7l";
  EXPECT_FALSE(a.has_cpu_of(b));
  a.flags.clear();
  EXPECT_FALSE(a.has_cpu_of(a)) << "they are not known";
}

TEST(ClusterHeader, SpeedsFollowFromTheKindOfCore) {
  // Programs use AVX2 only on PCs that have all of x86-64-v3.
  const std::vector<std::string> none,
      v3{"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3", "abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"};
  const std::vector<std::string> no_bmi{"avx", "avx2", "fma"};
  struct {
    const char* architecture;
    std::vector<std::string> flags;
    unsigned implementer, part;
    double ghz;
    const char* gflops;
  } const all[] = {{"aarch64", none, 0x41, 0xd0b, 2, "32"}, {"aarch64", none, 0x41, 0xd0a, 1, "16"},
                   {"aarch64", none, 0x41, 0xd44, 1, "32"}, {"aarch64", none, 0x41, 0xd08, 1, "8"},
                   {"aarch64", none, 0x51, 0xd0b, 1, "8"},  {"aarch64", none, 0x41, 0xd08, 0, "12"},
                   {"x86_64", no_bmi, 0, 0, 1, "8"},        {"x86_64", v3, 0, 0, 1, "32"}};
  for (const auto& k : all) {
    host_facts h;
    h.host = "h";
    h.architecture = k.architecture;
    h.model = "unknown";
    h.memory = std::int64_t{1} << 30;
    h.flags = k.flags;
    h.cores = {{.implementer = k.implementer, .part = k.part, .ghz = k.ghz, .siblings = ""}};
    for (const auto& [found, memory] : {std::pair{0.8, "0.8"}, {0., "4"}}) {
      h.fill_gbytes_per_s = found;
      EXPECT_NE(cluster_header({{h}, {}, ""}).find(std::string("dice::gbytes_per_s<") + memory + ">"), std::string::npos);
    }
    EXPECT_NE(cluster_header({{h}, {}, ""}).find(std::string("dice::gflops<") + k.gflops + ">"), std::string::npos)
        << k.implementer << " " << k.part << "\n"
        << cluster_header({{h}, {}, ""});
  }
}

TEST(ClusterHeader, AnUnmeasuredConnectionIsNamed) {
  cluster_facts cluster{{pi("a"), pi("b")}, {{0, 1, 0, 0, 0, "b has no perl"}}, ""};
  const auto text = cluster_header(cluster);
  EXPECT_NE(text.find("// a – b was not measured: b has no perl"), std::string::npos) << text;
  EXPECT_NE(text.find("a guess"), std::string::npos) << text;
}

}  // namespace
}  // namespace dice_run
