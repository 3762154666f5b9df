#include "expect/comparison.hpp"

#include "expect/evaluation.hpp"

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

/// The errors of the expected tensors of a set. Threads compute frames in any order, which does not change the largest
/// error.
std::vector<dice::runtime::difference> errors_of(const frame_set& set, const evaluation& network_of, const network& net) {
  std::map<int, std::vector<std::size_t>> expected;  // by layer
  for (std::size_t i = 0; i < set.expected.size(); ++i) expected[set.expected[i].layer].push_back(i);
  const auto elements = [&](int layer) { return net.layers[static_cast<std::size_t>(layer)].result.elements(); };
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    std::vector<dice::runtime::difference> out(set.expected.size());
    for (std::int64_t f; (f = next++) < set.frames;)
      network_of.run([&](int layer) { return set.inputs.at(layer).numbers.data() + f * elements(layer); },
                     [&](int layer, const float* found) {
                       if (const auto at = expected.find(layer); at != expected.end())
                         for (const auto i : at->second) {
                           const auto n = elements(layer);
                           const float* const wanted = set.expected[i].numbers.data() + f * n;
                           for (std::int64_t k = 0; k < n; ++k) out[i].add(found[k], wanted[k]);
                         }
                     });
    return out;
  };
  std::vector<std::future<std::vector<dice::runtime::difference>>> workers;
  const auto threads = std::min<std::int64_t>(set.frames, std::max(1u, std::thread::hardware_concurrency()));
  for (std::int64_t t = 0; t < threads; ++t) workers.push_back(std::async(std::launch::async, work));
  std::vector<dice::runtime::difference> out(set.expected.size());
  for (auto& w : workers) {
    const auto part = w.get();
    for (std::size_t i = 0; i < out.size(); ++i) out[i].add(part[i]);
  }
  return out;
}

/// "conv1" (Conv)
std::string shown(const layer& l) { return fmt::format("{} ({})", quote(l.onnx_name), l.op.onnx_name()); }

/// The layers between `differing` and tensors that agree, or graph inputs.
std::set<int> suspects(const comparison& c, const compared_tensor& differing, const network& net) {
  std::set<int> right, out;
  for (const auto& t : c.tensors)
    if (c.agrees(t)) right.insert(t.layer);
  std::vector<int> todo{differing.layer};
  while (!todo.empty()) {
    const int at = todo.back();
    todo.pop_back();
    const auto& l = net.layers[static_cast<std::size_t>(at)];
    if (is_input(l) || right.contains(at) || !out.insert(at).second) continue;
    todo.insert(todo.end(), l.operands.begin(), l.operands.end());
  }
  return out;
}

}  // namespace

comparison compare(const std::vector<file_set>& files, const model& m, const network& net, double tolerance,
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
  for (const auto& name : c.skipped)
    out.note(
        fmt::format("{} is not compared, because no layer computes it: it is a constant, folded into another layer "
                    "(--no-fold keeps most), or needed by no output",
                    quote(name)));
  const evaluation evaluated(net);
  std::map<std::pair<int, std::string>, compared_tensor> found;  // in the order of layers
  for (const auto& set : sets) {
    const auto errors = errors_of(set, evaluated, net);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const auto& t = set.expected[i];
      auto& to = found.try_emplace({t.layer, t.name}, compared_tensor{.name = t.name, .layer = t.layer}).first->second;
      to.frames += set.frames;
      to.error.add(errors[i]);
    }
  }
  for (auto& [place, t] : found) c.tensors.push_back(std::move(t));
  return c;
}

std::string text_of(const comparison& c) {
  std::vector<std::vector<std::string>> lines{{"tensor", "frames", "max |a-b|", "/ max |b|", ""}};
  for (const auto& t : c.tensors)
    lines.push_back({t.name, std::to_string(t.frames), number_text(t.error.largest, "%.3g"),
                     number_text(t.error.relative(), "%.3g"), c.agrees(t) ? "" : "differs"});
  const auto agree = std::ranges::count_if(c.tensors, [&](const auto& t) { return c.agrees(t); });
  return dice::text::table_text(std::move(lines), 1) +
         fmt::format("{} of {} agree (tolerance {:.3g}, {})\n", agree,
                     count_text(static_cast<std::int64_t>(c.tensors.size()), "tensor"), c.tolerance,
                     count_text(c.frames, "frame"));
}

void require_agreement(const comparison& c, const network& net) {
  const auto first = std::ranges::find_if(c.tensors, [&](const auto& t) { return !c.agrees(t); });
  if (first == c.tensors.end()) return;
  const auto layers = suspects(c, *first, net);
  const auto at = [&](int l) { return shown(net.layers[static_cast<std::size_t>(l)]); };
  const auto remedy =
      layers.size() == 1
          ? fmt::format(
                "{} computes it from tensors that agree: if the files belong to this model, report a mistake of dice",
                at(*layers.begin()))
          : fmt::format(
                "if the files belong to this model, the mistake is in one of {} layers, from {} to {}: give expected "
                "values of tensors between them",
                layers.size(), at(*layers.begin()), at(*layers.rbegin()));
  throw conversion_error(
      {{.node = "tensor " + quote(first->name),
        .reason = fmt::format("it is the first that differs: error {} (max |a-b| / max |b|), tolerance {:.3g}",
                              number_text(first->error.relative(), "%.3g"), c.tolerance),
        .remedy = remedy}},
      "is not converted");
}

}  // namespace onnx2hpp
