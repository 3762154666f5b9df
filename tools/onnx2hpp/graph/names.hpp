#pragma once

#include "graph/network.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace onnx2hpp {

/// Makes C++ identifiers from any texts, each different from all before it and from `taken`.
class identifiers {
 public:
  explicit identifiers(std::unordered_set<std::string> taken = {}) : taken_(std::move(taken)) {}
  /// `kind` replaces a text without letters and digits, and precedes one that begins with a digit.
  std::string make(const std::string& text, const std::string& kind);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;
};

/// Gives each layer a C++ identifier of its own, made from its name in the model: graph inputs and outputs choose first.
void name_layers(network& net);

/// `name` with `_` for each of `characters`, as in names of files.
std::string with_underscores(std::string name, std::string_view characters);

/// A namespace for a model whose file has the given stem.
std::string namespace_for(const std::string& stem);

/// Why `name` cannot be a namespace of a generated header; empty if it can.
std::string why_no_namespace(const std::string& name);

}  // namespace onnx2hpp
