/// What converted networks compute, by the reference kernels.
#pragma once

#include "convert_model.hpp"
#include "expect/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace onnx2hpp_test {

/// The outputs, by name, for inputs given by name.
inline std::map<std::string, std::vector<float>> computed(const network& net,
                                                          const std::map<std::string, std::vector<float>>& inputs) {
  std::map<std::string, std::vector<float>> out;
  const auto at = [&](int l) -> const onnx2hpp::layer& { return net.layers[l]; };
  onnx2hpp::evaluation(net).run([&](int l) { return inputs.at(at(l).onnx_name).data(); },
                                [&](int l, const float* values) {
                                  for (const auto& o : net.layers)
                                    if (is_output(o) && o.operands[0] == l)
                                      out[o.onnx_name].assign(values, values + o.result.elements());
                                });
  return out;
}

/// max |a - b| / max |b| of the outputs with and without everything that the converter joins and removes.
inline double error(const builder& b) {
  const auto joined = convert(b), plain = convert(b, {.fold = false});
  std::map<std::string, std::vector<float>> inputs;
  for (const auto& l : plain.layers)
    if (is_input(l)) {
      auto& values = inputs[l.onnx_name];
      values.resize(static_cast<std::size_t>(l.result.elements()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(7 * i + 1));
    }
  const auto a = computed(joined, inputs), expected = computed(plain, inputs);
  EXPECT_EQ(a.size(), static_cast<std::size_t>(b.model.graph().output_size()));
  double worst = 0, most = 0;
  for (const auto& [name, values] : expected) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(values[i])));
      difference = std::max(difference, std::abs(static_cast<double>(values[i]) - a.at(name).at(i)));
    }
    most = std::max(most, largest);
    worst = std::max(worst, largest > 0 ? difference / largest : difference);
  }
  EXPECT_GT(most, 0) << "nothing to compare";
  return worst;
}

}  // namespace onnx2hpp_test
