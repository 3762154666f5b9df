// Computes a layer only to time it: for --tune and --measure.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/kernels/kernel.hpp"
#include "dice/kernels/run_converted.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/slower_kernels.hpp"
#include "dice/tensor/tensor.hpp"
#include "dice/weights/block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace dice::measure {

namespace detail {

/// "rank 1: layer 3 of 20, conv3".
inline std::string progress_text(int rank, std::size_t layer, std::size_t layers, std::string_view name) {
  return "rank " + std::to_string(rank) + ": layer " + std::to_string(layer) + " of " + std::to_string(layers) + ", " +
         std::string(name);
}

/// Random numbers in -1 … 1, the same each time.
inline weights::block random_block(std::int64_t bytes) {
  weights::block out(bytes);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::generate_n(reinterpret_cast<float*>(out.data()), bytes / 4, [&] { return values(engine); });
  return out;
}

/// Reads one of `parts` parts of a block through the caches.
inline void read_through(const weights::block& b, std::int64_t part, std::int64_t parts) {
  const auto begin = [&](std::int64_t k) { return b.bytes() / 64 * k / parts * 64; };
  for (auto i = begin(part); i < begin(part + 1); i += 64)
    static_cast<void>(*reinterpret_cast<const volatile char*>(b.data() + i));
}

/// The layouts of the tensors around step `s`, which computes: of its operands before they are converted for it, then of its
/// result when it is converted.
inline std::vector<dice::tensor::layout> layouts_around(const runtime::program& p, const schedule::step& s) {
  using schedule::action;
  const auto& plan = p.plan;
  const auto* const steps = plan.steps.begin();
  std::vector<dice::tensor::layout> out;
  for (int k = 0; k < s.operands; ++k) {
    const auto& at = plan.operands[s.first_operand + k];
    out.push_back(at.layout);
    for (const auto* c = &s; c != steps && (c - 1)->what == action::convert && (c - 1)->group == s.group;)
      if (--c; c->output == at) out.back() = plan.operands[c->first_operand].layout;
  }
  const auto* const next = &s + 1;
  const bool converts = next != plan.steps.end() && next->what == action::convert && next->layer == s.layer;
  out.push_back((converts ? *next : s).output.layout);
  return out;
}

/// A step of the plan with memory and weights of its own, to be computed in each of `ways`, and with the conversions that
/// each needs.
class trial {
 public:
  trial(const runtime::program& p, const schedule::step& s, const std::vector<algorithm::choice>& ways)
      : kernel_(p.kernels[s.group].by),
        convert_(p.converter(p.plan.groups[s.group].rank)),
        threads_(p.threads),
        written_(p.layers.layers[s.layer].output) {
    const auto& group = p.plan.groups[s.group];
    const auto type = [&](int l) -> auto& { return p.layers.layers[l].output; };
    const auto layouts = layouts_around(p, s);
    const auto edges = p.layers.into(group.anchor);
    for (int k = 0; k < s.operands; ++k) {
      const auto& of = type(k < static_cast<int>(edges.size()) ? edges[k].from : group.anchor);
      stored_.push_back({.layout = layouts[k]});  // no parts of larger tensors
      inputs_.push_back(random_block(dice::tensor::bytes(of, layouts[k])));
      input_pointers_.push_back(inputs_.back().data());
    }
    output_ = weights::block(dice::tensor::bytes(type(group.anchor), layouts.back()));
    for (const auto& q : p.parameters[s.group]) {
      parameters_.push_back(random_block(q.bytes()));
      plain_.push_back(parameters_.back().data());
    }
    std::int64_t most = 0, copies = 0;
    for (const auto& how : ways) {
      auto& way = ways_.emplace_back(p.kernels[s.group].what);
      way.how = how;
      way.stored = stored_;
      way.output = {.layout = layouts.back()};
      packed_.emplace_back(how.packed_bytes);
      if (how.packed_bytes > 0) kernel_.pack(way, plain_, packed_.back().data());
      most = std::max(most, how.scratch_bytes);
      copies = std::max(copies, kernels::converted_bytes(way, written_));
    }
    scratch_ = weights::block(most);
    copies_ = weights::block(copies);
    scratch_.touch();
    copies_.touch();
  }

  std::size_t ways() const { return ways_.size(); }
  void run(std::size_t way) const {
    const bool packed = ways_[way].how.packed_bytes > 0;
    kernels::run_converted(kernel_, ways_[way], written_,
                           {.inputs = input_pointers_.data(),
                            .output = output_.data(),
                            .parameters = packed ? nullptr : plain_.data(),
                            .packed = packed ? packed_[way].data() : nullptr,
                            .scratch = scratch_.data()},
                           convert_, copies_.data());
  }
  /// Nanoseconds of a run with weights as cold as in a frame: all threads first read `others`, which stands for the rank's
  /// other weights. So they are awake, too, as they are between two layers. With `work`, which has the factor 1, nanoseconds
  /// of processor time: without pauses in which others have the cores.
  std::int64_t time(std::size_t way, const weights::block& others, runtime::slower_kernels* work = nullptr) const {
    auto read = [&](std::int64_t part, std::int64_t parts) {
      read_through(others, part, parts);
      for (const auto& in : inputs_) read_through(in, part, parts);  // the layer before has just written it
    };
    if (threads_.each)
      threads_.each([](void* f, std::int64_t k, std::int64_t n) { (*static_cast<decltype(read)*>(f))(k, n); }, &read);
    else read(0, 1);
    if (work) work->begin();
    const auto from = runtime::now();
    run(way);
    return work ? work->time() : runtime::now() - from;
  }

 private:
  const kernels::functions kernel_;
  const kernels::converter convert_;
  const runtime::team& threads_;
  const dice::tensor::shape written_;
  std::vector<dice::tensor::storage> stored_;  ///< of the inputs
  std::vector<kernels::task> ways_;
  std::vector<weights::block> inputs_, parameters_, packed_;
  std::vector<const void*> input_pointers_, plain_;
  weights::block output_, scratch_, copies_;
};

/// Everything on which the time of a step with several variants depends. Such steps are convolutions with stride and
/// dilation 1 and one group, fully described by their shapes.
inline std::string kind_of(const runtime::program& p, const schedule::step& s) {
  const auto& group = p.plan.groups[s.group];
  const auto layer = [&](int l) -> auto& { return p.layers.layers[l]; };
  std::string out(layer(group.anchor).op);
  const auto add = [&](const dice::tensor::shape& of) {
    for (int a = 0; a < of.rank; ++a) out += (a ? 'x' : ' ') + std::to_string(of[a]);
  };
  for (const auto& e : p.layers.into(group.anchor)) add(layer(e.from).output);
  add(layer(group.anchor).output);
  for (const auto& q : p.parameters[s.group]) add(q.extents);
  if (group.residual >= 0) out += " +";
  if (group.activation >= 0) out += " " + std::string(layer(group.activation).op);
  if (group.pool >= 0) out += " halved";
  for (const auto layout : layouts_around(p, s)) out += " " + std::to_string(static_cast<int>(layout));
  return out;
}

/// The system's name for this machine's CPU or board, without characters that could break a comment.
inline std::string cpu_name() {
  std::string out, line;
  std::ifstream cpus("/proc/cpuinfo"), board("/proc/device-tree/model");
  const auto take = [&](const std::string& text) {
    for (const char c : text)
      if (c >= ' ' && c <= '~' && c != '\\') out += c;
  };
  while (out.empty() && std::getline(cpus, line))
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) take(line.substr(line.find(": ") + 2));
  if (out.empty() && std::getline(board, line)) take(line);
  return out.empty() ? "unknown" : out;
}

}  // namespace detail
}  // namespace dice::measure
