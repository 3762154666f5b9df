#include "graph/input_shapes.hpp"

#include "graph/node_context.hpp"

#include "dice/text/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace onnx2hpp {

namespace {

using dice::text::shell_word;

constexpr std::int64_t largest_input = std::int64_t{1} << 34;

std::string extents_text(const std::vector<extent>& s, const char* between = "x") {
  std::string out;
  for (const auto& e : s)
    out += (out.empty() ? "" : between) + (e.value >= 0 ? std::to_string(e.value) : e.symbol.empty() ? "?" : e.symbol);
  return out;
}

/// Whether the model declares another extent.
bool contradicts(const value_info& v, const std::vector<std::int64_t>& dims) {
  for (std::size_t a = 0; v.shape && a < std::min(dims.size(), v.shape->size()); ++a)
    if (const auto declared = (*v.shape)[a].value; declared > 0 && declared != dims[a]) return true;
  return false;
}

class resolver {
 public:
  resolver(const model& m, const std::set<std::string>& left_out, const conversion& settings, const messages& out,
           std::vector<problem>& problems)
      : model_(m),
        left_out_(left_out),
        settings_(settings),
        out_(out),
        problems_(problems),
        placeholders_(placeholders(m)) {}

  known_inputs run() {
    check_usage();
    known_.symbols = settings_.dimensions;
    for (const auto& v : model_.inputs)
      if (const auto* dims = fixed(v)) compare(v, *dims);
    for (const auto& v : model_.inputs)
      if (!left_out_.contains(v.name) && !fixed(v)) close_batch(v);
    for (const auto& v : model_.inputs) {
      if (left_out_.contains(v.name)) continue;
      if (!v.tensor || (!is_real(v.type) && !integers_of(v.type))) {
        tell(v, v.tensor ? "its elements are " + name_of(v.type) + "; frames are float32" : "it is not a tensor",
             "export the model with float32 inputs");
        problems_.back().avoidable = true;
        continue;
      }
      if (const auto s = resolve(v)) known_.shapes[v.name] = *s;
    }
    std::erase_if(known_.symbols, [&](const auto& s) { return placeholders_.contains(s.first); });
    return std::move(known_);
  }

 private:
  void check_usage() const {
    for (const auto& [name, dims] : settings_.inputs)
      if (std::ranges::none_of(model_.inputs, [&name = name](const value_info& v) { return v.name == name; }))
        throw usage_error(fmt::format("-i: the model has no input {}; its inputs are {}", quote(name), input_names()));
    std::set<std::string> symbols;
    for (const auto& v : model_.inputs)
      if (v.shape)
        for (const auto& e : *v.shape)
          if (!e.symbol.empty()) symbols.insert(e.symbol);
    for (const auto& [name, value] : settings_.dimensions)
      if (!symbols.contains(name)) {
        std::string known;
        for (const auto& s : symbols) known += (known.empty() ? "; they have " : ", ") + quote(s);
        throw usage_error(fmt::format("-d: the model's inputs have no symbolic dimension {}{}", quote(name), known));
      }
  }

  std::string input_names() const {
    std::string out;
    for (const auto& v : model_.inputs) out += (out.empty() ? "" : ", ") + quote(v.name);
    return out.empty() ? "none" : out;
  }

  void tell(const value_info& v, std::string reason, std::string remedy) {
    problems_.push_back({.node = "input " + quote(v.name), .reason = std::move(reason), .remedy = std::move(remedy)});
  }

  /// The shape that -i gives for an input.
  const std::vector<std::int64_t>* fixed(const value_info& v) const {
    const auto found = std::ranges::find(settings_.inputs, v.name, [](const auto& entry) { return entry.first; });
    return found == settings_.inputs.end() ? nullptr : &found->second;
  }

  /// Compares a shape given by -i with the declared one; it also sets the symbols for other tensors.
  void compare(const value_info& v, const std::vector<std::int64_t>& dims) {
    if (!v.shape) return;
    if (v.shape->size() != dims.size())
      throw usage_error(
          fmt::format("-i: the input {} has {} axes ({})", quote(v.name), v.shape->size(), extents_text(*v.shape)));
    if (contradicts(v, dims))
      out_.warning(fmt::format("input {}: converted for {}, although the model declares {}", quote(v.name),
                               fmt::join(dims, "x"), extents_text(*v.shape)));
    for (std::size_t a = 0; a < dims.size(); ++a) {
      const auto& symbol = (*v.shape)[a].symbol;
      if (symbol.empty() || placeholders_.contains(symbol)) continue;
      const auto [known, is_new] = known_.symbols.emplace(symbol, dims[a]);
      if (is_new) given_with_[symbol] = v.name;
      if (known->second == dims[a]) continue;
      out_.warning(
          fmt::format("input {}: the symbolic dimension {} is {} elsewhere", quote(v.name), quote(symbol), known->second));
      if (given_with_.erase(symbol) == 0) continue;
      known_.symbols.erase(known);
      placeholders_.insert(symbol);  // it tells nothing about other inputs
    }
  }

  /// The first extent is the batch: 1 if it is a symbol without a given value.
  void close_batch(const value_info& v) {
    if (!v.shape || v.shape->empty() || v.shape->front().value > 0 || v.shape->front().symbol.empty()) return;
    const auto& symbol = v.shape->front().symbol;
    if (placeholders_.contains(symbol)) return;
    if (known_.symbols.emplace(symbol, 1).second)
      out_.note(fmt::format("the symbolic dimension {} is set to 1 (-d {} sets another value)", quote(symbol),
                            shell_word(symbol + "=NUMBER")));
  }

  std::optional<shape> resolve(const value_info& v) {
    std::vector<std::int64_t> dims;
    if (const auto* given = fixed(v)) {
      dims = *given;
    } else if (!v.shape) {
      tell(v, "its shape is not known", fmt::format("give it: -i {} (for example)", shell_word(v.name + ":1x3x224x224")));
      return {};
    } else if (v.shape->size() > dice::tensor::max_rank) {
      tell(v, fmt::format("it has {} axes; at most {} are supported", v.shape->size(), dice::tensor::max_rank),
           "export the model with fewer");
      return {};
    } else {
      for (std::size_t a = 0; a < v.shape->size(); ++a) dims.push_back(extent_of(v, a));
      if (std::ranges::count(dims, -1) > 0) {
        tell_unknown(v, dims);
        return {};
      }
    }
    if (const auto n = element_count(dims); n < 1 || n > largest_input) {
      tell(v, "it is empty or larger than 64 GiB", "export the model with another shape, or fix it with -i");
      return {};
    }
    shape out;
    for (auto d : dims) out.push_back(d);
    return out;
  }

  /// The extent of axis a, or -1 if it is unknown.
  std::int64_t extent_of(const value_info& v, std::size_t a) {
    const extent& e = (*v.shape)[a];
    if (e.value > 0) return e.value;
    if (const auto d = known_.symbols.find(e.symbol); !e.symbol.empty() && d != known_.symbols.end()) {
      if (const auto given = given_with_.find(e.symbol); given != given_with_.end())
        out_.note(fmt::format("input {}: its dimension {} is set to {}, because -i gives {} this value in the input {}",
                              quote(v.name), a, d->second, quote(e.symbol), quote(given->second)));
      return d->second;
    }
    if (a == 0) {
      out_.note(fmt::format("input {}: its {} is set to 1", quote(v.name),
                            !e.symbol.empty() ? fmt::format("first dimension, the symbol {},", quote(e.symbol))
                            : e.value != -1   ? fmt::format("first dimension, which the model declares as {},", e.value)
                                              : "unknown first dimension"));
      return 1;
    }
    return -1;
  }

  /// Reports the dimensions of an input that are -1 in `dims`.
  void tell_unknown(const value_info& v, const std::vector<std::int64_t>& dims) {
    std::string reason, symbols, wanted;
    bool all_symbols = true;  // that -d can set without setting others
    for (std::size_t a = 0; a < dims.size(); ++a) {
      const extent& e = (*v.shape)[a];
      wanted += (a ? "x" : "") + (dims[a] > 0 ? std::to_string(dims[a]) : "N");
      if (dims[a] > 0) continue;
      const bool declared = e.symbol.empty() && e.value != -1;  // some exporters write -1 for an unknown extent
      reason += fmt::format("{}its dimension {} is {}", reason.empty() ? "" : ", ", a,
                            declared           ? fmt::format("declared as {}", e.value)
                            : e.symbol.empty() ? "not known"
                                               : "the symbol " + quote(e.symbol));
      if (e.symbol.empty() || placeholders_.contains(e.symbol)) all_symbols = false;
      else if (const auto option = " -d " + shell_word(e.symbol + "=NUMBER"); symbols.find(option) == std::string::npos)
        symbols += option;
    }
    const auto input = "-i " + shell_word(v.name + ":" + wanted);
    tell(v, std::move(reason), fmt::format("fix it with{} {}", all_symbols ? symbols + " or" : "", input));
  }

  const model& model_;
  const std::set<std::string>& left_out_;
  const conversion& settings_;
  const messages& out_;
  std::vector<problem>& problems_;
  std::set<std::string> placeholders_;
  std::map<std::string, std::string> given_with_;  ///< by symbol: the input for which -i gives its value
  known_inputs known_;
};

}  // namespace

std::set<std::string> placeholders(const model& m) {
  std::set<std::string> first, other, out{"?", "None"};
  for (const auto& v : m.inputs)
    for (std::size_t a = 0; v.shape && a < v.shape->size(); ++a) (a == 0 ? first : other).insert((*v.shape)[a].symbol);
  std::ranges::set_intersection(first, other, std::inserter(out, out.end()));
  return out;
}

std::string declared_text(const value_info& v) { return v.shape ? extents_text(*v.shape, ", ") : "?"; }

known_inputs input_shapes(const model& m, const std::set<std::string>& left_out, const conversion& settings,
                          const messages& out, std::vector<problem>& problems) {
  return resolver(m, left_out, settings, out, problems).run();
}

std::string undeclared_input(const model& m, const conversion& settings) {
  for (const auto& [name, dims] : settings.inputs)
    for (const auto& v : m.inputs)
      if (v.name == name && contradicts(v, dims))
        return fmt::format("omit -i {}, or give it a shape like the one that the model declares, {}", name,
                           extents_text(*v.shape));
  return {};
}

std::optional<shape> declared_shape(const value_info& v, const symbol_extents& symbols) {
  if (!v.shape || !is_real(v.type) || v.shape->size() > dice::tensor::max_rank) return {};
  shape out;
  std::vector<std::int64_t> dims;
  for (const auto& e : *v.shape) {
    const auto known = symbols.find(e.symbol);
    dims.push_back(e.value > 0 ? e.value : known != symbols.end() ? known->second : -1);
    out.push_back(dims.back());
  }
  const auto n = element_count(dims);
  return n < 1 || n > largest_input ? std::nullopt : std::optional(out);
}

}  // namespace onnx2hpp
