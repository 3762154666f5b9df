// The operators that the tool reads, and which parts of each. docs/operators.md is made from this.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace onnx2hpp {

class node_context;
using handler = void (*)(node_context&);

inline constexpr int first_opset = 7, last_opset = 28;

/// The opsets of ONNX that have an operator or an attribute; without `to`, all from `from` on.
struct opsets {
  constexpr opsets(int from, int to = last_opset) : first(from), last(to) {}
  constexpr bool contain(std::int64_t opset) const { return first <= opset && opset <= last; }
  int first, last;
};

/// An operator that is read. Importers and folders fill it in.
struct known_operator {
  handler import = nullptr;   ///< turns a node into layers
  handler fold = nullptr;     ///< computes a node of constants
  bool folds_shapes = false;  ///< `fold` also takes activations, of which it reads only the shapes
  opsets exists{0, 0};
  std::map<std::string, opsets> attributes{};
  std::string notes{};  ///< what is refused, and which layers it becomes unless it is one
};

/// By their names.
std::map<std::string, known_operator>& operators();
/// ONNX's other standard operators, with the reason why they are not read.
const std::map<std::string, std::string>& unread_operators();
/// Whether the operator computes with quantised numbers.
bool is_quantised(const std::string& name);
/// Whether the operator keeps the shape of its first input; for operators that are not read, or refused.
bool keeps_shape(const std::string& name);

/// The operator exists in the opsets `exists` and has these `attributes`, separated by blanks: "axes<13" until opset 13,
/// "axes>=13" from then on. `run` can read no others.
struct importer {
  importer(const char* name, handler run, opsets exists, const char* attributes, const char* notes = "");
};
struct folder {
  /// For an operator that an importer also has, and declares.
  folder(const char* name, handler run) { operators()[name].fold = run; }
  folder(const char* name, handler run, opsets exists, const char* attributes, const char* notes = "");
};
/// For an operator whose result depends only on its inputs' shapes.
struct shape_folder {
  shape_folder(const char* name, handler run, opsets exists, const char* attributes, const char* notes = "");
};

/// For an operator with graphs inside its nodes, whether its inputs are constants or not.
struct graph_importer {
  graph_importer(const char* name, handler run, opsets exists, const char* attributes, const char* notes);
};

}  // namespace onnx2hpp
