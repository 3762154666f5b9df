// The weights file: safetensors that strict readers accept, 64-byte aligned, with its digests.
#include "convert_model.hpp"
#include "emit/emit.hpp"
#include "emit/sha256.hpp"
#include "run_tool.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace onnx2hpp_test {
namespace {

builder several() {
  builder b;
  b.input("x", {1, 3, 4, 4})
      .output("y")
      .weights("w", {5, 3, 1, 1})
      .weights("b", {5})
      .floats("k", {5, 1, 1}, {1, 2, 3, 4, 5});
  b.node("Conv", {"x", "w", "b"}, {"c"}, "conv");
  b.node("Mul", {"c", "k"}, {"m"}, "mul");
  b.node("Add", {"m", "k"}, {"y"}, "add");
  return b;
}

TEST(Weights, FormatIsStrict) {
  const scratch folder;
  ASSERT_EQ(tool({folder.save("m.onnx", several()), "--no-fold", "-o", folder.path}).code, 0);
  const std::string bytes = read_file(folder.path / "m.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), 8);
  EXPECT_EQ((8 + size) % 64, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, size));
  const std::string data = bytes.substr(8 + size);
  nlohmann::json metadata{{"format", "dice"}, {"dice_version", "0.1.0"}, {"network", "m"}};
  const auto sum = [](std::string_view part) {
    onnx2hpp::sha256 hash;
    hash.add(std::as_bytes(std::span(part)));
    return hash.finish();
  };
  // The file's digest is of the digests of its tensors.
  std::map<std::size_t, std::string> lines;
  for (const auto& [name, t] : header.items()) {
    if (name.starts_with("__")) continue;
    const std::size_t from = t["data_offsets"][0], to = t["data_offsets"][1];
    const auto own = metadata["sha256." + name] = sum(std::string_view(data).substr(from, to - from));
    lines[from] = fmt::format("{} {} {} {}\n", name, from, to, own.get<std::string>());
  }
  std::string table;
  for (const auto& [from, line] : lines) table += line;
  const auto digest = sum(table);
  metadata["dice_digest"] = digest;
  metadata["model_sha256"] = sum(read_file(folder.path / "m.onnx"));
  const auto types = read_file(folder.path / "m.hpp");
  metadata["dice_structure"] = types.substr(types.find(".structure = \"") + 14, 64);
  EXPECT_EQ(header["__metadata__"], metadata);
  EXPECT_EQ(types.find(digest), std::string::npos);
  EXPECT_EQ(types.find("pinned"), std::string::npos);
  ASSERT_EQ(tool({folder.path / "m.onnx", "--no-fold", "-o", folder.path, "--pin-weights"}).code, 0);
  const auto pinned = read_file(folder.path / "m.hpp");
  const auto pin = ",\n" + std::string(55, ' ') + ".pinned = \"" + digest + "\"";
  const auto at = pinned.find(pin);
  ASSERT_NE(at, std::string::npos) << pinned;
  EXPECT_EQ(pinned.substr(0, at) + pinned.substr(at + pin.size()), types) << "the pin changes nothing else";
  // Every byte belongs to one tensor.
  std::map<std::size_t, std::size_t> ranges;
  for (const auto& [name, t] : header.items()) {
    if (name == "__metadata__") continue;
    ranges[t["data_offsets"][0]] = t["data_offsets"][1];
    std::size_t n = t["dtype"] == "F32" ? 4 : 1;
    for (std::size_t d : t["shape"]) n *= d;
    EXPECT_EQ(t["data_offsets"][1].get<std::size_t>() - t["data_offsets"][0].get<std::size_t>(), n) << name;
    if (t["dtype"] == "F32") {
      EXPECT_EQ(t["data_offsets"][0].get<std::size_t>() % 64, 0u) << name;
    }
  }
  std::size_t end = 0;
  for (const auto& [from, to] : ranges) {
    EXPECT_EQ(from, end);
    end = to;
  }
  EXPECT_EQ(end, data.size());
  EXPECT_TRUE(header.contains("conv.weight") && header.contains("conv.bias") && header.contains("mul.constant"));
  EXPECT_FALSE(header.contains("add.constant")) << "the same constant is stored once";
}

TEST(Weights, ANetworkWithoutAnyHasAnEmptyFile) {
  builder b;
  b.input("x", {1}).output("y");
  b.node("Relu", {"x"}, {"y"});
  const scratch folder;
  ASSERT_EQ(tool({folder.save("m.onnx", b), "-o", folder.path}).code, 0);
  const std::string bytes = read_file(folder.path / "m.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), 8);
  EXPECT_EQ(bytes.size(), 8 + size);
}

TEST(Weights, LongOnesWithFactorsOfRows) {
  // 1.1 million elements: more than are handled at once.
  constexpr std::int64_t rows = 1100, columns = 1000;
  std::vector<float> values(rows * columns), factors(rows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 4099);
  for (std::size_t r = 0; r < factors.size(); ++r) factors[r] = static_cast<float>(r % 5 + 1);
  builder b;
  b.input("x", {1, columns, 1, 1}).output("y");
  b.floats("w", {rows, columns, 1, 1}, values).floats("k", {rows, 1, 1}, factors);
  b.node("Conv", {"x", "w"}, {"c"});
  b.node("Mul", {"c", "k"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Conv");
  const auto out = written(net);
  ASSERT_EQ(out.size(), values.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], values[i] * factors[i / columns]) << i;
}

TEST(Weights, LongTransposedAndScaledOnes) {
  // Longer than the blocks in which weights are written.
  constexpr std::int64_t rows = 3000, columns = 1100;
  builder b;
  b.input("x", {1, rows}).output("y");
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  b.floats("w", {rows, columns}, values);
  set(b.node("Gemm", {"x", "w"}, {"y"}), "alpha", 0.5f);
  const auto out = written(convert(b));
  for (std::int64_t c = 0; c < columns; c += 7)
    for (std::int64_t r = 0; r < rows; r += 11) ASSERT_EQ(out[c * rows + r], 0.5f * static_cast<float>(r * columns + c));
}

TEST(Weights, TheSameDataInAnotherFormIsAnotherTensor) {
  builder b;
  b.input("x", {2, 2}).output("y").floats("w", {2, 2}, {1, 2, 3, 4});
  set(b.node("Gemm", {"x", "w"}, {"a"}), "transB", 1);
  b.node("Gemm", {"a", "w"}, {"b"});
  set(b.node("Gemm", {"b", "w"}, {"c"}), "alpha", 2.0f);
  b.node("Add", {"c", "w"}, {"y"});
  const auto layout = onnx2hpp::lay_out_weights(convert(b));
  EXPECT_EQ(layout.tensors.size(), 3u);
}

std::string structure(const builder& b, bool fold = true) {
  conversion settings;
  settings.fold = fold;
  const auto net = convert(b, settings);
  return onnx2hpp::structure_digest(net, onnx2hpp::lay_out_weights(net));
}

/// A Conv with a normalisation, and a Gemm. All of its weights are `value`, if there is one.
builder classifier(std::optional<float> value = {}, std::int64_t channels = 4, float epsilon = 1e-5f) {
  builder b;
  b.input("x", {1, 3, 4, 4}).output("y");
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& dims) {
    std::size_t n = 1;
    for (const auto d : dims) n *= static_cast<std::size_t>(d);
    if (value) b.floats(name, dims, std::vector<float>(n, *value));
    else b.weights(name, dims);
  };
  add("w", {channels, 3, 1, 1});
  for (const char* name : {"scale", "shift", "mean", "variance"}) add(name, {channels});
  add("v", {channels * 16, 4});
  add("c", {4});
  b.node("Conv", {"x", "w"}, {"h"}, "conv");
  set(b.node("BatchNormalization", {"h", "scale", "shift", "mean", "variance"}, {"n"}, "norm"), "epsilon", epsilon);
  b.node("Flatten", {"n"}, {"f"}, "flatten");
  b.node("Gemm", {"f", "v", "c"}, {"y"}, "fc");
  return b;
}

// Programs take weights of the same structure: another training must not change it, whatever its numbers are.
TEST(Weights, NumbersDoNotChangeTheStructure) {
  for (const bool fold : {true, false}) {
    const auto own = structure(classifier(), fold);
    EXPECT_EQ(own.size(), 64u);
    for (const float all : {0.5f, 1.0f, 0.0f}) EXPECT_EQ(structure(classifier(all), fold), own) << all;
  }
}

TEST(Weights, TheStructureIsAllThatAProgramIsCompiledFrom) {
  const auto own = structure(classifier());
  EXPECT_NE(structure(classifier({}, 5)), own) << "shape";
  auto node = classifier();
  node.graph().mutable_node(0)->set_name("other");
  EXPECT_NE(structure(node), own) << "name of a layer";
  auto attribute = [](int axis) {
    builder b;
    b.input("x", {2, 2}).output("y");
    set(b.node("Softmax", {"x"}, {"y"}), "axis", axis);
    return structure(b);
  };
  EXPECT_NE(attribute(0), attribute(1));
  const auto net = convert(classifier());
  auto layout = onnx2hpp::lay_out_weights(net);
  layout.bytes += 64;
  EXPECT_NE(onnx2hpp::structure_digest(net, layout), own) << "size";
  layout.bytes -= 64;
  EXPECT_EQ(onnx2hpp::structure_digest(net, layout), own);
  for (auto& offsets : layout.offsets)
    for (auto& at : offsets) at += 64;
  EXPECT_NE(onnx2hpp::structure_digest(net, layout), own) << "offsets";
}

}  // namespace
}  // namespace onnx2hpp_test
