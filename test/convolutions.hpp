// A network written by hand in the form that onnx2hpp generates: two 3×3 convolutions that Winograd's algorithm computes.
#pragma once

#include <dice/graph/graph.hpp>

namespace convolutions {

template <int Id> struct layer_at;

struct image final {
  static constexpr int id = 0;
  static constexpr ::std::string_view name = "image", onnx_name = "image";
  static constexpr ::dice::ops::input op{.extents = {1, 32, 28, 28}};
  static constexpr ::std::array<int, 0> operands{};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 32, 28, 28};
};
template <> struct layer_at<0> { using type = image; };

struct narrow final {
  static constexpr int id = 1;
  static constexpr ::std::string_view name = "narrow", onnx_name = "narrow";
  static constexpr ::dice::ops::conv op{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  static constexpr ::std::array<int, 1> operands{0};
  static constexpr ::std::array<::dice::graph::parameter, 1> parameters{{{0, {32, 32, 3, 3}}}};
  static constexpr ::dice::tensor::shape result{1, 32, 28, 28};
};
template <> struct layer_at<1> { using type = narrow; };

struct wide final {
  static constexpr int id = 2;
  static constexpr ::std::string_view name = "wide", onnx_name = "wide";
  static constexpr ::dice::ops::conv op{.channels = 128, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  static constexpr ::std::array<int, 1> operands{1};
  static constexpr ::std::array<::dice::graph::parameter, 1> parameters{{{36864, {128, 32, 3, 3}}}};
  static constexpr ::dice::tensor::shape result{1, 128, 28, 28};
};
template <> struct layer_at<2> { using type = wide; };

struct features final {
  static constexpr int id = 3;
  static constexpr ::std::string_view name = "features", onnx_name = "features";
  static constexpr ::dice::ops::output op{};
  static constexpr ::std::array<int, 1> operands{2};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1, 128, 28, 28};
};
template <> struct layer_at<3> { using type = features; };

struct network final {
  static constexpr int size = 4;
  static constexpr ::std::string_view name = "convolutions";
  static constexpr ::dice::graph::weights_file weights{
      .file = "convolutions.safetensors",
      .structure = "1111111111111111111111111111111111111111111111111111111111111111",
      .bytes = 184320};
  template <int Id> using layer = typename layer_at<Id>::type;
};

}  // namespace convolutions
