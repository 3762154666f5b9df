// --profile: programs' measurements as types.
#include "compile_header.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace onnx2hpp_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// x → conv → relu → flatten → fc → y: six layers
builder six_layers() {
  builder b;
  b.input("x", {1, 1, 6, 6}).output("y").weights("w", {2, 1, 3, 3}).weights("v", {32, 4});
  b.node("Conv", {"x", "w"}, {"c"}, "conv");
  b.node("Relu", {"c"}, {"r"}, "relu");
  b.node("Flatten", {"r"}, {"f"}, "flatten");
  b.node("Gemm", {"f", "v"}, {"y"}, "fc");
  return b;
}

struct profile_bench {
  profile_bench() : model(folder.save("net.onnx", six_layers())) {
    EXPECT_EQ(tool({model, "-q", "-o", folder.path}).code, 0);
    const auto header = read_file(folder.path / "net.hpp");
    digest = header.substr(header.find(".structure = \"") + 14, 64);
  }

  json unit(const std::string& name = "pi_a_cores_0_1") const {
    return {{"name", name},          {"host", "pi-a"},
            {"unit", "cores<0, 1>"}, {"processor", "ARM Cortex-A72"},
            {"threads", 2},          {"busy_watts", 5.1},
            {"idle_watts", 2.0},     {"layers", {{{"layer", "conv"}, {"ms", 12.5}}, {{"layer", "fc"}, {"ms", 0.1}}}}};
  }
  json with_messages() const {
    auto m = measured();
    m["units"][0]["sending"] = {{"us", 0}, {"gbytes_per_s", 0.06}};
    m["units"][0]["receiving"] = {{"us", 12.5}, {"gbytes_per_s", 2}};
    m["units"][0]["memory_gbytes_per_s"] = 7.5;
    return m;
  }
  json measured() const {
    return {{"dice", "0.1.0"},
            {"network", "net"},
            {"digest", digest},
            {"units", {unit()}},
            {"connections", {{{"from", "pi-a"}, {"to", "pi-b"}, {"us", 151.2}, {"mbit_per_s", 931}}}}};
  }
  outcome convert(const std::vector<std::string>& texts) const {
    std::vector<std::string> all{model, "-o", out};
    for (const auto& t : texts) {
      all.push_back("--profile");
      all.push_back(folder.write("measured" + std::to_string(all.size() / 2 - 1) + ".json", t));
    }
    return tool(all);
  }
  std::string made() const { return read_file(out / "net_profile.hpp"); }

  scratch folder;
  fs::path model, out = folder.path / "out";
  std::string digest;
};

TEST(Profile, UnitsAndConnectionsAreTypes) {
  const profile_bench f;
  const auto done = f.convert({f.measured().dump()});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto header = read_file(f.out / "net.hpp");
  EXPECT_EQ(f.made().substr(0, f.made().find("#include")), header.substr(0, header.find("#include"))) << "the notice";
  const auto compiled = compile(f.out, "net", R"(
      #include "net_profile.hpp"
      using pi = net_profile::pi_a_cores_0_1;
      static_assert(pi::network == "net" && pi::digest == net::network::weights.structure && pi::host == "pi-a");
      static_assert(pi::unit == "cores<0, 1>" && pi::processor == "ARM Cortex-A72" && pi::threads == 2);
      static_assert(pi::ms == ::std::array{0.0, 12.5, 0.0, 0.0, 0.1, 0.0} && pi::ms.size() == net::network::size);
      static_assert(::std::is_same_v<pi::watts, ::dice::watts<5.1, 2>>);
      static_assert(::std::is_same_v<net_profile::pi_a_pi_b, ::dice::connection<::dice::between<"pi-a", "pi-b">,
                                                             ::dice::mbit_per_s<931>, ::dice::us<151.2>>>);)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Profile, WhatMessagesAndCopiesTakeIsTypes) {
  const profile_bench f;
  const auto done = f.convert({f.with_messages().dump()});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto compiled = compile(f.out, "net", R"(
      #include "net_profile.hpp"
      using pi = net_profile::pi_a_cores_0_1;
      static_assert(::std::is_same_v<pi::sending, ::dice::sending<::dice::us<0>, ::dice::gbytes_per_s<0.06>>>);
      static_assert(::std::is_same_v<pi::receiving, ::dice::receiving<::dice::us<12.5>, ::dice::gbytes_per_s<2>>>);
      template <class... About> using measured =
          ::dice::platform::processor_traits<::dice::processor<::dice::cpu, ::dice::profile<pi>, About...>>;
      static_assert(measured<>::value.bytes_per_s == 7.5e9);
      static_assert(measured<::dice::gbytes_per_s<3>>::value.bytes_per_s == 3e9);)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Profile, WhatMayBeMissing) {
  const profile_bench f;
  auto m = f.measured();
  auto& u = m["units"][0];
  u.erase("busy_watts");
  u.erase("idle_watts");
  m.erase("connections");
  m.erase("dice");
  m["more"] = {1, 2};
  u["more"] = "x";
  u["layers"][0]["more"] = nullptr;
  u["missing"] = {"relu", "conv"};  // conv was measured anyway
  ASSERT_EQ(f.convert({m.dump()}).code, 0);
  EXPECT_TRUE(contains(f.made(), "ms{0.0, 12.5, -1.0, 0.0, 0.1, 0.0};")) << f.made();
  EXPECT_FALSE(contains(f.made(), "watts")) << f.made();
  EXPECT_FALSE(contains(f.made(), "using")) << f.made();
}

/// For such networks --measure writes no layers.
TEST(Profile, NetworksOfViewsHaveNoTimes) {
  scratch folder;
  builder b;
  b.input("x", {1, 2, 3}).output("y");
  b.node("Flatten", {"x"}, {"y"}, "flatten");
  const auto model = folder.save("net.onnx", b);
  ASSERT_EQ(tool({model, "-q", "-o", folder.path}).code, 0);
  const auto header = read_file(folder.path / "net.hpp");
  const json unit{{"name", "pi"},     {"host", "pi"}, {"unit", "cpu"},
                  {"processor", "x"}, {"threads", 1}, {"layers", json::array()}};
  const json measured{
      {"network", "net"}, {"digest", header.substr(header.find(".structure = \"") + 14, 64)}, {"units", {unit}}};
  const auto done = tool({model, "-o", folder.path / "out", "--profile", folder.write("m.json", measured.dump())});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(read_file(folder.path / "out" / "net_profile.hpp"), "ms{0.0, 0.0, 0.0};"));
}

TEST(Profile, NumbersReadBackTheSame) {
  const profile_bench f;
  auto m = f.measured();
  m["units"][0]["layers"] = {{{"layer", "conv"}, {"ms", 1.0 / 3}},
                             {{"layer", "relu"}, {"ms", 5e-324}},
                             {{"layer", "flatten"}, {"ms", 123456789012}},
                             {{"layer", "fc"}, {"ms", -0.0}},
                             {{"layer", "y"}, {"ms", 1e-7}}};
  ASSERT_EQ(f.convert({m.dump()}).code, 0);
  EXPECT_TRUE(contains(f.made(), "ms{0.0, 0.3333333333333333, 5e-324, 123456789012.0, 0.0, 1e-07};")) << f.made();
  EXPECT_EQ(compile(f.out, "net", "#include \"net_profile.hpp\"").code, 0);
}

TEST(Profile, SeveralFilesAndHostileNames) {
  const profile_bench f;
  auto m = f.measured();
  m["units"] = {f.unit("pi"),  f.unit("pi"),           f.unit("ms"), f.unit("class"),
                f.unit("2nd"), f.unit("*/ }; int x;"), f.unit("--")};
  m["units"][0]["processor"] = "a\"\\\n?\?/\x01 */";
  m["connections"][0]["from"] = "*/\n#error";
  const auto done = f.convert({f.measured().dump(), m.dump(), m.dump()});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto compiled = compile(f.out, "net", R"(
      #include "net_profile.hpp"
      namespace p = net_profile;
      using all = ::std::tuple<p::pi_a_cores_0_1, p::pi, p::pi_2, p::pi_3, p::pi_4, p::ms_2, p::ms_3, p::class_, p::class_2,
                               p::unit_2nd, p::int_x, p::unit_2, p::pi_a_pi_b, p::error_pi_b, p::error_pi_b_2>;
      static_assert(p::pi::processor == "a\"\\\n\?\?/\001 */" && p::ms_2::ms[1] == 12.5);)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000) << f.made();
}

TEST(Profile, NamespacesNeverHaveTwoUnderscores) {
  const profile_bench f;
  ASSERT_EQ(tool({f.model, "--name", "net_", "-o", f.out, "--profile", f.folder.write("m.json", f.measured().dump())}).code,
            0);
  EXPECT_TRUE(contains(read_file(f.out / "net__profile.hpp"), "namespace net_profile {"));
}

TEST(Profile, EveryMistakeIsTold) {
  const profile_bench f;
  const auto expect_text = [&](const std::string& text, const std::string& line, const std::string& remedy = "") {
    const auto done = f.convert({f.measured().dump(), text});
    EXPECT_EQ(done.code, 1) << text;
    EXPECT_TRUE(contains(done.err, "measured2.json\"" + line) && contains(done.err, remedy)) << text << "\n" << done.err;
    EXPECT_FALSE(fs::exists(f.out));
  };
  const auto expect = [&](const char* at, const json& value, const std::string& line, const std::string& remedy = "") {
    auto m = f.measured();
    m[json::json_pointer(at)] = value;
    expect_text(m.dump(), line, remedy);
  };
  expect_text("", ": it is not JSON: error at line 1, column 1");
  expect_text("{\n]", ": it is not JSON: error at line 2, column 1");
  for (const char* text : {"[]", "{}", "null", "7", R"({"units": [], "digest": 3, "network": "net"})"})
    expect_text(text, ": it was not written by --measure", "give a file that a program wrote with --measure");
  expect("/digest", std::string(64, '0'), ": it was measured with another network: \"net\" with the digest \"000",
         "measure this");
  expect("/units", json::array(), ": it has no units");
  const std::string unit = ": unit \"pi_a_cores_0_1\": ", conv = unit + "layer \"conv\": ";
  expect("/units/0/layers/0/layer", "konv", unit + "layer \"konv\": the network has no such layer; did you mean \"conv\"?");
  expect("/units/0/layers/0/layer", "fc", unit + "layer \"fc\": it occurs twice");
  expect("/units/0/missing", {"konv"}, unit + "layer \"konv\": the network has no such layer");
  for (const json& ms : {json(-1), json(-1e-9), json("12"), json(), json(""), json::array(), json(1e300)})
    expect("/units/0/layers/0/ms", ms, conv + "ms must be a number of at least 0 and below 1e12, but is ");
  auto text = f.measured().dump();
  expect_text(text.replace(text.find("12.5"), 4, "1e999"), ": a number after \"conv: ms\" is not finite");
  text = f.measured().dump();
  expect_text(text.replace(text.find("12.5"), 4, "NaN"), ": it is not JSON: error at line 1, column ");
  auto without = f.measured();
  without["units"][0].erase("layers");
  expect_text(without.dump(), unit + "it has no layers");
  expect("/units/0/layers", 7, unit + "layers must be a list, but is 7");
  expect("/units/0/layers/0", 7, unit + "layer must be text, but is missing");
  expect("/units/0/missing", 7, unit + "missing must be a list, but is 7");
  expect("/units/0/missing", {7}, unit + "missing must contain text, but has 7");
  expect("/units/0", 7, ": unit 0: name must be text, but is missing");
  expect("/units/0/name", 7, ": unit 0: name must be text, but is 7");
  for (const char* member : {"host", "unit", "processor"})
    expect((std::string("/units/0/") + member).c_str(), 7, unit + member + " must be text, but is 7");
  for (const json& n : {json(-1), json(1.5), json("2"), json(1e10), json(std::uint64_t{1} << 40)})
    expect("/units/0/threads", n,
           unit + "threads must be a whole number of at least 0, but is " + (n.is_string() ? "\"2\"" : n.dump()));
  expect("/units/0/busy_watts", -1, unit + "busy_watts must be a number of at least 0 and below 1e12, but is -1");
  expect("/units/0/idle_watts", "2", unit + "idle_watts must be a number of at least 0 and below 1e12, but is \"2\"");
  expect("/units/0/memory_gbytes_per_s", 0, unit + "memory_gbytes_per_s must be a number above 0 and below 1e12, but is 0");
  expect("/units/0/sending", {{"us", 1}},
         unit + "sending: gbytes_per_s must be a number above 0 and below 1e12, but is missing");
  expect("/units/0/receiving", {{"us", -1}, {"gbytes_per_s", 1}},
         unit + "receiving: us must be a number of at least 0 and below 1e12, but is -1");
  expect("/units/0/sending", 7, unit + "sending: us must be a number of at least 0 and below 1e12, but is missing");
  expect("/connections", 7, ": connections must be a list, but is 7");
  expect("/connections/0/from", 7, ": connection 0: from must be text, but is 7");
  expect("/connections/0/us", -1, ": connection 0: us must be a number of at least 0 and below 1e12, but is -1");
  expect("/connections/0/mbit_per_s", 0, ": connection 0: mbit_per_s must be a number above 0 and below 1e12, but is 0");
  expect_text(std::string(100000, '['), ": it is nested too deeply");
}

TEST(Profile, AllMistakesAtOnce) {
  const profile_bench f;
  auto m = f.measured();
  m["units"][0]["layers"][0]["ms"] = -1;
  m["units"][0]["host"] = 7;
  m["connections"][0]["us"] = -1;
  const auto done = f.convert({m.dump(), "x", f.measured().dump()});
  EXPECT_TRUE(contains(done.err, "is not converted (4 problems)")) << done.err;
}

TEST(Profile, FilesThatCannotBeUsed) {
  const profile_bench f;
  const auto large = f.folder.write("large.json", "");
  fs::resize_file(large, (std::uintmax_t{64} << 20) + 1);
  const auto done = tool({f.model, "-o", f.out, "--profile", large, "--profile", f.folder.path / "none"});
  EXPECT_EQ(done.code, 1);
  EXPECT_TRUE(contains(done.err, "large.json\": it has 67108865 bytes, more than 64 MiB")) << done.err;
  EXPECT_TRUE(contains(done.err, "cannot read")) << done.err;
  EXPECT_FALSE(fs::exists(f.out));
  auto many = f.measured();
  many["units"] = json(2'000'000, 7);
  EXPECT_TRUE(contains(f.convert({many.dump()}).err, "2000000 units are too many"));
}

}  // namespace
}  // namespace onnx2hpp_test
