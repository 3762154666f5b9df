// Computes the networks of all cases, with the reference kernels, as onnx2hpp --expect does, and with those of the CPU, on
// one rank and on two: conformance_networks DATA SCRATCH
//
// In the folder SCRATCH it writes models and weights that it reads again.
#include "expect/evaluation.hpp"
#include "outcome.hpp"
#include "program.hpp"
#include "run_case.hpp"
#include "values.hpp"

#include "dice/graph/ops/output.hpp"

#include <cstdio>
#include <map>

namespace {

using namespace conformance;
namespace fs = std::filesystem;

/// With the reference kernels. Throws std::exception if a result differs.
void check_reference(const test_case& c, const outcome& o) {
  const auto& net = *o.network;
  const auto file = [&](const char* kind, std::size_t k) {
    return (c.folder / "test_data_set_0" / (kind + std::to_string(k) + ".pb")).string();
  };
  std::map<int, values> in;
  std::multimap<int, values> out;  // by the layer that computes it
  for (int l = 0; const auto& layer : net.layers) {
    if (is_input(layer))
      in.emplace(l, read(file("input_", static_cast<std::size_t>(o.kept.at(in.size()))), dice::tensor::number::float32,
                         layer.result));
    if (const auto* op = layer.op.get_if<dice::ops::output>())
      out.emplace(layer.operands.at(0), read(file("output_", out.size()), op->number, layer.result));
    ++l;
  }
  std::size_t compared = 0;
  onnx2hpp::evaluation(net).run([&](int layer) { return in.at(layer).data.data(); },
                                [&](int layer, const float* found) {
                                  for (auto [e, end] = out.equal_range(layer); e != end; ++e, ++compared)
                                    require_near({found, e->second.data.size()}, e->second);
                                });
  if (out.empty() || compared != out.size()) throw std::runtime_error("results are missing");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DATA SCRATCH\n", argv[0]);
    return 2;
  }
  unsigned networks = 0;
  int failures = 0;
  try {
    const fs::path scratch = argv[2];
    fs::create_directories(scratch);
    for (const auto& name : case_names(argv[1])) {
      const auto c = read_case(argv[1], name);
      const auto run = [&](const outcome& o) {
        ++networks;
        try {
          check_reference(c, o);
          const auto weights = scratch / "network.safetensors";
          const network_tables tables(*o.network, weights.string());
          for (const auto& mapping :
               {std::string("mapping<dev<0, cpu>, layers<all>>"), scattered(tables.network(), networks)})
            run_case(tables.under(mapping).it->program(), o.kept, c.folder, weights.string());
        } catch (const std::exception& e) {
          std::printf("%s with %zu inputs: %s\n", c.name.c_str(), o.kept.size(), e.what());
          ++failures;
        }
      };
      const auto o = convert(c, scratch / "case.onnx");
      if (!reason(c, o).empty()) continue;
      run(o);
      convert_halves(c, o, scratch / "one.onnx", run);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "conformance_networks: %s\n", e.what());
    return 1;
  }
  std::printf("%u networks: %d failures\n", networks, failures);
  return failures > 0 || networks == 0;
}
