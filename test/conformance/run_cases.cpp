// Runs the cases of this program: run_cases DATA WEIGHTS
//
// Ranks are threads of this process. Results are compared with output_*.pb.
#include "entry.hpp"
#include "read/constant.hpp"
#include "tolerance.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/numbers.hpp"

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

namespace {

using namespace dice;

constexpr std::int64_t frames = 3;  // the same frame three times, so that several are in flight

struct values {
  std::vector<std::int64_t> dims;
  std::vector<float> data;
  tensor::number type;
  double rounding = 0;  ///< of the expected value, relative
};

/// A tensor whose elements are raw data of the type `type`; for float32 of any real type.
values read(const std::string& path, tensor::number type) {
  std::ifstream in(path, std::ios::binary);
  onnx::TensorProto t;
  if (!t.ParseFromIstream(&in) || !t.has_raw_data()) throw std::runtime_error(path + " is not a tensor with raw data");
  values out{{t.dims().begin(), t.dims().end()}, {}, type};
  if (type == tensor::number::float32) {
    const auto* first = reinterpret_cast<const std::byte*>(t.raw_data().data());
    const auto c = onnx2hpp::make_constant(static_cast<onnx2hpp::element>(t.data_type()), out.dims,
                                           std::vector(first, first + t.raw_data().size()));
    out.data.resize(static_cast<std::size_t>(c.elements()));
    onnx2hpp::to_float32(c, 0, out.data);
    if (is_half(c.type)) out.rounding = 1.0 / 1024;
    return out;
  }
  tensor::with_type_of(type, [&]<class T>(T) {
    std::vector<std::conditional_t<sizeof(T) == 1, std::uint8_t, T>> numbers(t.raw_data().size() / sizeof(T));
    std::memcpy(numbers.data(), t.raw_data().data(), t.raw_data().size());
    out.data.assign(numbers.begin(), numbers.end());
  });
  return out;
}

void require_shape(const values& v, const tensor::shape& wanted, const std::string& what) {
  const std::vector<std::int64_t> dims(wanted.dim, wanted.dim + wanted.rank);
  if (v.dims != dims || static_cast<std::int64_t>(v.data.size()) != wanted.elements())
    throw std::runtime_error(what + " has another shape");
}

/// The tensors of a case by layer: the values of its graph inputs, or those expected of its graph outputs.
using tensors = std::map<int, values>;

struct feed final : runtime::source {
  explicit feed(const tensors& all) : inputs(all) {}
  void fill(int layer, std::int64_t, float* to, std::int64_t n) override {
    std::memcpy(to, inputs.at(layer).data.data(), static_cast<std::size_t>(n) * sizeof(float));
  }
  const tensors& inputs;
};

struct compare final : runtime::sink {
  explicit compare(const tensors& all) : outputs(all) {}
  void take(int layer, std::int64_t, const float* from, std::int64_t n) override {
    const auto& [dims, expected, type, rounding] = outputs.at(layer);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto found =
          tensor::with_type_of(type, [&]<class T>(T) { return static_cast<double>(runtime::as_number<T>(from[i])); });
      if (const float e = expected[static_cast<std::size_t>(i)];
          type == tensor::number::float32 ? !conformance::near(found, e, rounding) : found != e)
        throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(found) + ", expected " +
                                 std::to_string(e));
    }
    ++taken;
  }
  const tensors& outputs;
  std::int64_t taken = 0;
};

/// Runs one rank; returns how many results it compared.
std::int64_t run_rank(const runtime::program& p, int rank, const std::string& weights_file, const tensors& in,
                      const tensors& out, channels::communicator& ranks) {
  const weights::file file(weights_file, p.network, p.weights);
  std::vector<int> groups;
  const auto needs = runtime::weights_of(p, rank, groups);
  const weights::store store(file, needs);
  const auto end = ranks.connect(runtime::paths_of(p.plan, p.plan.in_flight));
  runtime::executor executor(p, rank, store, *end, p.plan.in_flight);
  feed source(in);
  compare sink(out);
  runtime::figures measured;
  executor.run(frames, &source, &sink, measured);
  return sink.taken;
}

/// Throws if a result differs or is missing.
void run(const runtime::program& p, const conformance::entry& c, const std::string& data,
         const std::string& weights_folder) {
  tensors in, out;
  const auto folder = data + "/" + c.name + "/test_data_set_0/";
  for (int l = 0; l < p.layers.size(); ++l) {
    const auto& layer = p.layers.layers[static_cast<std::size_t>(l)];
    if (layer.is_input) in[l] = read(folder + "input_" + std::to_string(c.inputs.at(in.size())) + ".pb", layer.number);
    if (layer.is_output) out[l] = read(folder + "output_" + std::to_string(out.size()) + ".pb", layer.number);
    if (layer.is_input) require_shape(in[l], layer.output, "an input");
    if (layer.is_output) require_shape(out[l], layer.output, "an output");
  }
  channels::in_process::hub hub(p.ranks());
  std::vector<std::string> failures(static_cast<std::size_t>(p.ranks()));
  std::vector<std::int64_t> taken(failures.size());
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r, k = static_cast<std::size_t>(r)] {
      channels::in_process::communicator ranks(hub, r);
      try {
        taken[k] = run_rank(p, r, weights_folder + "/" + std::string(p.weights.file), in, out, ranks);
      } catch (const channels::stopped&) {
      } catch (const std::exception& e) {
        failures[k] = e.what();
        hub.stop(c.name + ": rank " + std::to_string(r) + " of " + std::to_string(p.ranks()) + ": " + e.what());
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& f : failures)
    if (!f.empty()) throw std::runtime_error(f);
  std::int64_t results = 0;
  for (const auto n : taken) results += n;
  if (results != frames * static_cast<std::int64_t>(out.size())) throw std::runtime_error("results are missing");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DATA WEIGHTS\n", argv[0]);
    return 2;
  }
  int failures = 0, runs = 0;
  for (const auto& c : conformance::entries())
    for (const auto* p : {c.alone, c.scattered}) try {
        if (p) run(*p, c, argv[1], argv[2]), ++runs;
      } catch (const std::exception& e) {
        std::printf("%s on %d ranks: %s\n", c.name.c_str(), p->ranks(), e.what());
        ++failures;
      }
  std::printf("%zu networks, %d runs on 1 or 2 ranks: %d failures\n", conformance::entries().size(), runs, failures);
  return failures > 0 || conformance::entries().empty();
}
