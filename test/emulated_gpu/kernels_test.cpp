// dice's own CUDA kernels, run by the emulated GPU, against plain loops.
#include "dice/kernels/cudnn/cuda/kernels.hpp"
#include "dice/meta/enum_name.hpp"
#include "fixture.hpp"
#include "numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace cudnn = dice::kernels::cudnn;
namespace graph = dice::graph;
using emulated::expect_near;
using emulated::noise;
using emulated::numbers;
using kernels = emulated::gpu_test;

constexpr int functions = static_cast<int>(dice::meta::value_count<cudnn::function>);

std::size_t at(int i) { return static_cast<std::size_t>(i); }

float f(cudnn::function how, float a, float b, float x) {
  switch (how) {
    case cudnn::function::none:
      return x;
    case cudnn::function::relu:
      return std::max(x, 0.0f);
    case cudnn::function::leaky_relu:
      return x < 0 ? a * x : x;
    case cudnn::function::elu:
      return x < 0 ? a * (std::exp(x) - 1) : x;
    case cudnn::function::clip:
      return std::min(std::max(x, a), b);
    case cudnn::function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case cudnn::function::tanh:
      return std::tanh(x);
    case cudnn::function::hard_sigmoid:
      return std::min(std::max(a * x + b, 0.0f), 1.0f);
    case cudnn::function::hard_swish:
      return x * std::min(std::max(x / 6 + 0.5f, 0.0f), 1.0f);
    case cudnn::function::abs:
      return std::abs(x);
    case cudnn::function::ceil:
      return std::ceil(x);
    case cudnn::function::celu:
      return x < 0 ? a * (std::exp(x / a) - 1) : x;
    case cudnn::function::erf:
      return std::erf(x);
    case cudnn::function::exp:
      return std::exp(x);
    case cudnn::function::floor:
      return std::floor(x);
    case cudnn::function::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0f)));
    case cudnn::function::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265f) * (x + 0.044715f * x * x * x)));
    case cudnn::function::log:
      return std::log(x);
    case cudnn::function::mish:
      return x * std::tanh(std::log(1 + std::exp(x)));
    case cudnn::function::neg:
      return -x;
    case cudnn::function::reciprocal:
      return 1 / x;
    case cudnn::function::round:
      return std::nearbyint(x);
    case cudnn::function::selu:
      return b * (x < 0 ? a * (std::exp(x) - 1) : x);
    case cudnn::function::sign:
      return static_cast<float>((x > 0) - (x < 0));
    case cudnn::function::softplus:
      return std::log(1 + std::exp(x));
    case cudnn::function::softsign:
      return x / (1 + std::abs(x));
    case cudnn::function::sqrt:
      return std::sqrt(x);
    case cudnn::function::swish:
      return x / (1 + std::exp(-a * x));
    case cudnn::function::thresholded_relu:
      return x > a ? x : 0;
  }
  return 0;
}

TEST_F(kernels, elements_with_every_function) {
  const int images = 2, channels = 3, pixels = 37, n = images * channels * pixels;
  const auto x = noise(n, 1, -4, 4), scale = noise(channels, 2), shift = noise(channels, 3), residual = noise(n, 4);
  const numbers dx(x), dscale(scale), dshift(shift), dresidual(residual), dy(n);
  for (int how = 0; how < functions; ++how)
    for (int parts = 0; parts < 8; ++parts) {
      const bool scales = parts & 1, shifts = parts & 2, adds = parts & 4;
      const auto function = static_cast<cudnn::function>(how);
      const cudnn::ending end{function, 0.3f, 0.6f, adds ? dresidual.at() : nullptr};
      ASSERT_EQ(cudnn::start(cudnn::elements{dy.at(), dx.at(), n, scales ? dscale.at() : nullptr,
                                             shifts ? dshift.at() : nullptr, channels, pixels, end},
                             stream),
                cudaSuccess);
      std::vector<float> expected;
      for (int i = 0; i < n; ++i) {
        const auto c = at(i / pixels % channels);
        const float y = x[at(i)] * (scales ? scale[c] : 1) + (shifts ? shift[c] : 0) + (adds ? residual[at(i)] : 0);
        expected.push_back(f(function, 0.3f, 0.6f, y));
      }
      auto found = dy.get();
      for (std::size_t i = 0; i < found.size(); ++i)
        if (std::isnan(expected[i]) && std::isnan(found[i])) expected[i] = found[i] = 0;  // of negative numbers
      expect_near(found, expected);
    }
}

TEST_F(kernels, nan_passes_functions) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const numbers x(std::vector<float>{nan, 1}), y(2);
  for (int how = 0; how < functions; ++how) {
    ASSERT_EQ(cudnn::start(
                  cudnn::elements{
                      y.at(), x.at(), 2, nullptr, nullptr, 1, 1, {static_cast<cudnn::function>(how), 0.5f, 1, nullptr}},
                  stream),
              cudaSuccess);
    EXPECT_TRUE(std::isnan(y.get()[0])) << how;
    EXPECT_FALSE(std::isnan(y.get()[1])) << how;
  }
}

TEST_F(kernels, pairs_with_broadcasting) {
  const int extent[] = {2, 5, 7};
  const auto a = noise(2 * 5 * 7, 1), b = noise(5, 2, 0.5f, 2);
  for (const auto op : {graph::arithmetic::add, graph::arithmetic::sub, graph::arithmetic::mul, graph::arithmetic::div,
                        graph::arithmetic::max, graph::arithmetic::min, graph::arithmetic::p_relu}) {
    const numbers da(a), db(b);
    cudnn::binary p{da.at(), da.at(), db.at(), op, 70, 3, {2, 5, 7}, {35, 7, 1}, {0, 1, 0}, {}};  // in place
    ASSERT_EQ(cudnn::start(p, stream), cudaSuccess);
    std::vector<float> expected;
    for (int i = 0; i < 70; ++i) {
      const float x = a[at(i)], z = b[at(i / 7 % extent[1])];
      expected.push_back(op == graph::arithmetic::add   ? x + z
                         : op == graph::arithmetic::sub ? x - z
                         : op == graph::arithmetic::mul ? x * z
                         : op == graph::arithmetic::div ? x / z
                         : op == graph::arithmetic::max ? std::max(x, z)
                         : op == graph::arithmetic::min ? std::min(x, z)
                         : x < 0                        ? x * z
                                                        : x);
    }
    expect_near(da.get(), expected);
  }
}

TEST_F(kernels, gather_pads_slices_transposes_and_enlarges) {
  const auto x = noise(3 * 5);
  const numbers dx(x);
  for (const auto outside : {cudnn::beyond::value, cudnn::beyond::edge, cudnn::beyond::reflect, cudnn::beyond::wrap}) {
    const numbers dy(7 * 8);
    ASSERT_EQ(cudnn::start(
                  cudnn::gather{dy.at(), dx.at(), 56, 2, {7, 8}, {1, 1}, {-2, -1}, {1, 1}, {3, 5}, {5, 1}, outside, 9, {}},
                  stream),
              cudaSuccess);
    std::vector<float> expected;
    const auto place = [&](int q, int n) {
      if (outside == cudnn::beyond::wrap) return (q + n) % n;
      return outside == cudnn::beyond::edge ? std::clamp(q, 0, n - 1) : q < 0 ? -q : q >= n ? 2 * (n - 1) - q : q;
    };
    for (int r = -2; r < 5; ++r)
      for (int c = -1; c < 7; ++c) {
        const bool inside = r >= 0 && r < 3 && c >= 0 && c < 5;
        expected.push_back(!inside && outside == cudnn::beyond::value ? 9 : x[at(place(r, 3) * 5 + place(c, 5))]);
      }
    expect_near(dy.get(), expected);
  }
  const numbers turned(15), every(4), large(6 * 10);
  ASSERT_EQ(
      cudnn::start(cudnn::gather{turned.at(), dx.at(), 15, 2, {5, 3}, {1, 1}, {0, 0}, {1, 1}, {5, 3}, {1, 5}, {}, 0, {}},
                   stream),
      cudaSuccess);
  ASSERT_EQ(
      cudnn::start(cudnn::gather{every.at(), dx.at(), 4, 2, {2, 2}, {2, -3}, {0, 4}, {1, 1}, {3, 5}, {5, 1}, {}, 0, {}},
                   stream),
      cudaSuccess);
  ASSERT_EQ(
      cudnn::start(cudnn::gather{large.at(), dx.at(), 60, 2, {6, 10}, {1, 1}, {0, 0}, {2, 2}, {3, 5}, {5, 1}, {}, 0, {}},
                   stream),
      cudaSuccess);
  std::vector<float> expected;
  for (int i = 0; i < 15; ++i) expected.push_back(x[at(i % 3 * 5 + i / 3)]);
  expect_near(turned.get(), expected);
  expect_near(every.get(), {x[4], x[1], x[14], x[11]});
  expected.clear();
  for (int i = 0; i < 60; ++i) expected.push_back(x[at(i / 20 * 5 + i % 10 / 2)]);
  expect_near(large.get(), expected);
}

TEST_F(kernels, rows_lie_apart) {
  const auto x = noise(3 * 5);
  const numbers dx(x), dy(3 * 8);
  ASSERT_EQ(cudnn::start(cudnn::rows{dy.at(), dx.at(), 3, 5, 8}, stream), cudaSuccess);
  const auto y = dy.get();
  for (int i = 0; i < 24; ++i) {
    if (i % 8 < 5) EXPECT_EQ(y[at(i)], x[at(i / 8 * 5 + i % 8)]);
    else EXPECT_TRUE(std::isnan(y[at(i)])) << i;
  }
}

TEST_F(kernels, blocked_layout_and_back) {
  for (const int channels : {1, 16, 19}) {
    const int images = 2, pixels = 9, blocks = (channels + 15) / 16;
    const auto x = noise(images * channels * pixels);
    const numbers dx(x), blocked(images * blocks * 16 * pixels), back(images * channels * pixels);
    ASSERT_EQ(cudnn::start(cudnn::convert{blocked.at(), dx.at(), images, channels, pixels, true}, stream), cudaSuccess);
    ASSERT_EQ(cudnn::start(cudnn::convert{back.at(), blocked.at(), images, channels, pixels, false}, stream), cudaSuccess);
    expect_near(back.get(), x, 0);
    const auto b = blocked.get();
    for (int n = 0; n < images; ++n)
      for (int c = 0; c < blocks * 16; ++c)
        for (int p = 0; p < pixels; ++p)
          ASSERT_EQ(b[at(((n * blocks + c / 16) * pixels + p) * 16 + c % 16)],
                    c < channels ? x[at((n * channels + c) * pixels + p)] : 0.0f);
  }
}

TEST_F(kernels, pooling) {
  const int planes = 3, ih = 9, iw = 7;
  const auto x = noise(planes * ih * iw);
  const numbers dx(x);
  // The last one has a row beyond the padding, as ceil_mode makes it.
  for (const auto& p : {cudnn::pool{nullptr, nullptr, planes, ih, iw, 4, 3, {3, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {}, {}},
                        cudnn::pool{nullptr, nullptr, planes, ih, iw, 9, 5, {3, 3}, {1, 1}, {1, 2}, {1, 1, 1, 1}, {}, {}},
                        cudnn::pool{nullptr, nullptr, planes, ih, iw, 5, 4, {3, 3}, {2, 2}, {1, 1}, {1, 1, 0, 1}, {}, {}}})
    for (const auto how : {cudnn::pooling::largest, cudnn::pooling::mean_inside, cudnn::pooling::mean_padded}) {
      const int n = planes * p.out_height * p.out_width;
      const auto residual = noise(n, 5);
      const numbers dy(n), dresidual(residual);
      auto q = p;
      q.y = dy.at();
      q.x = dx.at();
      q.how = how;
      q.end.residual = dresidual.at();
      ASSERT_EQ(cudnn::start(q, stream), cudaSuccess);
      std::vector<float> expected;
      for (int i = 0; i < n; ++i) {
        const int ox = i % p.out_width, oy = i / p.out_width % p.out_height, plane = i / p.out_width / p.out_height;
        std::vector<float> window;
        int padded = 0;
        for (int ky = 0; ky < p.kernel[0]; ++ky)
          for (int kx = 0; kx < p.kernel[1]; ++kx) {
            const int r = oy * p.strides[0] - p.pads[0] + ky * p.dilations[0],
                      c = ox * p.strides[1] - p.pads[1] + kx * p.dilations[1];
            if (r < ih + p.pads[2] && c < iw + p.pads[3]) ++padded;
            if (r >= 0 && r < ih && c >= 0 && c < iw) window.push_back(x[at((plane * ih + r) * iw + c)]);
          }
        float sum = 0, largest = -std::numeric_limits<float>::infinity();
        for (const float v : window) {
          sum += v;
          largest = std::max(largest, v);
        }
        const float mean =
            sum / static_cast<float>(how == cudnn::pooling::mean_padded ? padded : static_cast<int>(window.size()));
        expected.push_back((how == cudnn::pooling::largest ? largest : mean) + residual[at(i)]);
      }
      expect_near(dy.get(), expected);
    }
}

TEST_F(kernels, nan_wins_in_pooling) {
  auto x = noise(9);
  x[4] = std::numeric_limits<float>::quiet_NaN();
  const numbers dx(x), dy(1);
  for (const auto how : {cudnn::pooling::largest, cudnn::pooling::mean_inside}) {
    ASSERT_EQ(cudnn::start(cudnn::pool{dy.at(), dx.at(), 1, 3, 3, 1, 1, {3, 3}, {1, 1}, {1, 1}, {}, how, {}}, stream),
              cudaSuccess);
    EXPECT_TRUE(std::isnan(dy.get()[0]));
  }
}

TEST_F(kernels, depthwise_of_all_windows) {
  struct window {
    int kh, kw, stride, dilation, pad;
  };
  for (const auto& w :
       {window{3, 3, 1, 1, 1}, window{3, 3, 2, 2, 0}, window{5, 5, 1, 1, 2}, window{1, 7, 1, 1, 3}, window{4, 3, 2, 1, 1}})
    for (const bool biased : {false, true}) {
      const int images = 2, channels = 5, ih = 13, iw = 11;
      const auto extent = [&](int in, int k) { return (in + 2 * w.pad - w.dilation * (k - 1) - 1) / w.stride + 1; };
      const int oh = extent(ih, w.kh), ow = extent(iw, w.kw), n = images * channels * oh * ow;
      const auto x = noise(images * channels * ih * iw), weights = noise(channels * w.kh * w.kw, 2),
                 bias = noise(channels, 3);
      const numbers dx(x), dw(weights), db(bias), dy(n);
      ASSERT_EQ(cudnn::start(cudnn::depthwise{dy.at(),
                                              dx.at(),
                                              dw.at(),
                                              biased ? db.at() : nullptr,
                                              images,
                                              channels,
                                              ih,
                                              iw,
                                              oh,
                                              ow,
                                              {w.kh, w.kw},
                                              {w.stride, w.stride},
                                              {w.dilation, w.dilation},
                                              {w.pad, w.pad},
                                              {cudnn::function::relu, 0, 0, nullptr}},
                             stream),
                cudaSuccess);
      std::vector<float> expected;
      for (int i = 0; i < n; ++i) {
        const int ox = i % ow, oy = i / ow % oh, plane = i / ow / oh, c = plane % channels;
        double y = biased ? bias[at(c)] : 0;
        for (int ky = 0; ky < w.kh; ++ky)
          for (int kx = 0; kx < w.kw; ++kx) {
            const int r = oy * w.stride - w.pad + ky * w.dilation, q = ox * w.stride - w.pad + kx * w.dilation;
            if (r >= 0 && r < ih && q >= 0 && q < iw)
              y += x[at((plane * ih + r) * iw + q)] * weights[at((c * w.kh + ky) * w.kw + kx)];
          }
        expected.push_back(std::max(0.0f, static_cast<float>(y)));
      }
      expect_near(dy.get(), expected);
    }
}

TEST_F(kernels, products_of_odd_shapes) {
  for (const int rows : {1, 3, 4, 9})
    for (const int columns : {1, 5})
      for (const int depth : {1, 31, 64, 300})
        for (const int skip : {0, 1}) {  // 1: not aligned for vectors
          const auto x = noise(rows * depth), w = noise(columns * depth, 2), bias = noise(columns, 3),
                     z = noise(rows * columns, 4);
          const numbers dx(x, skip), dw(w), db(bias), dz(z), dy(rows * columns);
          ASSERT_EQ(cudnn::start(cudnn::matrix{dy.at(),
                                               dx.at(),
                                               dw.at(),
                                               skip ? nullptr : db.at(),
                                               rows,
                                               columns,
                                               depth,
                                               {cudnn::function::relu, 0, 0, dz.at()}},
                                 stream),
                    cudaSuccess);
          std::vector<float> expected;
          for (int i = 0; i < rows * columns; ++i) {
            double y = z[at(i)] + (skip ? 0 : bias[at(i % columns)]);
            for (int k = 0; k < depth; ++k) y += x[at(i / columns * depth + k)] * w[at(i % columns * depth + k)];
            expected.push_back(std::max(0.0f, static_cast<float>(y)));
          }
          expect_near(dy.get(), expected);
        }
}

TEST_F(kernels, products_with_weights_of_16_bits) {
  const int rows = 3, columns = 4;
  for (const int depth : {8, 264, 37})
    for (const int skip : {0, 1}) {  // 1: x is not aligned for vectors
      const auto x = noise(rows * depth), w = noise(columns * depth, 2);
      const numbers dx(x, skip), dw(columns * depth / 2), dy(rows * columns);
      std::vector<std::uint16_t> half(w.size());
      for (std::size_t i = 0; i < w.size(); ++i)
        emulated::write(emulated::number::f16, half.data(), static_cast<std::int64_t>(i), w[i]);
      ASSERT_EQ(cudaMemcpy(dw.at(), half.data(), half.size() * 2, cudaMemcpyHostToDevice), cudaSuccess);
      const auto* weights = reinterpret_cast<const unsigned short*>(dw.at());
      ASSERT_EQ(
          cudnn::start(cudnn::half_matrix{dy.at(), dx.at(), weights, nullptr, rows, columns, depth, false, {}}, stream),
          cudaSuccess);
      std::vector<float> expected(rows * columns);
      for (int i = 0; i < rows * columns; ++i)
        for (int k = 0; k < depth; ++k) expected[at(i)] += x[at(i / columns * depth + k)] * w[at(i % columns * depth + k)];
      expect_near(dy.get(), expected, 2e-2f);
    }
}

TEST_F(kernels, a_classifier_takes_seconds) {
  const int columns = 4096, depth = 25088;
  const auto x = noise(depth);
  const numbers dx(x), dw(std::int64_t{columns} * depth), dy(columns);
  ASSERT_EQ(cudaMemsetAsync(dw.at(), 0, std::size_t{columns} * depth * sizeof(float), stream), cudaSuccess);
  ASSERT_EQ(cudnn::start(cudnn::matrix{dy.at(), dx.at(), dw.at(), nullptr, 1, columns, depth, {}}, stream), cudaSuccess);
  expect_near(dy.get(), std::vector<float>(columns, 0.0f));
}

TEST_F(kernels, means_over_any_axes) {
  // Of 4 × 5 × 6 × 7 over axes 1 and 3.
  const auto x = noise(4 * 5 * 6 * 7);
  const numbers dx(x), dy(24);
  ASSERT_EQ(
      cudnn::start(
          cudnn::reduce{
              dy.at(), dx.at(), cudnn::joining::sum, false, 1.0f / 35, 24, 35, 2, {4, 6}, {210, 7}, 2, {5, 7}, {42, 1}, {}},
          stream),
      cudaSuccess);
  std::vector<float> expected;
  for (int i = 0; i < 24; ++i) {
    double sum = 0;
    for (int k = 0; k < 35; ++k) sum += x[at(i / 6 * 210 + k / 7 * 42 + i % 6 * 7 + k % 7)];
    expected.push_back(static_cast<float>(sum / 35));
  }
  expect_near(dy.get(), expected);
}

TEST_F(kernels, picks_along_the_middle) {
  const auto x = noise(2 * 3 * 4);
  const numbers dx(x), indices({2, 0, 7, -1, std::numeric_limits<float>::quiet_NaN(), 1}), dy(2 * 6 * 4);
  ASSERT_EQ(cudnn::start(cudnn::pick{dy.at(), dx.at(), indices.at(), 48, 6, 3, 4, {.f = cudnn::function::abs}}, stream),
            cudaSuccess);
  std::vector<float> expected;
  for (int o = 0; o < 2; ++o)
    for (const int k : {2, 0, 2, 0, 0, 1})
      for (int j = 0; j < 4; ++j) expected.push_back(std::abs(x[at((o * 3 + k) * 4 + j)]));
  expect_near(dy.get(), expected);
}

TEST_F(kernels, cumulates_along_the_middle) {
  const auto x = noise(2 * 5 * 3);
  const numbers dx(x);
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      const numbers dy(30);
      ASSERT_EQ(
          cudnn::start(cudnn::cumulate{dy.at(), dx.at(), 2, 5, 3, exclusive, reverse, {.f = cudnn::function::neg}}, stream),
          cudaSuccess);
      std::vector<float> expected(30);
      for (int i = 0; i < 30; ++i)
        for (int k = 0; k < 5; ++k) {
          const int own = i / 3 % 5, other = reverse ? own - k : k - own;
          if (other < 0 || (other == 0 && !exclusive)) expected[at(i)] -= x[at((i / 15 * 5 + k) * 3 + i % 3)];
        }
      expect_near(dy.get(), expected);
    }
}

TEST_F(kernels, softmax_along_the_middle) {
  for (const int size : {1, 10, 1000})
    for (const int inner : {1, 3}) {
      const int outer = 2;
      const auto x = noise(outer * size * inner, 1, -30, 30);
      const numbers dx(x), dy(outer * size * inner);
      ASSERT_EQ(cudnn::start(cudnn::softmax{dy.at(), dx.at(), outer, size, inner, false, {}}, stream), cudaSuccess);
      std::vector<float> expected(x.size());
      for (int o = 0; o < outer; ++o)
        for (int j = 0; j < inner; ++j) {
          double sum = 0;
          for (int k = 0; k < size; ++k) sum += std::exp(static_cast<double>(x[at((o * size + k) * inner + j)]));
          for (int k = 0; k < size; ++k) {
            const auto i = at((o * size + k) * inner + j);
            expected[i] = static_cast<float>(std::exp(static_cast<double>(x[i])) / sum);
          }
        }
      expect_near(dy.get(), expected);
    }
}

TEST_F(kernels, normalization_across_channels) {
  for (const int size : {1, 4, 5}) {
    const int images = 2, channels = 7, pixels = 6, n = images * channels * pixels;
    const auto x = noise(n, 1, -3, 3);
    const numbers dx(x), dy(n);
    ASSERT_EQ(cudnn::start(cudnn::lrn{dy.at(), dx.at(), images, channels, pixels, size, 0.4f, 0.75f, 1.5f, {}}, stream),
              cudaSuccess);
    std::vector<float> expected;
    for (int i = 0; i < n; ++i) {
      const int c = i / pixels % channels;
      double squares = 0;
      for (int k = std::max(0, c - (size - 1) / 2); k <= std::min(channels - 1, c + size / 2); ++k)
        squares += std::pow(static_cast<double>(x[at(i + (k - c) * pixels)]), 2);
      expected.push_back(static_cast<float>(x[at(i)] / std::pow(1.5 + 0.4 / size * squares, 0.75)));
    }
    expect_near(dy.get(), expected);
  }
}

TEST_F(kernels, tell_for_what_they_are_built) { EXPECT_EQ(cudnn::built_for(), std::string("emulated")); }

}  // namespace
