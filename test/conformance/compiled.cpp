// Runs the cases whose networks are compiled into this program: conformance_compiled DATA WEIGHTS
#include "entry.hpp"
#include "run_case.hpp"

#include "dice/runtime/other_mapping.hpp"

#include <cstdio>
#include <stdexcept>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DATA WEIGHTS\n", argv[0]);
    return 2;
  }
  int failures = 0;
  for (unsigned seed = 0; const auto& c : conformance::entries()) try {
      const auto& alone = *c.program;
      const auto run = [&](const dice::runtime::program& p) {
        conformance::run_case(p, c.inputs, std::filesystem::path(argv[1]) / c.name,
                              argv[2] + ("/" + std::string(p.weights.file)));
      };
      run(alone);
      run(alone.remap(alone, conformance::scattered(alone.layers, ++seed)).it->program());
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", c.name.c_str(), e.what());
      ++failures;
    }
  std::printf("%zu networks on one rank and on two: %d failures\n", conformance::entries().size(), failures);
  return failures > 0 || conformance::entries().empty();
}
