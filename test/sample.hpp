// A network written by hand in the form that onnx2hpp generates: a residual block, a view, a Concat and two outputs of
// different shapes, small enough to check by eye.
#pragma once

#include <dice/graph/graph.hpp>

namespace sample {

template <int Id> struct layer_at;

struct image final {
  static constexpr int id = 0;
  static constexpr ::std::string_view name = "image", onnx_name = "image";
  static constexpr ::dice::ops::input op{.extents = {1, 3, 8, 8}};
  static constexpr ::std::array<int, 0> operands{};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 3, 8, 8};
};
template <> struct layer_at<0> { using type = image; };

struct conv1 final {
  static constexpr int id = 1;
  static constexpr ::std::string_view name = "conv1", onnx_name = "/conv1/Conv";
  static constexpr ::dice::ops::conv op{.channels = 4,
                                        .kernel = {3, 3},
                                        .strides = {1, 1},
                                        .dilations = {1, 1},
                                        .pads = {1, 1, 1, 1},
                                        .group = 1,
                                        .bias = true};
  static constexpr ::std::array<int, 1> operands{0};
  static constexpr ::std::array<::dice::graph::parameter, 2> parameters{{{0, {4, 3, 3, 3}}, {448, {4}}}};
  static constexpr ::dice::tensor::shape result{1, 4, 8, 8};
};
template <> struct layer_at<1> { using type = conv1; };

struct relu1 final {
  static constexpr int id = 2;
  static constexpr ::std::string_view name = "relu1", onnx_name = "/relu1/Relu";
  static constexpr ::dice::ops::relu op{};
  static constexpr ::std::array<int, 1> operands{1};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 4, 8, 8};
};
template <> struct layer_at<2> { using type = relu1; };

struct conv2 final {
  static constexpr int id = 3;
  static constexpr ::std::string_view name = "conv2", onnx_name = "/conv2/Conv";
  static constexpr ::dice::ops::conv op{.channels = 4,
                                        .kernel = {1, 1},
                                        .strides = {1, 1},
                                        .dilations = {1, 1},
                                        .pads = {0, 0, 0, 0},
                                        .group = 1,
                                        .bias = false};
  static constexpr ::std::array<int, 1> operands{2};
  static constexpr ::std::array<::dice::graph::parameter, 1> parameters{{{512, {4, 4, 1, 1}}}};
  static constexpr ::dice::tensor::shape result{1, 4, 8, 8};
};
template <> struct layer_at<3> { using type = conv2; };

struct add1 final {
  static constexpr int id = 4;
  static constexpr ::std::string_view name = "add1", onnx_name = "/add1/Add";
  static constexpr ::dice::ops::add op{};
  static constexpr ::std::array<int, 2> operands{3, 2};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 4, 8, 8};
};
template <> struct layer_at<4> { using type = add1; };

struct relu2 final {
  static constexpr int id = 5;
  static constexpr ::std::string_view name = "relu2", onnx_name = "/relu2/Relu";
  static constexpr ::dice::ops::relu op{};
  static constexpr ::std::array<int, 1> operands{4};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 4, 8, 8};
};
template <> struct layer_at<5> { using type = relu2; };

struct pool1 final {
  static constexpr int id = 6;
  static constexpr ::std::string_view name = "pool1", onnx_name = "/pool1/MaxPool";
  static constexpr ::dice::ops::max_pool op{.kernel = {2, 2}, .strides = {2, 2}};
  static constexpr ::std::array<int, 1> operands{5};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 4, 4, 4};
};
template <> struct layer_at<6> { using type = pool1; };

struct pool2 final {
  static constexpr int id = 7;
  static constexpr ::std::string_view name = "pool2", onnx_name = "/pool2/AveragePool";
  static constexpr ::dice::ops::average_pool op{.kernel = {2, 2}, .strides = {2, 2}};
  static constexpr ::std::array<int, 1> operands{5};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 4, 4, 4};
};
template <> struct layer_at<7> { using type = pool2; };

struct concat1 final {
  static constexpr int id = 8;
  static constexpr ::std::string_view name = "concat1", onnx_name = "/concat1/Concat";
  static constexpr ::dice::ops::concat op{.axis = 1};
  static constexpr ::std::array<int, 2> operands{6, 7};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 8, 4, 4};
};
template <> struct layer_at<8> { using type = concat1; };

struct flatten1 final {
  static constexpr int id = 9;
  static constexpr ::std::string_view name = "flatten1", onnx_name = "/flatten1/Flatten";
  static constexpr ::dice::ops::flatten op{.axis = 1};
  static constexpr ::std::array<int, 1> operands{8};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 128};
};
template <> struct layer_at<9> { using type = flatten1; };

struct fc1 final {
  static constexpr int id = 10;
  static constexpr ::std::string_view name = "fc1", onnx_name = "/fc1/Gemm";
  static constexpr ::dice::ops::gemm op{.columns = 10, .depth = 128, .bias = true};
  static constexpr ::std::array<int, 1> operands{9};
  static constexpr ::std::array<::dice::graph::parameter, 2> parameters{{{576, {10, 128}}, {5696, {10}}}};
  static constexpr ::dice::tensor::shape result{1, 10};
};
template <> struct layer_at<10> { using type = fc1; };

struct scores final {
  static constexpr int id = 11;
  static constexpr ::std::string_view name = "scores", onnx_name = "scores";
  static constexpr ::dice::ops::output op{};
  static constexpr ::std::array<int, 1> operands{10};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 10};
};
template <> struct layer_at<11> { using type = scores; };

struct network final {
  static constexpr int size = 12;
  static constexpr ::std::string_view name = "sample";
  static constexpr ::dice::graph::weights_file weights{
      .file = "sample.safetensors",
      .structure = "0000000000000000000000000000000000000000000000000000000000000000",
      .bytes = 5760};
  template <int Id> using layer = typename layer_at<Id>::type;
};

}  // namespace sample
