#pragma once

#include "dice/graph/operator.hpp"

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace onnx2hpp {

/// Any operator of dice::ops, so that a new one needs no change here.
class operation {
 public:
  template <class Op> operation(Op op) : self_(std::make_unique<holder<Op>>(std::move(op))) {}
  operation(const operation& other) : self_(other.self_->copy()) {}
  operation(operation&&) noexcept = default;
  operation& operator=(operation other) noexcept {
    self_ = std::move(other.self_);
    return *this;
  }

  dice::tensor::shape infer(dice::graph::shapes in) const { return self_->infer(in); }
  std::int64_t macs(dice::graph::shapes in, const dice::tensor::shape& result) const { return self_->macs(in, result); }
  /// As dice::graph::joins.
  std::int64_t joins(int k, dice::graph::shapes in, const dice::tensor::shape& result) const {
    return self_->joins(k, in, result);
  }
  std::string onnx_name() const { return self_->onnx_name(); }
  /// Name of the struct in dice::ops.
  std::string struct_name() const;
  /// Its attributes as a braced initialiser, those that have their defaults left out.
  std::string attributes() const;
  /// The operator, or null if it is another one.
  template <class Op> Op* get_if() { return self_->type() == typeid(Op) ? static_cast<Op*>(self_->get()) : nullptr; }
  template <class Op> const Op* get_if() const { return const_cast<operation*>(this)->get_if<Op>(); }

 private:
  struct base {
    virtual ~base() = default;
    virtual std::unique_ptr<base> copy() const = 0;
    virtual const std::type_info& type() const = 0;
    virtual void* get() = 0;
    virtual dice::tensor::shape infer(dice::graph::shapes in) const = 0;
    virtual std::int64_t macs(dice::graph::shapes in, const dice::tensor::shape& result) const = 0;
    virtual std::int64_t joins(int k, dice::graph::shapes in, const dice::tensor::shape& result) const = 0;
    virtual std::string onnx_name() const = 0;
  };
  template <class Op> struct holder final : base {
    explicit holder(Op o) : op(std::move(o)) {}
    std::unique_ptr<base> copy() const override { return std::make_unique<holder>(op); }
    const std::type_info& type() const override { return typeid(Op); }
    void* get() override { return &op; }
    dice::tensor::shape infer(dice::graph::shapes in) const override { return dice::graph::infer(op, in); }
    std::int64_t macs(dice::graph::shapes in, const dice::tensor::shape& result) const override {
      return dice::graph::macs(op, in, result);
    }
    std::int64_t joins(int k, dice::graph::shapes in, const dice::tensor::shape& result) const override {
      return dice::graph::joins(op, k, in, result);
    }
    std::string onnx_name() const override { return std::string(op.onnx); }
    Op op;
  };

  std::unique_ptr<base> self_;
};

}  // namespace onnx2hpp
