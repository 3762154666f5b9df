#include "program.hpp"

#include "emit/emit.hpp"

#include "dice/assembly/layer_tables.hpp"
#include "dice/assembly/remap.hpp"
#include "dice/files/writer.hpp"
#include "dice/meta/library_id.hpp"
#include "dice/version.hpp"

#include <filesystem>
#include <stdexcept>

namespace conformance {

using namespace dice;

namespace {

constexpr auto cpu = algorithm::backend_of(platform::unit{});

graph::any_operator any_of(const onnx2hpp::operation& op) {
#define DICE_TRIES(name) \
  if (const auto* found = op.get_if<ops::name>()) return *found;
  DICE_OPERATORS(DICE_TRIES)
#undef DICE_TRIES
  throw std::logic_error("an operator that is not dice's");
}

}  // namespace

network_tables::network_tables(const onnx2hpp::network& net, const std::string& weights_file) {
  const auto layout = onnx2hpp::lay_out_weights(net);
  structure_ = onnx2hpp::structure_digest(net, layout);
  files::writer weights(weights_file);
  onnx2hpp::write_weights(layout, {"network", structure_, [] { return std::string(64, '0'); }}, weights);
  weights.commit();

  for (int id = 0; const auto& l : net.layers) {
    graph::layer_info info;
    info.name = l.identifier;
    info.onnx_name = l.onnx_name;
    info.output = tensor::type(l.result);
    info.first_edge = static_cast<int>(edges_.size());
    info.edges = static_cast<int>(l.operands.size());
    for (const int from : l.operands) {
      edges_.push_back({from, id});
      carried_.push_back(net.layers[from].result);
    }
    auto& parameters = parameters_.emplace_back();
    for (std::size_t k = 0; k < l.parameters.size(); ++k) {
      parameters.push_back({layout.offsets[id][k], l.parameters[k].extents});
      info.parameter_bytes += parameters.back().bytes();
    }
    operators_.push_back(any_of(l.op));
    layers_.push_back(info);
    ++id;
  }
  parameter_views_.assign(parameters_.begin(), parameters_.end());
  tables_.net = {layers_, edges_, carried_};

  for (std::size_t i = 0; i < layers_.size(); ++i)
    operators_[i].visit([&]<class Op>(const Op& op) {
      auto& l = layers_[i];
      l.op = op.onnx;
      const auto in = tables_.net.operands(static_cast<int>(i));
      if (!graph::describe(op, in, l, edges_.data() + l.first_edge)) throw std::logic_error("a layer's shape does not fit");
      chosen_.push_back(algorithm::choose<cpu>(op, in, l.output));
      smallest_.push_back(algorithm::detail::smallest<cpu>(op, in, l.output));
      const auto& how = chosen_.back().packed_bytes ? chosen_.back() : smallest_.back();
      kernels_.push_back(assembly::detail::alone<cpu>(op, in, l.output, how));
    });
  tables_.parameters = parameter_views_;
  tables_.algorithms.chosen[cpu] = chosen_;
  tables_.algorithms.smallest[cpu] = smallest_;
  tables_.kernels[cpu] = kernels_;
  tables_.pieces[cpu] = assembly::detail::pieces_of<cpu>();
  tables_.convert[cpu] = kernels::converts_by<kernels::tag<cpu>>;

  program_.version = version;
  program_.network = "network";
  program_.weights = {.file = "network.safetensors", .structure = structure_, .bytes = layout.bytes};
  program_.threads = assembly::threads;
  program_.tables = &tables_;
  program_.remap = &assembly::remap;
  program_.library = library_id;
}

runtime::owned_mapping network_tables::under(std::string_view mapping) const { return program_.remap(program_, mapping); }

}  // namespace conformance
