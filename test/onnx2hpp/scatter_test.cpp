// ScatterND and ScatterElements by constant indices, against what ONNX's text says of them: a copy of the data, in which the
// updates are written one after the other.
#include "computed.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace onnx2hpp_test {
namespace {

using index_numbers = std::vector<std::int64_t>;

std::size_t size_of(const index_numbers& dims) {
  return static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
}
floats count_from(float first, std::size_t n) {
  floats out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

enum class scattering { slices, elements };
enum class fixed { none, data, updates };

/// The extents of the updates.
index_numbers update_dims(scattering how, const index_numbers& data, const index_numbers& dims) {
  if (how == scattering::elements) return dims;
  index_numbers out(dims.begin(), dims.end() - 1);
  out.insert(out.end(), data.begin() + dims.back(), data.end());
  return out;
}

builder scatter(scattering how, const index_numbers& data, const index_numbers& dims, const index_numbers& at, int axis,
                fixed which, const floats& x, const floats& u) {
  builder b(18);
  b.output("y");
  const auto of_updates = update_dims(how, data, dims);
  which == fixed::data ? b.floats("x", data, x) : b.input("x", data);
  which == fixed::updates ? b.floats("u", of_updates, u) : b.input("u", of_updates);
  b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(at.data(), at.size() * 8);
  auto& n = b.node(how == scattering::slices ? "ScatterND" : "ScatterElements", {"x", "i", "u"}, {"y"});
  if (how == scattering::elements) set(n, "axis", axis);
  return b;
}

/// ONNX's definition.
floats defined(scattering how, const index_numbers& data, const index_numbers& dims, const index_numbers& at, int axis,
               floats y, const floats& u) {
  const auto from_front = [&](std::int64_t i, std::size_t a) { return i < 0 ? i + data[a] : i; };
  if (how == scattering::slices) {
    const auto k = static_cast<std::size_t>(dims.back()), slices = at.size() / k, size = u.size() / slices;
    for (std::size_t i = 0; i < slices; ++i) {
      std::int64_t place = 0;
      for (std::size_t a = 0; a < k; ++a) place = place * data[a] + from_front(at[i * k + a], a);
      for (std::size_t e = 0; e < size; ++e) y[static_cast<std::size_t>(place) * size + e] = u[i * size + e];
    }
  } else {
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::int64_t place = 0, rest = static_cast<std::int64_t>(i), step = 1;
      for (std::size_t a = data.size(); a-- > 0; step *= data[a]) {
        const auto own = rest % dims[a];
        rest /= dims[a];
        place += step * (static_cast<int>(a) == axis ? from_front(at[i], a) : own);
      }
      y[place] = u[i];
    }
  }
  return y;
}

/// The layers that it becomes, if they compute what ONNX defines.
std::string becomes(scattering how, const index_numbers& data, const index_numbers& dims, const index_numbers& at,
                    fixed which = fixed::none, int axis = 0) {
  const auto x = count_from(1, size_of(data)), u = count_from(-1000, size_of(update_dims(how, data, dims)));
  const auto net = convert(scatter(how, data, dims, at, axis, which, x, u));
  std::map<std::string, floats> inputs;
  if (which != fixed::data) inputs["x"] = x;
  if (which != fixed::updates) inputs["u"] = u;
  EXPECT_EQ(computed(net, inputs).at("y"), defined(how, data, dims, at, axis, x, u));
  const auto form = result(net);
  EXPECT_EQ(index_numbers(form.dim, form.dim + form.rank), data);
  return operators(net);
}

/// Indices of the box from `begin` to `end` along the first axes, as PyTorch writes them.
std::pair<index_numbers, index_numbers> grid(const index_numbers& begin, const index_numbers& end) {
  index_numbers dims, at, p = begin;
  for (std::size_t a = 0; a < begin.size(); ++a) dims.push_back(end[a] - begin[a]);
  for (std::size_t i = 0, n = size_of(dims); i < n; ++i) {
    at.insert(at.end(), p.begin(), p.end());
    for (std::size_t a = p.size(); a-- > 0;) {
      if (++p[a] < end[a]) break;
      p[a] = begin[a];
    }
  }
  dims.push_back(static_cast<std::int64_t>(begin.size()));
  return {dims, at};
}

std::string replaces_box(const index_numbers& data, const index_numbers& begin, const index_numbers& end,
                         fixed which = fixed::none) {
  const auto [dims, at] = grid(begin, end);
  return becomes(scattering::slices, data, dims, at, which);
}

TEST(Scatter, ExamplesOfTheSpecification) {
  const auto y = [](scattering how, index_numbers data, floats x, index_numbers dims, index_numbers at, floats u,
                    int axis = 0) {
    const auto b = scatter(how, data, dims, at, axis, fixed::none, x, u);
    return computed(convert(b), {{"x", x}, {"u", u}}).at("y");
  };
  EXPECT_EQ(y(scattering::slices, {8}, {1, 2, 3, 4, 5, 6, 7, 8}, {4, 1}, {4, 3, 1, 7}, {9, 10, 11, 12}),
            (floats{1, 11, 3, 10, 9, 6, 7, 12}));
  EXPECT_EQ(y(scattering::elements, {3, 3}, floats(9, 0), {2, 3}, {1, 0, 2, 0, 2, 1}, {1.0f, 1.1f, 1.2f, 2.0f, 2.1f, 2.2f}),
            (floats{2.0f, 1.1f, 0, 1, 0, 2.2f, 0, 2.1f, 1.2f}));
  EXPECT_EQ(y(scattering::elements, {1, 5}, {1, 2, 3, 4, 5}, {1, 2}, {1, 3}, {1.1f, 2.1f}, 1),
            (floats{1, 1.1f, 3, 2.1f, 5}));
}

TEST(Scatter, OfABoxIsJoinedWithTheRest) {
  EXPECT_EQ(replaces_box({1, 8, 3}, {0, 2}, {1, 5}), "Slice Slice Concat");  // x[:, 2:5] = u
  EXPECT_EQ(replaces_box({6, 3}, {0}, {2}), "Slice Concat");
  EXPECT_EQ(replaces_box({6, 3}, {4}, {6}), "Slice Concat");
  EXPECT_EQ(replaces_box({6, 3}, {0}, {6}), "");  // all of it
  EXPECT_EQ(replaces_box({1, 2, 5, 5}, {0, 0, 1, 1}, {1, 2, 4, 4}), "Slice Slice Slice Slice Concat Slice Concat");
  EXPECT_EQ(replaces_box({2, 7, 4}, {0, 0, 0}, {2, 7, 2}), "Slice Concat");  // x[..., 0:2] = u
  EXPECT_EQ(becomes(scattering::slices, {5, 2}, {1, 1}, {-2}), "Slice Slice Concat");
  EXPECT_EQ(becomes(scattering::elements, {2, 3}, {2, 1}, {1, 1}, fixed::none, 1), "Slice Slice Concat");
}

TEST(Scatter, OfOtherElementsIsAGather) {
  EXPECT_EQ(becomes(scattering::slices, {6, 2}, {3, 1}, {0, 2, 4}), "Concat Gather");  // x[::2] = u
  EXPECT_EQ(becomes(scattering::slices, {6, 2}, {3, 1}, {3, 0, 3}), "Concat Gather");  // the last of equal ones
  EXPECT_EQ(becomes(scattering::slices, {3, 2}, {3, 1}, {2, 0, 1}), "Gather");
  const index_numbers every_other{0, 0, 0, 2, 0, 4, 1, 0, 1, 2, 1, 4};
  EXPECT_EQ(becomes(scattering::slices, {2, 5}, {2, 3, 2}, every_other), "Concat Gather");  // x[..., ::2] = u
  EXPECT_EQ(becomes(scattering::slices, {2, 5}, {6, 2}, every_other), "Reshape Concat Gather");
  EXPECT_EQ(becomes(scattering::slices, {3, 3}, {3, 2}, {0, 0, 1, 1, 2, 2}), "Reshape Reshape Concat Gather Reshape");
  EXPECT_EQ(becomes(scattering::slices, {2, 3, 4}, {2, 2}, {0, 2, 1, 0}), "Reshape Concat Gather Reshape");
  EXPECT_EQ(becomes(scattering::elements, {3, 3}, {2, 3}, {1, 0, 2, 0, 2, 1}), "Reshape Reshape Concat Gather Reshape");
  // The same columns of each row, in another order.
  EXPECT_EQ(becomes(scattering::elements, {2, 3}, {2, 2}, {0, 1, 1, 0}, fixed::none, 1),
            "Reshape Reshape Concat Gather Reshape");
  // The last of equal ones, so that rows are no rows of the updates.
  EXPECT_EQ(becomes(scattering::slices, {2, 2}, {6, 2}, {0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1}), "Reshape Gather Reshape");
}

TEST(Scatter, WithConstants) {
  EXPECT_EQ(replaces_box({1, 8, 3}, {0, 2}, {1, 5}, fixed::updates), "Where");
  EXPECT_EQ(becomes(scattering::slices, {3, 3}, {3, 2}, {0, 0, 1, 1, 2, 2}, fixed::updates), "Where");
  EXPECT_EQ(replaces_box({1, 8, 3}, {0, 2}, {1, 5}, fixed::data), "Pad Where");
  EXPECT_EQ(replaces_box({6, 3}, {0}, {6}, fixed::data), "");
  EXPECT_EQ(becomes(scattering::slices, {3, 3}, {3, 2}, {0, 0, 1, 1, 2, 2}, fixed::data), "Reshape Gather Reshape Where");

  // Elements that stay constant are replaced by some update: there is no other.
  const auto diagonal =
      convert(scatter(scattering::slices, {3, 3}, {3, 2}, {0, 0, 1, 1, 2, 2}, 0, fixed::data, floats(9, 7), {1, 2, 3}));
  for (const auto from : integers(diagonal.layers[2].parameters[0].source)) EXPECT_LT(from, 3);

  // Equal numbers are the padding's own; those along whole axes are stored once.
  const auto [dims, at] = grid({0, 1}, {2, 3});
  const auto canvas = convert(scatter(scattering::slices, {2, 4}, dims, at, 0, fixed::data, floats(8, 7), {1, 2, 3, 4}));
  EXPECT_EQ(operators(canvas), "Pad");
  EXPECT_EQ(computed(canvas, {{"u", {1, 2, 3, 4}}}).at("y"), (floats{7, 1, 2, 7, 7, 3, 4, 7}));
  const auto columns = convert(scatter(scattering::slices, {2, 4}, dims, at, 0, fixed::updates, {}, {5, 6, 5, 6}));
  EXPECT_EQ(columns.layers[1].parameters[0].extents, (shape{1, 4}));
  EXPECT_EQ(computed(columns, {{"x", {1, 2, 3, 4, 5, 6, 7, 8}}}).at("y"), (floats{1, 5, 6, 4, 5, 5, 6, 8}));
}

/// Replaces elements 0 and 2 of the largest columns of four rows.
builder into_columns(const index_numbers& updates, const char* result = "y") {
  builder b(18);
  b.input("x", {4, 5}).output("y").ints("i", {0, 2}).ints("u", updates);
  b.graph().mutable_initializer(0)->clear_dims();
  b.graph().mutable_initializer(0)->add_dims(2);
  b.graph().mutable_initializer(0)->add_dims(1);
  set(b.node("ArgMax", {"x"}, {"a"}), "axis", 1);
  set(b.graph().mutable_node(0)[0], "keepdims", 0);
  b.node("ScatterND", {"a", "i", "u"}, {result});
  return b;
}

TEST(Scatter, OfIntegers) {
  const auto net = convert(into_columns({9, 3}));
  EXPECT_EQ(operators(net), "ArgMax Where");
  floats x(20, 0);
  x[1] = x[7] = x[14] = x[18] = 1;
  EXPECT_EQ(computed(net, {{"x", x}}).at("y"), (floats{9, 2, 3, 3}));

  // What the result holds grows by the constants.
  const std::vector<std::pair<index_numbers, bool>> into_bytes{{{255, 0}, true}, {{256, 0}, false}, {{0, -1}, false}};
  for (const auto& [updates, fits] : into_bytes) {
    auto b = into_columns(updates, "written");
    set(b.node("Cast", {"written"}, {"y"}), "to", onnx::TensorProto::UINT8);
    EXPECT_EQ(problems(b).find("may not fit into UINT8") == std::string::npos, fits) << problems(b);
  }
  EXPECT_EQ(problems(into_columns({1 << 24, 0})), "");
  EXPECT_NE(problems(into_columns({(1 << 24) + 1, 0})).find("its constant updates have integers beyond 2^24"),
            std::string::npos);
}

TEST(Scatter, Refusals) {
  const auto of = [](index_numbers dims, index_numbers at, floats u = {1, 2}, const char* reduction = "none") {
    builder b(18);
    b.input("x", {2, 2}).output("y").floats("u", {1, 2}, u);
    b.tensor("i", onnx::TensorProto::INT64, dims).set_raw_data(at.data(), at.size() * 8);
    set(b.node("ScatterND", {"x", "i", "u"}, {"y"}), "reduction", reduction);
    return problems(b);
  };
  EXPECT_EQ(of({1, 1}, {1}), "");
  EXPECT_NE(of({1, 1}, {2}).find("its index 2 is out of range"), std::string::npos);
  EXPECT_NE(of({2, 1}, {0, 1}).find("its updates {1, 2} do not fit its indices"), std::string::npos);
  EXPECT_NE(of({1, 1}, {1}, {1, 2}, "add").find("its reduction is \"add\"; only none is supported"), std::string::npos);
  EXPECT_NE(of({1, 1}, {1}, {1, std::nanf("")}).find("its constant updates have a NaN"), std::string::npos);
  builder large(18);  // whose places do not fit into memory
  large.input("x", {2, 8192, 8192}).input("u", {1, 8192, 8192}).output("y");
  large.tensor("i", onnx::TensorProto::INT64, {1, 1}).set_raw_data(std::string(8, '\0'));
  large.node("ScatterND", {"x", "i", "u"}, {"y"});
  EXPECT_NE(problems(large).find("it writes into a tensor of more than 67108864 elements"), std::string::npos);
  builder b(18);
  b.input("x", {2, 2}).input("u", {2, 3}).output("y");
  b.tensor("i", onnx::TensorProto::INT64, {2, 3}).set_raw_data(std::string(48, '\0'));
  b.node("ScatterElements", {"x", "i", "u"}, {"y"});
  EXPECT_NE(problems(b).find("its indices differ in rank from its input, or exceed it on another axis"), std::string::npos);
}

}  // namespace
}  // namespace onnx2hpp_test
