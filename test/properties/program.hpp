// Random networks under random mappings, of types and of text: `program NETWORK FOLDER` runs all of one network in this
// process on the frames that generate.py wrote to FOLDER, and compares the results with NumPy's. `program NETWORK FOLDER
// FORM` runs it in another form: by MPI, as an engine in this process, as an engine by MPI. `program NETWORK even1 OPTION…`
// is the program of the network on one rank. `program occurrences` says how often its networks contain what they are meant
// to: see occurrences.py.
#pragma once

#include "networks/mappings.hpp"

#include <dice/engine.hpp>

#include <xtensor/xmath.hpp>
#include <xtensor/xnpy.hpp>
#include <xtensor/xview.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace properties {

namespace detail {

template <class Deal, class Tuple> struct as_mapping;
template <class Frames, class... Entry> struct as_mapping<Frames, std::tuple<Entry...>> {
  using type = dice::mapping<Entry..., Frames>;
};

template <class Network, std::uint32_t Seed, int Frames, class Rank> struct dealt;
template <class Network, std::uint32_t Seed, int Frames, int... Rank>
struct dealt<Network, Seed, Frames, std::integer_sequence<int, Rank...>> {
  using deal = mappings::detail::scattered<Network, static_cast<int>(sizeof...(Rank)), Seed>;
  using entries =
      decltype(std::tuple_cat(std::tuple<dice::dev<Rank, dice::cpu>, typename deal::template layers_of<Rank>>()...));
  using type = typename as_mapping<dice::in_flight<Frames>, entries>::type;
};

}  // namespace detail

/// Every layer on a random one of `Ranks` ranks (fewer if there are fewer layers), `Frames` in flight.
template <class Network, int Ranks, std::uint32_t Seed, int Frames>
using dealt =
    typename detail::dealt<Network, Seed, Frames, std::make_integer_sequence<int, std::min(Ranks, Network::size)>>::type;

/// The frames of a graph input or output, as generate.py wrote them.
template <class Network> std::string file_of(const std::string& folder, std::string_view onnx_name) {
  return folder + "/" + std::string(Network::name) + "_" + std::string(onnx_name) + ".npy";
}

/// Every layer on a random one of `ranks` ranks, each of which gets at least one, as text.
template <class Network> std::string mapping_text(int ranks, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::string> layers(static_cast<std::size_t>(ranks));
  std::vector<int> order(Network::size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (int i = 0; i < Network::size; ++i) {
    auto& list = layers[i < ranks ? i : below(ranks)];
    list += (list.empty() ? "" : ", ") + std::string(dice::graph::view_of<Network>.layers[order[i]].name);
  }
  std::string out = "mapping<";
  for (int r = 0; r < ranks; ++r)
    out += "dev<" + std::to_string(r) + (below(2) ? ", cpu>" : ", threads<1>>") + ", layers<" + layers[r] + ">, ";
  return out + "in_flight<" + std::to_string(1 + below(16)) + ">>";
}

/// Runs Network under Map, or under another mapping, with the checks of dice::main; its exit code.
template <class Network, class Map>
int check(const std::string& program, const std::string& folder, const char* transport = "in-process",
          const std::string& other = {}) {
  std::vector<std::string> words{program, "--transport", transport, "--warmup", "2", "--frames", "40", "--gather"};
  for (const auto& layer : dice::graph::view_of<Network>.layers)
    if (layer.is_input || layer.is_output) {
      words.push_back(layer.is_input ? "--input" : "--expect");
      words.push_back(std::string(layer.onnx_name) + "=" + file_of<Network>(folder, layer.onnx_name));
    }
  if (!other.empty()) words.insert(words.end(), {"--mapping", other});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return dice::main<Network, Map>(static_cast<int>(argv.size()), argv.data());
}

/// Runs Network under Map as an engine, with a thread for each input and output here; 0 if all results are right.
template <class Network, class Map> int check_engine(const std::string& folder, dice::job::transport by) {
  constexpr std::size_t frames = 40;
  auto engine = dice::start<Network, Map>({.by = by});
  std::atomic<int> failures{0};
  std::vector<std::thread> sources, sinks;
  const auto in_thread = [&](std::vector<std::thread>& threads, auto work) {
    threads.emplace_back([&failures, work] {
      try {
        work();
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        ++failures;
      }
    });
  };
  const auto attend = [&]<class Layer>(const Layer*) {
    // Frame k, counted through the repeated frames.
    const auto frame =
        [all = dice::frames::tensor(xt::load_npy<float>(file_of<Network>(folder, Layer::onnx_name)))](std::size_t k) {
          const auto batch = static_cast<std::size_t>(Layer::result[0]), at = k % (all.shape(0) / batch) * batch;
          return dice::frames::tensor(xt::view(all, xt::range(at, at + batch)));
        };
    if constexpr (dice::input_of<Layer, Network>) {
      if (engine.template has_input<Layer>())
        in_thread(sources, [&engine, frame] {
          for (std::size_t k = 0; k < frames; ++k) engine.template push<Layer>(frame(k));
        });
    } else if (engine.template has_output<Layer>()) {
      in_thread(sinks, [&engine, &failures, frame] {
        std::size_t k = 0;
        for (; const auto result = engine.template take<Layer>(); ++k) {
          const auto expected = frame(k);
          failures += result->shape() != expected.shape() ||
                      !(xt::amax(xt::abs(*result - expected))() <= 1e-4 * xt::amax(xt::abs(expected))());
        }
        failures += k != frames;
      });
    }
  };
  [&]<int... Id>(std::integer_sequence<int, Id...>) {
    const auto each = [&]<class Layer>(const Layer* layer) {
      if constexpr (dice::input_of<Layer, Network> || dice::output_of<Layer, Network>) attend(layer);
    };
    (each(static_cast<const typename Network::template layer<Id>*>(nullptr)), ...);
  }
  (std::make_integer_sequence<int, Network::size>{});
  for (auto& t : sources) t.join();
  engine.close();
  for (auto& t : sinks) t.join();
  engine.wait();
  return failures ? 1 : 0;
}

/// The number of ranks of mappings with neither 1 nor 8.
template <std::uint32_t Seed> inline constexpr int few = 2 + static_cast<int>(Seed % 6);

/// Runs one of the other forms, under one mapping.
template <class Network, std::uint32_t Seed>
int check_form(const std::string& program, const std::string& folder, const std::string& form) {
  using all = dealt<Network, few<Seed>, Seed, 5>;
  if (form == "mpi") return check<Network, all>(program, folder, "mpi");
  if (form == "engine_mpi") return check_engine<Network, all>(folder, dice::job::transport::mpi);
  if (form == "engine")
    return check_engine<Network, mappings::even<Network, 1>>(folder, dice::job::transport::automatic) |
           check_engine<Network, all>(folder, dice::job::transport::in_process);
  return 2;
}

/// Runs all mappings; their seeds follow from the network's.
template <class Network, std::uint32_t Seed> int check_all(const std::string& program, const std::string& folder) {
  int failures = 0;
  const auto one = [&](int code, const char* mapping) {
    std::printf("%s: exit code %d\n", mapping, code);
    failures += code != 0;
  };
  constexpr int frames = 1 + static_cast<int>(Seed * 5 % 16);
  one(check<Network, mappings::even<Network, 1>>(program, folder), "one rank");
  one(check<Network, mappings::even<Network, few<Seed>>>(program, folder), "stretches");
  one(check<Network, dealt<Network, few<Seed>, Seed, frames>>(program, folder), "every layer on a random rank of few");
  one(check<Network, dealt<Network, 8, Seed + 1, 16>>(program, folder), "every layer on a random rank of 8");
  std::mt19937 random(Seed);
  for (int k = 0; k < 40; ++k) {
    const auto text = mapping_text<Network>(1 + k % std::min(8, Network::size), random);
    one(check<Network, mappings::even<Network, 1>>(program, folder, "in-process", text), text.c_str());
  }
  return failures ? 1 : 0;
}

/// What the committed seeds are meant to contain.
struct occurrence {
  const char* what;
  int count = 0;
};

/// Counts it in Network on one rank.
template <class Network> void count_occurrences(std::vector<occurrence>& all) {
  using dice::tensor::layout;
  const auto p = dice::assembly::program_of<Network, mappings::even<Network, 1>>;
  const auto count = [&](std::size_t i, const char* what, bool is) {
    if (all.size() <= i) all.push_back({what});
    all[i].count += is;
  };
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    const auto& group = p.plan.groups[g];
    const auto& task = p.kernels[g].what;
    const auto& layer = p.layers.layers[group.anchor];
    const auto reads = [&](std::string_view op) {
      for (const auto& e : p.layers.into(group.anchor))
        for (const auto& from : p.plan.groups)
          if (from.output() == e.from)
            for (const int l : from.layers())
              if (l >= 0 && p.layers.layers[l].op == op) return true;
      return false;
    };
    const auto* conv = layer.op == "Conv" ? static_cast<const dice::ops::conv*>(task.op) : nullptr;
    const auto channels = conv ? task.inputs[0][1] : 0, groups = conv ? conv->group : 1;
    const bool depthwise = groups > 1 && groups == channels && groups == conv->channels;
    const bool blocked = task.output.layout == layout::blocked;
    const bool winograd = conv && task.how.variant > 0;
    count(0, "results in blocks", blocked);
    count(1, "convolutions of more than 64 channels", conv && std::max(channels, conv->channels) > 64);
    count(2, "Winograd's algorithm", winograd);
    count(3, "Winograd's algorithm on a joined tensor or a sum", winograd && (reads("Concat") || reads("Add")));
    count(4, "groups that share blocks",
          groups > 1 && !depthwise && conv->channels > 16 && conv->channels / groups % 16 != 0);
    count(5, "depthwise convolutions of several blocks", depthwise && channels > 16);
    count(6, "Concats of blocks", layer.op == "Concat" && blocked);
    count(7, "convolutions that end with a sum", conv && group.residual >= 0 && blocked);
    count(8, "convolutions that end with a halving pool", task.pools_2x2);
    count(9, "products of a tensor of blocks and a number for each channel",
          layer.op == "Mul" && blocked && task.inputs.size() == 2 && task.inputs[0] != task.inputs[1]);
  }
}

/// Prints it for all networks.
template <class... Network> int print_occurrences() {
  std::vector<occurrence> all;
  (count_occurrences<Network>(all), ...);
  for (const auto& o : all) std::printf("%3d %s\n", o.count, o.what);
  return 0;
}

}  // namespace properties
