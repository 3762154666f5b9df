// --tune: measures the variants of every distinct layer on this machine, and writes the fastest as a header for the next
// build.
#pragma once

#include "dice/measure/trial.hpp"
#include "dice/report/plan.hpp"
#include "dice/runtime/affinity.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/print.hpp"
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

/// How long the variants of a layer take, and of those of its rank that are like it.
struct tuned_layer {
  std::string kind;           ///< all that its time depends on
  std::vector<int> layers;    ///< ids
  int rank = 0, threads = 1;  ///< where they are computed
  int chosen = 0;             ///< the variant of this program
  std::vector<double> ms;     ///< by variant: a quarter of the runs took less

  /// The fastest. Variants are in the order of their weights' sizes: a larger one must be 2 % faster.
  int best() const {
    std::size_t out = 0;
    for (std::size_t v = 1; v < ms.size(); ++v)
      if (ms[v] < 0.98 * ms[out]) out = v;
    return static_cast<int>(out);
  }
};

namespace detail {

/// The variants' times in milliseconds: lower quartiles, since others on the machine only ever add. Taken in turn, so that
/// they hit all alike, each with the weights where they lie when a frame comes to them: behind the rank's others, of which
/// `others` is a stand-in.
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

/// Adds the layers of a rank that have a choice to `out`. The calling thread becomes that of the rank.
[[gnu::cold]] inline void tune_rank(const runtime::program& p, int rank, std::vector<tuned_layer>& out) {
  const auto& me = p.plan.ranks[static_cast<std::size_t>(rank)];
  const auto r = static_cast<std::size_t>(rank);
  std::vector<const schedule::step*> steps;  // one of each kind
  const auto first = out.size();
  for (int s = me.first_step; s < me.last_step; ++s) {
    const auto& step = p.plan.steps[static_cast<std::size_t>(s)];
    if (step.what != schedule::action::compute || !p.kernels[static_cast<std::size_t>(step.group)].by.variant) continue;
    const auto kind = kind_of(p, step);
    const auto anchor = p.plan.groups[static_cast<std::size_t>(step.group)].anchor;
    const auto same = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                   [&](const tuned_layer& l) { return l.kind == kind; });
    if (same != out.end()) {
      same->layers.push_back(anchor);
      continue;
    }
    out.push_back({kind, {anchor}, rank, 1, p.algorithm(static_cast<std::size_t>(step.group)).variant, {}});
    steps.push_back(&step);
  }
  if (steps.empty()) return;
  const auto cores = r < p.cores.size() ? p.cores[r] : std::span<const int>{};
  const auto online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const auto crew = runtime::engage(p.units[r], cores, 1, online, "");
  if (!crew.warning.empty()) std::fprintf(stderr, "dice: warning: rank %d %s\n", rank, crew.warning.c_str());
  p.threads.start(crew.threads, crew.cores);
  const weights::block others(std::min(me.weight_bytes, std::int64_t{256} << 20));
  others.touch();
  auto body = [&] {
    const bool shows = ::isatty(STDERR_FILENO);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto& l = out[first + i];
      if (shows)
        std::fprintf(stderr, "\r\033[Krank %d: layer %zu of %zu, %s", rank, i + 1, steps.size(),
                     std::string(p.layers.layers[static_cast<std::size_t>(l.layers[0])].name).c_str());
      l.threads = crew.threads;
      const auto& entry = p.kernels[static_cast<std::size_t>(steps[i]->group)];
      std::vector<algorithm::choice> variants;
      for (int v = 0; v < entry.variants; ++v) variants.push_back(entry.by.variant(entry.what, v));
      l.ms = measure(trial(p, *steps[i], std::move(variants)), others);
    }
    if (shows) std::fprintf(stderr, "\r\033[K");
  };
  if (p.threads.keep) p.threads.keep([](void* f) { (*static_cast<decltype(body)*>(f))(); }, &body);
  else body();
}

/// A line for each layer: the variant of this program, the fastest, and the milliseconds of each.
inline std::vector<std::vector<std::string>> tuned_table(const runtime::program& p, const std::vector<tuned_layer>& all) {
  std::vector<std::vector<std::string>> lines{{"layer", "rank", "threads", "built", "best", "ms: 0"}};
  for (const auto& l : all)
    for (auto v = lines[0].size() - 5; v < l.ms.size(); ++v) lines[0].push_back(std::to_string(v));
  for (const auto& l : all)
    for (const int id : l.layers) {
      lines.push_back({std::string(p.layers.layers[static_cast<std::size_t>(id)].name), std::to_string(l.rank),
                       std::to_string(l.threads), std::to_string(l.chosen), std::to_string(l.best())});
      for (const double ms : l.ms) lines.back().push_back(text::json_number(ms));
    }
  return lines;
}

[[gnu::cold]] inline std::string tuned_header(const runtime::program& p, const std::vector<tuned_layer>& all) {
  std::vector<int> variants(p.layers.layers.size(), -1);
  for (const auto& l : all)
    for (const int id : l.layers) variants[static_cast<std::size_t>(id)] = l.best();
  const std::string net(p.network);
  std::string out = "// Made by --tune of dice " + std::string(p.version) + " for the network " + net +
                    ": do not edit. The next build takes it by dice_add_network(" + net +
                    " … TUNED FILE).\n// CPU: " + cpu_name() + "\n//\n";
  std::string lines = text::table_text(tuned_table(p, all), 1);
  for (std::size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
    out += "//   " + lines.substr(at, end + 1 - at);
  out += "#pragma once\n\n#include <dice/algorithm/tuned.hpp>\n\nnamespace " + net + " {\nstruct network;\n}\n\n" +
         "template <> struct dice::algorithm::tuned<" + net +
         "::network> {\n  static constexpr std::string_view digest =\n      \"" + std::string(p.weights.digest) +
         "\";\n  static constexpr std::array<int, " + std::to_string(variants.size()) + "> variants{";
  for (std::size_t l = 0; l < variants.size(); ++l)
    out += (l == 0 ? "\n      " : l % 24 == 0 ? ",\n      " : ", ") + std::to_string(variants[l]);
  return out + "};\n};\n";
}

[[gnu::cold]] inline std::string tuned_json(const runtime::program& p, const std::vector<tuned_layer>& all) {
  std::string out =
      "{\"network\": " + text::json_string(p.network) + ", \"cpu\": " + text::json_string(cpu_name()) + ",\n \"layers\": [";
  bool first = true;
  for (const auto& l : all)
    for (const int id : l.layers) {
      out += (first ? "\n  " : ",\n  ") +
             ("{\"layer\": " + text::json_string(p.layers.layers[static_cast<std::size_t>(id)].name)) +
             ", \"id\": " + std::to_string(id) + ", \"rank\": " + std::to_string(l.rank) +
             ", \"threads\": " + std::to_string(l.threads) + ", \"built\": " + std::to_string(l.chosen) +
             ", \"best\": " + std::to_string(l.best()) + ", \"ms\": [";
      for (std::size_t v = 0; v < l.ms.size(); ++v) out += (v ? ", " : "") + text::json_number(l.ms[v]);
      out += "]}";
      first = false;
    }
  return out + "]}\n";
}

}  // namespace detail

/// Runs --tune: all ranks' layers, one rank after the other. Writes the header, and JSON unless that file's name is empty.
/// Throws runtime::file_error.
[[gnu::cold]] inline void tune(const runtime::program& p, const std::string& header, const std::string& json) {
  for (const auto* file : {&header, &json})
    if (!file->empty()) runtime::require_writable(*file);
  std::vector<tuned_layer> all;
  for (int rank = 0; rank < p.ranks(); ++rank) {
    if (p.units[static_cast<std::size_t>(rank)].on() != platform::processor::cpu) continue;
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
  runtime::write_text(header, detail::tuned_header(p, all));
  if (!json.empty()) runtime::write_text(json, detail::tuned_json(p, all));
  text::print(text::table_text(detail::tuned_table(p, all), 1));
}

}  // namespace dice::measure
