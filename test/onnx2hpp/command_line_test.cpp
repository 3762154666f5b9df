// The program as users call it: options, exit codes, files.
#include "run_tool.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace onnx2hpp_test {
namespace {

namespace fs = std::filesystem;

/// input (N,1,6,6) → Conv "conv" → Relu → Gemm → output
builder small() {
  builder b;
  b.symbolic_input("input", {"batch", "1", "6", "6"})
      .output("output")
      .weights("w", {2, 1, 3, 3})
      .ints("to", {-1, 32})
      .weights("v", {32, 4});
  b.node("Conv", {"input", "w"}, {"c"}, "conv");
  b.node("Relu", {"c"}, {"r"}, "relu");
  b.node("Reshape", {"r", "to"}, {"f"}, "reshape");
  b.node("Gemm", {"f", "v"}, {"output"}, "fc");
  return b;
}

TEST(CommandLine, WritesThreeFilesNamedLikeTheModel) {
  const scratch folder;
  const auto m = folder.save("my-net 2.onnx", small());
  const auto done = tool({m, "-o", folder.path / "new" / "out"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(contains(done.err, "onnx2hpp: note: the symbolic dimension \"batch\" is set to 1")) << done.err;
  EXPECT_EQ(files(folder.path / "new" / "out"),
            (std::set<std::string>{"my_net_2.hpp", "my_net_2.json", "my_net_2.safetensors"}));
}

TEST(CommandLine, SameModelSameBytes) {
  const scratch folder;
  fs::create_directory(folder.path / "other");
  const auto m = folder.save("net.onnx", small());
  fs::copy(m, folder.path / "other" / "copy.onnx");
  ASSERT_EQ(tool({m, "-o", folder.path / "a"}).code, 0);
  ASSERT_EQ(tool({folder.path / "other" / "copy.onnx", "--name", "net", "-o", folder.path / "b"}).code, 0);
  for (const char* f : {"net.hpp", "net.json", "net.safetensors"})
    EXPECT_EQ(read_file(folder.path / "a" / f), read_file(folder.path / "b" / f)) << f;
}

TEST(CommandLine, Quiet) {
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", small()), "-q", "-o", folder.path});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(contains(tool({folder.path / "net.onnx", "-v", "-o", folder.path}).err, "wrote"));
}

TEST(CommandLine, FixesShapes) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  const auto batch_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{m, "-o", folder.path};
    all.insert(all.end(), options.begin(), options.end());
    const auto done = tool(all);
    EXPECT_EQ(done.code, 0) << done.err;
    return nlohmann::json::parse(read_file(folder.path / "net.json"))["outputs"][0]["shape"][0].get<int>();
  };
  EXPECT_EQ(batch_of({"-d", "batch=3"}), 3);
  EXPECT_EQ(batch_of({"-i", "input:2x1x6x6"}), 2);
  EXPECT_EQ(batch_of({}), 1);
}

TEST(CommandLine, AnInputFixesItsSymbolsForTheOthers) {
  builder b;
  b.symbolic_input("a", {"batch", "H"}).symbolic_input("b", {"batch", "H"}).output("y");
  b.node("Add", {"a", "b"}, {"y"});
  const scratch folder;
  const auto m = folder.save("net.onnx", b);
  const auto done = tool({m, "-i", "a:2x3", "-o", folder.path});
  ASSERT_EQ(done.code, 0);
  for (const char* note :
       {"input \"b\": its dimension 0 is set to 2, because -i gives \"batch\" this value in the input \"a\"",
        "input \"b\": its dimension 1 is set to 3, because -i gives \"H\" this value"})
    EXPECT_TRUE(contains(done.err, note)) << done.err;
  const auto report = nlohmann::json::parse(read_file(folder.path / "net.json"));
  EXPECT_EQ(report["inputs"][1]["shape"], (nlohmann::json{2, 3}));
  const auto other = tool({m, "-i", "a:2x3", "-d", "batch=4", "-o", folder.path});
  EXPECT_TRUE(contains(other.err, "warning: input \"a\": the symbolic dimension \"batch\" is 4 elsewhere")) << other.err;
}

TEST(CommandLine, InABuildRemediesSayWhatToWriteInCMake) {
  builder b;
  b.symbolic_input("z", {"1", "h", "w"}).output("y");
  b.node("Relu", {"z"}, {"y"});
  const scratch folder;
  const auto m = folder.save("net.onnx", b);
  const std::string depfile = folder.path / "d";
  const auto said = tool({m, "-q", "-o", folder.path, "--depfile", depfile}).err;  // as dice_add_network
  EXPECT_TRUE(contains(said, "fix it with -d h=NUMBER -d w=NUMBER or -i z:1xNxN\n")) << said;
  EXPECT_TRUE(
      contains(said, "\nonnx2hpp: remedy: in CMake, dice_add_network takes INPUT in place of -i, DIM in place of -d\n"))
      << said;
  EXPECT_FALSE(contains(tool({m, "-q", "-o", folder.path}).err, "CMake"));
  const auto unknown = tool({m, "-q", "-o", folder.path, "--depfile", depfile, "-d", "width=3"});
  EXPECT_TRUE(contains(unknown.err, "no symbolic dimension \"width\"")) << unknown.err;
  EXPECT_TRUE(contains(unknown.err, "takes DIM in place of -d\n")) << unknown.err;
  EXPECT_EQ(unknown.code, 2);
}

TEST(CommandLine, EveryOpenBatchHasANote) {
  builder b;
  b.symbolic_input("a", {"", "2"}).symbolic_input("b", {"", "2"}).output("y");
  b.node("Add", {"a", "b"}, {"y"});
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", b), "-o", folder.path});
  EXPECT_TRUE(contains(done.err, "input \"a\": its unknown") && contains(done.err, "input \"b\": its unknown")) << done.err;
}

TEST(CommandLine, InputNamesMayHaveColons) {
  builder b;
  b.symbolic_input("a:b", {"1", "H"}).output("y");
  b.node("Relu", {"a:b"}, {"y"});
  const scratch folder;
  const auto m = folder.save("net.onnx", b);
  EXPECT_EQ(tool({m, "-i", "a:b:1x7", "-o", folder.path}).code, 0);
  const auto refused = tool({m, "-o", folder.path / "none"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(contains(refused.err, "-i a:b:1xN")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "-d H=N")) << refused.err;
  EXPECT_FALSE(fs::exists(folder.path / "none"));
}

TEST(CommandLine, GuessesMistypedOptions) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  const auto says = [](const std::vector<std::string>& words, const std::string& text) {
    const auto done = tool(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_EQ(done.err, "onnx2hpp: error: " + text + "\n");
  };
  says({m, "--no-fodl"}, "unknown option \"--no-fodl\" (did you mean --no-fold?)");
  says({m, "--outputdir=x"}, "unknown option \"--outputdir\" (did you mean --output-dir?)");
  says({m, "--something"}, "unknown option \"--something\" (see onnx2hpp --help)");
  says({"--nmae", "net", m}, "unknown option \"--nmae\" (did you mean --name?)");  // not the model, which took its place
  says({"--list-layer"}, "unknown option \"--list-layer\" (did you mean --list-layers?)");  // not only the missing MODEL
  says({"-outputs", "y", m}, "unknown option \"-outputs\" (did you mean --outputs?)");
  says({m, "-x", "--dott", "f"}, "unknown options \"-x\", \"--dott\" (did you mean --dot?)");
  says({m, "--dot", "x", "second", "third"}, "unexpected arguments \"second\", \"third\" (see onnx2hpp --help)");
}

TEST(CommandLine, SuggestsWhatWasMeant) {
  const scratch folder;
  builder b;
  b.input("x", {1, 4}).output("logits");
  b.node("Relu", {"x"}, {"/head/Relu_output_0"}).set_name("/head/Relu");
  b.node("Tanh", {"/head/Relu_output_0"}, {"logits"});
  const auto m = folder.save("net.onnx", b);
  const auto says = [&](const std::vector<std::string>& words, const std::string& text) {
    const auto done = tool(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_EQ(done.err, "onnx2hpp: error: " + text + "\n");
  };
  for (const char* name : {"/head/Relu", "head_Relu"})  // of the node, of the layer
    says({m, "--outputs", name},
         "--outputs: the model has no value \"" + std::string(name) + "\"; did you mean \"/head/Relu_output_0\"?");
  says({m, "--outputs", "logit"}, "--outputs: the model has no value \"logit\"; did you mean \"logits\"?");
  says({m, "--outputs", "no such value"},
       "--outputs: the model has no value \"no such value\"; --outputs takes names of values, as a viewer of ONNX files "
       "shows "
       "them");
  says({m, "-i", "x:1,4"}, "-i: \"x:1,4\": write the shape as 1x3x224x224");
  says({m, "-o", "made/net.hpp"}, "-o: expected a folder, found \"made/net.hpp\"; --name gives the header its name");
}

TEST(CommandLine, AShapeThatTheModelDoesNotDeclare) {
  const scratch folder;
  const auto done = tool({folder.save("net.onnx", small()), "-i", "input:1x3x8x6", "-o", folder.path});
  EXPECT_EQ(done.code, 1);
  const std::string warning = "warning: input \"input\": converted for 1x3x8x6, although the model declares batchx1x6x6";
  EXPECT_TRUE(contains(done.err, warning)) << done.err;
  EXPECT_EQ(done.err.find(warning), done.err.rfind(warning)) << "for two axes, once";
  EXPECT_TRUE(contains(done.err,
                       "do not fit an input of 3 channels in 1 group; omit -i input, or give it a shape like the one "
                       "that the model declares, batchx1x6x6\n"))
      << done.err;
}

TEST(CommandLine, WrongUsageIsExitCode2) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {m, "--what"},
                                                       {m, "extra"},
                                                       {m, "-i", "input"},
                                                       {m, "-i", "input:1xx6"},
                                                       {m, "-i", "input:1x1x6x0"},
                                                       {m, "-i", "other:1x1x6x6"},
                                                       {m, "-i", "input:1x1x6"},
                                                       {m, "-d", "batch"},
                                                       {m, "-d", "batch=0"},
                                                       {m, "-d", "other=1"},
                                                       {m, "-d", "batch=1", "-d", "batch=2"},
                                                       {m, "--outputs", "none"},
                                                       {m, "--outputs", "c,,r"},
                                                       {m, "--outputs", "c,c"},
                                                       {m, "--mapping", m},
                                                       {m, "--platform", m},
                                                       {m, "--mapping", "", "--platform", m},
                                                       {m, "--mapping", m, "--platform", m, "--platform", m},
                                                       {m, "--profile", ""},
                                                       {m, "--profile", m, m},
                                                       {m, "-q", "-v"},
                                                       {m, "--name", ""},
                                                       {m, "--name", "2net"},
                                                       {m, "--name", "a-b"},
                                                       {m, "--name", "class"},
                                                       {m, "--name", "a__b"},
                                                       {m, "--name", "_net"},
                                                       {m, "--name", "linux"},
                                                       {m, "--name", "errno"},
                                                       {m, "--name", "EOF"},
                                                       {m, "--name", "time"},
                                                       {m, "--name", "signal"},
                                                       {m, "--name", "y1"},
                                                       {m, "--name", "link"},
                                                       {m, "--name", "index"},
                                                       {m, "--name", "read"},
                                                       {m, "--name", "main"},
                                                       {m, "--name", "std"},
                                                       {m, "--name", "dice"},
                                                       {m, "--name", "boost"},
                                                       {m, "--name", "xt"},
                                                       {m, "--name", "I"},
                                                       {m, "--name", "n\xc3\xa9t"}};
  for (const auto& arguments : wrong) {
    auto all = arguments;
    all.insert(all.end(), {"-o", folder.path / "none"});
    const auto done = tool(all);
    std::string command;
    for (const auto& a : arguments) command += a + " ";
    EXPECT_EQ(done.code, 2) << command << done.err;
    EXPECT_EQ(done.err.rfind("onnx2hpp: error: ", 0), 0u) << command << done.err;
    EXPECT_EQ(done.out, "") << command;
    EXPECT_FALSE(fs::exists(folder.path / "none")) << command;
  }
}

TEST(CommandLine, GoodNamesAreTakenAsTheyAre) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  for (const char* name : {"VGG19", "net_", "layer", "network", "x", "resnet50_v1"}) {
    EXPECT_EQ(tool({m, "--name", name, "-o", folder.path}).code, 0) << name;
    EXPECT_TRUE(fs::exists(folder.path / (name + std::string(".hpp")))) << name;
  }
}

TEST(CommandLine, FileNamesBecomeNamespaces) {
  const scratch folder;
  for (const auto& [stem, name] :
       {std::pair{"time", "time_"}, {"2net", "model_2net"}, {"a--b..c", "a_b_c"}, {"class", "class_"}, {"---", "model"}}) {
    EXPECT_EQ(tool({folder.save(stem + std::string(".onnx"), small()), "-o", folder.path}).code, 0) << stem;
    EXPECT_TRUE(fs::exists(folder.path / (name + std::string(".hpp")))) << stem;
  }
}

TEST(CommandLine, HelpVersionAndList) {
  const auto help = tool({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* option : {"-o", "--name", "-i", "-d", "--outputs", "--list-layers", "--dot", "--no-fold", "--depfile",
                             "--mapping", "--platform", "--profile", "-q", "-v", "--version", "Examples"})
    EXPECT_TRUE(contains(help.out, option)) << option;
  EXPECT_EQ(tool({"--version"}).out, "onnx2hpp 0.1.0\n");
  const scratch folder;
  const auto list = tool({folder.save("net.onnx", small()), "--list-layers", "-o", folder.path / "none"});
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(contains(list.out, "conv")) << list.out;
  EXPECT_TRUE(contains(list.out, "1x2x4x4")) << list.out;
  EXPECT_FALSE(fs::exists(folder.path / "none"));
}

TEST(CommandLine, ListsWhatACutWouldSend) {
  builder b;
  b.input("x", {1, 2, 4, 4}).output("y");
  b.node("Relu", {"x"}, {"a"});
  b.node("Sigmoid", {"a"}, {"b"});
  b.node("Tanh", {"b"}, {"c"});
  set(b.node("Concat", {"c", "a", "a"}, {"y"}), "axis", 1);
  const scratch folder;
  std::istringstream list(tool({folder.save("net.onnx", b), "--list-layers"}).out);
  std::vector<std::string> found;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
    if (word.size() > 6 && word[0] != "id" && word[1] != "layers,") found.push_back(word[6]);
  }
  // x, a, a and b (the edge that skips two layers counts, once), a and c, y.
  EXPECT_EQ(found, (std::vector<std::string>{"0", "128", "128", "256", "256", "384"}));
}

TEST(CommandLine, CutsAndDraws) {
  const scratch folder;
  const auto done =
      tool({folder.save("net.onnx", small()), "--outputs", "r,c", "--dot", folder.path / "net.dot", "-o", folder.path});
  EXPECT_EQ(done.code, 0) << done.err;
  const auto report = nlohmann::json::parse(read_file(folder.path / "net.json"));
  ASSERT_EQ(report["outputs"].size(), 2u);
  EXPECT_EQ(report["outputs"][0]["name"], "r");
  EXPECT_EQ(report["outputs"][1]["name"], "c");
  EXPECT_TRUE(contains(read_file(folder.path / "net.dot"), "l1 -> l2"));
  // "graph" is a namespace in C++ and a keyword in Graphviz.
  EXPECT_EQ(tool({folder.path / "net.onnx", "--name", "graph", "--dot", folder.path / "net.dot", "-o", folder.path}).code,
            0);
  EXPECT_TRUE(contains(read_file(folder.path / "net.dot"), "digraph \"graph\" {"));
}

TEST(CommandLine, OutputNamesMayHaveCommas) {
  builder b;
  b.input("x", {1, 2}).output("y");
  b.node("Relu", {"x"}, {"a,b"});
  b.node("Relu", {"a,b"}, {"y"});
  const scratch folder;
  EXPECT_EQ(tool({folder.save("net.onnx", b), "--outputs", "y,a,b", "-o", folder.path}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder.path / "net.json"))["outputs"][1]["name"], "a,b");
}

TEST(Report, LayersAndCuts) {
  const scratch folder;
  ASSERT_EQ(tool({folder.save("net.onnx", small()), "-q", "-o", folder.path}).code, 0);
  const auto report = nlohmann::json::parse(read_file(folder.path / "net.json"));
  EXPECT_EQ(report["network"], "net");
  EXPECT_EQ(report["namespace"], "net");
  EXPECT_EQ(report["inputs"], (nlohmann::json{{{"name", "input"}, {"shape", {1, 1, 6, 6}}}}));
  const auto& layers = report["layers"];
  ASSERT_EQ(layers.size(), 6u);
  for (std::size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(layers[i]["id"], i);
  EXPECT_EQ(layers[0]["operator"], "Input");
  EXPECT_EQ(layers[5]["operator"], "Output");
  EXPECT_EQ(layers[5]["onnx_name"], "output");
  const auto& conv = layers[1];
  EXPECT_EQ(conv["name"], "conv");
  EXPECT_EQ(conv["onnx_name"], "conv");
  EXPECT_EQ(conv["operator"], "Conv");
  EXPECT_EQ(conv["inputs"], (nlohmann::json{0}));
  EXPECT_EQ(conv["output_shape"], (nlohmann::json{1, 2, 4, 4}));
  EXPECT_EQ(conv["macs"], 2 * 16 * 9);
  EXPECT_EQ(conv["parameter_bytes"], 2 * 9 * 4);
  EXPECT_EQ(conv["activation_bytes"], 2 * 16 * 4);
  ASSERT_EQ(report["cuts"].size(), 5u);
  EXPECT_EQ(report["cuts"][0], (nlohmann::json{{"before", 1}, {"bytes", 144}}));
  EXPECT_EQ(report["cuts"][1], (nlohmann::json{{"before", 2}, {"bytes", 128}}));
  EXPECT_EQ(report["cuts"][4], (nlohmann::json{{"before", 5}, {"bytes", 16}}));
}

TEST(Report, ACutSendsATensorWithTwoReadersOnce) {
  builder b;
  b.input("x", {1, 4}).output("y");
  b.node("Relu", {"x"}, {"a"});
  b.node("Sigmoid", {"x"}, {"b"});
  b.node("Add", {"a", "b"}, {"y"});
  const scratch folder;
  ASSERT_EQ(tool({folder.save("net.onnx", b), "-o", folder.path}).code, 0);
  const auto cuts = nlohmann::json::parse(read_file(folder.path / "net.json"))["cuts"];
  std::vector<int> bytes;
  for (const auto& c : cuts) bytes.push_back(c["bytes"]);
  EXPECT_EQ(bytes, (std::vector<int>{16, 32, 32, 16}));
}

TEST(Files, FailuresLeaveNothingBehind) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  EXPECT_EQ(tool({folder.path / "none.onnx", "-o", folder.path / "out"}).code, 1);
  EXPECT_EQ(tool({folder.path, "-o", folder.path / "out"}).code, 1);
  EXPECT_EQ(tool({folder.write("empty.onnx", ""), "-o", folder.path / "out"}).code, 1);
  EXPECT_FALSE(fs::exists(folder.path / "out"));
  folder.write("file", "");
  EXPECT_EQ(tool({m, "-o", folder.path / "file"}).code, 1);
  // If one of the files cannot be written, none is.
  fs::create_directories(folder.path / "out" / "net.json");
  const auto done = tool({m, "-o", folder.path / "out"});
  EXPECT_EQ(done.code, 1);
  EXPECT_TRUE(contains(done.err, "cannot be written")) << done.err;
  EXPECT_EQ(files(folder.path / "out"), (std::set<std::string>{"net.json"}));
  EXPECT_EQ(tool({m, "-o", folder.path / "out2", "--depfile", folder.path / "nowhere" / "d"}).code, 1);
  EXPECT_EQ(files(folder.path / "out2").size(), 0u);
}

TEST(Files, DependenciesOfAnyNameThatMakeCanRead) {
  const scratch folder;
  const auto depfile = folder.path / "net.d";
  ASSERT_EQ(
      tool({folder.save("a:b c.onnx", small()), "-o", folder.path / "out", "--name", "net", "--depfile", depfile}).code, 0);
  EXPECT_TRUE(contains(read_file(depfile), "/a\\:b\\ c.onnx\n")) << read_file(depfile);
  const auto broken =
      tool({folder.save("a\nb.onnx", small()), "-o", folder.path / "new", "--name", "net", "--depfile", depfile});
  EXPECT_EQ(broken.code, 2);
  EXPECT_TRUE(contains(broken.err, "which holds a line break; rename this file")) << broken.err;
  EXPECT_EQ(files(folder.path / "new").size(), 0u);
}

TEST(Files, NoneIsStandardOutput) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  for (const char* option : {"--dot", "--depfile"})
    EXPECT_TRUE(contains(tool({m, option, "-", "-o", folder.path}).err,
                         std::string(option) + ": output cannot go to '-'; name a file (./- for a file of that name)"));
}

TEST(Files, NeverOverOneAnother) {
  const scratch folder;
  const auto m = folder.save("net.onnx", small());
  EXPECT_EQ(tool({m, "-o", folder.path, "--dot", folder.path / "net.json"}).code, 2);
  EXPECT_EQ(tool({m, "-o", folder.path, "--depfile", m}).code, 2);
  EXPECT_EQ(files(folder.path), (std::set<std::string>{"net.onnx"}));
}

TEST(Files, AFullDiskLeavesNothingBehind) {
  const scratch folder;
  // A limit on the size of files acts like a full disk.
  const auto m = folder.save("net.onnx", small());
  const auto done =
      run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", ONNX2HPP, m, "-o", folder.path / "out"});
  EXPECT_EQ(done.code, 1) << done.err;
  EXPECT_EQ(files(folder.path / "out").size(), 0u);
}

}  // namespace
}  // namespace onnx2hpp_test
