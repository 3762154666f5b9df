// --tune: measures the variants of every distinct layer on this machine, and writes the fastest as a header for the next
// build.
#pragma once

#include "dice/app/options.hpp"
#include "dice/app/output/json.hpp"
#include "dice/app/output/plan.hpp"
#include "dice/app/output/print.hpp"
#include "dice/runtime/affinity.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/program.hpp"
#include "dice/weights/block.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace dice::app {

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

/// Random numbers in -1 … 1, the same each time.
inline weights::block random_block(std::int64_t bytes) {
  weights::block out(bytes);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::generate_n(reinterpret_cast<float*>(out.data()), bytes / 4, [&] { return values(engine); });
  return out;
}

/// A step of the plan with memory of its own, to be run with each variant.
class trial {
 public:
  trial(const runtime::program& p, const schedule::step& s) : entry_(p.kernels[static_cast<std::size_t>(s.group)]) {
    const auto& group = p.plan.groups[static_cast<std::size_t>(s.group)];
    const auto shape = [&](int l) { return p.layers.layers[static_cast<std::size_t>(l)].output; };
    std::int64_t converted = 0;  // room for each tensor in the other layout
    const auto bytes = [&](const dice::tensor::shape& of, dice::tensor::layout layout) {
      converted += (dice::tensor::bytes(of, dice::tensor::layout::blocked) + 63) / 64 * 64;
      return dice::tensor::bytes(of, layout);
    };
    for (int k = 0; k < s.operands; ++k) {
      const auto edges = p.layers.into(group.anchor);
      const auto i = static_cast<std::size_t>(k);
      layouts_.push_back(p.plan.operands[static_cast<std::size_t>(s.first_operand + k)].layout);
      inputs_.push_back(random_block(bytes(i < edges.size() ? shape(edges[i].from) : shape(group.anchor), layouts_.back())));
      input_pointers_.push_back(reinterpret_cast<const float*>(inputs_.back().data()));
    }
    output_ = weights::block(bytes(shape(group.anchor), s.output.layout));
    std::vector<weights::block> parameters;
    std::vector<const float*> plain;
    for (const auto& q : p.parameters[static_cast<std::size_t>(s.group)]) {
      parameters.push_back(random_block(q.extents.bytes()));
      plain.push_back(reinterpret_cast<const float*>(parameters.back().data()));
    }
    std::int64_t most = 0;
    for (int v = 0; v < entry_.variants; ++v) {
      algorithms_.push_back(entry_.variant(v));
      packed_.emplace_back(algorithms_.back().packed_bytes);
      entry_.pack(v, plain, packed_.back().data());
      most = std::max(most, (algorithms_.back().scratch_bytes + 63) / 64 * 64);
    }
    scratch_ = weights::block(most + converted);
    scratch_.touch();
    result_ = s.output.layout;
  }

  int variants() const { return entry_.variants; }
  void run(int variant) const {
    const auto v = static_cast<std::size_t>(variant);
    entry_.run({.inputs = input_pointers_.data(),
                .output = reinterpret_cast<float*>(output_.data()),
                .parameters = nullptr,
                .packed = packed_[v].data(),
                .scratch = scratch_.data(),
                .how = &algorithms_[v],
                .layouts = layouts_.data(),
                .result = result_});
  }
  std::span<const weights::block> inputs() const { return inputs_; }

 private:
  const kernels::entry& entry_;
  std::vector<weights::block> inputs_, packed_;
  std::vector<const float*> input_pointers_;
  std::vector<dice::tensor::layout> layouts_;
  std::vector<cost::algorithm> algorithms_;
  weights::block output_, scratch_;
  dice::tensor::layout result_{};
};

/// Reads a block through the caches.
inline void read_through(const weights::block& b) {
  for (std::int64_t i = 0; i < b.bytes(); i += 64) static_cast<void>(*reinterpret_cast<const volatile char*>(b.data() + i));
}

/// The variants' times in milliseconds: lower quartiles, since others on the machine only ever add. Taken in turn, so that
/// they hit all alike, each with the weights where they lie when a frame comes to them: behind the rank's others, of which
/// `others` is a stand-in.
[[gnu::cold]] inline std::vector<double> measure(const trial& t, const weights::block& others) {
  constexpr std::int64_t enough = 2'000'000'000;  // ns
  constexpr std::size_t least = 9, most = 101;    // rounds
  std::vector<std::vector<std::int64_t>> times(static_cast<std::size_t>(t.variants()));
  for (int v = 0; v < t.variants(); ++v) t.run(v);
  for (const auto begin = runtime::now();
       times[0].size() < least || (times[0].size() < most && runtime::now() < begin + enough);)
    for (int v = 0; v < t.variants(); ++v) {
      read_through(others);
      for (const auto& in : t.inputs()) read_through(in);  // the layer before has just written it
      const auto from = runtime::now();
      t.run(v);
      times[static_cast<std::size_t>(v)].push_back(runtime::now() - from);
    }
  std::vector<double> out;
  for (auto& all : times) {
    const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
    std::nth_element(all.begin(), quarter, all.end());
    out.push_back(static_cast<double>(*quarter) * 1e-6);
  }
  return out;
}

/// All that the time of a step with several variants depends on. Those are convolutions with stride and dilation 1 and one
/// group, which their shapes describe.
inline std::string kind_of(const runtime::program& p, const schedule::step& s) {
  const auto& group = p.plan.groups[static_cast<std::size_t>(s.group)];
  const auto layer = [&](int l) -> auto& { return p.layers.layers[static_cast<std::size_t>(l)]; };
  std::string out(layer(group.anchor).op);
  const auto add = [&](const dice::tensor::shape& of) {
    for (int a = 0; a < of.rank; ++a) out += (a ? 'x' : ' ') + std::to_string(of[a]);
  };
  for (const auto& e : p.layers.into(group.anchor)) add(layer(e.from).output);
  add(layer(group.anchor).output);
  for (const auto& q : p.parameters[static_cast<std::size_t>(s.group)]) add(q.extents);
  if (group.residual >= 0) out += " +";
  if (group.activation >= 0) out += " " + std::string(layer(group.activation).op);
  if (group.pool >= 0) out += " halved";
  for (int k = 0; k < s.operands; ++k)
    out += " " + std::to_string(static_cast<int>(p.plan.operands[static_cast<std::size_t>(s.first_operand + k)].layout));
  return out + " " + std::to_string(static_cast<int>(s.output.layout));
}

/// Adds the layers of a rank that have a choice to `out`. The calling thread becomes that of the rank.
[[gnu::cold]] inline void tune_rank(const runtime::program& p, int rank, std::vector<tuned_layer>& out) {
  const auto& me = p.plan.ranks[static_cast<std::size_t>(rank)];
  const auto r = static_cast<std::size_t>(rank);
  std::vector<const schedule::step*> steps;  // one of each kind
  const auto first = out.size();
  for (int s = me.first_step; s < me.last_step; ++s) {
    const auto& step = p.plan.steps[static_cast<std::size_t>(s)];
    if (step.what != schedule::action::compute || !p.kernels[static_cast<std::size_t>(step.group)].variant) continue;
    const auto kind = kind_of(p, step);
    const auto anchor = p.plan.groups[static_cast<std::size_t>(step.group)].anchor;
    const auto same = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                   [&](const tuned_layer& l) { return l.kind == kind; });
    if (same != out.end()) {
      same->layers.push_back(anchor);
      continue;
    }
    out.push_back({kind, {anchor}, rank, 1, p.algorithms[static_cast<std::size_t>(step.group)].variant, {}});
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
      l.ms = measure(trial(p, *steps[i]), others);
    }
    if (shows) std::fprintf(stderr, "\r\033[K");
  };
  if (p.threads.keep) p.threads.keep([](void* f) { (*static_cast<decltype(body)*>(f))(); }, &body);
  else body();
}

/// What the system calls this machine's CPU, in letters that a comment may have.
inline std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      std::string out;
      for (const char c : line.substr(line.find(": ") + 2))
        if (c >= ' ' && c <= '~' && c != '\\') out += c;
      return out;
    }
  return "unknown";
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
      for (const double ms : l.ms) lines.back().push_back(json_number(ms));
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
  std::string lines = table_text(tuned_table(p, all), 1);
  for (std::size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
    out += "//   " + lines.substr(at, end + 1 - at);
  out += "#pragma once\n\n#include <dice/cost/tuned.hpp>\n\nnamespace " + net + " {\nstruct network;\n}\n\n" +
         "template <> struct dice::cost::tuned<" + net +
         "::network> {\n  static constexpr std::string_view digest =\n      \"" + std::string(p.weights.digest) +
         "\";\n  static constexpr std::array<int, " + std::to_string(variants.size()) + "> variants{";
  for (std::size_t l = 0; l < variants.size(); ++l)
    out += (l == 0 ? "\n      " : l % 24 == 0 ? ",\n      " : ", ") + std::to_string(variants[l]);
  return out + "};\n};\n";
}

[[gnu::cold]] inline std::string tuned_json(const runtime::program& p, const std::vector<tuned_layer>& all) {
  std::string out =
      "{\"network\": " + json_string(p.network) + ", \"cpu\": " + json_string(cpu_name()) + ",\n \"layers\": [";
  bool first = true;
  for (const auto& l : all)
    for (const int id : l.layers) {
      out += (first ? "\n  " : ",\n  ") +
             ("{\"layer\": " + json_string(p.layers.layers[static_cast<std::size_t>(id)].name)) +
             ", \"id\": " + std::to_string(id) + ", \"rank\": " + std::to_string(l.rank) +
             ", \"threads\": " + std::to_string(l.threads) + ", \"built\": " + std::to_string(l.chosen) +
             ", \"best\": " + std::to_string(l.best()) + ", \"ms\": [";
      for (std::size_t v = 0; v < l.ms.size(); ++v) out += (v ? ", " : "") + json_number(l.ms[v]);
      out += "]}";
      first = false;
    }
  return out + "]}\n";
}

}  // namespace detail

/// Runs --tune: all ranks' layers, one rank after the other. Throws runtime::file_error.
[[gnu::cold]] inline void tune(const runtime::program& p, const options& o) {
  for (const auto* file : {&o.tune, &o.json})
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
  runtime::write_text(o.tune, detail::tuned_header(p, all));
  if (!o.json.empty()) runtime::write_text(o.json, detail::tuned_json(p, all));
  print(detail::table_text(detail::tuned_table(p, all), 1));
}

}  // namespace dice::app
