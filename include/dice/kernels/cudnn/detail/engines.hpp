// From a graph of operations to execution plans: which engines cuDNN has for it, and those that keep to a precision.
#pragma once

#include "dice/kernels/cudnn/detail/backend.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::kernels::cudnn {

/// The GPU for which cuDNN is asked: that of a handle or, on a machine without a GPU, that of a finalized DEVICEPROP
/// descriptor.
struct target {
  cudnnHandle_t handle = nullptr;
  const descriptor* properties = nullptr;
};

/// An engine with its knobs, as numbers that can be stored. They are valid only for one version of cuDNN on one kind of GPU.
struct engine_choice {
  std::int64_t engine = 0;                          ///< its global index
  std::vector<std::pair<int, std::int64_t>> knobs;  ///< cudnnBackendKnobType_t and value
  friend bool operator==(const engine_choice&, const engine_choice&) = default;
};

/// A graph of finalized operations.
inline descriptor graph_of(const target& on, const std::vector<descriptor>& operations) {
  descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (on.handle) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &on.handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.finalize("understand these operations");
  return graph;
}

/// Engine configurations for a graph, the one that cuDNN expects to be fastest first. Empty if there are none.
inline std::vector<descriptor> configurations(const target& on, const descriptor& graph, cudnnBackendHeurMode_t mode) {
  descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
#if CUDNN_VERSION >= 90800
  if (on.properties) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *on.properties);
#else
  static_cast<void>(on);
#endif
  try {
    heuristics.finalize("look for engines");
    return heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                            heuristics.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR));
  } catch (const cudnn_error& e) {
    if (e.category() == 3000 && remedy_for(e.status).empty()) return {};
    throw;
  }
}

inline descriptor engine_of(const descriptor& configuration) {
  return configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
}

/// cuDNN's notes on an engine's numerics.
inline std::vector<cudnnBackendNumericalNote_t> notes_of(const descriptor& engine) {
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  notes.resize(engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                          notes.data()));
  return notes;
}

inline engine_choice choice_of(const descriptor& configuration) {
  engine_choice out{engine_of(configuration).number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX), {}};
  for (const auto& knob : configuration.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                              CUDNN_KNOB_TYPE_COUNTS)) {
    cudnnBackendKnobType_t type{};
    knob.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    out.knobs.emplace_back(static_cast<int>(type), knob.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return out;
}

/// The configuration of a choice. Throws cudnn_error if this cuDNN has no such engine for this graph.
inline descriptor configuration_of(const target& on, const descriptor& graph, const engine_choice& choice) {
  descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine);
#if CUDNN_VERSION >= 90800
  if (on.properties) engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *on.properties);
#else
  static_cast<void>(on);
#endif
  engine.finalize("find an engine");
  std::vector<descriptor> knobs;
  for (const auto& [type, value] : choice.knobs) {
    auto& knob = knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    const auto kind = static_cast<cudnnBackendKnobType_t>(type);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &kind);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    knob.finalize("set an engine's knob");
  }
  descriptor out(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  out.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!knobs.empty()) out.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  out.finalize("set up an engine");
  return out;
}

/// A plan that can be executed, and how many bytes of working memory it needs.
struct execution_plan {
  descriptor execution;
  std::int64_t workspace = 0;
};
inline execution_plan plan_of(const target& on, const descriptor& configuration) {
  execution_plan out{descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), 0};
  if (on.handle) out.execution.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &on.handle);
#if CUDNN_VERSION >= 90800
  if (on.properties) out.execution.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *on.properties);
#endif
  out.execution.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  out.execution.finalize("prepare an engine");
  out.workspace = out.execution.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return out;
}

}  // namespace dice::kernels::cudnn
