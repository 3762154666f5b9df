// The cluster of a profile. test_check.py compiles the header that is expected here.
#include "measured_cluster.hpp"

#include "diagnostics.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace dice_run {
namespace {

using json = nlohmann::ordered_json;

std::string content(const std::string& name) {
  std::ifstream in(DICE_TEST_FOLDER "/measured/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

measured_cluster changed(const std::function<void(json&)>& change, const std::string& before = content("before.json")) {
  auto profile = json::parse(content("measured.json"));
  change(profile);
  return measured_cluster_of(profile.dump(), before);
}

std::string refused(const std::function<void(json&)>& change) {
  try {
    return changed(change).header;
  } catch (const run_error& e) {
    return e.what();
  }
}

json& processor(json& profile, int host) { return profile["predicted"]["cluster"]["hosts"][host]["processors"][0]; }

TEST(MeasuredCluster, HasAllThatWasMeasured) {
  const auto out = changed([](json&) {});
  EXPECT_EQ(out.header, content("cluster.hpp"));
  EXPECT_EQ(json::parse(out.profile), json::parse(content("digits.profile.json"))) << out.profile;
  EXPECT_EQ(out.notes,
            (std::vector<std::string>{
                "nano: cpu, direct_convolutions has no ranks, so it was not measured; the times of the profile before stay",
                "orin: 2 of its layers were not measured on cpu, since its program has only the kernels of its ranks; with "
                "ANY_MAPPING in dice_add_deployment it has all; its stated rates stay",
                "orin: gpu was not measured; cpu was; its stated rates stay"}));
}

TEST(MeasuredCluster, TimesOfAnotherNetworkAreNotKept) {
  auto another = json::parse(content("before.json"));
  another["digest"] = "another";
  for (const auto& before :
       {std::string(), std::string("no JSON"), std::string("[]"), std::string(R"({"digest": "D"})"), another.dump()}) {
    const auto out = changed([](json&) {}, before);
    EXPECT_EQ(out.notes[0], "nano: cpu, direct_convolutions has no ranks, so it was not measured; its stated rates stay")
        << before;
    EXPECT_NE(
        out.header.find("dice::processor<dice::cpu, dice::direct_convolutions, dice::gflops<45.8>, dice::gbytes_per_s<10>, "
                        "dice::sending<dice::us<300>"),
        std::string::npos)
        << out.header;
    EXPECT_EQ(out.profile.find("\"nano\", \"unit\""), std::string::npos) << out.profile;
  }
}

TEST(MeasuredCluster, GpusMeasureTheirOwnLayers) {
  const auto out = changed([](json& p) {
    p["units"][4]["unit"] = "gpu";
    p["network"] = "digits_";
  });
  EXPECT_EQ(out.notes[2],
            "orin: 2 of its layers were not measured on gpu, since a GPU measures only those of its ranks; its stated "
            "rates stay");
  EXPECT_NE(out.header.find("dice::profile<digits_profile::on_pc>"), std::string::npos) << out.header;
  EXPECT_NE(out.header.find("#include \"digits__profile.hpp\""), std::string::npos) << out.header;  // the name of its file
}

TEST(MeasuredCluster, HostsThatAreUnequallyFastHaveBoardsOfTheirOwn) {
  const auto boards = [](double more) {
    return changed([&](json& p) { p["units"][2]["layers"][1]["ms"] = 1.5 + more; })
        .header.find("pi-1, pi-2; the figures are those of pi-2");
  };
  EXPECT_NE(boards(0.23), std::string::npos);  // 3.57 ms in all, the other one 3.25 ms
  EXPECT_EQ(boards(0.24), std::string::npos);
}

TEST(MeasuredCluster, HostsThatAreAlikeHaveTheTimesOfTheSlowest) {
  const auto out = changed([](json& p) {  // 3.25, 3.41 and 3.35 ms in all
    p["units"][3]["layers"] = p["units"][1]["layers"];
    p["units"][3]["layers"][0]["ms"] = 0.6;
  });
  EXPECT_NE(out.header.find("/// pi-1, pi-2, pi_2; the figures are those of pi-2, the slowest.\n"), std::string::npos)
      << out.header;
}

TEST(MeasuredCluster, HostsWithoutTimesGetThoseOfTheSameBoard) {
  const auto out = changed([](json& p) { p["units"].erase(1); });  // of pi-1, which is the first of three
  EXPECT_EQ(out.notes[0],
            "pi-1: cores<0, 1, 2, 3> has no ranks, so it was not measured; it gets the times of a host with the same board");
  EXPECT_NE(out.header.find("/// pi-1, pi-2; the figures are those of pi-2, the slowest.\n"), std::string::npos)
      << out.header;
}

TEST(MeasuredCluster, EachConnectionHasWhatWasMeasuredOfIt) {
  const auto link = [](const char* to, double us, double mbit) {
    return json{{"from", "pc"}, {"to", to}, {"us", us}, {"mbit_per_s", mbit}};
  };
  const auto header = changed([&](json& p) {
                        auto& all = p["connections"];
                        all.push_back(link("nano", 300, 50));
                        all.insert(all.begin(), link("orin", 150, 940));
                      }).header;
  for (const char* part : {R"(dice::between<"pc", "pi-1">, dice::mbit_per_s<90>, dice::us<200>>)",
                           R"(dice::between<"pc", "nano">, dice::mbit_per_s<50>, dice::us<300>>)",
                           "    dice::connection<dice::mbit_per_s<24000>, dice::us<5>>>;"})  // within orin
    EXPECT_NE(header.find(part), std::string::npos) << header;
}

TEST(MeasuredCluster, EachProcessorOfABoardNeedsItsPower) {
  const auto unknown = [](const std::vector<int>& known) {
    const auto header = changed([&](json& p) {
                          for (const int i : known) {
                            auto& one = p["predicted"]["cluster"]["hosts"][5]["processors"][i];
                            one["busy_watts"] = 9;
                            one["idle_watts"] = 3;
                          }
                        }).header;
    int out = 0;
    for (std::size_t at = 0; (at = header.find("Its power is not known", at)) != std::string::npos; ++at) ++out;
    return out;
  };
  EXPECT_EQ(unknown({}), 3);
  EXPECT_EQ(unknown({0}), 3);
  EXPECT_EQ(unknown({1}), 3);
  EXPECT_EQ(unknown({0, 1}), 2);
}

TEST(MeasuredCluster, WithoutAnyTimesTheHeaderNeedsNoProfile) {
  EXPECT_EQ(changed([](json& p) { p["units"] = json::array(); }, "").header.find("profile.hpp"), std::string::npos);
}

TEST(MeasuredCluster, WhatIsNotKnownIsRefused) {
  EXPECT_EQ(refused([](json& p) { p.erase("predicted"); }).substr(0, 62),
            "the deployed program does not say for which cluster it was bui");
  EXPECT_EQ(refused([](json& p) { p["predicted"].erase("cluster"); }), "the profile is damaged; measure again");
  EXPECT_EQ(refused([](json& p) { processor(p, 5).erase("gflops"); }).substr(0, 50),
            "orin: neither times nor rates of cpu are known; wr");
  EXPECT_EQ(refused([](json& p) { processor(p, 5).erase("gbytes_per_s"); }).substr(0, 47),
            "orin: neither times nor rates of cpu are known;");
  EXPECT_EQ(refused([](json& p) { processor(p, 0)["unit"] = "cpu>; evil"; }),
            "the profile has \"cpu>; evil\" where a word of C++ belongs");
  EXPECT_EQ(refused([](json& p) { p["network"] = ""; }), "the profile has \"\" where a word of C++ belongs");
  EXPECT_THROW(measured_cluster_of("no JSON", ""), run_error);
}

}  // namespace
}  // namespace dice_run
