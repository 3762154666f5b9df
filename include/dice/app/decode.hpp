// What the results of engines mean: boxes, classes and masks of xtensor's tensors.
#pragma once

#include "dice/decode/boxes.hpp"
#include "dice/decode/classes.hpp"
#include "dice/decode/mask.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/number.hpp"

#include <xtensor/xexpression.hpp>
#include <xtensor/xlayout.hpp>
#include <xtensor/xmath.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace dice::decode {

namespace detail {

/// The element type that stands for numbers of type T in a tensor::type.
template <class T> constexpr tensor::number element_of() {
  if constexpr (std::is_same_v<T, bool>) return tensor::number::boolean;
  else if constexpr (std::is_floating_point_v<T>) return tensor::number::float32;
  else return tensor::number::int64;
}

/// A tensor's numbers as float32, row-major: the tensor's own memory if that is what it has, else a copy.
template <class Tensor> class as_floats {
  static constexpr bool is_copied = !requires(const Tensor& t) {
    requires std::is_same_v<typename Tensor::value_type, float>;
    requires Tensor::static_layout == xt::layout_type::row_major;
    t.data() + t.data_offset();
  };

 public:
  explicit as_floats(const Tensor& of) {
    tensor::shape shape;
    for (const auto extent : of.shape()) shape.push_back(static_cast<std::int64_t>(extent));
    if constexpr (is_copied) copy_ = xt::cast<float>(of);
    const float* numbers = copy_.data();
    if constexpr (!is_copied) numbers = of.data() + of.data_offset();
    result_ = {numbers, tensor::type(shape, element_of<typename Tensor::value_type>())};
  }
  const result& get() const { return result_; }

 private:
  frames::tensor copy_;
  result result_;
};

}  // namespace detail

/// The boxes of each picture of a batch, from the result of a detector with one output. Throws std::invalid_argument with
/// what_is_wrong, for example of another shape.
template <class Tensor> std::vector<found_boxes> boxes(head as, const xt::xexpression<Tensor>& from, const options& o = {}) {
  const detail::as_floats<Tensor> floats(from.derived_cast());
  return boxes(as, std::span(&floats.get(), 1), o);
}

/// The same from two results, as those of head::ssd, or of head::yolov10.
template <class First, class Second>
std::vector<found_boxes> boxes(head as, const xt::xexpression<First>& first, const xt::xexpression<Second>& second,
                               const options& o = {}) {
  const detail::as_floats<First> one(first.derived_cast());
  const detail::as_floats<Second> other(second.derived_cast());
  const result both[]{one.get(), other.get()};
  return boxes(as, both, o);
}

/// The most probable classes of each picture of a batch. Throws std::invalid_argument with what_is_wrong.
template <class Tensor> std::vector<found_classes> classes(const xt::xexpression<Tensor>& from, const options& o = {}) {
  return classes(detail::as_floats<Tensor>(from.derived_cast()).get(), o);
}

/// The mask of each picture of a batch. Throws std::invalid_argument with what_is_wrong.
template <class Tensor> std::vector<mask> masks(const xt::xexpression<Tensor>& from, const options& o = {}) {
  return masks(detail::as_floats<Tensor>(from.derived_cast()).get(), o);
}

}  // namespace dice::decode
