// Products of two activations, or of an activation and a constant: MatMul's and Einsum's.
#include "ops/binary.hpp"
#include "ops/layers.hpp"
#include "ops/permute.hpp"

#include "dice/graph/ops/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace onnx2hpp {

using dice::ops::einsum;
using dice::ops::reduction;

namespace {

einsum einsum_of(const std::string& terms_a, const std::string& terms_b, const std::string& result) {
  node_context::require(result.size() <= dice::tensor::max_rank, "its output has more than 8 axes");
  einsum op{.rank = static_cast<int>(result.size()), .depth = {-1, -1}};
  const auto axis = [](const std::string& terms, char letter) {
    const auto at = terms.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  };
  for (std::size_t o = 0; o < result.size(); ++o) {
    op.of[0][o] = axis(terms_a, result[o]);
    op.of[1][o] = axis(terms_b, result[o]);
  }
  for (std::size_t k = 0; k < terms_a.size(); ++k)
    if (result.find(terms_a[k]) == std::string::npos) op.depth = {static_cast<int>(k), axis(terms_b, terms_a[k])};
  return op;
}

/// `c`, whose axes are the letters `term`, with the axes in another order.
constant axes_in_order(const constant& c, const std::string& term, const std::string& order) {
  std::vector<std::size_t> perm;
  for (const char letter : order) perm.push_back(term.find(letter));
  return order == term ? c : permute(c, perm);
}

/// Letters of MatMul's operands and result.
struct matrix_product {
  std::string a, b, result;
};
matrix_product matrix_product_of(const shape& a, const shape& b) {
  node_context::require(a.rank >= 1 && b.rank >= 1, "one of its operands is a scalar");
  // Letters of the last axes: a is …mk, b is …kn; vectors have only k.
  const std::string batch = "abcdef";
  const auto outer = static_cast<std::size_t>(std::max({a.rank, b.rank, 2}) - 2);
  const auto terms = [&](int rank, const char* matrix, const char* vector) {
    return rank == 1 ? vector
                     : batch.substr(outer - static_cast<std::size_t>(rank - 2), static_cast<std::size_t>(rank - 2)) + matrix;
  };
  return {terms(a.rank, "mk", "k"), terms(b.rank, "kn", "k"),
          batch.substr(0, outer) + (a.rank > 1 ? "m" : "") + (b.rank > 1 ? "n" : "")};
}

}  // namespace

int einsum_layer(node_context& n, int a, int b, const std::string& terms_a, const std::string& terms_b,
                 const std::string& result, double factor) {
  auto op = einsum_of(terms_a, terms_b, result);
  op.factor = static_cast<float>(factor);
  return n.add(op, {a, b});
}

/// The constant's elements are stored as kernels read them: those along the last axis of the result are neighbours, and
/// behind one another along the sum.
int einsum_layer(node_context& n, int x, const constant& c, which_constant which, const std::string& terms_x,
                 const std::string& terms_c, const std::string& result) {
  std::string order;
  const auto takes = [&](char letter) {
    if (terms_c.find(letter) != std::string::npos && order.find(letter) == std::string::npos) order += letter;
  };
  for (std::size_t o = 0; o + 1 < result.size(); ++o) takes(result[o]);
  for (const char letter : terms_c)
    if (result.find(letter) == std::string::npos) takes(letter);
  if (!result.empty()) takes(result.back());
  const auto stored = axes_in_order(c, terms_c, order);
  auto op = which == which_constant::first ? einsum_of(order, terms_x, result) : einsum_of(terms_x, order, result);
  op.which = which;
  op.fixed = shape_of(stored);
  return n.add(op, {x}, {{"weight", stored, op.fixed}});
}

int multiply_matrices(node_context& n, int a, int b) {
  const auto terms = matrix_product_of(n.shape_of(a), n.shape_of(b));
  return einsum_layer(n, a, b, terms.a, terms.b, terms.result);
}
int multiply_matrices(node_context& n, int x, const constant& c, which_constant which) {
  const shape of = shape_of(c);
  if (which == which_constant::second) {
    const auto terms = matrix_product_of(n.shape_of(x), of);
    return einsum_layer(n, x, c, which, terms.a, terms.b, terms.result);
  }
  const auto terms = matrix_product_of(of, n.shape_of(x));
  return einsum_layer(n, x, c, which, terms.b, terms.a, terms.result);
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

/// An operand: a layer or, if that is -1, a constant. Each axis has a letter of `term`.
struct einsum_operand {
  int layer = -1;
  constant fixed{};
  std::string term{};

  shape dims(node_context& n) const { return layer < 0 ? shape_of(fixed) : n.shape_of(layer); }
};

bool has_letter(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// Sums up the axes of `x` that `kept` lacks.
void sum_other_axes(node_context& n, einsum_operand& x, const std::string& kept) {
  std::vector<int> gone;
  std::string left, summed;
  for (std::size_t a = 0; a < x.term.size(); ++a)
    if (has_letter(kept, x.term[a])) left += x.term[a];
    else {
      gone.push_back(static_cast<int>(a));
      summed += x.term[a];
    }
  if (gone.empty()) return;
  if (x.layer >= 0) {
    x.layer = reduce_layer(n, x.layer, reduction::total, gone, false);
  } else {
    const auto ordered = axes_in_order(x.fixed, x.term, left + summed);
    const std::vector<std::int64_t> dims(ordered.dims.begin(),
                                         ordered.dims.begin() + static_cast<std::ptrdiff_t>(left.size()));
    const auto values = reals(ordered);
    std::vector<double> sums(static_cast<std::size_t>(element_count(dims)));
    for (std::size_t i = 0; i < values.size(); ++i) sums[i * sums.size() / values.size()] += values[i];
    x.fixed = make_constant(element::float32, dims, std::span<const double>(sums));
  }
  x.term = left;
}

/// Makes one axis of several ones, the last.
void join_summed_axes(node_context& n, einsum_operand& x, const std::string& axes) {
  std::string kept;
  for (const char c : x.term)
    if (!has_letter(axes, c)) kept += c;
  const shape in = x.dims(n);
  std::vector<int> perm;
  shape to;
  std::int64_t length = 1;
  for (const char c : kept + axes) {
    perm.push_back(static_cast<int>(x.term.find(c)));
    if (has_letter(axes, c)) length *= in[perm.back()];
    else to.push_back(in[perm.back()]);
  }
  to.push_back(length);
  if (x.layer >= 0) {
    x.layer = reshape_layer(n, transpose_layer(n, x.layer, perm), to);
  } else {
    x.fixed = axes_in_order(x.fixed, x.term, kept + axes);
    x.fixed.dims.assign(to.dim, to.dim + to.rank);
  }
  x.term = kept + axes[0];
}

/// Of a layer by a constant: MatMul if each vector along the layer's last axis is multiplied by one matrix.
int einsum_product(node_context& n, const einsum_operand& x, const einsum_operand& by, which_constant which,
                   const std::string& result) {
  const std::string outer = x.term.substr(0, std::max<std::size_t>(x.term.size(), 1) - 1);
  if (by.term.size() == 2 && !x.term.empty() && !result.empty() && result.substr(0, result.size() - 1) == outer &&
      !has_letter(x.term, result.back()))
    for (const bool transposed : {false, true})
      if (by.term[transposed ? 1 : 0] == result.back() && by.term[transposed ? 0 : 1] == x.term.back())
        return multiply_by_matrix(n, x.layer, by.fixed, transposed);
  return einsum_layer(n, x.layer, by.fixed, which, x.term, by.term, result);
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
  std::vector<einsum_operand> x(terms.size());
  int most = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (const int input = static_cast<int>(k); n.is_constant(input)) x[k].fixed = n.data(input, "operand");
    else x[k].layer = n.activation(input);
    for (const char c : terms[k])
      if (!std::isalpha(static_cast<unsigned char>(c)) && c != '.')
        n.refuse(fmt::format("its equation has a {}", quote({c})));
    const bool has_dots = terms[k].find("...") != std::string::npos;
    n.require(std::ranges::count(terms[k], '.') == (has_dots ? 3 : 0),
              "its equation has dots other than one \"...\" per term");
    const int rank = x[k].dims(n).rank;
    n.require(x[k].dims(n).elements() > 0, "its constant is empty");
    if (has_dots) most = std::max(most, rank - static_cast<int>(terms[k].size()) + 3);
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

  for (std::size_t k = 0; k < x.size(); ++k) x[k].term = terms[k];
  if (x.size() == 1) {
    sum_other_axes(n, x[0], result);
    std::vector<int> perm;
    for (const char c : result) perm.push_back(static_cast<int>(x[0].term.find(c)));
    return n.result(transpose_layer(n, x[0].layer, perm));
  }
  for (const std::size_t k : {0, 1}) sum_other_axes(n, x[k], result + x[1 - k].term);
  std::string depth;
  for (const char c : x[0].term)
    if (!has_letter(result, c)) depth += c;
  if (depth.size() > 1)
    for (auto& one : x) join_summed_axes(n, one, depth);
  if (x[0].layer < 0) n.result(einsum_product(n, x[1], x[0], which_constant::first, result));
  else if (x[1].layer < 0) n.result(einsum_product(n, x[0], x[1], which_constant::second, result));
  else n.result(einsum_layer(n, x[0].layer, x[1].layer, x[0].term, x[1].term, result));
}

const importer known_einsum(
    "Einsum", import_einsum, 12, "equation",
    "at most two operands, no diagonals; also becomes Transpose, Reshape and ReduceSum; by a constant matrix MatMul");

}  // namespace
}  // namespace onnx2hpp
