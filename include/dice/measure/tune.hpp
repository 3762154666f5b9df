// --tune: measures the variants of every distinct layer on this machine, and writes the fastest as a header for the next
// build.
#pragma once

#include "dice/files/writer.hpp"
#include "dice/measure/trial.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/print.hpp"
#include "dice/this_host/affinity.hpp"
#include "dice/weights/block.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dice::measure {

/// How long the variants of a layer take, and of all layers of its kind on its rank.
struct tuned_layer {
  std::string kind;           ///< all that its time depends on
  std::vector<int> layers;    ///< ids
  int rank = 0, threads = 1;  ///< where they are computed
  int chosen = 0;             ///< the variant of this program
  std::vector<double> ms;     ///< by variant: a quarter of the runs took less
};

/// The fastest variant. They are sorted by the size of their weights: a larger one must be 2 % faster.
inline int best_of(const std::vector<double>& ms) {
  std::size_t out = 0;
  for (std::size_t v = 1; v < ms.size(); ++v)
    if (ms[v] < 0.98 * ms[out]) out = v;
  return static_cast<int>(out);
}

namespace detail {

/// The variants' times in milliseconds: lower quartiles, since other load on the machine only ever adds time. Variants run
/// in turn, so that such load affects all alike, and with weights as cold as in a frame: `others` stands for the rank's
/// other weights.
[[gnu::cold]] inline std::vector<double> measure(const trial& t, const weights::block& others) {
  constexpr std::int64_t enough = 2'000'000'000;  // ns
  constexpr std::size_t least = 9, most = 101;    // rounds
  std::vector<std::vector<std::int64_t>> times(t.ways());
  for (std::size_t v = 0; v < t.ways(); ++v) t.run(v);
  for (const auto begin = runtime::now();
       times[0].size() < least || (times[0].size() < most && runtime::now() < begin + enough);)
    for (std::size_t v = 0; v < t.ways(); ++v) times[v].push_back(t.time(v, others));
  std::vector<double> out;
  for (auto& all : times) {
    const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
    std::nth_element(all.begin(), quarter, all.end());
    out.push_back(static_cast<double>(*quarter) * 1e-6);
  }
  return out;
}

/// Adds the layers of a rank that have several variants to `out`. The calling thread becomes the rank's.
[[gnu::cold]] inline void tune_rank(const runtime::program& p, int rank, std::vector<tuned_layer>& out) {
  const auto& me = p.plan.ranks[rank];
  const auto r = static_cast<std::size_t>(rank);
  std::vector<const schedule::step*> steps;  // one of each kind
  const auto first = out.size();
  for (int s = me.first_step; s < me.last_step; ++s) {
    const auto& step = p.plan.steps[s];
    if (step.what != schedule::action::compute || !p.kernels[step.group].by.variant) continue;
    const auto kind = kind_of(p, step);
    const auto anchor = p.whole(p.plan.groups[step.group].anchor);
    const auto same = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                   [&](const tuned_layer& l) { return l.kind == kind; });
    if (same != out.end()) {
      same->layers.push_back(anchor);
      continue;
    }
    out.push_back({kind, {anchor}, rank, 1, p.algorithm(step.group).variant, {}});
    steps.push_back(&step);
  }
  if (steps.empty()) return;
  const auto cores = r < p.cores.size() ? p.cores[r] : std::span<const int>{};
  const auto online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const auto plan = this_host::engage(p.units[r], cores, 1, online, "");
  if (!plan.warning.empty()) text::print_error("dice: warning: rank " + std::to_string(rank) + " " + plan.warning);
  p.threads.start(plan.threads, plan.cores);
  const weights::block others(std::min(me.weight_bytes, std::int64_t{256} << 20));
  others.touch();
  auto body = [&] {
    report::progress_line line;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto& l = out[first + i];
      line.show_now([&] { return progress_text(rank, i + 1, steps.size(), p.network_layers().layers[l.layers[0]].name); });
      l.threads = plan.threads;
      const auto& entry = p.kernels[steps[i]->group];
      std::vector<algorithm::choice> variants;
      for (int v = 0; v < entry.variants; ++v) variants.push_back(entry.by.variant(entry.what, v));
      l.ms = measure(trial(p, *steps[i], std::move(variants)), others);
    }
  };
  p.threads.run(body);
}

/// A line for each layer: the variant of this program, the fastest, and the milliseconds of each.
[[gnu::cold]] inline std::string tuned_table(const runtime::program& p, const std::vector<tuned_layer>& all) {
  if (all.empty()) return "Nothing to tune: no layer of a CPU rank can be computed in several ways.\n";
  std::vector<std::vector<std::string>> lines{{"layer", "rank", "threads", "built", "best", "ms: 0"}};
  for (const auto& l : all)
    for (auto v = lines[0].size() - 5; v < l.ms.size(); ++v) lines[0].push_back(std::to_string(v));
  for (const auto& l : all)
    for (const int id : l.layers) {
      lines.push_back({std::string(p.network_layers().layers[id].name), std::to_string(l.rank), std::to_string(l.threads),
                       std::to_string(l.chosen), std::to_string(best_of(l.ms))});
      for (const double ms : l.ms) lines.back().push_back(text::json_number(ms));
    }
  return text::table_text(lines, 1);
}

[[gnu::cold]] inline std::string tuned_header(const runtime::program& p, const std::vector<tuned_layer>& all) {
  std::vector<int> variants(p.network_layers().layers.size(), -1);
  std::vector<std::vector<double>> sums(variants.size());  // all parts of a layer have one variant: the best for all
  for (const auto& l : all)
    for (const int id : l.layers) {
      sums[id].resize(std::max(sums[id].size(), l.ms.size()));
      for (std::size_t v = 0; v < l.ms.size(); ++v) sums[id][v] += l.ms[v];
      variants[id] = best_of(sums[id]);
    }
  const std::string net(p.network);
  std::string out = "// Made by --tune of dice " + std::string(p.version) + " for the network " + net +
                    ": do not edit. For the next build: dice_add_network(" + net + " … TUNED FILE).\n// CPU: " + cpu_name() +
                    "\n//\n";
  std::string lines = tuned_table(p, all);
  for (std::size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
    out += "//   " + lines.substr(at, end + 1 - at);
  out += "#pragma once\n\n#include <dice/algorithm/tuned.hpp>\n\nnamespace " + net + " {\nstruct network;\n}\n\n" +
         "template <> struct dice::algorithm::tuned<" + net +
         "::network> {\n  static constexpr std::string_view digest =\n      \"" + std::string(p.weights.structure) +
         "\";\n  static constexpr std::array<int, " + std::to_string(variants.size()) + "> variants{";
  for (std::size_t l = 0; l < variants.size(); ++l)
    out += (l == 0 ? "\n      " : l % 24 == 0 ? ",\n      " : ", ") + std::to_string(variants[l]);
  return out + "};\n};\n";
}

[[gnu::cold]] inline std::string tuned_json(const runtime::program& p, const std::vector<tuned_layer>& all) {
  text::json_array layers;
  for (const auto& l : all)
    for (const int id : l.layers)
      layers.add(text::json_object()
                     .add("layer", p.network_layers().layers[id].name)
                     .add("id", id)
                     .add("rank", l.rank)
                     .add("threads", l.threads)
                     .add("built", l.chosen)
                     .add("best", best_of(l.ms))
                     .add("ms", text::json_array(l.ms)));
  return text::json_object().add("network", p.network).add("cpu", cpu_name()).add("layers", layers).json() + "\n";
}

}  // namespace detail

/// Runs --tune: all ranks' layers, one rank after the other. Writes the header, and JSON unless that file's name is empty.
/// If no layer has several variants, says so; the header is then one that changes nothing. Throws files::error.
[[gnu::cold]] inline void tune(const runtime::program& p, const std::string& header, const std::string& json) {
  for (const auto* file : {&header, &json})
    if (!file->empty()) files::require_writable(*file);
  std::vector<tuned_layer> all;
  for (int rank = 0; rank < p.ranks(); ++rank) {
    if (p.units[rank].is_accelerator() || p.units[rank].direct || !p.has(rank)) continue;
    std::exception_ptr error;
    std::thread([&] {  // a thread of its own for each rank: cores<…> binds it
      try {
        detail::tune_rank(p, rank, all);
      } catch (...) {
        error = std::current_exception();
      }
    })
        .join();
    if (error) std::rethrow_exception(error);
  }
  files::write_text(header, detail::tuned_header(p, all));
  if (!json.empty()) files::write_text(json, detail::tuned_json(p, all));
  text::print(detail::tuned_table(p, all) +
              (all.empty() ? "'" + header + "' is written all the same, so that builds find it.\n" : ""));
}

}  // namespace dice::measure
