// Kernels that read and write bands of rows of larger tensors: the same results, bit for bit, and nothing beside the band.
#include "kernels/harness.hpp"

#include <string>
#include <vector>

namespace {

using namespace harness;
using tensor::layout;

/// A tensor that is some rows of a larger one, whose other rows hold a pattern.
class band {
 public:
  static constexpr float pattern = 12345;

  band(const shape& s, layout as, std::int64_t above, std::int64_t below)
      : shape_(s),
        layout_(as),
        row_(s[s.rank - 1] * (as == layout::blocked ? tensor::block : 1)),
        above_(above * row_),
        plane_(s.rank == 4 ? s[2] * row_ : row_),
        pitch_(above_ + plane_ + below * row_),
        planes_(tensor::elements(s, as) / plane_),
        memory_(std::vector<float>(static_cast<std::size_t>(planes_ * pitch_), pattern)) {}

  std::int64_t pitch() const { return pitch_; }
  float* data() const { return memory_.floats() + above_; }
  void fill(const std::vector<float>& plain_values) {
    const auto values = stored(plain_values, shape_, layout_);
    for (std::int64_t p = 0; p < planes_; ++p) std::copy_n(values.data() + p * plane_, plane_, data() + p * pitch_);
  }
  std::vector<float> content() const {
    std::vector<float> out(static_cast<std::size_t>(planes_ * plane_));
    for (std::int64_t p = 0; p < planes_; ++p) std::copy_n(data() + p * pitch_, plane_, out.data() + p * plane_);
    return plain(out.data(), shape_, layout_);
  }
  bool rest_is_untouched() const {
    for (std::int64_t i = 0; i < planes_ * pitch_; ++i)
      if ((i % pitch_ < above_ || i % pitch_ >= above_ + plane_) && memory_.floats()[i] != pattern) return false;
    return true;
  }

 private:
  shape shape_;
  layout layout_;
  std::int64_t row_, above_, plane_, pitch_, planes_;
  buffer memory_;
};

/// Which tensors are bands.
struct bands {
  bool inputs, output, residual;
};

template <class Op>
void expect_same(const problem<Op>& p, const ending& e, const algorithm::choice& how, const bands& pitched,
                 const std::vector<float>& expected, const std::string& what) {
  omp_set_num_threads(p.threads);
  const auto result = p.result(), written = p.output();
  const auto stored_as = tensor::has_blocks(result) ? p.layout : layout::plain;
  std::int64_t rows = 1;  // some more for each tensor
  std::vector<band> held;
  std::vector<tensor::storage> stored;
  const auto hold = [&](const shape& s, const std::vector<float>& values, bool is_band) {
    const auto above = is_band ? rows++ : 0, below = is_band ? rows : 0;
    held.emplace_back(s, p.layout, above, below).fill(values);
    stored.push_back({.layout = p.layout, .pitch = is_band ? held.back().pitch() : 0});
  };
  for (std::size_t k = 0; k < p.in.size(); ++k)
    hold(p.in[k], p.inputs[k], pitched.inputs && how.reads_pitched(p.in[k], p.layout, stored_as));
  if (!p.residual.empty()) hold(result, p.residual, pitched.residual && how.adds_pitched(result, p.layout, stored_as));
  const bool writes = pitched.output && how.writes_pitched(written, stored_as);
  const band output(written, stored_as, writes ? 2 : 0, writes ? 1 : 0);

  std::vector<const void*> inputs, parameters;
  for (const auto& b : held) inputs.push_back(b.data());
  for (const auto& x : p.parameters) parameters.push_back(x.data());
  const kernels::task task{.op = &p.op,
                           .inputs = p.in,
                           .result = result,
                           .residual = !p.residual.empty(),
                           .activation = e.by,
                           .pools_2x2 = p.pools_2x2,
                           .how = how,
                           .stored = stored,
                           .output = {.layout = stored_as, .pitch = writes ? output.pitch() : 0}};
  const buffer scratch(how.scratch_bytes), packed(how.packed_bytes), copies(kernels::converted_bytes(task, written));
  const auto by = kernels::functions_for(kernels::openmp::backend{}, p.op, graph::shapes(p.in), result);
  if (how.packed_bytes) by.pack(task, parameters, packed.data());
  kernels::run_converted(by, task, written, {inputs.data(), output.data(), parameters.data(), packed.data(), scratch.data()},
                         kernels::converts_by<kernels::openmp::backend>, copies.data());

  const auto content = output.content();
  EXPECT_TRUE(content.size() == expected.size() && std::memcmp(content.data(), expected.data(), 4 * expected.size()) == 0)
      << what;
  EXPECT_TRUE(output.rest_is_untouched()) << what << ": wrote beside its rows";
}

/// Computes `p` with every choice of bands, layout and number of threads.
template <class Op>
void check(problem<Op> p, const std::string& what, const ending& e = {}, const algorithm::choice* forced = nullptr) {
  const auto how = forced ? *forced : algorithm::choose_openmp(p.op, graph::shapes(p.in), p.result());
  ASSERT_TRUE(how.pitched) << what;
  for (const auto as : {layout::plain, layout::blocked}) {
    p.layout = as;
    p.threads = 1;
    const auto expected = compute<kernels::openmp::backend>(p, e, how);
    for (p.threads = 1; p.threads <= 3; ++p.threads)
      for (const auto& b : {bands{true, true, true}, {true, false, true}, {false, true, false}, {false, false, true}}) {
        if (p.residual.empty() && !b.inputs && !b.output) continue;
        expect_same(p, e, how, b, expected,
                    what + (as == layout::plain ? ", plain, " : ", blocked, ") + std::to_string(p.threads) + " threads, " +
                        std::to_string(b.inputs) + std::to_string(b.output) + std::to_string(b.residual));
      }
  }
}

/// With every algorithm and ending.
void check_conv(const ops::conv& op, const shape& in) {
  auto p = make(op, {in}, {{op.channels, in[1] / op.group, op.kernel[0], op.kernel[1]}, {op.channels}});
  const auto result = p.result();
  const std::string name = std::to_string(in[1]) + " to " + std::to_string(op.channels) + ", " +
                           std::to_string(op.kernel[0]) + 'x' + std::to_string(op.kernel[1]) + ", stride " +
                           std::to_string(op.strides[0]) + ", groups " + std::to_string(op.group);
  for (int v = 0; v < algorithm::variants_openmp(op, graph::shapes(p.in)); ++v) {
    const auto how = algorithm::variant_openmp(op, graph::shapes(p.in), result, v);
    const std::string what = name + ", variant " + std::to_string(v);
    check(p, what, {}, &how);
    check(with_residual(p), what + ", residual", ops::relu{}, &how);
    check(with_residual(p), what + ", residual and sigmoid", ops::sigmoid{}, &how);
    p.pools_2x2 = how.pools_2x2;
    if (p.pools_2x2) check(p, what + ", halved", ops::relu{}, &how);
    if (p.pools_2x2) check(p, what + ", halved", ops::tanh{}, &how);
    p.pools_2x2 = false;
  }
}

ops::conv conv(std::int64_t channels, int height, int width, int stride = 1, int pad = 0, std::int64_t groups = 1) {
  return {.channels = channels,
          .kernel = {height, width},
          .strides = {stride, stride},
          .pads = {pad, pad, pad, pad},
          .group = groups,
          .bias = true};
}

TEST(pitch, convolutions) {
  check_conv(conv(37, 3, 3, 1, 1), {2, 40, 9, 13});
  check_conv(conv(16, 5, 5, 1, 2), {1, 16, 12, 11});
  check_conv(conv(33, 1, 7), {1, 20, 5, 19});
  check_conv(conv(20, 3, 1), {1, 33, 8, 5});
  check_conv(conv(35, 1, 1), {2, 40, 6, 7});
  check_conv(conv(35, 1, 1, 2), {1, 40, 7, 9});
  check_conv(conv(40, 2, 2), {1, 24, 7, 8});  // in place
  check_conv(conv(24, 3, 3, 2, 1), {2, 300, 9, 9});
  check_conv(conv(24, 7, 7, 2, 3), {2, 3, 15, 16});
  check_conv(conv(24, 1, 1), {1, 5, 6, 7});
  check_conv(conv(24, 3, 3, 1, 1, 2), {2, 40, 8, 9});
  check_conv(conv(40, 3, 3, 1, 1, 40), {2, 40, 9, 30});
  check_conv(conv(24, 5, 5, 2, 2, 24), {1, 24, 30, 9});
  // Two bands of padded input.
  const auto p = make(conv(17, 3, 3, 1, 1), {{1, 40, 60, 90}}, {{17, 40, 3, 3}, {17}});
  const auto direct = algorithm::variant_openmp(p.op, graph::shapes(p.in), p.result(), 0);
  ASSERT_GT(algorithm::convolution(p.op, p.in[0], p.result()).bands(), 1);
  check(with_residual(p), "two bands", ops::relu{}, &direct);
}

// ∞ in the channels of another group: computed again from the band.
TEST(pitch, groups_with_infinity) {
  auto p = make(conv(24, 3, 3, 1, 1, 8), {{2, 40, 9, 30}}, {{24, 5, 3, 3}, {24}});
  p.inputs[0][270 + 5] = std::numeric_limits<float>::infinity();
  check(p, "groups", ops::relu{});
  p.op.pads = {};
  p.residual.clear();
  check(p, "groups, in place", ops::relu{});
}

TEST(pitch, pools) {
  for (const int stride : {1, 2})
    for (const std::int64_t size : {9, 60}) {
      const shape in{2, 40, size, size + 3};
      check(make(ops::max_pool{.kernel = {3, 3}, .strides = {stride, stride}, .pads = {1, 1, 1, 1}}, {in}), "largest");
      check(make(ops::average_pool{.kernel = {2, 3}, .strides = {stride, stride}, .pads = {1, 0, 0, 1}}, {in}), "average",
            ops::relu{});
    }
}

TEST(pitch, slices_and_concats) {
  for (const std::int64_t size : {5, 60}) {
    check(make(ops::slice{.starts = {0, 16, 1, 2}, .extents = {2, 24, 3, size - 2}}, {{2, 40, size, size + 1}}), "part");
    check(make(ops::slice{.starts = {1, 0, 2}, .steps = {1, 1, -1, 1}, .extents = {1, 40, 3, 1}}, {{2, 40, size, 2}}),
          "turned column", ops::sigmoid{});
    for (int axis = 0; axis < 4; ++axis) {
      shape a{2, 32, size, 7}, b = a, d = a;
      b[axis] = 16;
      d[axis] = 1;
      check(make(ops::concat{.axis = axis}, {a, b, d}), "joined along axis " + std::to_string(axis));
    }
  }
  check(make(ops::concat{.axis = 2}, {{2, 24, 40}, {2, 24, 3}}), "joined pixels");
}

// Rows that another kernel has written into the Concat's result stay where they are.
TEST(pitch, concat_of_rows_in_place) {
  const auto p = make(ops::concat{.axis = 2}, {{2, 40, 2, 5}, {2, 40, 6, 5}, {2, 40, 1, 5}});
  for (const auto as : {layout::plain, layout::blocked}) {
    const auto result = p.result();
    const auto row = 5 * (as == layout::blocked ? tensor::block : 1);
    band first(p.in[0], as, 0, 0), last(p.in[2], as, 3, 1), output(result, as, 1, 2);
    first.fill(p.inputs[0]);
    last.fill(p.inputs[2]);
    std::vector<float> values(static_cast<std::size_t>(result.elements()));
    for (std::int64_t c = 0; c < 80; ++c) std::copy_n(p.inputs[1].data() + c * 30, 30, values.data() + c * 45 + 10);
    output.fill(values);
    const void* const inputs[] = {first.data(), output.data() + 2 * row, last.data()};
    const tensor::storage stored[] = {{as}, {as, output.pitch()}, {as, last.pitch()}};
    const kernels::task task{.op = &p.op,
                             .inputs = p.in,
                             .result = result,
                             .how = algorithm::choose_openmp(p.op, graph::shapes(p.in), result),
                             .stored = stored,
                             .output = {as, output.pitch()}};
    kernels::compiled<kernels::openmp::backend, ops::concat>::run(task, {inputs, output.data(), nullptr, nullptr, nullptr});
    EXPECT_EQ(output.content(), compute<kernels::openmp::backend>(p));
    EXPECT_TRUE(output.rest_is_untouched());
  }
}

}  // namespace
