// Attention: softmax(scale · Q Kᵀ + mask) V for each head. Heads of queries that share a head of keys are a further axis.
#include "ops/layers.hpp"

#include "fold/broadcast.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace onnx2hpp {

namespace {

using kind = dice::graph::activation::kind;

/// 0 where a query may see a key, else minus infinity.
constant bias_of(const constant& mask) {
  if (mask.type != element::boolean) return mask;
  auto values = reals(mask);
  for (double& v : values) v = v != 0 ? 0 : -std::numeric_limits<double>::infinity();
  return make_constant(element::float32, mask.dims, std::span<const double>(values));
}

constant causal_bias(std::int64_t queries, std::int64_t keys) {
  std::vector<double> out(folded_size({queries, keys}));
  for (std::int64_t q = 0; q < queries; ++q)
    for (std::int64_t k = q + 1; k < keys; ++k)
      out[static_cast<std::size_t>(q * keys + k)] = -std::numeric_limits<double>::infinity();
  return make_constant(element::float32, {queries, keys}, std::span<const double>(out));
}

void import(node_context& n) {
  for (const int k : {4, 5, 6})
    if (n.given(k)) n.refuse("it has a cache of keys and values, or their number; only whole sequences are supported");
  n.require(n.outputs() == 1, "it has outputs besides Y: cached keys and values, or scores");
  if (n.integer("left_window_size", -1) != -1 || n.integer("right_window_size", -1) != -1)
    n.refuse("its attention is limited to a window");
  n.ignore({"qk_matmul_output_mode", "softmax_precision"});
  int q = n.activation(0), k = n.activation(1), v = n.activation(2);
  const int rank = n.shape_of(q).rank;
  n.require((rank == 3 || rank == 4) && n.shape_of(k).rank == rank && n.shape_of(v).rank == rank,
            "its inputs do not have three or four axes each");
  const bool flat = rank == 3;  // (batch, sequence, heads · size), else (batch, heads, sequence, size)
  const shape sq = n.shape_of(q), sk = n.shape_of(k), sv = n.shape_of(v);
  const auto heads = n.integer("q_num_heads", flat ? 0 : sq[1]), kv_heads = n.integer("kv_num_heads", flat ? 0 : sk[1]);
  n.require(heads > 0 && kv_heads > 0 && heads % kv_heads == 0 && sq[rank - 1] > 0, "its heads cannot be divided evenly");
  const auto sharing = heads / kv_heads, batch = sq[0];
  const auto queries = sq[flat ? 1 : 2], keys = sk[flat ? 1 : 2];
  n.require(!flat || (sq[2] % heads == 0 && sk[2] % kv_heads == 0 && sv[2] % kv_heads == 0),
            "its features cannot be divided into its heads");
  const auto size = flat ? sq[2] / heads : sq[3], v_size = flat ? sv[2] / kv_heads : sv[3];
  // b: batch, g: head of keys, r: of the queries that share it, s: query, t: key, d: feature, v: feature of values
  const std::string terms_q = flat ? "bsgrd" : "bgrsd", terms_k = flat ? "btgd" : "bgtd", terms_v = flat ? "btgv" : "bgtv";
  q = reshape_layer(n, q,
                    flat ? shape{batch, queries, kv_heads, sharing, size} : shape{batch, kv_heads, sharing, queries, size});
  if (flat) {
    k = reshape_layer(n, k, {batch, keys, kv_heads, size});
    v = reshape_layer(n, v, {batch, keys, kv_heads, v_size});
  }
  const double scale = n.has("scale") ? n.real("scale", 1.0f) : 1 / std::sqrt(static_cast<double>(size));
  int scores = reshape_layer(n, einsum_layer(n, q, k, terms_q, terms_k, "bgrst", scale), {batch, heads, queries, keys});
  const bool causal = n.integer("is_causal", 0) != 0;
  const float cap = n.real("softcap", 0.0f);
  if (cap != 0) {
    n.require(!causal && !n.given(3), "it has a softcap and a mask");
    scores = multiply(n, function_layer(n, multiply(n, scores, 1.0 / cap), {kind::tanh}), cap);
  }
  if (n.given(3)) {
    if (n.is_constant(3)) scores = add_bias(n, scores, bias_of(n.data(3, "mask")));
    else scores = add_layers(n, scores, n.activation(3));
  }
  if (causal) scores = add_bias(n, scores, causal_bias(queries, keys));
  n.require(n.shape_of(scores) == shape{batch, heads, queries, keys}, "its mask does not fit");
  const int weights = reshape_layer(n, softmax_layer(n, scores, 3), {batch, kv_heads, sharing, queries, keys});
  const int y = einsum_layer(n, weights, v, "bgrst", terms_v, flat ? "bsgrv" : "bgrsv");
  n.result(reshape_layer(n, y, flat ? shape{batch, queries, heads * v_size} : shape{batch, heads, queries, v_size}));
}

const importer known(
    "Attention", import, 23,
    "is_causal kv_num_heads left_window_size>=25 q_num_heads qk_matmul_output_mode right_window_size>=25 "
    "scale softcap softmax_precision",
    "no cache of keys and values, no window, no softcap with a mask; only the output Y; becomes Einsum, Softmax and others");

}  // namespace
}  // namespace onnx2hpp
