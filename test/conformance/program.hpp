// A converted network as a program, without a compiler.
#pragma once

#include "graph/network.hpp"

#include "dice/graph/any_operator.hpp"
#include "dice/runtime/other_mapping.hpp"
#include "dice/runtime/program.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// What a program knows of a network that it was compiled for, from a network that onnx2hpp has just made: its layers, and
/// the kernels with which a CPU computes each.
class network_tables {
 public:
  /// Writes the weights to `weights_file`. The network must outlive the tables. Throws dice::files::error, and
  /// std::logic_error if a layer is not as its operator says.
  network_tables(const onnx2hpp::network& net, const std::string& weights_file);
  network_tables(const network_tables&) = delete;
  network_tables& operator=(const network_tables&) = delete;

  const dice::graph::network_view& network() const { return tables_.net; }
  /// The network under a mapping, which is given as text. Must not outlive the tables. Throws dice::runtime::usage_error.
  dice::runtime::owned_mapping under(std::string_view mapping) const;

 private:
  std::string structure_;
  std::vector<dice::graph::any_operator> operators_;  ///< by layer, as all of these
  std::vector<dice::graph::layer_info> layers_;
  std::vector<dice::algorithm::choice> chosen_, smallest_;
  std::vector<dice::kernels::entry> kernels_;
  std::vector<std::vector<dice::graph::parameter>> parameters_;
  std::vector<dice::meta::view<dice::graph::parameter>> parameter_views_;
  std::vector<dice::graph::edge> edges_;
  std::vector<dice::tensor::shape> carried_;  ///< by edge
  dice::runtime::layer_tables tables_;
  dice::runtime::program program_;
};

}  // namespace conformance
