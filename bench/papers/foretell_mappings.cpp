// A network's program with one rank. With --foretell alone it predicts mappings instead, for a cluster whose figures it
// reads (mappings.py writes them), so that another cluster needs no compiler: the number of hosts; for each of them the time
// that messages take from its core (µs and GB/s for sending, the same for receiving; 0: none), the GB/s of its memory (0:
// unknown) and the ms of all layers by id; for each pair of hosts in order the link's µs and Mbit/s. Each further line is a
// mapping, whose ranks have the hosts in order. Prints for each the latency and, by rank, the times of computing and of
// messages, in ms. With --find OBJECTIVE it reads the same figures, and prints the mapping that --search would find for
// them, its neighbours, all that split everything in one way, and random ones: on each line what it is, the latency in ms,
// frames/s, the hosts of its ranks, whether measured=5 would run it (1, 0), and the mapping, with tabs between. The
// including file defines NETWORK and HEADER.
#include <dice/dice.hpp>
#include <dice/partition/mix.hpp>
#include <dice/partition/worth_measuring.hpp>
#include <dice/placement/text/write.hpp>
#include <dice/runtime/layer_operators.hpp>
#include <dice/runtime/other_mapping.hpp>

#include HEADER

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>
#include <set>
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

/// The cluster whose figures were read.
struct measured_lab {
  std::size_t n = static_cast<std::size_t>(number());
  std::vector<std::string> names = std::vector<std::string>(n);
  std::vector<platform::host_info> hosts = std::vector<platform::host_info>(n);
  std::vector<platform::processor_info> processors = std::vector<platform::processor_info>(n);
  std::vector<int> host_of = std::vector<int>(n);
  std::vector<platform::link> links = std::vector<platform::link>(n * n, platform::shared_memory);
  std::vector<std::vector<double>> times = std::vector(n, std::vector<double>(whole::size));
  std::vector<std::span<const double>> seconds = std::vector<std::span<const double>>(n);
  std::vector<std::span<const algorithm::choice>> algorithms =
      std::vector<std::span<const algorithm::choice>>(n, algorithm::choices_of<whole, algorithm::backend_of({})>);
  std::unique_ptr<bool[]> usable = std::make_unique<bool[]>(n);

  measured_lab() {
    for (std::size_t h = 0; h < n; ++h) {
      const auto id = static_cast<int>(h);
      names[h] = "h" + std::to_string(h + 1);
      hosts[h] = {.name = names[h],
                  .board = "measured",
                  .memory = std::int64_t{1} << 40,
                  .first_processor = id,
                  .processors = 1,
                  .kind = id};
      host_of[h] = id;
      usable[h] = true;
      processors[h] = {.unit = platform::unit_traits<threads<1>>::value, .memory = std::int64_t{1} << 40, .profiled = true};
      processors[h].sending = link();
      processors[h].receiving = link();
      processors[h].bytes_per_s = number() * 1e9;
      for (auto& t : times[h]) t = number() * 1e-3;
      seconds[h] = times[h];
      const auto alike = [&](const auto& other) {
        const auto& p = processors[static_cast<std::size_t>(other.first_processor)];
        return times[static_cast<std::size_t>(other.first_processor)] == times[h] && p.sending == processors[h].sending &&
               p.receiving == processors[h].receiving && p.bytes_per_s == processors[h].bytes_per_s;
      };
      hosts[h].kind = std::find_if(hosts.begin(), hosts.begin() + id, alike)->kind;  // its own, if none is alike
    }
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b) {
        const double wait = number() * 1e-6;
        links[a * n + b] = links[b * n + a] = {.bytes_per_s = number() * 1e6 / 8, .seconds = wait};
      }
  }
  cost::setting setting() const {
    return {graph::view_of<whole>, {hosts, processors, host_of, links}, seconds, algorithms, {usable.get(), n}};
  }
};

void foretell() {
  const measured_lab all;
  const auto lab = all.setting();
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

/// Mappings to measure beside the one that is found.
class finder {
 public:
  explicit finder(partition::objective best) { wanted_.wanted.aim.best = best; }

  void run() {
    const auto found = partition::find_mix(on_, p_, rate_, operators(), wanted_,
                                           partition::mix_of(partition::find_best(on_, p_, wanted_.wanted).stages));
    if (found.sections.empty()) throw std::runtime_error("no mapping was found");
    first_ = partition::worth_measuring(found, wanted_.wanted.aim.best, 5);
    tell("found", found.sections);
    for (const auto& pure : found.pure) tell(std::string(pure.by.is().word), pure.sections);
    for (const auto& [m, expected] : first_) tell("next", m);
    std::vector<partition::mixed> neighbours;
    const partition::detail::neighbourhood near{found.catalogue, p_.devices.size(), ~0u, true};
    near.each(found.sections, -1, [&](const partition::mixed& m) {
      neighbours.push_back(m);
      return false;
    });
    std::shuffle(neighbours.begin(), neighbours.end(), draw_);
    int told = 0;
    for (const auto& m : neighbours)
      if (told < 40) told += tell("neighbour", m);
    const cost::arranged_network net(on_, p_, operators(), found.catalogue);
    for (told = 0; told < 40;) told += tell("random", random(net));
  }

 private:
  meta::view<graph::any_operator> operators() const { return {operators_.data(), operators_.size()}; }

  /// Up to five sections, each in an arrangement that all of it can have.
  partition::mixed random(const cost::arranged_network<>& net) {
    const auto below = [&](int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); };
    partition::mixed out;
    int from = 0;
    for (int sections = 1 + below(5); from < p_.cut_units;) {
      const int until = sections-- > 1 ? from + 1 + below(p_.cut_units - from) : p_.cut_units;
      int a = below(net.size());
      for (int k = from; k < until; ++k) {
        const int by = net.possible(a, k) ? a : net[a].devices[0];
        if (out.empty() || !(out.back().by == net[by])) out.push_back({net[by], k, k});
        out.back().last = k + 1;
      }
      from = until;
    }
    return out;
  }
  /// Prints a mapping, unless it is not right or was printed.
  bool tell(const std::string& what, const partition::mixed& m) {
    meta::array<cost::arrangement> all;
    meta::array<cost::section> sections;
    for (const auto& part : m) {
      if (part.first >= part.last) continue;
      sections.push_back({all.size(), part.first, part.last});
      all.push_back(part.by);
    }
    const auto written = partition::mapping_of(p_, on_.cluster, all, sections);
    const auto rated = rate_.rate(written.mapping.values());
    if (!rated.is_right()) return false;
    std::string text = placement::write(written.mapping.values(), whole::name, graph::view_of<whole>), hosts;
    for (auto& c : text)
      if (c == '\n') c = ' ';
    for (std::size_t at; (at = text.find(", dice::on<\"")) != std::string::npos;)
      text.erase(at, text.find('>', at) + 1 - at);
    for (const int d : written.devices)
      hosts += (hosts.empty() ? "" : ",") + lab_.names[static_cast<std::size_t>(p_.devices[d].host)];
    if (!told_.insert(text + hosts).second) return false;
    const bool first =
        std::any_of(first_.begin(), first_.end(), [&](const auto& x) { return partition::are_same(x.first, m); });
    std::printf("%s\t%.6g\t%.6g\t%s\t%d\t%s\n", what.c_str(), rated.frame.expected.latency * 1e3,
                rated.frame.expected.throughput, hosts.c_str(), first, text.c_str());
    return true;
  }

  const measured_lab lab_;
  const cost::setting on_ = lab_.setting();
  const cost::problem p_ = cost::problem_of(on_);
  const std::vector<graph::any_operator> operators_ = runtime::operators_of(*assembly::program_of<whole, alone>.tables);
  const cost::evaluator rate_{on_, assembly::program_of<whole, alone>.tables->algorithms, operators(),
                              assembly::program_of<whole, alone>.tables->parameters};
  partition::mix_request wanted_;
  std::mt19937 draw_{1};
  std::set<std::string> told_;
  std::vector<std::pair<partition::mixed, cost::prediction>> first_;  ///< what --search=…,measured=5 would run
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (!(argc == 2 && word == "--foretell") && !(argc == 3 && word == "--find")) return dice::main<whole, alone>(argc, argv);
  try {
    if (argc == 2) foretell();
    else
      finder(argv[2] == std::string_view("latency") ? partition::objective::latency : partition::objective::throughput)
          .run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
