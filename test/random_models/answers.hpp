/// What onnx2hpp makes of a model: the results of the converted network by the reference kernels, or why it is refused.
#pragma once

#include "expect/evaluation.hpp"
#include "graph/convert.hpp"
#include "graph/names.hpp"

#include "dice/frames/numbers.hpp"
#include "dice/graph/ops/output.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace random_models {

struct result {
  std::string name{};
  dice::tensor::number type{};
  dice::tensor::shape extents{};
  std::vector<float> values{};  ///< as they leave the network: integers, if it has them
};

struct answer {
  std::vector<onnx2hpp::problem> problems{};  ///< of a model that is refused
  std::vector<result> results{};              ///< in the order of the model's outputs
};

/// Numbers as an output of type `as` has them.
inline std::vector<float> left(std::span<const float> numbers, dice::tensor::number as) {
  std::vector<float> out(numbers.begin(), numbers.end());
  dice::tensor::with_type_of(as, [&]<class T>(T) {
    for (float& x : out) x = static_cast<float>(dice::frames::as_number<T>(x));
  });
  return out;
}

/// The results for inputs by name, each with its elements in order. With or without what the converter joins and removes.
inline answer answer_of(const std::filesystem::path& model, const std::map<std::string, std::vector<float>>& inputs,
                        bool fold) {
  answer out;
  try {
    const auto read = onnx2hpp::load_model(model);
    auto net = onnx2hpp::convert(read, {.fold = fold}, onnx2hpp::messages(onnx2hpp::verbosity::quiet));
    onnx2hpp::name_layers(net);
    const auto at = [&](int l) -> const onnx2hpp::layer& { return net.layers[l]; };
    for (const auto& l : net.layers) {
      if (const auto* op = l.op.get_if<dice::ops::output>()) out.results.push_back({l.onnx_name, op->number, l.result, {}});
      if (is_input(l) && static_cast<std::int64_t>(inputs.at(l.onnx_name).size()) != l.result.elements())
        throw std::runtime_error("input " + l.onnx_name + " has another size");
    }
    onnx2hpp::evaluation(net).run([&](int l) { return inputs.at(at(l).onnx_name).data(); },
                                  [&](int l, const float* values) {
                                    for (auto& r : out.results)
                                      for (const auto& o : net.layers)
                                        if (is_output(o) && o.operands[0] == l && o.onnx_name == r.name)
                                          r.values = left({values, static_cast<std::size_t>(r.extents.elements())}, r.type);
                                  });
  } catch (const onnx2hpp::conversion_error& e) {
    out.problems = e.problems;
  }
  return out;
}

}  // namespace random_models
