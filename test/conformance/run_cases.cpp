// Runs the cases of this program: run_cases DATA WEIGHTS
//
// Ranks are threads of this process. Results are compared with output_*.pb.
#include "entry.hpp"
#include "values.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/other_mapping.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

using namespace dice;

constexpr std::int64_t frames = 3;  // the same frame three times, so that several are in flight

/// The tensors of a case by layer: the values of its graph inputs, or those expected of its graph outputs.
using tensors = std::map<int, conformance::values>;

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
    conformance::require_near({from, static_cast<std::size_t>(n)}, outputs.at(layer));
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

/// A mapping of every layer to a random one of two ranks, each of which gets at least one.
std::string scattered(const runtime::program& p, unsigned seed) {
  std::minstd_rand random(seed);
  std::string of[2];
  for (int l = 0; l < p.layers.size(); ++l) {
    auto& to = of[l < 2 ? static_cast<unsigned>(l) : random() % 2];
    to += (to.empty() ? "" : ", ") + std::string(p.layers.layers[static_cast<std::size_t>(l)].name);
  }
  return "mapping<dev<0, cpu>, layers<" + of[0] + ">, dev<1, cpu>, layers<" + of[1] + ">>";
}

/// Throws if a result differs or is missing.
void run(const runtime::program& p, const conformance::entry& c, const std::string& data,
         const std::string& weights_folder) {
  tensors in, out;
  const auto folder = data + "/" + c.name + "/test_data_set_0/";
  for (int l = 0; l < p.layers.size(); ++l) {
    const auto& layer = p.layers.layers[static_cast<std::size_t>(l)];
    const auto tensor = [&](const char* kind, std::size_t k) {
      return conformance::read(folder + kind + std::to_string(k) + ".pb", layer.number, layer.output);
    };
    if (layer.is_input) in[l] = tensor("input_", static_cast<std::size_t>(c.inputs.at(in.size())));
    if (layer.is_output) out[l] = tensor("output_", out.size());
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
  int failures = 0;
  for (unsigned seed = 0; const auto& c : conformance::entries()) try {
      const auto& alone = *c.program;
      run(alone, c, argv[1], argv[2]);
      run(alone.remap(alone, scattered(alone, ++seed)).it->program(), c, argv[1], argv[2]);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", c.name.c_str(), e.what());
      ++failures;
    }
  std::printf("%zu networks on one rank and on two: %d failures\n", conformance::entries().size(), failures);
  return failures > 0 || conformance::entries().empty();
}
