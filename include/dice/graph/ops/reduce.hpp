#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dice::ops {

enum class reduction : std::uint8_t { mean, total, total_square, product, largest, smallest, arg_max, arg_min };

inline constexpr std::string_view reduce_names[] = {"ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceProd",
                                                    "ReduceMax",  "ReduceMin", "ArgMax",          "ArgMin"};

/// One number for the elements along the axes marked in `over`, which are kept with extent 1 if `keep`, else removed. ONNX
/// ReduceMean, ReduceSum, ReduceSumSquare, ReduceProd, ReduceMax, ReduceMin (NaN if any element is); ArgMax and ArgMin, over
/// one axis: the index of the first of the largest (smallest) elements, or of the last if `last_index`; of the first NaN if
/// there is one.
struct reduce {
  std::array<bool, tensor::max_rank> over{};
  bool keep = true;
  reduction how = reduction::mean;
  bool last_index = false;
  std::string_view onnx = reduce_names[static_cast<std::size_t>(how)];
  DICE_MEMBERS(over, keep, how, last_index)
  static constexpr const char* always_written = "over";

  static constexpr bool is_named(std::string_view name) {
    for (const auto known : reduce_names)
      if (known == name) return true;
    return false;
  }
  constexpr bool finds_index() const { return how >= reduction::arg_max; }
  constexpr tensor::shape infer(graph::shapes in) const {
    int axes = 0;
    for (int a = 0; a < in[0].rank; ++a) axes += over[a];
    graph::require(!finds_index() || axes == 1, "an index is along one axis");
    tensor::shape out;
    for (int a = 0; a < in[0].rank; ++a) {
      if (!over[a]) out.push_back(in[0][a]);
      else if (keep) out.push_back(1);
    }
    return out;
  }
  /// The axis of the input (shape `in`) that is axis `axis` of the result; -1 if it is reduced.
  constexpr int source(int axis, const tensor::shape& in) const {
    for (int a = 0, o = 0; a < in.rank; ++a) {
      if (o == axis && (keep || !over[a])) return over[a] ? -1 : a;
      if (!over[a] || keep) ++o;
    }
    return -1;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    tensor::region r = tensor::whole(in[0]);
    for (int o = 0; o < result.rank && o < tensor::region::axes; ++o)
      if (const int a = source(o, in[0]); a >= 0 && a < tensor::region::axes) {
        r.begin[a] = out.begin[o];
        r.end[a] = out.end[o];
      }
    return r;
  }
  /// Axes before the reduced ones can be cut; of each run of axes behind them, the first one if it is not the only one. A
  /// part whose run has extent 1 would lose the run, and kernels add the elements of a single sum, or of joined axes, in
  /// another order. The same goes for results without blocks of sums over whole blocks of channels.
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape&) const {
    const int a = source(axis, in[0]);
    if (a <= 0 || a >= tensor::region::axes || (a == 1 && !keep && in[0][1] % tensor::block != 0)) return 0;
    int from = a, to = a + 1;
    while (from > 0 && !over[from - 1]) --from;
    while (to < in[0].rank && !over[to]) ++to;
    return from == 0 || (from == a && in[0].product(a + 1, to) > 1) ? graph::finest_step(axis) : 0;
  }
};

}  // namespace dice::ops
