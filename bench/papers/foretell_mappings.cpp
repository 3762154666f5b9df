// A network's program with one rank. With --foretell alone it predicts mappings instead, for a cluster whose figures it
// reads (mappings.py writes them), so that another cluster needs no compiler: the number of hosts; for each of them the time
// that messages take from its core (µs and GB/s for sending, the same for receiving; 0: none), the GB/s of its memory (0:
// unknown) and the ms of all layers by id; for each pair of hosts in order the link's µs and Mbit/s. Each further line is a
// mapping, whose ranks have the hosts in order. Prints for each the latency and, by rank, the times of computing and of
// messages, in ms. The including file defines NETWORK and HEADER.
#include <dice/dice.hpp>
#include <dice/runtime/other_mapping.hpp>

#include HEADER

#include <cstddef>
#include <cstdio>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace dice;
using whole = NETWORK::network;
using alone = mapping<dev<0, threads<1>>, layers<from<whole::layer<0>>>>;

namespace {

double number() {
  double out = 0;
  if (!(std::cin >> out)) throw std::runtime_error("the cluster's figures end early");
  return out;
}

platform::link link() {
  const double seconds = number() * 1e-6;
  return {.bytes_per_s = number() * 1e9, .seconds = seconds};
}

void foretell() {
  const auto n = static_cast<std::size_t>(number());
  std::vector<std::string> names(n);
  std::vector<platform::host_info> hosts(n);
  std::vector<platform::processor_info> processors(n);
  std::vector<int> host_of(n);
  std::vector<platform::link> links(n * n, platform::shared_memory);
  std::vector<std::vector<double>> times(n, std::vector<double>(whole::size));
  std::vector<std::span<const double>> seconds(n);
  const std::vector<std::span<const algorithm::choice>> algorithms(n,
                                                                   algorithm::choices_of<whole, algorithm::backend_of({})>);
  const auto usable = std::make_unique<bool[]>(n);
  for (std::size_t h = 0; h < n; ++h) {
    const auto id = static_cast<int>(h);
    names[h] = "h" + std::to_string(h + 1);
    hosts[h] = {.name = names[h], .first_processor = id, .processors = 1, .kind = id};
    host_of[h] = id;
    usable[h] = true;
    processors[h] = {.unit = platform::unit_traits<threads<1>>::value, .profiled = true};
    processors[h].sending = link();
    processors[h].receiving = link();
    processors[h].bytes_per_s = number() * 1e9;
    for (auto& t : times[h]) t = number() * 1e-3;
    seconds[h] = times[h];
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      const double wait = number() * 1e-6;
      links[a * n + b] = links[b * n + a] = {.bytes_per_s = number() * 1e6 / 8, .seconds = wait};
    }
  const cost::setting lab{
      graph::view_of<whole>, {hosts, processors, host_of, links}, seconds, algorithms, {usable.get(), n}};
  const auto& own = assembly::program_of<whole, alone>;
  for (std::string text; std::getline(std::cin >> std::ws, text);) {
    const auto other = own.remap(own, text).it;
    const auto& p = other->program();
    std::vector<cost::placed_rank> ranks(other->devices().size());
    cost::place_ranks(other->devices(), lab.cluster, ranks.data());
    const auto found = cost::simulate(lab, {.net = p.layers, .parts = p.parts}, p.plan, ranks);
    std::printf("%.6g", found.expected.latency * 1e3);
    for (const auto& r : p.parts.empty() ? meta::array<cost::rank_time>() : found.ranks)
      std::printf(" %.6g %.6g", r.computing * 1e3, r.messages * 1e3);
    std::puts("");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != "--foretell") return dice::main<whole, alone>(argc, argv);
  try {
    foretell();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
