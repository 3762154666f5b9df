// Gather, GatherElements and GatherND of an activation, against the elements that their indices name.
#include "computed.hpp"

#include "dice/graph/ops/gather.hpp"

#include <cstdint>
#include <numeric>

namespace onnx2hpp_test {
namespace {

using index_list = std::vector<std::int64_t>;

/// x (`in`) by the indices `at` of shape `dims`.
builder gather(const index_list& in, const index_list& dims, const index_list& at, int batch_dims = 0) {
  builder b(13);
  b.input("x", in).output("y");
  b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(at.data(), at.size() * 8);
  set(b.node("GatherND", {"x", "i"}, {"y"}), "batch_dims", batch_dims);
  return b;
}

/// Its operators, if it takes the elements of x = 0, 1, 2 … that the indices name.
std::string made_of(const index_list& in, const index_list& dims, const index_list& at) {
  const auto net = convert(gather(in, dims, at));
  std::vector<float> x(
      static_cast<std::size_t>(std::accumulate(in.begin(), in.end(), std::int64_t{1}, std::multiplies<>())));
  std::iota(x.begin(), x.end(), 0.0f);
  const auto k = static_cast<std::size_t>(dims.back());
  auto size = static_cast<std::int64_t>(x.size());
  shape to;
  for (std::size_t a = 0; a + 1 < dims.size(); ++a) to.push_back(dims[a]);
  for (std::size_t a = 0; a < in.size(); ++a)
    if (a < k) size /= in[a];
    else to.push_back(in[a]);
  std::vector<float> expected;
  for (std::size_t i = 0; i < at.size(); i += k) {
    std::int64_t from = 0;
    for (std::size_t a = 0; a < k; ++a) from = from * in[a] + (at[i + a] < 0 ? at[i + a] + in[a] : at[i + a]);
    for (std::int64_t e = 0; e < size; ++e) expected.push_back(static_cast<float>(from * size + e));
  }
  EXPECT_EQ(computed(net, {{"x", x}}).at("y"), expected);
  EXPECT_EQ(result(net), to);
  return operators(net);
}

TEST(GatherNd, OfTheFirstAxis) {
  EXPECT_EQ(made_of({3, 2}, {3, 1}, {2, 1, 0}), "Slice");
  EXPECT_EQ(made_of({4, 2}, {2, 2, 1}, {0, -2, 3, 1}), "Slice Slice Concat Reshape");
  EXPECT_EQ(made_of({3}, {1}, {1}), "Slice Reshape");
}

TEST(GatherNd, OfSeveralAxesOneAfterTheOther) {
  EXPECT_EQ(made_of({3, 4, 2}, {2, 3, 2}, {2, 0, 2, 1, 2, 2, 0, 0, 0, 1, 0, 2}), "Slice Slice");  // x[[2, 0]][:, :3]
  EXPECT_EQ(made_of({3, 4}, {2, 2, 2}, {1, 0, 1, -1, 1, 0, 1, -1}),
            "Slice Slice Slice Concat Reshape");  // x[1, [[0, 3], [0, 3]]]
  // Twice as large.
  index_list twice;
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 8; ++c) twice.insert(twice.end(), {r / 2, c / 2});
  EXPECT_EQ(made_of({3, 4}, {6, 8, 2}, twice), "Reshape Tile Reshape Reshape Tile Reshape");
}

TEST(GatherNd, OfSeveralAxesAtOnce) {
  EXPECT_EQ(made_of({3, 3, 2}, {3, 2}, {0, 0, 1, 1, 2, 2}), "Reshape Slice");  // a diagonal
  EXPECT_EQ(made_of({2, 2}, {2, 2, 2}, {0, 1, 1, 1, 1, 0, 0, 0}), "Reshape Slice Slice Concat Reshape");
  EXPECT_EQ(made_of({2, 3}, {2, 2}, {0, 2, 1, 0}), "Reshape Slice");
}

TEST(GatherNd, Refusals) {
  EXPECT_NE(problems(gather({2, 2}, {1, 1}, {2})).find("its index 2 is out of range"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {1, 2}, {1, -3})).find("its index -3 is out of range"), std::string::npos);
  EXPECT_NE(problems(gather({2}, {1, 2}, {0, 0})).find("more than its input has axes"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {2, 1}, {0, 0}, 1)).find("its batch_dims is not 0"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {0, 1}, {})).find("it has no index"), std::string::npos);
}

/// The operators of a Gather of x = 0, 1, 2 … along an axis, if it takes what NumPy's take does.
std::string taken(const index_list& in, int axis, const index_list& dims, const index_list& at) {
  builder b(13);
  b.input("x", in).output("y");
  b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(at.data(), at.size() * 8);
  set(b.node("Gather", {"x", "i"}, {"y"}), "axis", axis);
  const auto net = convert(b);
  const auto a = static_cast<std::size_t>(axis);
  const auto product = [&](std::size_t from, std::size_t to) {
    std::int64_t n = 1;
    for (auto k = from; k < to; ++k) n *= in[k];
    return n;
  };
  const auto outer = product(0, a), inner = product(a + 1, in.size());
  std::vector<float> x(static_cast<std::size_t>(outer * in[a] * inner)), expected;
  std::iota(x.begin(), x.end(), 0.0f);
  for (std::int64_t o = 0; o < outer; ++o)
    for (const auto i : at)
      for (std::int64_t e = 0; e < inner; ++e)
        expected.push_back(static_cast<float>((o * in[a] + (i < 0 ? i + in[a] : i)) * inner + e));
  EXPECT_EQ(computed(net, {{"x", x}}).at("y"), expected);
  index_list to(in.begin(), in.begin() + axis);
  to.insert(to.end(), dims.begin(), dims.end());
  to.insert(to.end(), in.begin() + axis + 1, in.end());
  const auto form = result(net);
  EXPECT_EQ(index_list(form.dim, form.dim + form.rank), to);
  return operators(net);
}

TEST(Gather, InAnyOrder) {
  index_list shuffle;  // a channel shuffle of two groups
  for (int i = 0; i < 232; ++i) shuffle.push_back(i % 2 * 116 + i / 2);
  EXPECT_EQ(taken({1, 232, 3}, 1, {232}, shuffle), "Gather");
  const index_list eight{0, 2, 3, 7, 9, 8, 5, 1, 4, 4, 6, 5, 5, 0}, nine{0, 2, 3, 7, 9, 8, 5, 1, 4, 4, 6, 5, 5, 0, 1, 6};
  EXPECT_EQ(taken({2, 10}, 1, {14}, eight), "Slice Slice Slice Slice Slice Slice Slice Slice Concat");
  EXPECT_EQ(taken({2, 10}, 1, {16}, nine), "Gather");
  EXPECT_EQ(taken({10, 2, 2}, 0, {4, 4}, nine), "Gather Reshape");
  EXPECT_EQ(taken({2, 3, 10}, 2, {2, 8}, nine), "Gather Reshape");
  index_list twice, backwards;
  for (const auto i : nine) {
    twice.insert(twice.end(), {i, i});
    backwards.push_back(i - 10);
  }
  EXPECT_EQ(taken({10, 3}, 0, {32}, twice), "Gather");
  EXPECT_EQ(taken({10, 3}, 0, {16}, backwards), "Gather");
  EXPECT_EQ(taken({2, 3}, 0, {5}, {0, 0, 1, 1, 1}), "Slice Slice Slice Concat");  // repeated, but not equally often
}

TEST(Gather, OfChannelsLastNeedsNoTranspose) {
  builder b(13);
  b.input("x", {1, 16, 4, 4}).output("y").ints("i", {0, 2, 3, 7, 9, 8, 5, 1, 4, 4, 6, 5, 5, 0, 1, 6});
  set(b.node("Transpose", {"x"}, {"t"}), "perm", {0, 2, 3, 1});
  set(b.node("Gather", {"t", "i"}, {"g"}), "axis", 3);
  set(b.node("Transpose", {"g"}, {"y"}), "perm", {0, 3, 1, 2});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Gather");
  EXPECT_EQ(first<dice::ops::gather>(net).axis, 1);
  EXPECT_EQ(error(b), 0);
}

/// x = 1, 2, 3 … by indices along an axis.
builder by_elements(const index_list& in, const index_list& dims, const index_list& at, int axis) {
  builder b(13);
  b.input("x", in).output("y");
  b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(at.data(), at.size() * 8);
  set(b.node("GatherElements", {"x", "i"}, {"y"}), "axis", axis);
  return b;
}

TEST(GatherElements, EachByItsOwnIndex) {
  const auto taken = [](const index_list& in, const index_list& dims, const index_list& at, int axis, const char* layers) {
    const auto net = convert(by_elements(in, dims, at, axis));
    EXPECT_EQ(operators(net), layers);
    std::vector<float> x(
        static_cast<std::size_t>(std::accumulate(in.begin(), in.end(), std::int64_t{1}, std::multiplies<>())));
    std::iota(x.begin(), x.end(), 1.0f);
    return computed(net, {{"x", x}}).at("y");
  };
  using values = std::vector<float>;
  // The examples of ONNX's specification.
  EXPECT_EQ(taken({2, 2}, {2, 2}, {0, 0, 1, 0}, 1, "Reshape Slice Slice Slice Concat Reshape"), (values{1, 1, 4, 3}));
  EXPECT_EQ(taken({3, 3}, {2, 3}, {1, 2, 0, 2, 0, 0}, 0, "Reshape Slice Slice Slice Concat Reshape"),
            (values{4, 8, 3, 7, 2, 3}));
  // The same rows of all columns; fewer columns.
  EXPECT_EQ(taken({3, 2}, {2, 2}, {2, 2, 0, 0}, 0, "Slice"), (values{5, 6, 1, 2}));
  EXPECT_EQ(taken({3, 2}, {2, 1}, {-1, 0}, 0, "Reshape Slice Reshape"), (values{5, 1}));
  EXPECT_NE(problems(by_elements({2, 2}, {1, 2}, {0, 2}, 1)).find("its index 2 is out of range"), std::string::npos);
  EXPECT_NE(problems(by_elements({2, 2}, {1, 3}, {0, 0, 0}, 0)).find("exceed it on another axis"), std::string::npos);
  EXPECT_NE(problems(by_elements({2, 2}, {2}, {0, 0}, 0)).find("differ in rank"), std::string::npos);
}

/// Reals are no indices, nor other integers that a model states.
TEST(Gather, ByReals) {
  builder b(13);
  b.input("x", {3}).output("y").floats("i", {1}, {0.5f}).node("Gather", {"x", "i"}, {"y"});
  EXPECT_NE(problems(b).find("its input \"i\" (indices) holds FLOAT, not integers"), std::string::npos) << problems(b);
}

}  // namespace
}  // namespace onnx2hpp_test
