// What --watts and RAPL say about the power of hosts.
#include "watts.hpp"
#include "cluster_header.hpp"
#include "diagnostics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace dice_run {
namespace {

std::string refused(const words& given) {
  try {
    read_watts(given, {"pc", "a=b"});
  } catch (const usage_error& e) {
    return e.what();
  }
  return {};
}

TEST(Watts, AreReadByHost) {
  EXPECT_EQ(read_watts({"pc=5/5"}, {"pc"}).at("pc").idle, 5);
  const auto all = read_watts({"a=b=6.4/2.7", "pc=45"}, {"pc", "a=b"});
  EXPECT_EQ(all.at("a=b").busy, 6.4);
  EXPECT_EQ(all.at("a=b").idle, 2.7);
  EXPECT_EQ(all.at("pc").busy, 45);
  EXPECT_EQ(all.at("pc").idle, 0);
  for (const auto* wrong :
       {"pc=", "pc=0", "pc=x", "pc=5/6", "pc=5/", "pc=-5", "pc=5/-1", "pc=nan", "pc=5W", "pc=5/1/2", "pc=1e3"})
    EXPECT_EQ(refused({wrong}),
              "--watts: expected HOST=BUSY or HOST=BUSY/IDLE with numbers of W, as in pi=6.4/2.7, and no more IDLE than "
              "BUSY; found \"" +
                  std::string(wrong) + "\"");
  for (const auto* wrong : {"pi=5", "5", "=5", "pc/5"})
    EXPECT_EQ(refused({wrong}),
              "--watts: \"" + std::string(wrong) + "\" does not begin with a host and '='; the hosts are pc, a=b");
  EXPECT_EQ(refused({"pc=5", "pc=5"}), "--watts: \"pc\" is given twice");
}

TEST(Watts, AreThoseThatWereGivenOrThoseOfRapl) {
  host_facts h;
  EXPECT_EQ(watts_text(h), "");
  EXPECT_EQ(watts_remark(h), watts_are_missing);
  h.rapl_drawn = 3.21987;
  EXPECT_EQ(watts_text(h), "");
  h.rapl_limit = 15;
  EXPECT_EQ(watts_text(h), ", dice::watts<15, 3.22>");
  EXPECT_NE(watts_remark(h).find("by RAPL: their limit"), std::string::npos);
  h.rapl_drawn = 20;  // for a moment
  EXPECT_EQ(watts_text(h), ", dice::watts<15, 15>");
  h.rapl_drawn = 0;
  EXPECT_EQ(watts_text(h), "");
  EXPECT_EQ(watts_remark(h), "// RAPL lets its processors draw 15 W.\n" + std::string(watts_are_missing));
  std::vector hosts{h};
  hosts[0].host = "pc";
  set_watts({{"pc", {45, 10}}, {"other", {1, 1}}}, hosts);
  EXPECT_EQ(watts_text(hosts[0]), ", dice::watts<45, 10>");
  EXPECT_EQ(watts_remark(hosts[0]), "// watts are those of --watts.\n");
}

TEST(Watts, OfRaplAreReadOnTheHost) {
  host_facts h;
  read_facts("power 15000000 1000000 4500000\npower 10000000 0 0\npower 0 7000000 6000000\npower 1\n", {}, h);
  EXPECT_EQ(h.rapl_limit, 25);
  EXPECT_EQ(h.rapl_drawn, 3.5);  // a counter that begins again does not count
}

TEST(Watts, MakeABoardAnother) {
  host_facts pi;
  pi.host = "pi";
  pi.architecture = "aarch64";
  pi.model = "Raspberry Pi 4 Model B";
  pi.memory = std::int64_t{4} << 30;
  auto other = pi;
  other.host = "other";
  other.busy_watts = 5;
  const auto kinds = kinds_of({pi, other});
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_EQ(kinds[0].type, "dice::boards::raspberry_pi_4");
  EXPECT_EQ(kinds[1].definition,
            "/// Raspberry Pi 4 Model B: dice::boards::raspberry_pi_4 with other watts.\n"
            "using board_of_other = dice::board<\"raspberry_pi_4\", dice::ram<4096_MiB>,\n"
            "    dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<48>, dice::gbytes_per_s<4>, dice::watts<5, 0>>>;\n");
}

}  // namespace
}  // namespace dice_run
