/// What onnx2hpp computes itself.
#pragma once

#include "convert_model.hpp"

#include <cstdint>
#include <vector>

namespace onnx2hpp_test {

/// The elements of a constant "c" that the nodes of `make` compute; it is seen as what is added to the input.
template <class Make> floats folded(const std::vector<std::int64_t>& dims, Make make, int opset = 17) {
  builder b(opset);
  b.input("x", dims).output("y");
  make(b);
  set(b.node("Cast", {"c"}, {"f"}), "to", 1);
  b.node("Add", {"x", "f"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Add");
  return written(net);
}

}  // namespace onnx2hpp_test
