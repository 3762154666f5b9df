// Attention: softmax(scale · Q Kᵀ + mask) V for each head. Heads of queries that share a head of keys are a further axis.
#include "fold/broadcast.hpp"
#include "ops/binary.hpp"
#include "ops/layers.hpp"
#include "ops/logic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace onnx2hpp {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// 0 where a query may see a key, else minus infinity. Keys that a mask leaves out are not seen.
constant bias_of(const constant& mask, std::int64_t keys) {
  auto values = reals(mask);
  if (mask.type == element::boolean)
    for (double& v : values) v = v != 0 ? 0 : never;
  auto dims = mask.dims;
  node_context::require(!dims.empty() && dims.back() <= keys, "its mask does not fit");
  const auto row = static_cast<std::size_t>(std::exchange(dims.back(), keys));
  std::vector<double> out(folded_size(dims, "its mask becomes a constant"), never);
  for (std::size_t i = 0; row > 0 && i < values.size(); ++i)
    out[i / row * static_cast<std::size_t>(keys) + i % row] = values[i];
  return make_constant(element::float32, dims, std::span<const double>(out));
}

/// Which keys a query at position i of the sequence may see: those at i - left … i + right (-1: all on this side), among the
/// first `keys[b]` of batch b. `past` keys lie before the position of the first query.
struct limits {
  std::int64_t left = -1, right = -1, past = 0;
  std::vector<std::int64_t> keys{};  ///< empty: all; the queries are the last of them

  bool any() const { return left >= 0 || right >= 0 || !keys.empty(); }
  constant bias(std::int64_t queries, std::int64_t all) const {
    const auto batches = std::max<std::int64_t>(1, static_cast<std::int64_t>(keys.size()));
    std::vector<double> out(folded_size({batches, queries, all}, "its mask becomes a constant"));
    for (std::int64_t b = 0, i = 0; b < batches; ++b) {
      const auto seen = keys.empty() ? all : keys[b], offset = keys.empty() ? past : seen - queries;
      for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t k = 0; k < all; ++k, ++i) {
          const auto back = q + offset - k;
          if ((left >= 0 && back > left) || (right >= 0 && -back > right) || k >= seen) out[i] = never;
        }
    }
    return make_constant(element::float32, {batches, 1, queries, all}, std::span<const double>(out));
  }
};

constant sum(const constant& a, const constant& b) {
  const auto dims = broadcast({a.dims, b.dims});
  const auto x = reals(a), y = reals(b);
  const auto at_x = broadcast_indices(a.dims, dims), at_y = broadcast_indices(b.dims, dims);
  std::vector<double> out(folded_size(dims, "its mask becomes a constant"));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[at_x[i]] + y[at_y[i]];
  return make_constant(element::float32, dims, std::span<const double>(out));
}

/// Bools that are computed at run time, false also where `bias` lets a query see no key.
int mask_with(node_context& n, int mask, const constant& bias) {
  auto allowed = reals(bias);
  for (double& v : allowed) v = v != never;
  return add_with_constant<dice::ops::min>(n, mask, which_constant::second,
                                           make_constant(element::boolean, bias.dims, std::span<const double>(allowed)));
}

/// Softmax of the scores, and 0 for queries that see no key because of `bias`.
int weights_of(node_context& n, int scores, const std::optional<constant>& bias) {
  const int weights = softmax_layer(n, scores, 3);
  if (!bias) return weights;
  const auto values = reals(*bias);
  auto dims = bias->dims;
  const auto row = static_cast<std::ptrdiff_t>(std::exchange(dims.back(), 1));
  std::vector<double> zeros;  // NaN: as it is
  for (auto at = values.begin(); at != values.end(); at += row)
    zeros.push_back(*std::max_element(at, at + row) == never ? 0 : std::numeric_limits<double>::quiet_NaN());
  const bool blind = std::ranges::count(zeros, 0) > 0;
  return blind ? replace(n, weights, make_constant(element::float32, dims, std::span<const double>(zeros))) : weights;
}

/// Keys or values appended to those of the cache, input `past`; both as (batch, heads, sequence, size). The result is also
/// output `present`.
int cached(node_context& n, int layer, bool flat, int past, int present) {
  if (flat) layer = transpose_layer(n, layer, {0, 2, 1, 3});
  if (n.given(past)) layer = concat_layer(n, {n.activation(past), layer}, 2);
  n.result(layer, present);
  return layer;
}

void import_attention(node_context& n) {
  n.ignore({"softmax_precision"});
  int q = n.activation(0), k = n.activation(1), v = n.activation(2);
  const int rank = n.shape_of(q).rank;
  n.require((rank == 3 || rank == 4) && n.shape_of(k).rank == rank && n.shape_of(v).rank == rank,
            "its inputs do not have three or four axes each");
  const bool flat = rank == 3;  // (batch, sequence, heads · size), else (batch, heads, sequence, size)
  const shape sq = n.shape_of(q), sk = n.shape_of(k), sv = n.shape_of(v);
  const auto heads = n.integer("q_num_heads", flat ? 0 : sq[1]), kv_heads = n.integer("kv_num_heads", flat ? 0 : sk[1]);
  n.require(heads > 0 && kv_heads > 0 && heads % kv_heads == 0 && sq[rank - 1] > 0, "its heads cannot be divided evenly");
  const auto sharing = heads / kv_heads, batch = sq[0];
  const auto queries = sq[flat ? 1 : 2];
  auto keys = sk[flat ? 1 : 2];
  n.require(!flat || (sq[2] % heads == 0 && sk[2] % kv_heads == 0 && sv[2] % kv_heads == 0),
            "its features cannot be divided into its heads");
  const auto size = flat ? sq[2] / heads : sq[3], v_size = flat ? sv[2] / kv_heads : sv[3];
  // b: batch, g: head of keys, r: of the queries that share it, s: query, t: key, d: feature, v: feature of values
  const std::string terms_q = flat ? "bsgrd" : "bgrsd";
  std::string terms_k = flat ? "btgd" : "bgtd", terms_v = flat ? "btgv" : "bgtv";
  q = reshape_layer(n, q,
                    flat ? shape{batch, queries, kv_heads, sharing, size} : shape{batch, kv_heads, sharing, queries, size});
  if (flat) {
    k = reshape_layer(n, k, {batch, keys, kv_heads, size});
    v = reshape_layer(n, v, {batch, keys, kv_heads, v_size});
  }
  limits seen;
  n.require(n.given(4) == n.given(5), "it has a cache of keys or of values, not of both");
  if (n.given(4) || n.outputs() > 1) {
    k = cached(n, k, flat, 4, 1);
    v = cached(n, v, flat, 5, 2);
    terms_k = "bgtd";
    terms_v = "bgtv";
    seen.past = n.shape_of(k)[2] - std::exchange(keys, n.shape_of(k)[2]);
    n.require(n.shape_of(v)[2] == keys, "its caches differ in length");
  }
  const double scale = n.has("scale") ? n.real("scale", 1.0f) : 1 / std::sqrt(static_cast<double>(size));
  int scores = reshape_layer(n, einsum_layer(n, q, k, terms_q, terms_k, "bgrst", scale), {batch, heads, queries, keys});
  std::vector<int> stages{scores};  // for the output qk_matmul_output
  if (const float cap = n.real("softcap", 0.0f); cap > 0)
    scores = multiply(n, tanh_layer(n, multiply(n, scores, 1.0 / cap)), cap);
  stages.push_back(scores);
  seen.left = n.integer("left_window_size", -1);
  seen.right = n.integer("right_window_size", -1);
  if (n.integer("is_causal", 0) != 0) seen.right = 0;
  if (n.opset() >= 24 && n.given(6)) {
    n.require(!n.given(4), "it has both a cache and the number of keys");
    seen.keys = n.integers(6, "number of keys");
    n.require(static_cast<std::int64_t>(seen.keys.size()) == batch, "it does not have one number of keys for each sequence");
  }
  std::optional<constant> bias;
  int mask = -1;
  if (seen.any()) bias = seen.bias(queries, keys);
  if (n.given(3) && n.is_constant(3)) {
    const auto given = bias_of(n.data(3, "mask"), keys);
    bias = bias ? sum(*bias, given) : given;
  } else if (n.given(3) && n.any(3).holds.type == element::boolean) {
    mask = mask_of(n, 3);
    if (bias) mask = mask_with(n, mask, *std::exchange(bias, std::nullopt));
    scores = where_mask(n, mask, scores, never);
  } else if (n.given(3)) {
    scores = add_layers(n, scores, n.activation(3));
  }
  if (bias) scores = add_bias(n, scores, *bias);
  n.require(n.shape_of(scores) == shape{batch, heads, queries, keys}, "its mask does not fit");
  int seen_weights = weights_of(n, scores, bias);
  if (mask >= 0) {
    const int any_key = reduce_layer(n, mask, dice::ops::reduction::largest, {n.shape_of(mask).rank - 1}, true);
    seen_weights = where_mask(n, any_key, seen_weights, 0);
  }
  stages.insert(stages.end(), {scores, seen_weights});
  const auto stage = n.integer("qk_matmul_output_mode", 0);
  n.require(stage >= 0 && stage < 4, "its qk_matmul_output_mode is not 0, 1, 2 or 3");
  n.result(stages[stage], 3);
  const int weights = reshape_layer(n, seen_weights, {batch, kv_heads, sharing, queries, keys});
  const int y = einsum_layer(n, weights, v, "bgrst", terms_v, flat ? "bsgrv" : "bgrsv");
  n.result(reshape_layer(n, y, flat ? shape{batch, queries, heads * v_size} : shape{batch, heads, queries, v_size}));
}

const importer known_attention(
    "Attention", import_attention, 23,
    "is_causal kv_num_heads left_window_size>=25 q_num_heads qk_matmul_output_mode right_window_size>=25 "
    "scale softcap softmax_precision",
    "the number of keys as a constant of the model; becomes Einsum, Softmax and others");

}  // namespace
}  // namespace onnx2hpp
