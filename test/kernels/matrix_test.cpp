// Gemm and MatMul.
#include "kernels/expected.hpp"

#include <cstdint>

namespace {

using namespace harness;

template <class Backend> struct matrix : ::testing::Test {};
TYPED_TEST_SUITE(matrix, backends);

TYPED_TEST(matrix, gemm_equals_pytorch) { check<TypeParam, ops::gemm>("gemm", 3); }
TYPED_TEST(matrix, mat_mul_equals_pytorch) { check<TypeParam, ops::mat_mul>("mat_mul", 4); }

#ifdef DICE_COMPARES

TEST(matrix_compared, equals_the_reference) {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 17, 50})
    for (const std::int64_t columns : {1, 3, 4, 7, 64, 130})
      for (const std::int64_t depth : {1, 5, 16, 37, 128, 1000}) {
        const std::string what =
            "gemm " + std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth);
        const ops::gemm op{.columns = columns, .depth = depth, .bias = depth % 2 == 1};
        compare(with_residual(make(op, {{rows, depth}}, {{columns, depth}, {columns}})), what, ops::relu{});
        const ops::mat_mul several{.columns = columns, .depth = depth, .bias = op.bias};
        compare(with_residual(make(several, {{rows, depth}}, {{columns, depth}, {columns}})), "mat_mul " + what,
                ops::relu{});
      }
  // Parts of the depth; 197 rows are two bands.
  compare(make(ops::mat_mul{.columns = 50, .depth = 2100, .bias = true}, {{75, 2100}}, {{50, 2100}, {50}}), "bands");
  for (const std::int64_t rows : {97, 109, 197})
    compare(make(ops::mat_mul{.columns = 33, .depth = 1500}, {{rows, 1500}}, {{33, 1500}}), std::to_string(rows) + " rows");
  compare(make(ops::gemm{.columns = 70, .depth = 25088}, {{1, 25088}}, {{70, 25088}}), "gemm 1x70x25088");
}

TEST(matrix_compared, every_epilogue) {
  const auto check_all = [](const auto& p) {
    compare(p, "none");
    compare(p, "relu", ops::relu{});
    compare(p, "leaky_relu", ops::leaky_relu{});
    compare(p, "clip", ops::clip{.low = -1, .high = 2});
    compare(p, "sigmoid", ops::sigmoid{});
    compare(p, "tanh", ops::tanh{});
    compare(p, "hard_sigmoid", ops::hard_sigmoid{});
    compare(p, "hard_swish", ops::hard_swish{});
    compare(p, "gelu", ops::elementwise{{graph::activation::kind::gelu}});
  };
  check_all(with_residual(make(ops::gemm{.columns = 37, .depth = 900, .bias = true}, {{2, 900}}, {{37, 900}, {37}})));
  check_all(with_residual(make(ops::mat_mul{.columns = 37, .depth = 90, .bias = true}, {{20, 90}}, {{37, 90}, {37}})));
}

#endif

}  // namespace
