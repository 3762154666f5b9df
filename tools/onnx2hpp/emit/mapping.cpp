#include "emit/emit.hpp"

#include "graph/initialiser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace onnx2hpp {

namespace {

std::string unit(const mapped_rank& r) {
  return r.gpu ? "::dice::gpu" : fmt::format("::dice::cores<{}>", fmt::join(r.cores, ", "));
}

/// The entries of layers<…>, with a range for consecutive layers.
std::string entries(const network& net, const std::vector<int>& ids) {
  std::string out;
  for (auto first = ids.begin(); first != ids.end();) {
    const auto end = std::adjacent_find(first, ids.end(), [](int a, int b) { return b != a + 1; });
    const auto last = end == ids.end() ? std::prev(end) : end;
    const auto name = [&](int id) { return net.layers[id].identifier; };
    out += out.empty() ? "" : ", ";
    out += first == last ? name(*first) : fmt::format("::dice::range<{}, {}>", name(*first), name(*last));
    first = std::next(last);
  }
  return out;
}

}  // namespace

std::string emit_mapping(const network& net, const std::vector<mapped_rank>& ranks, const std::string& name,
                         const std::string& model_digest) {
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "{}#include <dice/placement/dsl.hpp>\n#include <dice/platform/dev.hpp>\n\n#include \"{}.hpp\"\n\n",
                 notice(model_digest), name);
  fmt::format_to(put, "namespace {} {{\n\nusing mapped = ::dice::mapping<", name);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    fmt::format_to(put, "{}\n    ::dice::dev<{}, {}, ::dice::on<{}>>, ::dice::layers<{}>", k ? "," : "", k, unit(ranks[k]),
                   literal(ranks[k].host), entries(net, ranks[k].layers));
  fmt::format_to(put, ">;\n\n}}  // namespace {}\n", name);
  return fmt::to_string(out);
}

}  // namespace onnx2hpp
