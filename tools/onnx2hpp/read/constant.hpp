#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace onnx2hpp {

/// Element types, numbered as ONNX's TensorProto.DataType.
enum class element : std::int32_t {
  none = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
  uint4 = 21,
  int4 = 22,
  uint2 = 25,
  int2 = 26,
};

/// Bytes of one element in memory; 0 for a type that this tool does not handle.
std::size_t size_of(element type);
/// Bits of one element of a type whose elements share bytes in a file; 0 for all other types.
int packed_bits(element type);
bool is_real(element type);
/// float16 and bfloat16.
bool is_half(element type);
/// ONNX's name of the type, for messages.
std::string name_of(element type);

/// A constant tensor. Its bytes (elements in row-major order, as ONNX's raw_data) may lie in a mapped file.
struct constant {
  element type = element::float32;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps `bytes` alive

  std::int64_t elements() const { return static_cast<std::int64_t>(bytes.size() / size_of(type)); }
  int rank() const { return static_cast<int>(dims.size()); }
};

/// Product of `dims`, or -1 if one is negative or the product of the nonzero ones exceeds 2^40. So no product of a subset
/// overflows.
std::int64_t element_count(std::span<const std::int64_t> dims);

/// Maximum number of axes of a constant; activations have at most dice::tensor::max_rank.
inline constexpr std::size_t max_axes = 64;

/// All elements as double; exact for every type but the 64-bit integers.
std::vector<double> reals(const constant& c);
/// All elements as 64-bit integers; reals are truncated towards zero and clamped to the range of the type.
std::vector<std::int64_t> integers(const constant& c);
/// Elements [first, first + out.size()) as float32.
void to_float32(const constant& c, std::int64_t first, std::span<float> out);

/// The constant in float32 if its type is float16 or bfloat16, of which every number is also one of float32.
constant widened(const constant& c);

/// A constant of type `type` and shape `dims` from its elements, rounded or truncated to that type.
constant make_constant(element type, std::vector<std::int64_t> dims, std::span<const double> values);
constant make_constant(element type, std::vector<std::int64_t> dims, std::span<const std::int64_t> values);
/// The same from the elements' bytes.
constant make_constant(element type, std::vector<std::int64_t> dims, std::vector<std::byte> bytes);
/// The same of a type with packed_bits from bytes as in files: the first element has the lowest bits.
constant unpacked(element type, std::vector<std::int64_t> dims, std::span<const std::byte> packed);

}  // namespace onnx2hpp
