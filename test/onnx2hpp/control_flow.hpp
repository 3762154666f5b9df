/// Models with graphs inside nodes.
#pragma once

#include "computed.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace onnx2hpp_test {

using strings = std::vector<std::string>;

/// A graph inside a node: `make` adds its nodes.
inline onnx::GraphProto inner_graph(const strings& inputs, const strings& outputs,
                                    const std::function<void(builder&)>& make) {
  builder b;
  for (const auto& i : inputs) b.graph().add_input()->set_name(i);
  for (const auto& o : outputs) b.output(o);
  make(b);
  return b.graph();
}
inline void set_graph(onnx::NodeProto& n, const std::string& name, const onnx::GraphProto& value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  *a->mutable_g() = value;
}

inline builder& bool_constant(builder& b, const std::string& name, bool value) {
  b.tensor(name, onnx::TensorProto::BOOL, {}).set_raw_data(value ? "\1" : std::string(1, '\0'));
  return b;
}
inline builder& whole_number(builder& b, const std::string& name, std::int64_t value) {
  b.tensor(name, onnx::TensorProto::INT64, {}).set_raw_data(&value, 8);
  return b;
}
/// A branch with one node between a value around it and its output "o".
inline onnx::GraphProto one_node(const std::string& op, const std::string& in = "x") {
  return inner_graph({}, {"o"}, [&](builder& b) { b.node(op, {in}, {"o"}, "inner"); });
}
inline const floats three_numbers{-1, 2, 3};

inline void expect_in(const std::string& text, const std::string& part) { EXPECT_TRUE(contains(text, part)) << text; }

inline floats y_of(const builder& b, const floats& x = three_numbers) {
  const auto found = problems(b);
  EXPECT_EQ(found, "");
  return found.empty() ? computed(convert(b), {{"x", x}}).at("y") : floats();
}

}  // namespace onnx2hpp_test
