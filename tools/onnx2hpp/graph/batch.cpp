#include "graph/batch.hpp"

#include "graph/initialiser.hpp"

#include "dice/text/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace onnx2hpp {

namespace {

/// Names the first of the layers that `last` needs whose input has the batch as its first extent, but whose result does not.
std::string where_lost(const network& net, int last, std::int64_t frames) {
  const auto at = [&](int l) -> const layer& { return net.layers[l]; };
  const auto has = [&](int l) { return at(l).result.rank > 0 && at(l).result[0] == frames; };
  std::vector<bool> needed(static_cast<std::size_t>(last) + 1);
  needed[last] = true;
  int found = -1, operand = -1;
  for (int l = last; l >= 0; --l) {
    if (!needed[l]) continue;
    for (const int k : at(l).operands) {
      needed[k] = true;
      if (has(k) && !has(l)) {
        found = l;
        operand = k;
      }
    }
  }
  if (found < 0) return "";
  return fmt::format("node {} ({}) makes {} of {}", quote(at(found).onnx_name), at(found).op.onnx_name(),
                     literal(at(found).result), literal(at(operand).result));
}

}  // namespace

batch find_batch(const model& m, const conversion& settings, const std::map<std::string, shape>& inputs) {
  batch out;
  const auto counts = [&](const value_info& v) {
    const auto known = inputs.find(v.name);
    return known != inputs.end() && known->second.rank > 0;
  };
  const auto is_free = [](const value_info& v) { return !v.shape || v.shape->empty() || v.shape->front().value < 1; };
  out.free = std::ranges::any_of(m.inputs, [&](const value_info& v) { return counts(v) && is_free(v); });
  std::set<std::int64_t> firsts;
  const auto unclear = placeholders(m);
  std::set<std::string> options;
  out.of_one = settings;
  for (const auto& v : m.inputs) {
    if (!counts(v) || (out.free && !is_free(v))) continue;
    const shape& s = inputs.at(v.name);
    firsts.insert(s[0]);
    const std::string symbol = v.shape && !v.shape->empty() ? v.shape->front().symbol : "";
    const bool clear = !symbol.empty() && !unclear.contains(symbol);
    if (clear) out.symbols.insert(symbol);
    if (clear && settings.dimensions.contains(symbol)) {
      out.of_one.dimensions[symbol] = 1;
      options.insert("-d " + dice::text::shell_word(symbol + "=1"));
      continue;
    }
    std::vector<std::int64_t> dims(s.dim, s.dim + s.rank);
    dims[0] = 1;
    options.insert("-i " + dice::text::shell_word(fmt::format("{}:{}", v.name, fmt::join(dims, "x"))));
    std::erase_if(out.of_one.inputs, [&](const auto& given) { return given.first == v.name; });
    out.of_one.inputs.emplace_back(v.name, dims);
  }
  out.frames = firsts.size() == 1 ? *firsts.begin() : 1;
  out.option = fmt::format("{}", fmt::join(options, " "));
  return out;
}

void batch::blame(std::vector<problem>& problems, const std::vector<problem>& others) const {
  for (auto& p : problems) {
    const auto same = [&](const problem& q) { return q.node == p.node && q.operator_name == p.operator_name; };
    if (p.explained || std::ranges::any_of(others, same)) continue;
    p.avoidable = false;
    p.remedy = fmt::format(
        "the model fixes a batch of 1 here, and the batch is {}: convert it with {}, or export it with a free batch", frames,
        option);
  }
}

const value_info* declared_value(const model& m, const std::string& name) {
  if (const auto v = std::ranges::find(m.outputs, name, &value_info::name); v != m.outputs.end()) return &*v;
  const auto v = m.values.find(name);
  return v == m.values.end() ? nullptr : &v->second;
}

std::optional<contradiction> compare_output(const network& net, int computed, const value_info* declared, const batch& b,
                                            const symbol_extents& symbols, bool numbers) {
  const shape s = net.layers[computed].result;
  const bool has_batch = s.rank > 0 && s[0] == b.frames, one = s.rank > 0 && s[0] == 1;
  // Some exporters write no axes for an unknown shape.
  const bool known = declared && declared->shape && !declared->shape->empty();
  bool differs = known && static_cast<int>(declared->shape->size()) != s.rank, loses = false;
  std::string values;  // of the symbols that differ
  for (std::size_t a = 0; known && a < declared->shape->size(); ++a) {
    const extent& e = (*declared->shape)[a];
    const auto symbol = e.value > 0 ? symbols.end() : symbols.find(e.symbol);
    const auto expected = e.value > 0 ? e.value : symbol != symbols.end() ? symbol->second : -1;
    const bool counts = symbol != symbols.end() || (e.value > 0 && numbers && !(a == 0 && b.free && has_batch));
    if (!counts || (static_cast<int>(a) < s.rank && s[static_cast<int>(a)] == expected)) continue;
    differs = true;
    loses = loses || (e.value > 0 ? a == 0 && expected == b.frames : b.symbols.contains(e.symbol));
    if (e.value <= 0) values += fmt::format(", {} is {}", quote(e.symbol), expected);
  }
  const auto where = where_lost(net, computed, b.frames);
  const auto text = [&](const std::string& what) {
    return fmt::format("{} {}, and the model declares {{{}}}{}", what, literal(s), declared_text(*declared), values);
  };
  if (b.frames > 1 && (loses || (differs && one)))
    return contradiction{text(fmt::format("frames of its batch of {} are lost or mixed: it is", b.frames)) +
                             (where.empty() ? "" : "; " + where),
                         true};
  if (differs) return contradiction{text("it is")};
  if (b.frames > 1 && one && (b.free || !numbers))
    return contradiction{fmt::format("it is {}, although the batch is {}: does it have all frames?{}{}", literal(s),
                                     b.frames, where.empty() ? "" : " ", where)};
  return {};
}

}  // namespace onnx2hpp
