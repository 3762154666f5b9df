// Inputs and expected outputs of a case, and ONNX's comparison.
#pragma once

#include "read/constant.hpp"
#include "tolerance.hpp"

#include "dice/frames/numbers.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

struct values {
  std::vector<std::int64_t> dims;
  std::vector<float> data;
  dice::tensor::number type;
  double rounding = 0;  ///< of the expected value, relative
};

/// A tensor whose elements are raw data of the type `type`; for float32 of any real type. Throws std::runtime_error if it
/// has another shape than `wanted`.
inline values read(const std::string& path, dice::tensor::number type, const dice::tensor::shape& wanted) {
  std::ifstream in(path, std::ios::binary);
  onnx::TensorProto t;
  if (!t.ParseFromIstream(&in) || !t.has_raw_data()) throw std::runtime_error(path + " is not a tensor with raw data");
  values out{{t.dims().begin(), t.dims().end()}, {}, type};
  if (type == dice::tensor::number::float32) {
    const auto* first = reinterpret_cast<const std::byte*>(t.raw_data().data());
    const auto c = onnx2hpp::make_constant(static_cast<onnx2hpp::element>(t.data_type()), out.dims,
                                           std::vector(first, first + t.raw_data().size()));
    out.data.resize(static_cast<std::size_t>(c.elements()));
    onnx2hpp::to_float32(c, 0, out.data);
    if (is_half(c.type)) out.rounding = 1.0 / 1024;
  } else {
    dice::tensor::with_type_of(type, [&]<class T>(T) {
      std::vector<std::conditional_t<sizeof(T) == 1, std::uint8_t, T>> numbers(t.raw_data().size() / sizeof(T));
      std::memcpy(numbers.data(), t.raw_data().data(), t.raw_data().size());
      out.data.assign(numbers.begin(), numbers.end());
    });
  }
  if (out.dims != std::vector<std::int64_t>(wanted.dim, wanted.dim + wanted.rank) ||
      static_cast<std::int64_t>(out.data.size()) != wanted.elements())
    throw std::runtime_error(path + " has another shape");
  return out;
}

/// Throws std::runtime_error at the first of the elements found that ONNX would not accept.
inline void require_near(std::span<const float> found, const values& expected) {
  const bool real = expected.type == dice::tensor::number::float32;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto number = dice::tensor::with_type_of(
        expected.type, [&]<class T>(T) { return static_cast<double>(dice::frames::as_number<T>(found[i])); });
    if (const float e = expected.data[i]; real ? !near(number, e, expected.rounding) : number != e)
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(number) + ", expected " +
                               std::to_string(e));
  }
}

}  // namespace conformance
