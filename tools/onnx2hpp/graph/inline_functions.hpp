#pragma once

#include "read/model.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace onnx2hpp {

/// How deep calls of functions, and graphs inside nodes, may be nested.
inline constexpr int deepest_nesting = 64;

/// Replaces calls of model-local functions, and nodes with graphs inside, by the nodes that they stand for. The values that
/// these compute get names of their own. Throws conversion_error for functions that call themselves or grow without limit,
/// and refusal if the graphs inside nodes stand for too many nodes.
class inliner {
 public:
  explicit inliner(const model& m);

  /// The nodes of the model's graph, each call of a function replaced by the function's nodes (recursively).
  std::vector<node> run();

  struct nodes_and_outputs {
    std::vector<node> nodes;
    std::vector<std::string> outputs;
  };
  /// The nodes of `g`, a graph inside `of`, and the names that its outputs have there. `given` takes the place of its
  /// inputs. Names begin with that of `of` and with `part`.
  nodes_and_outputs inner(const node& of, const subgraph& g, const std::vector<std::string>& given, const std::string& part);
  /// A name that no value has, `name` if possible.
  std::string fresh(const std::string& name);

 private:
  void add_names(const std::vector<node>& nodes);
  void expand(node n, int depth);
  void expand(const node& call, const function& f, int depth);

  const model& model_;
  std::map<std::tuple<std::string, std::string, std::string>, const function*> functions_;
  std::set<std::string> names_;
  std::map<std::string, int> tried_;     ///< the last number that was appended to a name
  std::size_t placed_ = 0, copied_ = 0;  ///< nodes in all, and those of graphs inside nodes
  std::vector<node> out_;
};

}  // namespace onnx2hpp
