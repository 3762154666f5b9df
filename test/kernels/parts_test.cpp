// A part of a layer's result, computed alone from the part of the input under it, has the same bits as in the whole result:
// rows, columns and blocks of output channels, by the algorithm of the whole layer.
#include "kernels/harness.hpp"

#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace harness;
using tensor::region;

/// Elements of region `r` of a plain tensor of shape `s`.
std::vector<float> cut(const std::vector<float>& from, const shape& s, const region& r) {
  std::vector<float> out;
  for (auto n = r.begin[0]; n < r.end[0]; ++n)
    for (auto c = r.begin[1]; c < r.end[1]; ++c)
      for (auto y = r.begin[2]; y < r.end[2]; ++y)
        for (auto x = r.begin[3]; x < r.end[3]; ++x) {
          const auto i = ((n * s[1] + c) * s[2] + y) * s[3] + x;
          for (std::int64_t k = 0; k < s.product(4, s.rank); ++k) out.push_back(from[i]);
        }
  return out;
}
shape extents(const region& r, int rank) {
  shape out;
  for (int a = 0; a < rank; ++a) out.push_back(r.end[a] - r.begin[a]);
  return out;
}

struct random_numbers {
  std::mt19937 draw;
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(draw() % static_cast<unsigned>(high - low + 1));
  }
  template <class T, std::size_t N> const T& of(const T (&list)[N]) { return list[draw() % N]; }
  /// An interval of [0, n) that begins at a multiple of `step` and ends at one or at n.
  std::pair<std::int64_t, std::int64_t> interval(std::int64_t n, std::int64_t step) {
    const auto most = (n + step - 1) / step;
    const auto begin = (*this)(0, most - 1), end = (*this)(begin + 1, most);
    return {begin * step, std::min(n, end * step)};
  }
};

/// The window that computes outputs `out` from the inputs under them alone, which become those of `in`. Padding beyond that
/// of the whole (ceil_mode) remains so.
template <class Op> Op window_over(Op op, const shape& s, const region& out, region& in) {
  bool exceeds = false;
  for (int a = 2; a < s.rank; ++a) {
    const auto i = static_cast<std::size_t>(a - s.rank + 2);
    const auto first = out.begin[a] * op.strides[i] - op.pads[i];
    const auto last = (out.end[a] - 1) * op.strides[i] - op.pads[i] + (op.kernel[i] - 1) * op.dilations[i] + 1;
    const auto padded = s[a] + op.pads[i + 2];
    in.begin[a] = std::max<std::int64_t>(first, 0);
    in.end[a] = std::min(last, s[a]);
    op.pads[i] = static_cast<int>(in.begin[a] - first);
    op.pads[i + 2] = static_cast<int>(std::min(last, padded) - in.end[a]);
    exceeds = exceeds || last > padded;
  }
  if constexpr (requires { op.ceil_mode; }) op.ceil_mode = exceeds;
  return op;
}

template <class Op> std::string text(const Op& op, const shape& in) {
  std::string s = std::string(op.onnx) + " of";
  for (int a = 0; a < in.rank; ++a) s += ' ' + std::to_string(in[a]);
  s += ", window " + std::to_string(op.kernel[0]) + 'x' + std::to_string(op.kernel[1]) + ", stride " +
       std::to_string(op.strides[0]) + ' ' + std::to_string(op.strides[1]) + ", dilation " +
       std::to_string(op.dilations[0]) + ' ' + std::to_string(op.dilations[1]) + ", pads";
  for (const int p : op.pads) s += ' ' + std::to_string(p);
  if constexpr (requires { op.group; })
    s += ", " + std::to_string(op.channels) + " outputs, groups " + std::to_string(op.group);
  return s;
}
std::string text(const region& r) {
  std::string s;
  for (int a = 1; a < 4; ++a) s += " [" + std::to_string(r.begin[a]) + ", " + std::to_string(r.end[a]) + ')';
  return s;
}

/// DICE_PART_CASES=100 in the environment: a hundred times as many cases.
int more() {
  const char* const factor = std::getenv("DICE_PART_CASES");
  return factor ? std::atoi(factor) : 1;
}

/// Whether both have the same bits.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

/// Regions that cover a result of shape `s`, in random order; they begin at multiples of `rows` and `columns`.
std::vector<region> regions_of(const shape& s, std::int64_t rows, std::int64_t columns, random_numbers& number) {
  const auto [top, bottom] = number.interval(s[2], rows);
  const auto [left, right] = number.interval(s[3], columns);
  std::vector<region> out;
  const std::int64_t y[] = {0, top, bottom, s[2]}, x[] = {0, left, right, s[3]};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      region r = tensor::whole(s);
      r.begin[2] = y[i];
      r.end[2] = y[i + 1];
      r.begin[3] = x[k];
      r.end[3] = x[k + 1];
      if (!tensor::empty(r)) out.push_back(r);
    }
  std::shuffle(out.begin(), out.end(), number.draw);
  return out;
}

TEST(parts, convolutions) {
  random_numbers number{std::mt19937(11)};
  constexpr std::array<int, 2> windows[] = {{1, 1}, {3, 3}, {3, 3}, {4, 4}, {5, 5}, {1, 7}, {7, 1}, {3, 1}, {2, 3}};
  for (int turn = 0; turn < 100 * more(); ++turn) {
    ops::conv op{.channels = number(3, 130), .kernel = number.of(windows), .bias = number(0, 3) > 0};
    shape in{number(0, 5) ? 1 : 2, number(3, 130), number(1, 26), number(1, 30)};
    if (turn % 12 == 0) {
      in[2] += 30;
      in[3] += 30;
    }                                 // chunks and bands
    const bool flat = turn % 9 == 0;  // rank 3
    if (flat) {
      in = {in[0], in[1], in[3]};
      op.kernel[0] = 1;
    }
    const auto kind = number(0, 5);
    if (kind == 0) in[1] = op.group = op.channels;
    if (kind == 1) {
      op.group = number(2, 8);
      in[1] = op.group * number(1, 16);
      op.channels = op.group * number(1, 16);
    }
    const bool simple = number(0, 1);  // as Winograd's algorithm wants it
    for (std::size_t i = flat ? 1 : 0; i < 2; ++i) {
      if (!simple) {
        op.strides[i] = static_cast<int>(number(1, 3));
        op.dilations[i] = static_cast<int>(number(1, 2));
      }
      const auto reach = (op.kernel[i] - 1) * op.dilations[i] + 1;
      op.pads[i] = static_cast<int>(number(0, reach - 1));
      op.pads[i + 2] = static_cast<int>(number(0, reach - 1));
      auto& extent = in[static_cast<int>(i) + in.rank - 2];
      extent = std::max<std::int64_t>(extent, reach - op.pads[i] - op.pads[i + 2]);
    }
    auto p = make(op, {in}, {{op.channels, in[1] / op.group, op.kernel[0], op.kernel[1]}, {op.channels}});
    if (!op.bias) p.parameters.pop_back();
    const ending endings[] = {{}, ops::relu{}, ops::sigmoid{}};
    const auto& e = number.of(endings);
    const auto result = p.result();
    if (number(0, 2) == 0) p = with_residual(p);
    p.layout = number(0, 1) ? tensor::layout::blocked : tensor::layout::plain;

    for (int v = 0; v < algorithm::variants_openmp(op, graph::shapes(p.in)); ++v) {
      const auto how = algorithm::variant_openmp(op, graph::shapes(p.in), result, v);
      const auto halves = how.pools_2x2 && p.residual.empty() && number(0, 2) == 0;
      p.pools_2x2 = halves && result[2] > 1 && result[3] > 1;
      p.threads = static_cast<int>(number(1, 3));
      const auto whole = compute<kernels::openmp::backend>(p, e, how);
      const algorithm::winograd tiles = v ? algorithm::winograd(v, op, in, result) : algorithm::winograd();
      const auto stored = tensor::has_blocks(result) ? p.layout : tensor::layout::plain;
      if (!flat && how.writes(stored) == stored && how.reads(stored) == (tensor::has_blocks(in) ? p.layout : stored)) {
        const std::int64_t halved = p.pools_2x2 ? 2 : 1;
        auto apart = p;
        apart.regions = regions_of(p.output(), std::lcm(halved, tiles.y.outputs) / halved,
                                   std::lcm(halved, tiles.x.outputs) / halved, number);
        for (apart.threads = 1; apart.threads <= 3; ++apart.threads)
          EXPECT_TRUE(same(compute<kernels::openmp::backend>(apart, e, how), whole))
              << text(op, in) << ", variant " << v << ", " << apart.regions.size() << " regions, " << apart.threads
              << " threads";
        apart.regions.resize(1);  // nothing else is written
        const auto one = compute<kernels::openmp::backend>(apart, e, how);
        const auto all = tensor::whole(p.output()), &only = apart.regions[0];
        const auto unwritten = std::count_if(one.begin(), one.end(), [](float x) { return std::isnan(x); });
        EXPECT_TRUE(same(cut(one, p.output(), only), cut(whole, p.output(), only)));
        EXPECT_EQ(unwritten, tensor::elements(all, p.output()) - tensor::elements(only, p.output()))
            << text(op, in) << ", variant " << v << text(only);
      }
      for (int cuts = 0; cuts < 4; ++cuts) {
        region out = tensor::whole(result);
        const auto axis = number(1, in.rank - 1);  // cut along one, or along all
        const auto along = [&](int a) { return a < in.rank && (cuts == 3 || axis == a); };
        // Groups whose part has less than a block of input channels are summed in another order.
        if (along(1) && (op.group == 1 || (kind == 0 ? in[1] % 16 != 1 : in[1] % 16 == 0))) {
          const auto of = op.channels / op.group, from = in[1] / op.group;
          const auto blocks = [](std::int64_t of_one) { return 16 / std::gcd<std::int64_t>(16, of_one); };
          const auto step = op.group == 1 ? 16 : std::lcm(blocks(of), blocks(from)) * of;
          std::tie(out.begin[1], out.end[1]) = number.interval(op.channels, step);
        }
        const std::int64_t least = p.pools_2x2 ? 2 : 1;
        if (along(2)) std::tie(out.begin[2], out.end[2]) = number.interval(result[2], std::lcm(least, tiles.y.outputs));
        if (along(3)) std::tie(out.begin[3], out.end[3]) = number.interval(result[3], std::lcm(least, tiles.x.outputs));
        if (p.pools_2x2 && (out.end[2] - out.begin[2] < 2 || out.end[3] - out.begin[3] < 2)) continue;
        region under = tensor::whole(in);
        auto part = p;
        part.op = window_over(op, in, out, under);
        part.op.channels = out.end[1] - out.begin[1];
        part.op.group = op.group == 1 ? 1 : part.op.channels / (op.channels / op.group);
        if (op.group > 1) {
          under.begin[1] = out.begin[1] / (op.channels / op.group) * (in[1] / op.group);
          under.end[1] = under.begin[1] + part.op.group * (in[1] / op.group);
        }
        part.in = {extents(under, in.rank)};
        part.inputs = {cut(p.inputs[0], in, under)};
        ASSERT_EQ(part.result(), extents(out, in.rank));
        const auto of_one = p.parameters[0].size() / static_cast<std::size_t>(op.channels);
        part.parameters[0] = {p.parameters[0].begin() + static_cast<std::ptrdiff_t>(of_one) * out.begin[1],
                              p.parameters[0].begin() + static_cast<std::ptrdiff_t>(of_one) * out.end[1]};
        if (op.bias) part.parameters[1] = {p.parameters[1].begin() + out.begin[1], p.parameters[1].begin() + out.end[1]};
        if (!p.residual.empty()) part.residual = cut(p.residual, result, out);
        region written = out;
        if (p.pools_2x2)
          for (int a = 2; a < 4; ++a) {
            written.begin[a] /= 2;
            written.end[a] /= 2;
          }
        const auto expected = cut(whole, p.output(), written);
        const auto part_how = algorithm::variant_openmp(part.op, graph::shapes(part.in), part.result(), v);
        for (part.threads = 1; part.threads <= 3; ++part.threads)
          if (!same(compute<kernels::openmp::backend>(part, e, part_how), expected)) {
            ADD_FAILURE() << text(op, in) << ", variant " << v << ", part" << text(out) << (p.pools_2x2 ? ", halved" : "")
                          << (p.residual.empty() ? "" : ", residual") << ", " << part.threads << " threads; part "
                          << text(part.op, part.in[0]);
            break;
          }
      }
    }
  }
}

// Pixels of a depthwise convolution that begin within a row, whose activation is applied to the output.
TEST(parts, columns_that_are_finished_in_the_output) {
  auto p = make(ops::conv{.channels = 18, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .group = 18}, {{1, 18, 5, 20}},
                {{18, 1, 3, 3}});
  p.layout = tensor::layout::blocked;
  auto left = tensor::whole(p.result()), right = left;
  left.end[3] = right.begin[3] = 11;
  auto apart = p;
  apart.regions = {left, right};
  EXPECT_TRUE(
      same(compute<kernels::openmp::backend>(apart, ops::sigmoid{}), compute<kernels::openmp::backend>(p, ops::sigmoid{})));
}

template <class Op> void compare_pools(Op op, random_numbers& number) {
  const shape in{number(1, 2), number(3, 130), number(1, 30), number(1, 30)};
  for (std::size_t i = 0; i < 2; ++i) {
    op.kernel[i] = static_cast<int>(number(1, std::min<std::int64_t>(5, in[static_cast<int>(i) + 2])));
    op.strides[i] = static_cast<int>(number(1, 3));
    op.pads[i] = static_cast<int>(number(0, op.kernel[i] - 1));
    op.pads[i + 2] = static_cast<int>(number(0, op.kernel[i] - 1));
  }
  auto p = make(op, {in});
  p.layout = number(0, 1) ? tensor::layout::blocked : tensor::layout::plain;
  const auto result = p.result();
  const auto whole = compute<kernels::openmp::backend>(p);
  region out = tensor::whole(result);
  for (int a = 1; a < 4; ++a)
    if (number(0, 2)) std::tie(out.begin[a], out.end[a]) = number.interval(result[a], a == 1 ? 16 : 1);
  region under = tensor::whole(in);
  under.begin[1] = out.begin[1];
  under.end[1] = out.end[1];
  auto part = p;
  part.op = window_over(op, in, out, under);
  part.in = {extents(under, 4)};
  part.inputs = {cut(p.inputs[0], in, under)};
  ASSERT_EQ(part.result(), extents(out, 4));
  for (part.threads = 1; part.threads <= 3; ++part.threads)
    EXPECT_TRUE(same(compute<kernels::openmp::backend>(part), cut(whole, result, out))) << text(op, in) << text(out);
}

TEST(parts, pools) {
  random_numbers number{std::mt19937(12)};
  for (int turn = 0; turn < 60 * more(); ++turn) {
    compare_pools(ops::max_pool{.ceil_mode = turn % 3 == 0}, number);
    compare_pools(ops::average_pool{.ceil_mode = turn % 3 == 0, .count_include_pad = turn % 2 == 0}, number);
  }
}

/// Rows of a layer that joins channels, beside rows computed alone.
template <class Op> void compare_rows(const Op& op, random_numbers& number) {
  const shape in{number(1, 2), number(1, 40), number(2, 12), number(1, 12)};
  const auto p = make(op, {in});
  const auto result = p.result();
  region under = tensor::whole(in), out = tensor::whole(result);
  std::tie(under.begin[2], under.end[2]) = number.interval(in[2], 1);
  out.begin[2] = under.begin[2];
  out.end[2] = under.end[2];
  auto part = p;
  part.in = {extents(under, 4)};
  part.inputs = {cut(p.inputs[0], in, under)};
  EXPECT_TRUE(same(compute<kernels::openmp::backend>(part), cut(compute<kernels::openmp::backend>(p), result, out)))
      << op.onnx << " of " << in[1] << " channels, " << in[2] << " x " << in[3] << text(out);
}

TEST(parts, sums_over_channels) {
  random_numbers number{std::mt19937(14)};
  for (int turn = 0; turn < 60 * more(); ++turn) {
    for (int how = 0; how < 6; ++how)
      compare_rows(ops::normalization{.how = static_cast<ops::normalizing>(how), .first = 1, .last = 2}, number);
    for (int how = 0; how < 8; ++how)
      compare_rows(ops::reduce{.over = {false, true}, .how = static_cast<ops::reduction>(how)}, number);
    compare_rows(ops::softmax{.first = 1, .last = 2}, number);
    compare_rows(ops::lrn{.alpha = 0.3f, .beta = 0.75f, .bias = 1.5f, .size = 5}, number);
  }
}

TEST(parts, products) {
  random_numbers number{std::mt19937(13)};
  for (int turn = 0; turn < 60 * more(); ++turn) {
    const ops::gemm op{.columns = number(3, 300), .depth = number(1, 700), .bias = true};
    auto p = make(op, {{number(1, 9), op.depth}}, {{op.columns, op.depth}, {op.columns}});
    p.threads = static_cast<int>(number(1, 3));
    const auto whole = compute<kernels::openmp::backend>(p, ops::relu{});
    auto part = p;
    const auto [begin, end] = number.interval(op.columns, 16);
    part.op.columns = end - begin;
    part.parameters[0] = {p.parameters[0].begin() + begin * op.depth, p.parameters[0].begin() + end * op.depth};
    part.parameters[1] = {p.parameters[1].begin() + begin, p.parameters[1].begin() + end};
    region out = tensor::whole(p.result());
    out.begin[1] = begin;
    out.end[1] = end;
    for (part.threads = 1; part.threads <= 3; ++part.threads)
      EXPECT_TRUE(same(compute<kernels::openmp::backend>(part, ops::relu{}), cut(whole, p.result(), out)))
          << op.columns << " columns, depth " << op.depth << ", part [" << begin << ", " << end << ')';
  }
}

/// Attention's scores: keys along the last axis, neighbours there or not; of some parts, a single one.
TEST(parts, products_of_two_inputs) {
  random_numbers number{std::mt19937(15)};
  for (int turn = 0; turn < 60 * more(); ++turn) {
    const bool across = number(0, 1);
    const ops::einsum op{
        .of = {{{0, 1, 2, -1}, {0, 1, -1, across ? 3 : 2}}}, .rank = 4, .depth = {3, across ? 2 : 3}, .factor = 0.3f};
    const auto rows = number(1, 9), keys = number(1, 40), depth = number(1, 20);
    const auto p = make(op, {{2, 3, rows, depth}, across ? shape{2, 3, depth, keys} : shape{2, 3, keys, depth}});
    const auto result = p.result();
    region out = tensor::whole(result);
    for (int a = 0; a < 4; ++a) std::tie(out.begin[a], out.end[a]) = number.interval(result[a], 1);
    if (turn % 3 == 0) out.end[3] = out.begin[3] + 1;
    auto part = p;
    for (int k = 0; k < 2; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const auto under = graph::input_region(op, k, out, p.in, result);
      part.in[i] = extents(under, 4);
      part.inputs[i] = cut(p.inputs[i], p.in[i], under);
    }
    ASSERT_EQ(part.result(), extents(out, 4));
    EXPECT_TRUE(same(compute<kernels::openmp::backend>(part), cut(compute<kernels::openmp::backend>(p), result, out)))
        << rows << " rows, " << keys << " keys, depth " << depth << text(out);
  }
}

}  // namespace
