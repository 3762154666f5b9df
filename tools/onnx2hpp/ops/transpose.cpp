#include "ops/layers.hpp"
#include "ops/permute.hpp"

#include "dice/graph/ops/transpose.hpp"

#include <algorithm>
#include <cstring>

namespace onnx2hpp {

using dice::ops::transpose;

int transpose_layer(node_context& n, int x, const std::vector<int>& perm) {
  transpose op;
  std::ranges::copy(perm, op.perm.begin());
  return n.add(op, {x});
}

int transpose_matrix(node_context& n, int x) { return transpose_layer(n, x, {1, 0}); }

constant permute(const constant& c, const std::vector<std::size_t>& perm) {
  const auto rank = perm.size(), width = size_of(c.type);
  std::vector<std::int64_t> dims(rank), steps(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    dims[a] = c.dims[perm[a]];
    steps[a] = 1;
    for (std::size_t i = perm[a] + 1; i < rank; ++i) steps[a] *= c.dims[i];
  }
  std::vector<std::byte> bytes(c.bytes.size());
  std::vector<std::int64_t> at(rank);
  std::int64_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += width) {
    std::memcpy(bytes.data() + to, c.bytes.data() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t a = rank; a-- > 0;) {
      from += steps[a];
      if (++at[a] < dims[a]) break;
      from -= at[a] * steps[a];
      at[a] = 0;
    }
  }
  return make_constant(c.type, std::move(dims), std::move(bytes));
}

namespace {

std::vector<std::size_t> read_perm(node_context& n, int rank) {
  auto perm = n.integers("perm");
  if (perm.empty())
    for (int a = rank; a-- > 0;) perm.push_back(a);
  std::vector<std::size_t> out;
  for (auto p : perm) {
    n.require(p >= 0 && p < rank && std::ranges::find(out, static_cast<std::size_t>(p)) == out.end(),
              "its perm is not a permutation of the input's axes");
    out.push_back(static_cast<std::size_t>(p));
  }
  n.require(static_cast<int>(out.size()) == rank, "its perm is not a permutation of the input's axes");
  return out;
}

void import_transpose(node_context& n) {
  const int x = n.moved(0);
  const auto perm = read_perm(n, n.shape_of(x).rank);
  n.result(transpose_layer(n, x, {perm.begin(), perm.end()}));
}

void fold_transpose(node_context& n) {
  const constant& c = n.data(0, "input");
  n.result(permute(c, read_perm(n, c.rank())));
}

const importer known_transpose("Transpose", import_transpose, 1, "perm");
const folder folds_transpose("Transpose", fold_transpose);

}  // namespace
}  // namespace onnx2hpp
