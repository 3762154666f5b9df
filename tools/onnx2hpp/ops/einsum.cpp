// Products of two activations: MatMul's and Einsum's.
#include "ops/layers.hpp"

#include "dice/graph/ops/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace onnx2hpp {

using dice::ops::einsum;
using dice::ops::reduction;

template <> struct spelling<einsum> {
  static constexpr const char* name = "einsum";
  static void write(const einsum& op, const einsum& unset, initialiser& out) {
    const auto axes = [&](std::size_t k) {
      std::string text;
      for (int o = 0; o < op.rank; ++o) text += (o ? ", " : "") + literal(op.of[k][static_cast<std::size_t>(o)]);
      return "{" + text + "}";
    };
    out.add("of", "{{" + axes(0) + ", " + axes(1) + "}}");
    out.add("rank", literal(op.rank));
    out.add("depth", literal(op.depth));
    out("factor", op.factor, unset.factor);
  }
};

int einsum_layer(node_context& n, int a, int b, const std::string& terms_a, const std::string& terms_b,
                 const std::string& result, double factor) {
  n.require(result.size() <= dice::tensor::max_rank, "its output has more than 8 axes");
  einsum op{.rank = static_cast<int>(result.size()), .depth = {-1, -1}, .factor = static_cast<float>(factor)};
  const auto axis = [](const std::string& terms, char letter) {
    const auto at = terms.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  };
  for (std::size_t o = 0; o < result.size(); ++o)
    op.of[0][o] = axis(terms_a, result[o]), op.of[1][o] = axis(terms_b, result[o]);
  for (std::size_t k = 0; k < terms_a.size(); ++k)
    if (result.find(terms_a[k]) == std::string::npos) op.depth = {static_cast<int>(k), axis(terms_b, terms_a[k])};
  return n.add(op, {a, b});
}

int multiply_matrices(node_context& n, int a, int b) {
  const shape sa = n.shape_of(a), sb = n.shape_of(b);
  n.require(sa.rank >= 1 && sb.rank >= 1, "one of its operands is a scalar");
  // Letters of the last axes: a is …mk, b is …kn; vectors have only k.
  const std::string batch = "abcdef";
  const auto outer = static_cast<std::size_t>(std::max({sa.rank, sb.rank, 2}) - 2);
  const auto terms = [&](int rank, const char* matrix, const char* vector) {
    return rank == 1 ? vector
                     : batch.substr(outer - static_cast<std::size_t>(rank - 2), static_cast<std::size_t>(rank - 2)) + matrix;
  };
  return einsum_layer(n, a, b, terms(sa.rank, "mk", "k"), terms(sb.rank, "kn", "k"),
                      batch.substr(0, outer) + (sa.rank > 1 ? "m" : "") + (sb.rank > 1 ? "n" : ""));
}

namespace {

/// A term of an equation with digits for the axes of "..."; the last is '9'.
std::string spelt_out(const std::string& term, int rank) {
  const auto dots = term.find("...");
  if (dots == std::string::npos) return term;
  const int more = rank - static_cast<int>(term.size() - 3);
  node_context::require(more >= 0 && more <= 8, "its equation does not fit the rank of an operand");
  std::string axes;
  for (int a = more; a-- > 0;) axes += static_cast<char>('9' - a);
  return term.substr(0, dots) + axes + term.substr(dots + 3);
}

/// Layer x with the axes of `term` that `kept` lacks summed up.
int sum_others(node_context& n, int x, std::string& term, const std::string& kept) {
  std::vector<int> gone;
  std::string left;
  for (std::size_t a = 0; a < term.size(); ++a)
    if (kept.find(term[a]) == std::string::npos) gone.push_back(static_cast<int>(a));
    else left += term[a];
  term = left;
  return gone.empty() ? x : reduce_layer(n, x, reduction::total, gone, false);
}

void import_einsum(node_context& n) {
  std::string equation;
  for (const char c : n.text("equation", ""))
    if (c != ' ') equation += c;
  const auto arrow = equation.find("->");
  std::string result = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  std::vector<std::string> terms{""};
  for (const char c : equation.substr(0, arrow))
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  n.require(static_cast<int>(terms.size()) == n.inputs(), "its equation does not have a term for each input");
  if (terms.size() > 2) n.refuse("it has more than two operands");
  std::vector<int> x;
  int most = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    x.push_back(n.activation(static_cast<int>(k)));
    for (const char c : terms[k])
      if (!std::isalpha(static_cast<unsigned char>(c)) && c != '.')
        n.refuse(fmt::format("its equation has a {}", quote({c})));
    const int rank = n.shape_of(x[k]).rank;
    if (const auto dots = terms[k].find("..."); dots != std::string::npos)
      most = std::max(most, rank - static_cast<int>(terms[k].size()) + 3);
    terms[k] = spelt_out(terms[k], rank);
    n.require(static_cast<int>(terms[k].size()) == rank, "its equation does not fit the rank of an operand");
    for (const char c : terms[k])
      if (std::ranges::count(terms[k], c) > 1) n.refuse(fmt::format("its equation takes a diagonal (\"{}\")", c));
  }
  if (arrow == std::string::npos) {  // "...", then the letters that occur once, in alphabetical order
    std::string all = terms[0] + (terms.size() > 1 ? terms[1] : "");
    std::ranges::sort(all);
    for (int a = most; a-- > 0;) result += static_cast<char>('9' - a);
    for (const char c : all)
      if (std::isalpha(static_cast<unsigned char>(c)) && std::ranges::count(all, c) == 1) result += c;
  } else {
    result = spelt_out(result, static_cast<int>(result.size()) - 3 + most);
  }
  for (const char c : result)
    n.require(
        std::ranges::count(result, c) == 1 && std::ranges::any_of(terms, [&](const auto& t) { return t.find(c) != t.npos; }),
        "its result has an axis twice, or one that no operand has");

  if (terms.size() == 1) {
    const int summed = sum_others(n, x[0], terms[0], result);
    std::vector<int> perm;
    for (const char c : result) perm.push_back(static_cast<int>(terms[0].find(c)));
    return n.result(transpose_layer(n, summed, perm));
  }
  for (const std::size_t k : {0, 1}) x[k] = sum_others(n, x[k], terms[k], result + terms[1 - k]);
  std::string depth;
  for (const char c : terms[0])
    if (result.find(c) == std::string::npos) depth += c;
  // Several axes of the sum become one.
  for (std::size_t k = 0; k < 2 && depth.size() > 1; ++k) {
    std::string kept;
    for (const char c : terms[k])
      if (depth.find(c) == std::string::npos) kept += c;
    std::vector<int> perm;
    shape to;
    std::int64_t length = 1;
    for (const char c : kept + depth) {
      perm.push_back(static_cast<int>(terms[k].find(c)));
      const auto extent = n.shape_of(x[k])[perm.back()];
      if (depth.find(c) == std::string::npos) to.push_back(extent);
      else length *= extent;
    }
    to.push_back(length);
    x[k] = reshape_layer(n, transpose_layer(n, x[k], perm), to);
    terms[k] = kept + depth[0];
  }
  n.result(einsum_layer(n, x[0], x[1], terms[0], terms[1], result));
}

const importer known_einsum("Einsum", import_einsum, 12, "equation",
                            "one or two activations, no diagonals; also becomes Transpose, Reshape and ReduceSum");

}  // namespace
}  // namespace onnx2hpp
