// Random models that once found a mistake, or a refusal that is right, again and without an oracle: kept/*.txt, which
// `random_models.py --keep` writes.
#include "answers.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;

struct tensor {
  std::string name, type;
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

/// A file: comments, the model as text, then parts that begin with a line "--- input|output NAME TYPE EXTENTS…", which their
/// numbers follow, or "--- refused REASON".
struct kept {
  onnx::ModelProto model;
  std::vector<tensor> inputs, outputs;
  std::string refused;
};

kept read(const fs::path& path) {
  kept out;
  std::string model;
  std::ifstream file(path);
  std::vector<float>* values = nullptr;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (line.starts_with("--- refused ")) {
      out.refused = line.substr(12);
    } else if (line.starts_with("--- ")) {
      std::string dashes, what;
      tensor t;
      words >> dashes >> what >> t.name >> t.type;
      for (std::int64_t extent; words >> extent;) t.dims.push_back(extent);
      auto& list = what == "input" ? out.inputs : out.outputs;
      list.push_back(t);
      values = &list.back().values;
    } else if (values) {
      for (std::string word; words >> word;) values->push_back(std::strtof(word.c_str(), nullptr));
    } else if (!line.starts_with("#")) {
      model += line + '\n';
    }
  }
  if (!google::protobuf::TextFormat::ParseFromString(model, &out.model))
    throw std::runtime_error(path.string() + " has no model");
  return out;
}

bool near(float found, float expected, float largest) {
  return found == expected || (std::isnan(found) && std::isnan(expected)) ||
         std::abs(found - expected) <= 1e-6f + 1e-5f * largest + 2e-4f * std::abs(expected);
}

void compare(const random_models::result& found, const tensor& expected) {
  EXPECT_EQ(std::string(dice::frames::type_name(found.type)), expected.type);
  EXPECT_EQ(std::vector<std::int64_t>(found.extents.dim, found.extents.dim + found.extents.rank), expected.dims);
  ASSERT_EQ(found.values.size(), expected.values.size());
  float largest = 0;
  for (const float v : expected.values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < found.values.size(); ++i)
    EXPECT_TRUE(expected.type == "float32" ? near(found.values[i], expected.values[i], largest)
                                           : found.values[i] == expected.values[i])
        << "element " << i << " is " << found.values[i] << ", expected " << expected.values[i];
}

class Kept : public testing::TestWithParam<fs::path> {};

TEST_P(Kept, IsRight) {
  const auto k = read(GetParam());
  const auto file = fs::path(testing::TempDir()) / (GetParam().stem().string() + ".onnx");
  std::ofstream(file, std::ios::binary) << k.model.SerializeAsString();
  std::map<std::string, std::vector<float>> inputs;
  for (const auto& t : k.inputs) inputs[t.name] = t.values;
  for (const bool fold : {true, false}) {
    const auto a = random_models::answer_of(file, inputs, fold);
    std::string problems;
    for (const auto& p : a.problems) problems += p.operator_name + ": " + p.reason + '\n';
    if (!k.refused.empty()) {
      EXPECT_NE(problems.find(k.refused), std::string::npos) << problems;
      continue;
    }
    ASSERT_EQ(problems, "");
    ASSERT_EQ(a.results.size(), k.outputs.size());
    for (std::size_t i = 0; i < k.outputs.size(); ++i) {
      SCOPED_TRACE(k.outputs[i].name + (fold ? "" : ", not folded"));
      compare(a.results[i], k.outputs[i]);
    }
  }
  fs::remove(file);
}

std::vector<fs::path> files() {
  std::vector<fs::path> out;
  for (const auto& e : fs::directory_iterator(KEPT_MODELS))
    if (e.path().extension() == ".txt") out.push_back(e.path());
  std::ranges::sort(out);
  return out;
}

INSTANTIATE_TEST_SUITE_P(RandomModels, Kept, testing::ValuesIn(files()),
                         [](const auto& one) { return one.param.stem().string(); });

}  // namespace
