// A network small enough to compute by hand, as the values of a compiled program. Every tensor has 2×32 numbers, the kernels
// are the functions below, and any placement over ranks is possible. The expected results are computed here directly, layer
// by layer.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/program.hpp"
#include "dice/schedule/build.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace toy {

inline constexpr int elements = 64;
using values = std::vector<float>;

/// The times of a kernel's second thread, if any, which works while the kernel lingers.
inline thread_local std::span<dice::kernels::interval> watched;
inline void watch(std::span<dice::kernels::interval> times) { watched = times; }

/// Whether this thread is inside keep(): kernels insist on it.
inline thread_local bool kept = false;
inline void keep(void (*body)(void*), void* with) {
  struct guard {
    guard() { kept = true; }
    ~guard() { kept = false; }
  } guard;
  body(with);
}

/// The maximum random time of a kernel in µs, so that ranks meet in all orders.
inline int jitter = 0;
inline void linger() {
  if (!kept) throw std::logic_error("a kernel runs while its rank's team does not stand by");
  thread_local std::minstd_rand rng(std::random_device{}());
  const auto begin = dice::runtime::now();
  if (jitter > 0) std::this_thread::sleep_for(std::chrono::microseconds(rng() % static_cast<unsigned>(jitter)));
  if (watched.size() > 1) watched[1] = {begin, dice::runtime::now()};
}

inline float scale(float x, float w) { return x * w + 0.5f; }
inline float sum(float a, float b) { return a + 2 * b; }

inline void run_scale(const dice::kernels::task& t, const dice::kernels::buffers& b) {
  const dice::kernels::call c(t, b);
  linger();
  for (int i = 0; i < elements; ++i) c.output[i] = scale(c.inputs[0][i], c.parameters[0][i] + c.parameters[1][i]);
}
/// The same with packed weights, which are the sums in reverse order, and with working memory.
inline void pack(const dice::kernels::task&, dice::kernels::parameter_list all, std::byte* to) {
  const dice::kernels::floats from(all.data());
  for (int i = 0; i < elements; ++i) reinterpret_cast<float*>(to)[elements - 1 - i] = from[0][i] + from[1][i];
}
inline void run_packed(const dice::kernels::task& t, const dice::kernels::buffers& b) {
  const dice::kernels::call c(t, b);
  linger();
  if (b.parameters) throw std::runtime_error("packed weights, but plain ones are given");
  auto* w = reinterpret_cast<float*>(c.scratch);
  for (int i = 0; i < elements; ++i) w[i] = reinterpret_cast<const float*>(c.packed)[elements - 1 - i];
  for (int i = 0; i < elements; ++i) c.output[i] = scale(c.inputs[0][i], w[i]);
}
inline void run_sum(const dice::kernels::task& t, const dice::kernels::buffers& b) {
  const dice::kernels::call c(t, b);
  linger();
  for (int i = 0; i < elements; ++i) c.output[i] = sum(c.inputs[0][i], c.inputs[1][i]);
}
/// Fails after `failing_after` runs; -1: never.
inline int failing_after = -1;
inline void run_failing(const dice::kernels::task& t, const dice::kernels::buffers& b) {
  if (failing_after >= 0 && failing_after-- == 0) throw std::runtime_error("this kernel fails as it was told");
  run_sum(t, b);
}

enum class op { input, output, scale, packed, sum, failing };
struct layer {
  op what;
  std::vector<int> operands;
};
using network = std::vector<layer>;

/// in → three branches that meet again, a skip over all, one output.
inline network diamond() {
  return {{op::input, {}},   {op::scale, {0}},  {op::packed, {1}}, {op::scale, {1}},  {op::sum, {2, 3}},
          {op::packed, {4}}, {op::sum, {5, 1}}, {op::scale, {6}},  {op::sum, {7, 0}}, {op::output, {8}}};
}
/// Two inputs, two outputs; the second output needs only the second input.
inline network two_by_two() {
  return {{op::input, {}},   {op::input, {}},   {op::scale, {0}}, {op::packed, {1}},
          {op::sum, {2, 3}}, {op::output, {4}}, {op::scale, {3}}, {op::output, {6}}};
}
inline network random_network(unsigned seed, int size) {
  std::mt19937 rng(seed);
  network out{{op::input, {}}};
  const auto before = [&] {  // mostly recent layers
    const int n = static_cast<int>(out.size());
    return n - 1 - static_cast<int>(rng() % static_cast<unsigned>(std::min(n, 4)));
  };
  while (static_cast<int>(out.size()) < size - 1) {
    const auto kind = rng() % 3;
    if (kind == 2) out.push_back({op::sum, {before(), before()}});
    else out.push_back({kind ? op::scale : op::packed, {before()}});
  }
  out.push_back({op::output, {static_cast<int>(out.size()) - 1}});
  return out;
}

/// Owns what a runtime::program refers to.
class program {
 public:
  /// `twist` ends the ONNX name of each layer.
  program(network net, std::vector<int> owner, int in_flight, const std::string& twist = {})
      : net_(std::move(net)), owner_(std::move(owner)) {
    const int n = static_cast<int>(net_.size());
    std::vector<dice::algorithm::choice> by_layer(net_.size());
    int ranks = 0;
    for (int l = 0; l < n; ++l) {
      const auto& spec = net_[l];
      ranks = std::max(ranks, owner_[l] + 1);
      dice::graph::layer_info about;
      const bool input = spec.what == op::input, output = spec.what == op::output;
      about.name = keep(std::string("l").append(std::to_string(l)));
      about.onnx_name = keep(std::string(input ? "in." : output ? "out." : "/node/").append(std::to_string(l)) + twist);
      about.op = input ? "Input" : output ? "Output" : spec.operands.size() == 2 ? "Add" : "Scale";
      about.output = {2, elements / 2};
      about.first_edge = static_cast<int>(edges_.size());
      about.edges = static_cast<int>(spec.operands.size());
      about.is_input = input;
      about.is_output = output;
      if (output) about.view = 0;
      about.macs = input || output ? 0 : elements;
      for (int from : spec.operands) edges_.push_back({from, l, -1});
      if (spec.what == op::scale || spec.what == op::packed) {
        about.parameter_bytes = 2 * elements * 4;
        parameters_[l] = {{bytes_, {elements}}, {bytes_ + elements * 4, {elements}}};
        bytes_ += 2 * elements * 4;
        if (spec.what == op::packed) by_layer[l] = {.packed_bytes = elements * 4, .scratch_bytes = elements * 4};
      }
      layers_.push_back(about);
    }
    for (int r = 0; r < ranks; ++r) devices_.push_back({r, {}, -1});
    units_.resize(devices_.size());
    plan_ = dice::schedule::build({{layers_, edges_}, owner_, devices_, by_layer, in_flight});
    for (const auto& g : plan_.groups) {
      group_parameters_.push_back(parameters_[g.anchor]);
      const auto what = net_[g.anchor].what;
      const auto run = what == op::scale     ? run_scale
                       : what == op::packed  ? run_packed
                       : what == op::failing ? run_failing
                                             : run_sum;
      kernels_.push_back(
          {.by = {.run = run, .pack = what == op::packed ? pack : nullptr}, .what = {.how = by_layer[g.anchor]}});
    }
    structure = std::string(60, 'a') + std::to_string(1000 + n);
  }
  program(const program&) = delete;

  dice::runtime::program view() const {
    return {.version = version,
            .network = "toy",
            .layers = {layers_, edges_},
            .plan = plan_.view(),
            .kernels = kernels_,
            .parameters = group_parameters_,
            .weights = {"toy.safetensors", structure, bytes_, pinned},
            .weights_folder = folder,
            .units = units_,
            .cores = {},
            .hosts = {},
            .threads = {.watch = watch, .keep = toy::keep},
            .open = openers_};
  }

  /// Rank r computes on an accelerator, as `by` opens it.
  void accelerate(int r, dice::kernels::opened_accelerator (*by)(const dice::platform::unit&)) {
    units_.at(static_cast<std::size_t>(r)) = {dice::platform::unit::kind::gpu, 0, 0};
    openers_[dice::algorithm::backend_of(units_.at(static_cast<std::size_t>(r)))] = by;  // other ranks have none
  }

  /// The weights' number `i` in the data section.
  static float weight(std::int64_t i) { return static_cast<float>((i * 7919 + 13) % 201 - 100) / 128; }

  void write_weights(const std::string& path) const {
    std::string header = "{\"__metadata__\":{\"dice_structure\":\"" + structure + "\",\"dice_digest\":\"" + content +
                         "\",\"model_sha256\":\"" + std::string(64, '7') + "\"},\"all\":{\"dtype\":\"F32\",\"shape\":[" +
                         std::to_string(bytes_ / 4) + "],\"data_offsets\":[0," + std::to_string(bytes_) + "]}}";
    while ((header.size() + 8) % 64) header += ' ';
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
    out << header;
    for (std::int64_t i = 0; i < bytes_ / 4; ++i) {
      const float w = weight(i);
      out.write(reinterpret_cast<const char*>(&w), 4);
    }
  }

  /// The outputs, by layer, for inputs by layer.
  std::map<int, values> compute(const std::map<int, values>& inputs) const {
    std::vector<values> all(net_.size(), values(elements));
    std::map<int, values> out;
    for (std::size_t l = 0; l < net_.size(); ++l) {
      const auto& spec = net_[l];
      const auto id = static_cast<int>(l);
      if (spec.what == op::input) all[l] = inputs.at(id);
      if (spec.what == op::output) out[id] = all[spec.operands[0]];
      for (std::size_t i = 0; i < elements; ++i) {
        if (spec.operands.size() == 2) all[l][i] = sum(all[spec.operands[0]][i], all[spec.operands[1]][i]);
        if (spec.what == op::scale || spec.what == op::packed) {
          const auto& p = parameters_.at(id);
          const auto at = static_cast<std::int64_t>(i);
          all[l][i] = scale(all[spec.operands[0]][i], weight(p[0].offset / 4 + at) + weight(p[1].offset / 4 + at));
        }
      }
    }
    return out;
  }

  std::string structure, content = std::string(64, 'c'), pinned, folder, version = "1.2.3";

 private:
  std::string_view keep(std::string s) { return names_.emplace_back(std::move(s)); }

  network net_;
  std::vector<int> owner_;
  std::deque<std::string> names_;
  std::vector<dice::graph::layer_info> layers_;
  std::vector<dice::graph::edge> edges_;
  std::map<int, std::vector<dice::graph::parameter>> parameters_;
  std::int64_t bytes_ = 0;
  std::vector<dice::platform::device> devices_;
  std::vector<dice::platform::unit> units_;
  dice::schedule::built_plan plan_;
  std::vector<dice::kernels::entry> kernels_;
  std::vector<dice::meta::view<dice::graph::parameter>> group_parameters_;
  dice::algorithm::by_backend<dice::kernels::opener> openers_;
};

/// Input numbers of a frame.
inline values frame(int input, std::int64_t f) {
  values out(elements);
  for (int i = 0; i < elements; ++i) out[i] = static_cast<float>((f * 37 + input * 11 + i * 3) % 101 - 50) / 32;
  return out;
}

}  // namespace toy
