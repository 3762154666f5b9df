// GatherND of an activation, against the elements that its indices name.
#include "computed.hpp"

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
}

TEST(GatherNd, Refusals) {
  EXPECT_NE(problems(gather({2, 2}, {1, 1}, {2})).find("its index 2 is out of range"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {1, 2}, {1, -3})).find("its index -3 is out of range"), std::string::npos);
  EXPECT_NE(problems(gather({2}, {1, 2}, {0, 0})).find("more than its input has axes"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {2, 1}, {0, 0}, 1)).find("its batch_dims is not 0"), std::string::npos);
  EXPECT_NE(problems(gather({2, 2}, {0, 1}, {})).find("it has no index"), std::string::npos);
  index_list apart;
  for (int i = 0; i < 130; ++i) apart.push_back(i * i);
  EXPECT_NE(problems(gather({129 * 129 + 1}, {130, 1}, apart)).find("more than 64 runs"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
