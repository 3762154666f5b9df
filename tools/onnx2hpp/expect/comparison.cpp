#include "expect/comparison.hpp"

#include "expect/evaluation.hpp"

#include "dice/frames/numbers.hpp"
#include "dice/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <set>
#include <thread>

namespace onnx2hpp {

namespace {

using dice::text::count_text;
using dice::text::number_text;

/// "a", "b", "c" and 4 more tensors
std::string named(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) out += (i ? ", " : "") + quote(names[i]);
  return names.size() > most ? out + fmt::format(" and {} more tensors", names.size() - most) : out;
}

int threads_for(std::int64_t frames) {
  return static_cast<int>(std::min<std::int64_t>(frames, std::max(1u, std::thread::hardware_concurrency())));
}

/// Says how long computing will take if that is long; the reference kernels need some 3 ns for a MAC.
void announce(std::int64_t frames, const network& net, const messages& out) {
  std::int64_t macs = 0;
  for (const auto& l : net.layers) macs += net.macs(l);
  const double seconds = 3e-9 * static_cast<double>(macs) * static_cast<double>(frames) / threads_for(frames);
  if (seconds > 5)
    out.note(fmt::format("computing {} of {:.1f} GMACs with the reference kernels takes about {:.0f} s",
                         count_text(frames, "frame"), static_cast<double>(macs) * 1e-9, seconds));
}

using errors = std::vector<dice::frames::difference>;  // of a set's expected tensors

/// Computes frame `f` of a set and adds its errors to `out`.
void add_errors(const frame_set& set, std::int64_t f, const evaluation& evaluated, const network& net, errors& out) {
  const auto elements = [&](int layer) { return net.layers[layer].result.elements(); };
  const auto at = [&](const tensor_values& t) { return t.numbers.data() + f * elements(t.layer); };
  evaluated.run([&](int layer) { return at(set.inputs.at(layer)); },
                [&](int layer, const float* found) {
                  auto t = std::ranges::lower_bound(set.expected, layer, {}, &tensor_values::layer);
                  for (; t != set.expected.end() && t->layer == layer; ++t) {
                    auto& error = out[t - set.expected.begin()];
                    const float* const wanted = at(*t);
                    dice::tensor::with_type_of(t->type, [&]<class T>(T) {
                      const auto number = [](float x) { return static_cast<double>(dice::frames::as_number<T>(x)); };
                      for (std::int64_t k = 0; k < elements(layer); ++k) error.add(number(found[k]), number(wanted[k]));
                    });
                  }
                });
}

/// The errors of each set. Threads compute the frames in any order, which does not change the largest error.
std::vector<errors> errors_of(const std::vector<frame_set>& sets, std::int64_t frames, const evaluation& evaluated,
                              const network& net) {
  std::vector<errors> none;
  std::vector<std::pair<std::size_t, std::int64_t>> todo;  // a set and one of its frames
  for (std::size_t s = 0; s < sets.size(); ++s) {
    none.emplace_back(sets[s].expected.size());
    for (std::int64_t f = 0; f < sets[s].frames; ++f) todo.emplace_back(s, f);
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    auto out = none;
    for (std::size_t i; (i = next++) < todo.size();) {
      const auto [s, f] = todo[i];
      add_errors(sets[s], f, evaluated, net, out[s]);
    }
    return out;
  };
  std::vector<std::future<std::vector<errors>>> workers;
  for (int t = 0; t < threads_for(frames); ++t) workers.push_back(std::async(std::launch::async, work));
  auto out = none;
  for (auto& w : workers) {
    const auto part = w.get();
    for (std::size_t s = 0; s < out.size(); ++s)
      for (std::size_t i = 0; i < out[s].size(); ++i) out[s][i].add(part[s][i]);
  }
  return out;
}

/// "conv1" (Conv)
std::string name_and_operator(const layer& l) { return fmt::format("{} ({})", quote(l.onnx_name), l.op.onnx_name()); }

/// The layers between `differing` and tensors that agree, or graph inputs.
std::set<int> suspects(const comparison& c, const compared_tensor& differing, const network& net) {
  std::set<int> right, out;
  for (const auto& t : c.tensors)
    if (c.agrees(t)) right.insert(t.layer);
  std::vector<int> todo{differing.layer};
  while (!todo.empty()) {
    const int at = todo.back();
    todo.pop_back();
    const auto& l = net.layers[at];
    // The layer of `differing` may also compute a tensor that agrees: its value has two names, and their files differ.
    if (at != differing.layer && (is_input(l) || right.contains(at))) continue;
    if (!out.insert(at).second) continue;
    todo.insert(todo.end(), l.operands.begin(), l.operands.end());
  }
  return out;
}

}  // namespace

comparison compare(const std::vector<file_set>& files, const model& m, const network& net, std::optional<double> tolerance,
                   const messages& out) {
  comparison c{.tolerance = tolerance, .frames = 0, .tensors = {}, .skipped = {}};
  std::vector<problem> problems;
  std::vector<frame_set> sets;
  for (const auto& f : files) {
    sets.push_back(read_frame_set(f, m, net, c.skipped, problems));
    c.frames += sets.back().frames;
  }
  if (!problems.empty()) throw conversion_error(std::move(problems), "is not converted");
  std::ranges::sort(c.skipped);
  c.skipped.erase(std::unique(c.skipped.begin(), c.skipped.end()), c.skipped.end());
  if (!c.skipped.empty())
    out.note(
        fmt::format("no layer computes {}, which --expect has: constants, values within a layer made of several nodes or "
                    "with their axes in another order (--no-fold keeps each node), or values that no output needs",
                    named(c.skipped)));
  announce(c.frames, net, out);
  const evaluation evaluated(net);
  std::map<std::pair<int, std::string>, compared_tensor> found;  // in the order of layers
  const auto all = errors_of(sets, c.frames, evaluated, net);
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::size_t i = 0; i < all[s].size(); ++i) {
      const auto& t = sets[s].expected[i];
      auto& to = found.try_emplace({t.layer, t.name}, compared_tensor{.name = t.name, .layer = t.layer, .type = t.type})
                     .first->second;
      to.frames += sets[s].frames;
      to.error.add(all[s][i]);
    }
  for (auto& [place, t] : found) c.tensors.push_back(std::move(t));
  return c;
}

std::string text_of(const comparison& c) {
  std::vector<std::vector<std::string>> lines{{"tensor", "frames", "max |a-b|", "/ max |b|", ""}};
  for (const auto& t : c.tensors)
    lines.push_back(
        {t.name, std::to_string(t.frames), number_text(t.error.largest, "%.3g"), number_text(t.error.relative(), "%.3g"),
         c.agrees(t)                               ? ""
         : t.type == dice::tensor::number::float32 ? "differs"
                                                   : fmt::format("differs: {} of {}", t.error.unequal, t.error.numbers)});
  const bool reals = std::ranges::any_of(c.tensors, [](const auto& t) { return t.type == dice::tensor::number::float32; });
  const auto type = reals ? dice::tensor::number::float32 : dice::tensor::number::int64;
  const auto differ = std::ranges::count_if(c.tensors, [&](const auto& t) { return !c.agrees(t); });
  return dice::text::table_text(std::move(lines), 1) +
         fmt::format("{}, {}, tolerance {:.3g}: {}\n", count_text(static_cast<std::int64_t>(c.tensors.size()), "tensor"),
                     count_text(c.frames, "frame"), dice::frames::tolerance_of(type, c.tolerance),
                     differ ? fmt::format("{} differ{}", differ, differ == 1 ? "s" : "") : "all agree");
}

void require_agreement(const comparison& c, const network& net) {
  const auto first = std::ranges::find_if(c.tensors, [&](const auto& t) { return !c.agrees(t); });
  if (first == c.tensors.end()) return;
  const auto layers = suspects(c, *first, net);
  const auto at = [&](int l) { return name_and_operator(net.layers[l]); };
  const auto& only = net.layers[*layers.begin()];
  const auto remedy =
      is_input(only)
          ? fmt::format("it is the input {}, perhaps in another type: give files of the same frames", quote(only.onnx_name))
      : layers.size() == 1
          ? fmt::format(
                "{} computes it from tensors that agree: if the files belong to this model, report a mistake of dice",
                at(*layers.begin()))
          : fmt::format(
                "if the files belong to this model, the mistake is in one of {} layers, from {} to {}: give expected "
                "values of tensors between them",
                layers.size(), at(*layers.begin()), at(*layers.rbegin()));
  throw conversion_error(
      {{.node = "tensor " + quote(first->name),
        .reason = fmt::format("it is the first that differs: error {} ({}), tolerance {:.3g}",
                              number_text(first->error.of(first->type), "%.3g"), dice::frames::error_words(first->type),
                              dice::frames::tolerance_of(first->type, c.tolerance)),
        .remedy = remedy}},
      "is not converted");
}

}  // namespace onnx2hpp
