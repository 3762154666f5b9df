// Runs one operator on one backend as a fusion group, given as values. Buffers are exactly as large as the contract says, so
// that sanitizers see any access beyond them; scratch and output start as NaN; guards surround the output.
#pragma once

#include <dice/kernels/run_converted.hpp>
#include <dice/kernels/table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#ifdef DICE_WITH_OPENMP
#include <omp.h>
#endif
#ifdef DICE_TESTS_GPU
#include "gpu/bench.hpp"
#endif

namespace harness {

using namespace dice;
using tensor::shape;

// The backend that is compared with the reference.
#if defined(DICE_TESTS_GPU)
using compared = kernels::cudnn::backend;
#define DICE_COMPARES
#elif defined(DICE_WITH_OPENMP)
using compared = kernels::openmp::backend;
#define DICE_COMPARES
#endif
#if defined(DICE_TESTS_GPU)
using backends = ::testing::Types<compared>;  // the reference is tested without a GPU
#elif defined(DICE_COMPARES)
using backends = ::testing::Types<kernels::reference::backend, compared>;
#else
using backends = ::testing::Types<kernels::reference::backend>;
#endif

/// Numbers in [low, high) that depend on the seed; make_expected.py makes the same.
inline std::vector<float> values(std::int64_t count, std::uint32_t seed, float low = -1, float high = 1) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto bits = static_cast<std::uint32_t>((i + 1) * 2654435761u) + seed * 40503u * 65537u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    const float scaled = static_cast<float>(bits >> 8) / 16777216.0f * (high - low);
    out[i] = low + scaled;
  }
  return out;
}

/// Memory aligned to 64 bytes and exactly as large as its content, so that sanitizers see accesses behind it.
class buffer {
 public:
  explicit buffer(std::int64_t bytes, unsigned char fill = 0xff) : size_(static_cast<std::size_t>(bytes)) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, std::max<std::size_t>(size_, 1)) != 0) throw std::bad_alloc();
    std::memset(memory, fill, size_);
    memory_.reset(static_cast<std::byte*>(memory));
  }
  explicit buffer(const std::vector<float>& content) : buffer(static_cast<std::int64_t>(content.size()) * 4) {
    if (size_ > 0) std::memcpy(data(), content.data(), size_);
  }
  std::byte* data() const { return memory_.get(); }
  float* floats() const { return reinterpret_cast<float*>(data()); }

 private:
  struct release {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, release> memory_;
  std::size_t size_;
};

/// What follows an operator: nothing, or an activation.
struct ending {
  graph::activation by{};
  ending() = default;
  template <class Op> ending(const Op& op) : by(graph::fuses(op, {}).function) {}
};

/// One operator with its data.
template <class Op> struct problem {
  Op op;
  std::vector<shape> in;
  std::vector<std::vector<float>> inputs, parameters;
  std::vector<float> residual;                    ///< empty: none
  bool in_place = false;                          ///< output over input 0
  bool pools_2x2 = false;                         ///< its fusion group ends with the maximum of each 2 × 2 results
  tensor::layout layout = tensor::layout::plain;  ///< of all tensors that support it
  int threads = 1;
  std::vector<tensor::region> regions{};  ///< of the output, each computed by a call of its own; empty: all at once

  shape result() const { return graph::infer(op, graph::shapes(in)); }
  shape output() const {
    shape out = result();
    if (pools_2x2) {
      out[2] /= 2;
      out[3] /= 2;
    }
    return out;
  }
};

/// Elements of a tensor, plain and row-major, in another layout; lanes beyond the channels hold NaN.
inline std::vector<float> stored(const std::vector<float>& plain, const shape& s, tensor::layout as) {
  if (as == tensor::layout::plain || !tensor::has_blocks(s)) return plain;
  std::vector<float> out(static_cast<std::size_t>(tensor::elements(s, as)), std::numeric_limits<float>::quiet_NaN());
  const auto pixels = s.product(2, s.rank);
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    const auto pixel = i % pixels, channel = i / pixels % s[1], image = i / pixels / s[1];
    const auto at = ((image * tensor::blocks(s[1]) + channel / 16) * pixels + pixel) * 16 + channel % 16;
    out[at] = plain[i];
  }
  return out;
}
/// The reverse of stored().
inline std::vector<float> plain(const float* from, const shape& s, tensor::layout is) {
  if (is == tensor::layout::plain || !tensor::has_blocks(s)) return {from, from + s.elements()};
  std::vector<float> out(static_cast<std::size_t>(s.elements()));
  const auto pixels = s.product(2, s.rank);
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    const auto pixel = i % pixels, channel = i / pixels % s[1], image = i / pixels / s[1];
    out[i] = from[((image * tensor::blocks(s[1]) + channel / 16) * pixels + pixel) * 16 + channel % 16];
  }
  return out;
}

/// A problem as values, with its kernel and layouts: the same type for all operators.
struct job {
  kernels::task what;  ///< without layouts
  kernels::functions by;
  kernels::converter convert;
  const std::vector<std::vector<float>>&inputs, &parameters;
  const std::vector<float>& residual;
  shape output;
  bool in_place;
  tensor::layout layout;
  int threads;
  const std::vector<tensor::region>& regions;

  tensor::layout layout_of(const shape& s) const { return tensor::has_blocks(s) ? layout : tensor::layout::plain; }
  /// How the inputs lie in memory, then the residual.
  std::vector<tensor::storage> stored_inputs() const {
    std::vector<tensor::storage> out;
    for (const auto& s : what.inputs) out.push_back({.layout = layout_of(s)});
    out.push_back({.layout = layout_of(what.result)});
    return out;
  }
};

/// What is computed on this CPU.
inline std::vector<float> compute_here(const job& j) {
#ifdef DICE_WITH_OPENMP
  omp_set_num_threads(j.threads);
#endif
  const auto& algorithm = j.what.how;
  const auto count = static_cast<std::size_t>(tensor::elements(j.output, j.layout_of(j.output)));

  std::vector<buffer> memory;
  std::vector<const void*> inputs, parameters;
  const auto held = j.stored_inputs();
  for (std::size_t k = 0; k < j.inputs.size(); ++k)
    inputs.push_back(memory.emplace_back(stored(j.inputs[k], j.what.inputs[k], held[k].layout)).floats());
  for (const auto& x : j.parameters) parameters.push_back(memory.emplace_back(x).floats());

  const auto work = algorithm.scratch_bytes;
  buffer packed(algorithm.packed_bytes), scratch(work);
  constexpr std::size_t guard = 32;  // elements on both sides
  buffer output(std::vector<float>(count + 2 * guard, std::numeric_limits<float>::quiet_NaN()));
  float* to = output.floats() + guard;
  for (std::size_t i = 0; i < guard; ++i) to[-1 - static_cast<int>(i)] = to[count + i] = 12345;
  if (j.in_place) {
    std::memcpy(to, inputs[0], count * sizeof(float));
    inputs[0] = to;
  }

  std::unique_ptr<buffer> residual;
  if (!j.residual.empty()) {
    residual = std::make_unique<buffer>(stored(j.residual, j.what.result, held.back().layout));
    inputs.push_back(residual->floats());
  }
  kernels::buffers at{.inputs = inputs.data(),
                      .output = to,
                      .parameters = parameters.data(),
                      .packed = nullptr,
                      .scratch = work > 0 ? scratch.data() : nullptr};
  auto what = j.what;
  what.stored = held;
  if (algorithm.packed_bytes > 0) {
    j.by.pack(what, parameters, packed.data());
    at.packed = packed.data();
    at.parameters = nullptr;
  }
  buffer copies(kernels::converted_bytes(what, j.output));
  const auto run = [&] { kernels::run_converted(j.by, what, j.output, at, j.convert, copies.data()); };
  if (j.regions.empty()) run();
  for (const auto& r : j.regions) {
    at.part = &r;
    run();
  }

  bool untouched = true;
  for (std::size_t i = 0; i < guard; ++i)
    untouched = untouched && to[-1 - static_cast<int>(i)] == 12345 && to[count + i] == 12345;
  EXPECT_TRUE(untouched) << "it wrote beside its output";
  return plain(to, j.output, j.layout_of(j.output));
}

#ifdef DICE_TESTS_GPU
/// What the GPU computes.
inline std::vector<float> compute_there(const job& j) {
  auto& there = gpu_bench::get();
  there.clear();
  std::vector<const void*> inputs, parameters;
  const auto held = j.stored_inputs();
  for (std::size_t k = 0; k < j.inputs.size(); ++k)
    inputs.push_back(there.put(stored(j.inputs[k], j.what.inputs[k], held[k].layout)));
  auto what = j.what;
  what.stored = held;
  const std::byte* packed = nullptr;
  if (const auto bytes = what.how.packed_bytes; bytes > 0) {
    std::vector<float> of_host(static_cast<std::size_t>((bytes + 3) / 4));
    for (const auto& x : j.parameters) parameters.push_back(x.data());
    j.by.pack(what, parameters, reinterpret_cast<std::byte*>(of_host.data()));
    packed = reinterpret_cast<const std::byte*>(there.put(of_host));
    parameters.clear();
  } else {
    for (const auto& x : j.parameters) parameters.push_back(there.put(x));
  }

  constexpr std::size_t guard = 32;  // elements on both sides
  const auto count = static_cast<std::size_t>(tensor::elements(j.output, j.layout_of(j.output)));
  std::vector<float> around(count + 2 * guard, std::numeric_limits<float>::quiet_NaN());
  std::fill_n(around.begin(), guard, 12345.0f);
  std::fill_n(around.end() - guard, guard, 12345.0f);
  float* const output = there.put(around);
  if (j.in_place) {
    // A kernel runs several times before it is recorded, so each run needs the original input.
    there.again(output + guard, static_cast<const float*>(inputs[0]), count);
    inputs[0] = output + guard;
  }
  if (!j.residual.empty()) inputs.push_back(there.put(stored(j.residual, what.result, held.back().layout)));
  const kernels::buffers at{.inputs = inputs.data(),
                            .output = output + guard,
                            .parameters = packed ? nullptr : parameters.data(),
                            .packed = packed,
                            .scratch = there.room(what.how.scratch_bytes)};
  auto* const copies = there.room(kernels::converted_bytes(what, j.output));
  there.run([&] { kernels::run_converted(j.by, what, j.output, at, j.convert, copies); });
  around = there.get(output, around.size());
  const auto is_guard = [](float x) { return x == 12345; };
  EXPECT_TRUE(std::all_of(around.begin(), around.begin() + guard, is_guard) &&
              std::all_of(around.end() - guard, around.end(), is_guard))
      << "it wrote beside its output";
  return plain(around.data() + guard, j.output, j.layout_of(j.output));
}
#endif

/// What Backend computes by `algorithm`, followed by `e`.
template <class Backend, class Op>
std::vector<float> compute(const problem<Op>& p, const ending& e, const algorithm::choice& algorithm) {
  SCOPED_TRACE(p.op.onnx);
  const shape result = p.result();
  const job j{.what = {.op = &p.op,
                       .inputs = p.in,
                       .result = result,
                       .residual = !p.residual.empty(),
                       .activation = e.by,
                       .pools_2x2 = p.pools_2x2,
                       .how = algorithm,
                       .output = {.layout = tensor::has_blocks(result) ? p.layout : tensor::layout::plain}},
              .by = kernels::functions_for(Backend{}, p.op, p.in, result),
              .convert = kernels::converts_by<Backend>,
              .inputs = p.inputs,
              .parameters = p.parameters,
              .residual = p.residual,
              .output = p.output(),
              .in_place = p.in_place,
              .layout = p.layout,
              .threads = p.threads,
              .regions = p.regions};
#ifdef DICE_TESTS_GPU
  if constexpr (algorithm::processor_of(Backend::value) == platform::processor::gpu) return compute_there(j);
#endif
  return compute_here(j);
}

/// With the algorithm that dice chooses for it.
template <class Backend, class Op> std::vector<float> compute(const problem<Op>& p, const ending& e = {}) {
  return compute<Backend>(p, e, algorithm::choose<Backend::value>(p.op, graph::shapes(p.in), p.result()));
}

/// max |a - b| / max |b|; infinite if an element is NaN in only one of them, or infinite.
inline double error(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) < std::numeric_limits<float>::infinity())) return std::numeric_limits<double>::infinity();
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  for (const float x : b)
    if (std::abs(x) < std::numeric_limits<float>::infinity()) size = std::max<double>(size, std::abs(x));
  return difference == 0 ? 0 : difference / size;
}

#ifdef DICE_TESTS_GPU
inline constexpr double tolerance = 1e-4;  // cuDNN may choose Winograd's algorithm
#else
inline constexpr double tolerance = 1e-5;
#endif

/// A problem with inputs and parameters of these shapes, of seeded values.
template <class Op>
problem<Op> make(const Op& op, std::vector<shape> in, const std::vector<shape>& parameters = {}, float low = -1,
                 float high = 1) {
  problem<Op> p{.op = op, .in = in, .inputs = {}, .parameters = {}, .residual = {}};
  std::uint32_t seed = 1;
  for (const auto& s : in) p.inputs.push_back(values(s.elements(), seed++, low, high));
  for (const auto& s : parameters) p.parameters.push_back(values(s.elements(), seed++));
  return p;
}

/// `p` with a residual of seeded values.
template <class Op> problem<Op> with_residual(problem<Op> p) {
  p.residual = values(p.result().elements(), 99);
  return p;
}

/// What the reference computes; for a group with pooling, by two operators.
template <class Op> std::vector<float> expected_of(problem<Op> p, const ending& e) {
  if (!p.pools_2x2) return compute<kernels::reference::backend>(p, e);
  p.pools_2x2 = false;
  problem<ops::max_pool> pool{.op = {.kernel = {2, 2}, .strides = {2, 2}},
                              .in = {p.result()},
                              .inputs = {compute<kernels::reference::backend>(p, e)},
                              .parameters = {},
                              .residual = {}};
  return compute<kernels::reference::backend>(pool);
}

#ifdef DICE_COMPARES
/// Compares the other backend with the reference, OpenMP on 1, 2 and 3 threads, all tensors plain and all blocked. With
/// DICE_COMPARED=n in the environment, every n-th problem only.
template <class Op> void compare(problem<Op> p, const std::string& what, const ending& e = {}) {
  static const char* const every = std::getenv("DICE_COMPARED");
  static int problems = 0;
  if (every && problems++ % std::max(std::atoi(every), 1) != 0) return;
  const auto expected = expected_of(p, e);
  for (const int threads : {1, 2, 3}) {
    if (threads > 1 && std::is_same_v<compared, kernels::cudnn::backend>) break;
    p.threads = threads;
    SCOPED_TRACE(what);
    for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
      p.layout = layout;
      const std::string how = what + (layout == tensor::layout::plain ? ", plain" : ", blocked");
      EXPECT_LE(error(compute<compared>(p, e), expected), tolerance) << how << ", threads " << threads;
      if (!graph::in_place(p.op)) continue;
      p.in_place = true;
      EXPECT_LE(error(compute<compared>(p, e), expected), tolerance) << how << ", in place";
      p.in_place = false;
    }
  }
}
#endif

}  // namespace harness
