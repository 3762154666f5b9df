// The convolutions of a GPU: for each, the fastest cuDNN engine that keeps to the precision.
#pragma once

#include "dice/files/host_lock.hpp"
#include "dice/kernels/cudnn/detail/convolution.hpp"
#include "dice/kernels/cudnn/detail/setting.hpp"
#include "dice/kernels/cudnn/detail/timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::kernels::cudnn {

/// Where the tensors of a convolution lie; null for those that it does not have. Working memory: `room` bytes, at a multiple
/// of 256.
struct operands {
  const void *x = nullptr, *w = nullptr, *bias = nullptr, *residual = nullptr;
  void* y = nullptr;
  std::byte* workspace = nullptr;
  std::int64_t room = 0;
};

/// All that the choice of an engine depends on, as text of one line.
inline std::string text_of(const convolution& c, std::int64_t room) {
  std::ostringstream out;
  const auto list = [&](const char* what, const auto& numbers) {
    out << what;
    for (std::size_t i = 0; i < numbers.size(); ++i) out << (i ? "," : "") << numbers[i];
  };
  list("conv x", c.x);
  list(" w", c.w);
  list(" y", c.y);
  list(" stride ", c.strides);
  list(" dilation ", c.dilations);
  list(" pad ", c.pads);
  out << (c.residual ? " +residual" : "") << (c.bias ? " +bias" : "") << (c.relu ? " +relu" : "");
  out << (c.type == CUDNN_DATA_HALF ? " fp16" : c.type == CUDNN_DATA_BFLOAT16 ? " bf16" : "");
  out << (c.channels_last ? " NHWC" : " NCHW") << " aligned " << c.alignment << " room " << room;
  return out.str();
}

/// An engine with its knobs as text, "12 3=4 5=6", and the reverse; empty if it is not one.
inline std::string text_of(const engine_choice& c) {
  std::ostringstream out;
  out << c.engine;
  for (const auto& [type, value] : c.knobs) out << ' ' << type << '=' << value;
  return out.str();
}
inline std::optional<engine_choice> engine_choice_of(const std::string& text) {
  std::istringstream in(text);
  engine_choice out;
  if (!(in >> out.engine)) return {};
  int type = 0;
  char is = 0;
  for (std::int64_t value = 0; in >> type;) {
    if (!(in >> is >> value) || is != '=') return {};
    out.knobs.emplace_back(type, value);
  }
  return in.eof() ? std::optional(out) : std::nullopt;
}

class convolutions {
 public:
  explicit convolutions(setting& on) : on_(on) {}
  convolutions(const convolutions&) = delete;
  ~convolutions() {
    const std::lock_guard held(alone());
    if (has_ended()) {
      new std::deque(std::move(known_));  // never destroyed
      return;
    }
    known_.clear();
    if (handle_) cudnnDestroy(handle_);
  }

  /// Enqueues it; returns false if cuDNN has no working engine for it that keeps to precision and working memory. The first
  /// call measures the engines, which waits for the stream and writes to y. Throws std::runtime_error.
  bool run(const convolution& c, const operands& at) {
    auto* ready = find(c, at.room);
    if (!ready) ready = &known_.emplace_back(prepare(c, at));
    if (!ready->best) return false;
    execute(*ready->best, at);
    return true;
  }

  /// Throws std::runtime_error that says why run() returned false.
  [[noreturn]] void refuse(const convolution& c, std::int64_t room) {
    const bool wide = c.type == CUDNN_DATA_FLOAT;
    const auto* k = find(c, room);
    throw std::runtime_error("cuDNN " + std::to_string(cudnnGetVersion()) + " has no engine for this convolution" +
                             (wide ? " in float32" : "") + " on " + on_.name + " (" + text_of(c, room) + ")" +
                             (k && !k->why.empty()
                                  ? ": " + k->why
                                  : std::string(on_.direct ? "; leave out direct_convolutions, " : "; ") +
                                        (wide ? "allow it TF32 with precision<tf32>, or " : "leave out the precision, or ") +
                                        "compute the layer on a CPU"));
  }

  /// Whether an engine with these notes is as precise as required. FFTs and Winograd's largest tiles compute in float32,
  /// too, but less exactly than sums of products; direct_convolutions also excludes its other tiles.
  bool precise(const std::vector<cudnnBackendNumericalNote_t>& notes, cudnnDataType_t type) const {
    return std::none_of(notes.begin(), notes.end(), [&](cudnnBackendNumericalNote_t n) {
      return n == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS || n == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
             n == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC || n == CUDNN_NUMERICAL_NOTE_FFT ||
             n == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 || (on_.direct && transforms(n)) ||
             (n == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && type == CUDNN_DATA_FLOAT && !on_.tf32);
    });
  }

 private:
  /// Whether an engine of this note transforms tiles of the input.
  static bool transforms(cudnnBackendNumericalNote_t n) {
    return n == CUDNN_NUMERICAL_NOTE_WINOGRAD || n == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 ||
           n == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6;
  }

  struct known {
    convolution what;
    std::int64_t room;
    std::optional<execution_plan> best;
    std::string why;  ///< the first error, except those that cuDNN reports as not supported
  };

  known* find(const convolution& c, std::int64_t room) {
    for (auto& k : known_)
      if (k.what == c && k.room == room) return &k;
    return nullptr;
  }
  target here() {
    if (!handle_) {
      const std::lock_guard held(alone());
      check_versions();
      cudnn::check(cudnnCreate(&handle_), "start");
      cudnn::check(cudnnSetStream(handle_, on_.stream), "start");
    }
    return {handle_, nullptr};
  }
  /// The loaded cuDNN must be the version that this program was compiled with, or a newer one of the same major version.
  static void check_versions() {
    const auto major = [](std::size_t v) { return v >= 90000 ? v / 10000 : v / 1000; };
    if (const auto loaded = cudnnGetVersion(); loaded < CUDNN_VERSION || major(loaded) != major(CUDNN_VERSION))
      throw std::runtime_error("the cuDNN library found is version " + std::to_string(loaded) +
                               ", this program was built for " + std::to_string(CUDNN_VERSION) +
                               "; install that or a newer one of the same major version, or build again");
  }

  /// Calls f. Most cuDNN failures are ignored as long as the GPU keeps working; the first reason goes to `why`.
  template <class F> void attempt(std::string& why, const F& f) {
    try {
      f();
    } catch (const std::runtime_error& e) {
      const auto* by_cudnn = dynamic_cast<const cudnn_error*>(&e);
      if (by_cudnn && by_cudnn->category() < 3000) throw;
      const bool expected = by_cudnn && by_cudnn->category() == 3000 && remedy_for(by_cudnn->status).empty();
      if (why.empty() && !expected) why = e.what();
      on_.go_on();
    }
  }

  known prepare(const convolution& c, const operands& at) {
    known out{c, at.room, {}, {}};
    const auto on = here();
    std::optional<descriptor> graph;
    attempt(out.why, [&] { graph = graph_of(on, c); });
    if (!graph) return out;
    const auto key = text_of(c, at.room) + (on_.tf32 ? " TF32" : "") + (on_.direct ? " direct" : "");
    if (const auto* before = on_.chosen.find(key)) {
      out.best = as_before(on, *graph, *before, c.type, at);
      if (out.best) return out;
    }
    const files::host_lock others(on_.turn);
    std::string best;
    float least = std::numeric_limits<float>::infinity();
    std::vector<engine_choice> seen;
    for (const auto mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      if (mode == CUDNN_HEUR_MODE_FALLBACK && out.best) break;  // engines that work, but are not fast
      std::vector<descriptor> found;
      attempt(out.why, [&] { found = configurations(on, *graph, mode); });
      for (const auto& configuration : found) {
        if (seen.size() >= max_measured) break;
        if (!precise(notes_of(engine_of(configuration)), c.type)) continue;
        const auto choice = choice_of(configuration);
        if (std::find(seen.begin(), seen.end(), choice) != seen.end()) continue;
        seen.push_back(choice);
        attempt(out.why, [&] {
          auto candidate = plan_of(on, configuration);
          if (candidate.workspace > at.room) return;
          const auto ms = time_of(on_, [&] { execute(candidate, at); });
          if (ms < least) {
            least = ms;
            out.best = std::move(candidate);
            best = text_of(choice);
          }
        });
      }
    }
    if (out.best) on_.chosen.put(key, best);
    return out;
  }

  /// The engine that was chosen before, if it still works as required.
  std::optional<execution_plan> as_before(const target& on, const descriptor& graph, const std::string& text,
                                          cudnnDataType_t type, const operands& at) {
    const auto choice = engine_choice_of(text);
    if (!choice) return {};
    try {
      const auto configuration = configuration_of(on, graph, *choice);
      if (!precise(notes_of(engine_of(configuration)), type)) return {};
      auto found = plan_of(on, configuration);
      if (found.workspace > at.room) return {};
      execute(found, at);
      on_.check(cudaStreamSynchronize(on_.stream), "compute");
      return found;
    } catch (const cudnn_error&) {
      return {};
    }
  }

  void execute(const execution_plan& p, const operands& at) {
    descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    std::vector<std::int64_t> ids{names::x, names::w, names::y};
    std::vector<const void*> pointers{at.x, at.w, at.y};
    if (at.bias) {
      ids.push_back(names::bias);
      pointers.push_back(at.bias);
    }
    if (at.residual) {
      ids.push_back(names::z);
      pointers.push_back(at.residual);
    }
    void* const workspace = at.workspace;
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(pointers.size()),
             pointers.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.finalize("take tensors");
    cudnn::check(cudnnBackendExecute(handle_, p.execution.get(), pack.get()), "compute");
  }

  static constexpr std::size_t max_measured = 32;
  setting& on_;
  cudnnHandle_t handle_ = nullptr;
  std::deque<known> known_;
};

}  // namespace dice::kernels::cudnn
