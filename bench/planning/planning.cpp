// How many mappings a second one core rates at run time, and how many it plans with proofs: ResNet-50, DenseNet-121 and
// YOLOv2 in stages, or with every layer that can be split in rows, tiles or channels, on 4 and 8 ranks.
#include "bench_densenet121.hpp"
#include "bench_resnet50.hpp"
#include "bench_yolov2.hpp"

#include <dice/algorithm/table.hpp>
#include <dice/cost/evaluator.hpp>
#include <dice/cost/setting_of.hpp>
#include <dice/placement/check_parts.hpp>
#include <dice/placement/text/mistakes.hpp>
#include <dice/placement/text/parse.hpp>
#include <dice/schedule/static_split.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using namespace dice::literals;

using slow = board<"slow", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<24>, gbytes_per_s<8>, watts<7, 3>>>;
using quick = board<"quick", ram<8_GiB>, processor<cores<0, 1, 2, 3>, gflops<52>, gbytes_per_s<12>, watts<11, 4>>>;
using lab = cluster<host<"h0", slow>, host<"h1", quick>, host<"h2", slow>, host<"h3", quick>, host<"h4", slow>,
                    host<"h5", quick>, host<"h6", slow>, host<"h7", quick>, connection<mbit_per_s<940>, us<150>>>;

std::string device(int rank) {
  const auto r = std::to_string(rank);
  return "dev<" + r + ", cpu, on<\"h" + r + "\">>";
}

/// A network and random mappings of it, each drawn from its number.
template <class Net> class mappings {
 public:
  static constexpr auto& net = graph::view_of<Net>;

  /// `word`: of the mapping language; layers: stages.
  static placement::text_mapping random(const std::string& word, int ranks, unsigned seed) {
    std::mt19937 draw(seed);
    const auto text = word == "layers" ? stages(ranks, draw) : splits(word, ranks, draw);
    auto out = placement::parse(text, Net::name, net);
    if (const auto f = placement::check(out.values(), net, platform::bit(platform::processor::cpu)))
      throw std::logic_error(placement::tell(out, f));
    return out;
  }

 private:
  static std::string name(int l) { return std::string(net.layers[l].name); }

  static std::string stages(int ranks, std::mt19937& draw) {
    std::vector<int> ends;
    for (int l = 1; l < Net::size; ++l) ends.push_back(l);
    std::shuffle(ends.begin(), ends.end(), draw);
    ends.resize(static_cast<std::size_t>(ranks - 1));
    ends.push_back(Net::size);
    std::sort(ends.begin(), ends.end());
    std::string out = "mapping<";
    for (int r = 0, first = 0; r < ranks; first = ends[r++])
      out += (r ? ", " : "") + device(r) + ", layers<range<" + name(first) + ", " + name(ends[r] - 1) + ">>";
    return out + ">";
  }
  /// Every layer that can be split is; rank 0 has the others.
  static std::string splits(const std::string& word, int ranks, std::mt19937& draw) {
    const placement::written_work how{.word = placement::word_number(word), .down = 2, .across = ranks / 2};
    const bool tiles = how.is().cut == placement::geometry::grid;
    std::string split, whole, shares;
    for (int l = 0; l < Net::size; ++l) {
      auto& list = placement::detail::check_part(net, l, how, ranks) ? whole : split;
      list += (list.empty() ? "" : ", ") + name(l);
    }
    for (int r = 0; r < ranks; ++r) shares += (r ? ", " : "") + std::to_string(1 + draw() % 3);
    std::string out = "mapping<" + device(0) + ", layers<" + whole + ">, ranks<0>";
    for (int r = 1; r < ranks; ++r) out += ", " + device(r);
    out += ", " + word + "<" + (tiles ? "2, " + std::to_string(ranks / 2) + ", " : "") + split;
    return out + (tiles ? "" : ", shares<" + shares + ">") + ">>";
  }
};

template <class Net> void plan(benchmark::State& state, const std::string& word, int ranks, bool proved) {
  static constexpr auto tables = algorithm::tables_of<Net, algorithm::bit(algorithm::backend_of(platform::unit{}))>;
  const auto& operators = schedule::detail::operators_of<Net>;
  const auto& parameters = graph::parameters_of<Net>;
  const cost::evaluator evaluator(cost::setting_of<Net, lab>, tables, operators, parameters);
  std::vector<placement::text_mapping> all;
  for (unsigned seed = 0; seed < 20; ++seed) {
    try {
      all.push_back(mappings<Net>::random(word, ranks, seed));
    } catch (const std::logic_error&) {  // shares of which one rank would have nothing
    }
  }
  if (all.empty()) return state.SkipWithError("no mapping");
  std::size_t at = 0;
  for (auto _ : state) {
    const auto m = all[at++ % all.size()].values();
    if (proved) benchmark::DoNotOptimize(schedule::dynamic_plan(graph::view_of<Net>, m, tables, operators, parameters));
    else benchmark::DoNotOptimize(evaluator.rate(m).frame.expected.period);
  }
  state.SetItemsProcessed(state.iterations());
}

template <class Net> void add(const std::string& network) {
  for (const std::string word : {"layers", "rows", "tiles", "output_channels"})
    for (const int ranks : {4, 8})
      for (const bool proved : {false, true})
        benchmark::RegisterBenchmark((network + "/" + (word == "layers" ? "stages" : word) + "/" + std::to_string(ranks) +
                                      (proved ? "/proved" : "/rated"))
                                         .c_str(),
                                     [=](benchmark::State& state) { plan<Net>(state, word, ranks, proved); })
            ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  add<bench_resnet50::network>("resnet50");
  add<bench_densenet121::network>("densenet121");
  add<bench_yolov2::network>("yolov2");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
