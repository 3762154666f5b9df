#include "input_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace onnx2hpp {

namespace {

/// Symbols that stand for the batch: the first extent of an input.
std::set<std::string> batch_symbols(const model& m) {
  std::set<std::string> out;
  for (const auto& v : m.inputs)
    if (v.shape && !v.shape->empty() && v.shape->front().value < 0 && !v.shape->front().symbol.empty())
      out.insert(v.shape->front().symbol);
  return out;
}

std::string written(const std::vector<extent>& s) {
  std::string out;
  for (const auto& e : s)
    out += (out.empty() ? "" : "x") + (e.value >= 0 ? std::to_string(e.value) : e.symbol.empty() ? "?" : e.symbol);
  return out;
}

class resolver {
 public:
  resolver(const model& m, const conversion& wish, const messages& out, std::vector<problem>& problems)
      : model_(m), wish_(wish), out_(out), problems_(problems), batch_(batch_symbols(m)) {}

  std::map<std::string, shape> run() {
    check_usage();
    std::map<std::string, shape> shapes;
    for (const auto& v : model_.inputs) {
      if (!v.tensor || v.type != element::float32) {
        tell(v, v.tensor ? "its elements are " + name_of(v.type) + "; frames are float32" : "it is no tensor",
             "export the model with float32 inputs");
        continue;
      }
      if (const auto s = resolve(v)) shapes[v.name] = *s;
    }
    return shapes;
  }

 private:
  void check_usage() const {
    for (const auto& [name, dims] : wish_.inputs)
      if (std::ranges::none_of(model_.inputs, [&](const value_info& v) { return v.name == name; }))
        throw usage_error(fmt::format("-i: the model has no input {}; its inputs are {}", quote(name), input_names()));
    std::set<std::string> symbols;
    for (const auto& v : model_.inputs)
      if (v.shape)
        for (const auto& e : *v.shape)
          if (!e.symbol.empty()) symbols.insert(e.symbol);
    for (const auto& [name, value] : wish_.dimensions)
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

  std::optional<shape> resolve(const value_info& v) {
    const auto fixed = std::ranges::find(wish_.inputs, v.name, [](const auto& entry) { return entry.first; });
    std::vector<std::int64_t> dims;
    if (fixed != wish_.inputs.end()) {
      dims = fixed->second;
      if (v.shape && v.shape->size() != dims.size())
        throw usage_error(
            fmt::format("-i: the input {} has {} axes ({})", quote(v.name), v.shape->size(), written(*v.shape)));
      for (std::size_t a = 0; v.shape && a < dims.size(); ++a)
        if (const auto declared = (*v.shape)[a].value; declared > 0 && declared != dims[a])
          out_.warning(fmt::format("input {}: the model declares {}", quote(v.name), written(*v.shape)));
    } else if (!v.shape) {
      tell(v, "its shape is not known", fmt::format("give it: -i {}:1x3x224x224 (for example)", v.name));
      return {};
    } else {
      for (std::size_t a = 0; a < v.shape->size(); ++a) dims.push_back(extent_of(v, a));
      if (std::ranges::count(dims, -1) > 0) return {};
    }
    if (dims.size() > dice::tensor::max_rank) {
      tell(v, fmt::format("it has {} axes; supported are at most {}", dims.size(), dice::tensor::max_rank), "");
      return {};
    }
    if (element_count(dims) < 1 || element_count(dims) > std::int64_t{1} << 34) {
      tell(v, "it is empty or larger than 64 GiB", "");
      return {};
    }
    shape out;
    for (auto d : dims) out.push_back(d);
    return out;
  }

  /// The extent of axis a, or -1 after telling why it is not known.
  std::int64_t extent_of(const value_info& v, std::size_t a) {
    const extent& e = (*v.shape)[a];
    if (e.value > 0) return e.value;
    if (const auto d = wish_.dimensions.find(e.symbol); !e.symbol.empty() && d != wish_.dimensions.end()) return d->second;
    if (a == 0 || batch_.contains(e.symbol)) {
      if (noted_.insert(e.symbol).second)
        out_.note(e.symbol.empty()
                      ? fmt::format("input {}: its open first dimension becomes 1", quote(v.name))
                      : fmt::format("the symbolic dimension {} becomes 1 (-d {}=N for another)", quote(e.symbol), e.symbol));
      return 1;
    }
    std::string wanted;
    for (std::size_t i = 0; i < v.shape->size(); ++i)
      wanted += (i ? "x" : "") + ((*v.shape)[i].value > 0 ? std::to_string((*v.shape)[i].value) : i == 0 ? "1" : "N");
    tell(v, fmt::format("its dimension {} is {}", a, e.symbol.empty() ? "not known" : "the symbol " + quote(e.symbol)),
         e.symbol.empty() ? fmt::format("fix it with -i {}:{}", v.name, wanted)
                          : fmt::format("fix it with -d {}=N or -i {}:{}", e.symbol, v.name, wanted));
    return -1;
  }

  const model& model_;
  const conversion& wish_;
  const messages& out_;
  std::vector<problem>& problems_;
  std::set<std::string> batch_, noted_;
};

}  // namespace

std::map<std::string, shape> input_shapes(const model& m, const conversion& wish, const messages& out,
                                          std::vector<problem>& problems) {
  return resolver(m, wish, out, problems).run();
}

std::optional<shape> declared_shape(const value_info& v, const model& m, const conversion& wish) {
  if (!v.shape || v.type != element::float32 || v.shape->size() > dice::tensor::max_rank) return {};
  const auto batch = batch_symbols(m);
  std::vector<std::int64_t> dims;
  for (const auto& e : *v.shape) {
    const auto fixed = wish.dimensions.find(e.symbol);
    dims.push_back(e.value > 0                      ? e.value
                   : fixed != wish.dimensions.end() ? fixed->second
                   : batch.contains(e.symbol)       ? 1
                                                    : -1);
  }
  if (const auto n = element_count(dims); n < 1 || n > std::int64_t{1} << 34) return {};
  shape out;
  for (auto d : dims) out.push_back(d);
  return out;
}

}  // namespace onnx2hpp
