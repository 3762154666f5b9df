// Networks under all mappings, as one program: `program NETWORK MAPPING [options of dice::main]`, MAPPING being evenN on
// N ranks, scattered on four, or with a forced variant even1.variant0 and so on; or, with GPU ranks, gpu, gpu_tf32,
// gpu_fp16, gpu_bf16, gpu_cpu or gpu_scattered. One program has several networks
// because most of its compile time does not depend on them.
#pragma once

#include "forced.hpp"
#include "mappings.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mappings {

class program {
 public:
  /// Evenly on each of these numbers of ranks, and scattered.
  template <class Network, int... Ranks> void add() {
    (add<Network, even<Network, Ranks>>("even" + std::to_string(Ranks)), ...);
    add<Network, scattered<Network, 7>>("scattered");
  }
  /// All on a GPU, and scattered over two ranks on GPUs and two on CPUs.
  template <class Network> void add_gpu() {
    add<Network, even<Network, 1, on_gpus>>("gpu");
    add<Network, scattered<Network, 7, in_turn>>("gpu_scattered");
  }
  /// All on a GPU in each precision, and half on a GPU and half on the CPU.
  template <class Network> void add_precisions() {
    add<Network, even<Network, 1, on_gpus_in<dice::tf32>>>("gpu_tf32");
    add<Network, even<Network, 1, on_gpus_in<dice::fp16>>>("gpu_fp16");
    add<Network, even<Network, 1, on_gpus_in<dice::bf16>>>("gpu_bf16");
    add<Network, even<Network, 2, in_turn>>("gpu_cpu");
  }
  /// With every variant that some layer of Network has.
  template <class Network> void add_variants() {
    constexpr auto& last = last_variants<Network>;
    [&]<int... V>(std::integer_sequence<int, V...>) {
      (add_variant<forced<Network, V>>(".variant" + std::to_string(V)), ...);
    }
    (std::make_integer_sequence<int, 1 + *std::max_element(last.begin(), last.end())>{});
  }

  /// What main does; without arguments it prints all networks and mappings.
  int run(int argc, char** argv) const {
    if (argc > 2)
      for (const entry& e : entries_)
        if (e.network == argv[1] && e.mapping == argv[2]) {
          argv[2] = argv[0];
          return e.main(argc - 2, argv + 2);
        }
    std::cerr << "usage: " << argv[0] << " NETWORK MAPPING [options of dice::main]\n";
    for (const entry& e : entries_) std::cerr << "  " << e.network << ' ' << e.mapping << '\n';
    return 2;
  }

 private:
  struct entry {
    std::string_view network;
    std::string mapping;
    int (*main)(int, char**);
  };
  template <class Network, class Mapping> void add(std::string mapping) {
    entries_.push_back({Network::name, std::move(mapping), dice::main<Network, Mapping>});
  }
  template <class Forced> void add_variant(const std::string& variant) {
    add<Forced, even<Forced, 1>>("even1" + variant);
    add<Forced, even<Forced, 2>>("even2" + variant);
    add<Forced, scattered<Forced, 7>>("scattered" + variant);
  }

  std::vector<entry> entries_;
};

}  // namespace mappings
