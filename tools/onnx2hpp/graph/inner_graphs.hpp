#pragma once

#include "read/model.hpp"

#include <string>
#include <vector>

namespace onnx2hpp {

struct value;

/// What the importers of If, Loop and Scan do with the graphs inside a node: nodes take the node's place.
class inner_graphs {
 public:
  virtual ~inner_graphs() = default;
  /// Converts the nodes of `g`, a graph inside `of`, with the values `given` as its inputs; returns the names of its
  /// outputs. New names begin with that of `of` and with `part`.
  virtual std::vector<std::string> convert(const node& of, const subgraph& g, const std::vector<std::string>& given,
                                           const std::string& part) = 0;
  /// Converts one more node.
  virtual void convert(node n) = 0;
  /// A name for a value of such a node.
  virtual std::string fresh(const std::string& name) = 0;
  /// What a name stands for, which a converted node computes.
  virtual const value& at(const std::string& name) const = 0;
};

}  // namespace onnx2hpp
