// --mapping and --platform: AutoDiCE's files as a mapping of dice.
#include "compile_header.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace onnx2hpp_test {
namespace {

namespace fs = std::filesystem;

/// x → Conv1 → Norm1 (folded away) → /act/Relu1 → Drop1 (folded away) → Flatten1 → an unnamed Relu → fc1 → y
builder layer_chain() {
  builder b;
  b.input("x", {1, 1, 6, 6}).output("y").weights("w", {2, 1, 3, 3}).weights("v", {32, 4});
  b.floats("one", {2}, {1, 1}).floats("half", {2}, {0.5f, 0.5f});
  b.node("Conv", {"x", "w"}, {"conv1/out"}, "Conv1");
  b.node("BatchNormalization", {"conv1/out", "one", "half", "half", "one"}, {"n"}, "Norm1");
  b.node("Relu", {"n"}, {"r"}, "/act/Relu1");
  b.node("Dropout", {"r"}, {"d"}, "Drop1");
  b.node("Flatten", {"d"}, {"f"}, "Flatten1");
  b.node("Relu", {"f"}, {"g"});
  b.node("Gemm", {"g", "v"}, {"y"}, "fc1");
  return b;
}

constexpr const char* hosts = R"(# the laboratory
edge01, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)

edge02 , arm , slots=0-3  # no GPU
spare, x86, slots=0-0
)";

struct mapping_bench {
  explicit mapping_bench(const builder& b = layer_chain()) : model(folder.save("net.onnx", b)) {}

  outcome map(const std::string& mapping, const std::string& platform = hosts) const {
    return tool({model, "-o", out, "--mapping", folder.write("mapping.json", mapping), "--platform",
                 folder.write("platform.txt", platform)});
  }
  /// The error message, without the folder's name; nothing may be written then.
  std::string wrong(const std::string& mapping, const std::string& platform = hosts) const {
    auto done = map(mapping, platform);
    EXPECT_EQ(done.code, 1) << done.err;
    EXPECT_FALSE(fs::exists(out));
    const std::string place = folder.path.string() + "/";
    for (auto at = done.err.find(place); at != std::string::npos; at = done.err.find(place))
      done.err.erase(at, place.size());
    return done.err;
  }
  std::string made() const { return read_file(out / "net_mapping.hpp"); }

  scratch folder;
  fs::path model, out = folder.path / "out";
};

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Mapping, IsAType) {
  const mapping_bench f;
  const auto done = f.map(R"({"edge01_arm123": ["Conv1", "Norm1", "/act/Relu1", "Drop1"], "edge02_cpu0": ["Flatten1", "fc1"],
                "edge01_gpu": ["g"]})");
  ASSERT_EQ(done.code, 0) << done.err;
  const auto header = read_file(f.out / "net.hpp");
  EXPECT_EQ(f.made().substr(0, f.made().find("#include")), header.substr(0, header.find("#include"))) << "the notice";
  const auto compiled = compile(f.out, "net", R"(
      #include "net_mapping.hpp"
      #undef I  // defined by <complex.h>; Boost.Hana has an I of its own
      #include <dice/placement/mapping.hpp>
      static_assert(::std::is_same_v<net::mapped, ::dice::mapping<
          ::dice::dev<0, ::dice::cores<1, 2, 3>, ::dice::on<"edge01">>,
          ::dice::layers<::dice::range<net::x, net::act_Relu1>>,
          ::dice::dev<1, ::dice::cores<0>, ::dice::on<"edge02">>,
          ::dice::layers<net::Flatten1, ::dice::range<net::fc1, net::y>>,
          ::dice::dev<2, ::dice::gpu, ::dice::on<"edge01">>, ::dice::layers<net::g>>>);
      static_assert(::dice::placement::of<net::network, net::mapped>.owner == ::std::array{0, 0, 0, 1, 2, 1, 1});)");
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 3000);
}

TEST(Mapping, LayersHaveManyNames) {
  const mapping_bench f;
  // Layers by the node's name, its first output's, either with _ for /, or the identifier; inputs and outputs may be listed.
  for (const char* list : {R"("Conv1", "/act/Relu1", "Flatten1", "g", "fc1")", R"("conv1/out", "r", "f", "g", "y")",
                           R"("conv1_out", "_act_Relu1", "Flatten1", "g", "fc1")",
                           R"("Conv1", "act_Relu1", "Flatten1", "g", "fc1", "x", "y", "n", "d", "Norm1")"}) {
    const auto done = f.map(std::string(R"({"spare_cpu0": [)") + list + "]}");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_TRUE(contains(f.made(), "::dice::layers<::dice::range<x, y>>>;")) << f.made();
  }
}

TEST(Mapping, EndsGoWithTheirNeighbours) {
  builder b;
  b.input("early", {1, 2}).input("late", {1, 2}).input("unread", {1, 2}).output("p").output("q").output("late");
  b.node("Relu", {"early"}, {"p"}, "first");
  b.node("Add", {"p", "late"}, {"q"}, "second");
  const mapping_bench f(b);
  const auto owners = [&](const std::string& mapping) {
    const auto done = f.map(mapping);
    EXPECT_EQ(done.code, 0) << done.err;
    return f.made();
  };
  EXPECT_TRUE(contains(owners(R"({"edge01_arm0": ["first"], "edge02_arm0": ["second"]})"),
                       "layers<early, ::dice::range<unread, first>, p>"));
  EXPECT_TRUE(contains(f.made(), "layers<late, second, ::dice::range<q, late_2>>")) << f.made();
  EXPECT_TRUE(contains(owners(R"({"edge01_arm0": ["first", "late"], "edge02_arm0": ["second", "early", "p"]})"),
                       "layers<::dice::range<late, first>, late_2>"));
  EXPECT_TRUE(contains(f.made(), "layers<early, ::dice::range<second, q>>")) << f.made();
}

TEST(Mapping, NodesThatBecomeSeveralLayers) {
  builder b;
  b.input("x", {1, 4, 2, 2}).output("y");
  set(b.node("SpaceToDepth", {"x"}, {"d"}, "d2s"), "blocksize", 2);
  b.node("Relu", {"d"}, {"y"}, "relu");
  const mapping_bench f(b);
  EXPECT_EQ(f.map(R"({"edge01_arm0": ["d2s"], "edge02_arm0": ["relu"]})").code, 0);
  EXPECT_TRUE(contains(f.made(), "layers<::dice::range<x, d2s_3>>")) << f.made();
  EXPECT_EQ(f.map(R"({"edge01_arm0": ["d2s", "d2s_2"], "edge02_arm0": ["d2s_3", "relu"]})").code, 0);
  EXPECT_TRUE(contains(f.made(), "layers<::dice::range<x, d2s_2>>")) << f.made();
}

TEST(Mapping, NamesThatLookAlike) {
  builder b;
  b.input("x", {1, 2}).output("y");
  b.node("Relu", {"x"}, {"1"}, "a/b");
  b.node("Relu", {"1"}, {"2"}, "a_b");
  b.node("Relu", {"2"}, {"y"}, "mapped");  // must not clash with the mapping's name
  const mapping_bench f(b);
  EXPECT_EQ(f.map(R"({"edge01_arm0": ["a/b"], "edge02_arm0": ["a_b", "mapped"]})").code, 0);
  EXPECT_TRUE(contains(f.made(), "layers<::dice::range<x, a_b>>")) << f.made();
  EXPECT_TRUE(contains(f.made(), "layers<::dice::range<a_b_2, y>>")) << f.made();
  EXPECT_EQ(compile(f.out, "net", "#include \"net_mapping.hpp\"").code, 0);
}

TEST(Mapping, TextIsEscaped) {
  const mapping_bench f;
  ASSERT_EQ(f.map(R"({"a\">>, int\\ \u00e9??/_cpu0": ["Conv1", "/act/Relu1", "Flatten1", "g", "fc1"]})",
                  "a\">>\t, arm, slots=0-1\n")
                .code,
            1);
  const auto done = f.map(R"({"a\">>\\\u00e9??/_cpu0": ["Conv1", "/act/Relu1", "Flatten1", "g", "fc1"]})",
                          "a\">>\\\xc3\xa9?\?/, arm, slots=0-1\r\n");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(contains(f.made(), R"(::dice::on<"a\">>\\\303\251\077\077/">>)")) << f.made();
  EXPECT_EQ(compile(f.out, "net", "#include \"net_mapping.hpp\"").code, 0);
}

TEST(Mapping, EveryMistakeIsTold) {
  const mapping_bench f;
  const std::string rest = R"("/act/Relu1", "Flatten1", "g", "fc1")";
  const auto expect = [&](const std::string& mapping, const std::string& line, std::ptrdiff_t count = 2,
                          const std::string& platform = hosts) {
    const auto err = f.wrong(mapping, platform);
    EXPECT_TRUE(contains(err, "onnx2hpp: error: " + line)) << mapping << "\n" << err;
    EXPECT_EQ(lines(err), count) << mapping << "\n" << err;
  };
  const auto all_on = [&](const std::string& key) { return "{\"" + key + R"(": ["Conv1", )" + rest + "]}"; };
  expect(R"({"edge01_arm0": ["Conf1", )" + rest + "]}",
         R"("mapping.json": key "edge01_arm0": layer "Conf1": the model has no such layer; did you mean "Conv1"?)", 3);
  expect(R"({"edge01_arm0": [)" + rest + "]}",
         R"("mapping.json": layer "Conv1": it is in no list; add it to the list of a key)");
  expect(R"({"edge01_arm0": ["Conv1", "g", "Flatten1", "fc1"]})",
         R"("mapping.json": layer "/act/Relu1": it (act_Relu1) is in no list; add it to the list of a key)");
  expect(
      R"({"edge01_arm0": ["Conv1", )" + rest + R"(], "edge02_arm0": ["Conv1"]})",
      R"("mapping.json": key "edge02_arm0": layer "Conv1": it is already in the list of "edge01_arm0"; remove it from one of the lists; layers that several devices share are written in mappings of dice)");
  expect(R"({"edge01_arm0": ["Conv1", )" + rest + R"(], "edge02_arm0": ["conv1/out"]})",
         R"("mapping.json": key "edge02_arm0": layer "conv1/out": it is already in the list of "edge01_arm0" as "Conv1"; )");
  expect(R"({"edge01_arm0": ["Conv1", "Conv1", )" + rest + "]}",
         R"("mapping.json": key "edge01_arm0": layer "Conv1": it is)");
  expect(all_on("egde01_arm0"),
         R"("mapping.json": key "egde01_arm0": "platform.txt" has no host "egde01"; did you mean "edge01"?)");
  expect(all_on("edge02_arm04"),
         R"("mapping.json": key "edge02_arm04": host "edge02" has no core 4; it has slots=0-3 in "platform.txt")");
  expect(all_on("edge01_arm121"), R"("mapping.json": key "edge01_arm121": core 1 is listed 2 times; name each core once)");
  expect(all_on("edge02_gpu"), R"("mapping.json": key "edge02_gpu": "platform.txt" has no gpu= for host "edge02"; )");
  for (const char* key : {"edge01", "edge01_", "edge01_arm", "edge01_cpu", "edge01_arm1x", "edge01_fpga0", "_arm0", "",
                          "_gpu", "edge01_gpu0", "edge01 arm0"})
    expect(all_on(key), R"("mapping.json": key ")" + std::string(key) + R"(": it names no processor; write HOST_cpu or)");
  expect(R"({"edge01_arm0": ["Conv1"], "edge01_arm0": [)" + rest + "]}",
         R"("mapping.json": key "edge01_arm0": it occurs twice; put its layers in one list)");
  expect(R"({"edge01_arm0": ["Conv1", )" + rest + R"(], "edge02_arm0": []})",
         R"("mapping.json": key "edge02_arm0": its list is empty; )");
  expect(R"({"edge01_arm0": ["Conv1", )" + rest + R"(], "edge02_arm0": ["Norm1", "Drop1"]})",
         R"("mapping.json": key "edge02_arm0": none of its names is still a layer)");
  expect(R"({"edge01_arm0": ["Conv1", )" + rest + R"(], "edge02_arm0": "Conv1"})",
         R"("mapping.json": key "edge02_arm0": its value is "Conv1"; give it a list)");
  expect(R"({"edge01_arm0": ["Conv1", 7, )" + rest + "]}",
         R"("mapping.json": key "edge01_arm0": its list contains 7; give it)");
  expect(R"({"edge01_arm0": ["Conv1", {"a": ["b"]}, )" + rest + "]}",
         R"("mapping.json": key "edge01_arm0": its list contains object)");
  for (const char* whole : {"{}", "[]", "7", "null", R"([["Conv1"]])", R"([{"edge01_arm0": ["Conv1"]}])"})
    expect(whole, R"("mapping.json": it is )");
  expect("{\"edge01_arm0\":\n [\"Conv1\",,]}", R"("mapping.json": it is not JSON: error at line 2, column 11; )");
  for (const char* text : {"", "{", "{\"edge01_arm0\": [\"Conv1", "{\"\xff\": []}", "{\"a\": nan}"})
    expect(text, R"("mapping.json": it is not JSON: error at line 1, )");
  expect(R"({"edge01_arm0": [1e999]})", R"("mapping.json": a number after ": edge01_arm0" is not finite)");
  expect(std::string(100000, '['), R"("mapping.json": it is nested too deeply)");
}

TEST(Mapping, EveryMistakeOfThePlatformIsTold) {
  const mapping_bench f;
  const std::string all = R"(["Conv1", "/act/Relu1", "Flatten1", "g", "fc1"]})";
  for (const char* line :
       {"edge01", "edge01, arm", "edge01, arm, slots", "edge01, arm, slots=", "edge01, arm, slots=3",
        "edge01, arm, slots=3-", "edge01, arm, slots=3-2", "edge01, arm, slots=-1-2", "edge01, arm, slots=0-99999999999",
        "edge01, arm, slots=0-3x", "edge01, arm, gpu=x, slots=0-3", "edge01, arm, slots=0-3, gpu",
        "edge01, arm, slots=0-3, gpu=", "edge01, , slots=0-3", "edge01 arm slots=0-3"}) {
    const auto err = f.wrong(R"({"edge01_gpu": )" + all, std::string("\n# hosts\n") + line + "\nedge01x, arm, slots=0-1\n");
    EXPECT_TRUE(
        contains(err, "onnx2hpp: error: \"platform.txt\": line 3: it reads \"" + std::string(line) + "\"; write HOST, "))
        << err;
  }
  EXPECT_TRUE(contains(f.wrong(R"({"a_arm0": )" + all, "a, arm, slots=0-1\na, arm, slots=0-2"),
                       "\"platform.txt\": line 2: host \"a\" is listed twice; remove one of them"));
  EXPECT_TRUE(contains(f.wrong(R"({"a_arm0": )" + all, ""), "\"platform.txt\" has no host \"a\"; add it there"));
}

TEST(Mapping, AllMistakesAtOnce) {
  const mapping_bench f;
  const auto err = f.wrong(R"({"edge03_arm0": ["Konv1"], "edge01_arm99": ["fc1", "fc1"], "edge02_gpu": []})",
                           std::string(hosts) + "what\n");
  for (const char* part :
       {"\"edge03\"", "\"Konv1\"", "core 9 is listed 2 times", "has no core 9", "layer \"fc1\": it is already in",
        "has no gpu=", "its list is empty", "layer \"Conv1\": it is in no list", "line 6", "is not converted (1"})
    EXPECT_TRUE(contains(err, part)) << part << "\n" << err;
}

TEST(Mapping, FilesThatCannotBeRead) {
  const mapping_bench f;
  const auto platform = f.folder.write("platform.txt", hosts), mapping = f.folder.write("mapping.json", "{}");
  for (const auto& [m, p] :
       {std::pair{f.folder.path / "none", platform}, {mapping, f.folder.path / "none"}, {f.folder.path, platform}}) {
    const auto done = tool({f.model, "-o", f.out, "--mapping", m, "--platform", p});
    EXPECT_EQ(done.code, 1);
    EXPECT_TRUE(contains(done.err, "cannot read \"")) << done.err;
    EXPECT_FALSE(fs::exists(f.out));
  }
  fs::resize_file(mapping, (std::uintmax_t{64} << 20) + 1);
  EXPECT_TRUE(contains(tool({f.model, "-o", f.out, "--mapping", mapping, "--platform", platform}).err,
                       "it has 67108865 bytes, more than 64 MiB"));
}

TEST(Mapping, LongFilesOfNonsenseEndSoon) {
  const mapping_bench f;
  std::string names, keys;
  for (int k = 0; k < 50000; ++k) names += (k ? ",\"Conv" : "\"Conv") + std::to_string(k) + "\"";
  EXPECT_TRUE(
      contains(f.map(R"({"edge01_arm0": [)" + names + "]}").err, "layer \"Conv49999\": the model has no such layer"));
  for (int k = 0; k < 50000; ++k) keys += (k ? ",\"edge" : "\"edge") + std::to_string(k) + "_arm0\": []";
  EXPECT_TRUE(contains(f.map("{" + keys + "}").err, "has no host \"edge49999\""));
}

TEST(Mapping, ReadsAndWritesNoFileTwice) {
  const mapping_bench f;
  const auto here = tool({f.model, "-o", f.folder.path, "--mapping", f.folder.write("net_mapping.hpp", "{}"), "--platform",
                          f.folder.write("platform.txt", hosts)});
  EXPECT_EQ(here.code, 2);
  EXPECT_TRUE(contains(here.err, "would be overwritten")) << here.err;
  ASSERT_EQ(f.map(R"({"edge01_arm0": ["Conv1", "/act/Relu1", "Flatten1", "g", "fc1"]})").code, 0);
  ASSERT_EQ(tool({f.model, "-o", f.out, "--mapping", f.folder.path / "mapping.json", "--platform",
                  f.folder.path / "platform.txt", "--depfile", f.out / "d"})
                .code,
            0);
  EXPECT_TRUE(contains(read_file(f.out / "d"), "/mapping.json \\\n") && contains(read_file(f.out / "d"), "/platform.txt\n"));
}

}  // namespace
}  // namespace onnx2hpp_test
