#include "run_case.hpp"

#include "values.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

namespace conformance {

using namespace dice;

namespace {

constexpr std::int64_t frames = 3;  // the same frame three times, so that several are in flight

/// The tensors of a case by layer: the values of its graph inputs, or those expected of its graph outputs.
using tensors = std::map<int, values>;

struct feed final : frames::source {
  explicit feed(const tensors& all) : inputs(all) {}
  void fill(int layer, std::int64_t, std::byte* to, const tensor::type& as) override {
    std::memcpy(to, inputs.at(layer).data.data(), static_cast<std::size_t>(as.bytes()));
  }
  const tensors& inputs;
};

struct compare final : frames::sink {
  explicit compare(const tensors& all) : outputs(all) {}
  void take(int layer, std::int64_t, const std::byte* from, const tensor::type& as) override {
    require_near({frames::floats(from, as), static_cast<std::size_t>(as.elements())}, outputs.at(layer));
    ++taken;
  }
  const tensors& outputs;
  std::int64_t taken = 0;
};

/// Runs one rank; returns how many results it compared.
std::int64_t run_rank(const runtime::program& p, int rank, const std::string& weights_file, const tensors& in,
                      const tensors& out, channels::communicator& ranks) {
  const weights::file file(weights_file, p.network, p.weights);
  const runtime::needed_weights needed(p, rank);
  const weights::store store(file, needed.items());
  const auto end = ranks.connect(runtime::paths_of(p.plan, p.plan.in_flight));
  runtime::executor executor(p, rank, {store, needed.of_plan(0)}, *end, p.plan.in_flight);
  feed source(in);
  compare sink(out);
  runtime::figures measured;
  executor.run(frames, &source, &sink, measured);
  end->settle();
  return sink.taken;
}

}  // namespace

void run_case(const runtime::program& p, const std::vector<int>& inputs, const std::filesystem::path& folder,
              const std::string& weights_file) {
  tensors in, out;
  for (int l = 0; l < p.layers.size(); ++l) {
    const auto& layer = p.layers.layers[l];
    const auto tensor = [&](const char* kind, std::size_t k) {
      return read((folder / "test_data_set_0" / (kind + std::to_string(k) + ".pb")).string(), layer.number, layer.output);
    };
    if (layer.is_input) in[l] = tensor("input_", static_cast<std::size_t>(inputs.at(in.size())));
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
        taken[k] = run_rank(p, r, weights_file, in, out, ranks);
      } catch (const channels::stopped&) {
      } catch (const std::exception& e) {
        failures[k] = e.what();
        hub.stop("rank " + std::to_string(r) + " of " + std::to_string(p.ranks()) + ": " + e.what());
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& f : failures)
    if (!f.empty()) throw std::runtime_error(f);
  std::int64_t results = 0;
  for (const auto n : taken) results += n;
  if (results != frames * static_cast<std::int64_t>(out.size())) throw std::runtime_error("results are missing");
}

std::string scattered(const graph::network_view& net, unsigned seed) {
  std::minstd_rand random(seed);
  std::string of[2];
  for (int l = 0; l < net.size(); ++l) {
    auto& to = of[l < 2 ? static_cast<unsigned>(l) : random() % 2];
    to += (to.empty() ? "" : ", ") + std::string(net.layers[l].name);
  }
  return "mapping<dev<0, cpu>, layers<" + of[0] + ">, dev<1, cpu>, layers<" + of[1] + ">>";
}

}  // namespace conformance
