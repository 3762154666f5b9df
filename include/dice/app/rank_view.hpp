#pragma once

#include "dice/app/options.hpp"
#include "dice/graph/network.hpp"
#include "dice/runtime/program.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace dice::app {

/// One rank of a job, as its program and its options describe it.
struct rank_view {
  const runtime::program& program;
  const app::options& options;
  int rank = 0;
  bool streams = false;  ///< whether frames of an input come as a stream, once the ranks have told each other

  const graph::layer_info& layer(int l) const { return program.layers.layers[l]; }
  int layers() const { return program.layers.size(); }
  std::string name(int l) const { return std::string(layer(l).onnx_name); }
  bool here(int l) const { return program.plan.owner[l] == rank; }
  /// The rank that has the results of output `l` at the end.
  int holder(int l) const { return options.gather ? 0 : program.plan.owner[l]; }
  bool holds(int l) const { return holder(l) == rank; }
  /// Whether the results of output `l` are used.
  bool kept(int l) const { return layer(l).is_output && (options.has_sink(l) || collects(l)); }
  /// Whether --top lists the results of output `l`.
  bool lists(int l) const { return layer(l).is_output && options.top_of(l) > 0 && !options.has_sink(l); }
  /// Whether they are used for something else than sinks.
  bool collects(int l) const {
    const auto names = [&](const std::vector<named_file>& files) {
      return std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.layer == l; });
    };
    return layer(l).is_output && (lists(l) || names(options.outputs) || names(options.expected));
  }
  int in_flight() const { return options.in_flight.value_or(program.plan.in_flight); }
  bool profiles() const { return !options.profile.empty() || options.explain; }
};

}  // namespace dice::app
