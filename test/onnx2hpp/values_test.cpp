// What converted nodes compute, by the reference kernels, where they become several layers.
#include "convert_model.hpp"
#include "expect/evaluation.hpp"
#include "graph/initialiser.hpp"

#include "dice/frames/numbers.hpp"
#include "dice/graph/ops/output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace onnx2hpp_test {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

/// As many numbers from -1 to 1 as `s` needs.
floats numbers(const shape& s, std::uint32_t seed) {
  floats out(static_cast<std::size_t>(s.elements()));
  for (float& x : out) seed = seed * 1664525u + 1013904223u, x = static_cast<float>(seed >> 8) / (1 << 23) - 1;
  return out;
}

/// The last output of the network for these inputs.
floats compute(const builder& b, const std::vector<floats>& inputs) {
  const auto net = convert(b);
  floats out;
  onnx2hpp::evaluation(net).run([&](int layer) { return inputs.at(static_cast<std::size_t>(layer)).data(); },
                                [&](int layer, const float* values) {
                                  if (layer == net.layers.back().operands[0])
                                    out.assign(values, values + result(net).elements());
                                });
  return out;
}

void expect_near(const floats& found, const floats& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5f) << what << ", element " << i;
}

std::vector<std::int64_t> dims(const shape& s) { return {s.dim, s.dim + s.rank}; }

/// NumPy's matmul of stacks with the same number of axes, at least two.
floats multiplied(const floats& a, const shape& sa, const floats& b, const shape& sb, shape& out) {
  const int rank = sa.rank;
  out = sa;
  for (int k = 0; k + 2 < rank; ++k) out[k] = std::max(sa[k], sb[k]);
  out[rank - 1] = sb[rank - 1];
  floats y;
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    std::int64_t rest = i, at_a = 0, at_b = 0, step_a = sa[rank - 2] * sa[rank - 1], step_b = sb[rank - 2] * sb[rank - 1];
    const auto column = rest % out[rank - 1], row = (rest /= out[rank - 1]) % out[rank - 2];
    rest /= out[rank - 2];
    for (int k = rank - 3; k >= 0; rest /= out[k--]) {
      if (sa[k] > 1) at_a += rest % out[k] * step_a;
      if (sb[k] > 1) at_b += rest % out[k] * step_b;
      step_a *= sa[k];
      step_b *= sb[k];
    }
    float sum = 0;
    for (std::int64_t k = 0; k < sa[rank - 1]; ++k)
      sum += a[at_a + row * sa[rank - 1] + k] * b[at_b + k * sb[rank - 1] + column];
    y.push_back(sum);
  }
  return y;
}

TEST(Computed, MatMulWithStacksOfConstants) {
  /// Operands as they are given, and as stacks.
  struct {
    shape a, b, stack_a, stack_b;
  } const all[] = {{{2, 3}, {3, 4}, {2, 3}, {3, 4}},
                   {{3}, {3, 4}, {1, 3}, {3, 4}},
                   {{2, 3}, {3}, {2, 3}, {3, 1}},
                   {{4}, {4}, {1, 4}, {4, 1}},
                   {{2, 3}, {5, 3, 4}, {1, 2, 3}, {5, 3, 4}},
                   {{5, 2, 3}, {3, 4}, {5, 2, 3}, {1, 3, 4}},
                   {{3}, {5, 3, 4}, {1, 1, 3}, {5, 3, 4}},
                   {{5, 2, 3}, {3}, {5, 2, 3}, {1, 3, 1}},
                   {{65, 2, 3}, {65, 3, 4}, {65, 2, 3}, {65, 3, 4}},
                   {{13, 1, 2, 3}, {7, 3, 4}, {13, 1, 2, 3}, {1, 7, 3, 4}},
                   {{2, 1, 2, 3}, {5, 3, 4}, {2, 1, 2, 3}, {1, 5, 3, 4}},
                   {{2, 5, 3, 4}, {2, 1, 4, 2}, {2, 5, 3, 4}, {2, 1, 4, 2}}};
  for (const auto& c : all)
    for (const bool first : {true, false}) {
      const auto a = numbers(c.a, 1), b = numbers(c.b, 2);
      builder model;
      model.input("x", dims(first ? c.b : c.a)).output("y").floats("w", dims(first ? c.a : c.b), first ? a : b);
      if (first) model.node("MatMul", {"w", "x"}, {"y"});
      else model.node("MatMul", {"x", "w"}, {"y"});
      shape expected, given;
      const auto y = multiplied(a, c.stack_a, b, c.stack_b, expected);
      for (int k = 0; k < expected.rank; ++k)
        if (!(k == expected.rank - 2 && c.a.rank == 1) && !(k == expected.rank - 1 && c.b.rank == 1))
          given.push_back(expected[k]);
      const auto what = onnx2hpp::literal(c.a) + onnx2hpp::literal(c.b) + (first ? ", constant first" : "");
      EXPECT_EQ(result(convert(model)), given) << what;
      expect_near(compute(model, {first ? b : a}), y, what);
    }
  builder wrong;
  wrong.input("x", {2, 2, 3}).output("y").weights("w", {3, 3, 4});
  wrong.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(problems(wrong).find("the stacks of its matrices differ"), std::string::npos);
  builder many;
  many.input("x", {2, 2, 3}).output("y").weights("w", {65, 3, 4});
  many.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(problems(many).find("the inputs differ on an axis of the result"), std::string::npos);
  builder narrow;
  narrow.input("x", {2, 2, 3}).output("y").weights("w", {2, 4, 3});
  narrow.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(problems(narrow).find("its operands \"x\" {2, 2, 3} and \"w\" {2, 4, 3} do not fit"), std::string::npos);
}

TEST(Computed, EinsumWithAConstant) {
  /// Equations of x and a constant, and the operators that they become.
  struct {
    const char *x, *w, *y;
    shape in, of;
    const char* layers;
  } const all[] = {{"btk", "kn", "btn", {2, 3, 4}, {4, 5}, "MatMul"},
                   {"btk", "nk", "btn", {2, 3, 4}, {5, 4}, "MatMul"},
                   {"k", "kn", "n", {4}, {4, 5}, "MatMul"},
                   {"bchw", "dc", "bdhw", {2, 3, 4, 5}, {6, 3}, "Einsum"},
                   {"bthd", "hde", "bthe", {2, 3, 4, 5}, {4, 5, 6}, "Einsum"},
                   {"bthd", "hde", "bte", {2, 3, 4, 5}, {4, 5, 6}, "Transpose Reshape MatMul"},
                   {"ab", "ab", "ab", {2, 3}, {2, 3}, "Einsum"},
                   {"ab", "b", "ab", {2, 3}, {3}, "Einsum"},
                   {"ab", "ab", "", {2, 3}, {2, 3}, "Transpose Reshape Einsum"},
                   {"ab", "bcd", "ad", {2, 3}, {3, 4, 5}, "MatMul"},
                   {"ab", "cd", "ad", {2, 3}, {4, 5}, "ReduceSum Einsum"}};
  for (const auto& c : all)
    for (const bool first : {false, true}) {
      const auto x = numbers(c.in, 3), w = numbers(c.of, 4);
      builder b(12);
      b.input("x", dims(c.in)).output("y").floats("w", dims(c.of), w);
      const std::string terms = first ? std::string(c.w) + "," + c.x : std::string(c.x) + "," + c.w;
      set(b.node("Einsum", {first ? "w" : "x", first ? "x" : "w"}, {"y"}), "equation", (terms + "->" + c.y).c_str());
      EXPECT_EQ(operators(convert(b)), c.layers) << terms;
      // Over all values of all letters.
      std::map<char, std::int64_t> extents;
      for (int a = 0; a < c.in.rank; ++a) extents[c.x[a]] = c.in[a];
      for (int a = 0; a < c.of.rank; ++a) extents[c.w[a]] = c.of[a];
      std::int64_t steps = 1, size = 1;
      for (const auto& [letter, extent] : extents) steps *= extent;
      for (const char* o = c.y; *o; ++o) size *= extents[*o];
      floats y(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < steps; ++i) {
        std::map<char, std::int64_t> at;
        std::int64_t rest = i;
        for (const auto& [letter, extent] : extents) {
          at[letter] = rest % extent;
          rest /= extent;
        }
        const auto offset = [&](const char* term) {
          std::int64_t k = 0;
          for (; *term; ++term) k = k * extents[*term] + at[*term];
          return static_cast<std::size_t>(k);
        };
        y[offset(c.y)] += x[offset(c.x)] * w[offset(c.w)];
      }
      expect_near(compute(b, {x}), y, terms);
    }
}

TEST(Computed, PadWithoutAConstant) {
  const auto padded = [](const char* mode, const std::vector<std::int64_t>& pads, const char* layers) {
    builder b(19);
    b.input("x", {4}).output("y").ints("p", pads);
    set(b.node("Pad", {"x", "p"}, {"y"}), "mode", mode);
    EXPECT_EQ(operators(convert(b)), layers);
    return compute(b, {{1, 2, 3, 4}});
  };
  EXPECT_EQ(padded("wrap", {2, 1}, "Pad"), (floats{3, 4, 1, 2, 3, 4, 1}));
  EXPECT_EQ(padded("wrap", {5, 6}, "Pad"), (floats{4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2}));
  // As ONNX Runtime computes them: elements are removed first.
  EXPECT_EQ(padded("wrap", {2, -1}, "Slice Pad"), (floats{2, 3, 1, 2, 3}));
  EXPECT_EQ(padded("edge", {-1, 2}, "Slice Pad"), (floats{2, 3, 4, 4, 4}));
  EXPECT_EQ(padded("reflect", {1, -2}, "Slice Pad"), (floats{2, 1, 2}));
  EXPECT_EQ(padded("wrap", {-1, -2}, "Slice"), (floats{2}));
  builder none(19);
  none.input("x", {4}).output("y").ints("p", {-4, 3});
  set(none.node("Pad", {"x", "p"}, {"y"}), "mode", "edge");
  EXPECT_NE(problems(none).find("nothing is left of an axis"), std::string::npos);
}

TEST(Computed, CumSum) {
  const auto sums = [](int axis, int exclusive, int reverse) {
    builder b(14);
    b.input("x", {2, 3}).output("y").ints("axis", {axis});
    auto& n = b.node("CumSum", {"x", "axis"}, {"y"});
    set(n, "exclusive", exclusive);
    set(n, "reverse", reverse);
    EXPECT_EQ(operators(convert(b)), "CumSum");
    return compute(b, {{1, 2, 3, 4, 5, 6}});
  };
  // The examples of ONNX's backend tests.
  EXPECT_EQ(sums(0, 0, 0), (floats{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(sums(1, 0, 0), (floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums(-1, 0, 0), (floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums(1, 1, 0), (floats{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sums(1, 0, 1), (floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(sums(1, 1, 1), (floats{5, 3, 0, 11, 6, 0}));
  builder b(14);
  b.input("x", {2, 3}).output("y").ints("axis", {2});
  b.node("CumSum", {"x", "axis"}, {"y"});
  EXPECT_NE(problems(b).find("its axis 2 does not exist"), std::string::npos);
}

TEST(Computed, LpPool) {
  const auto x = numbers({1, 2, 7}, 3);
  for (const int p : {1, 2, 3})
    for (const bool ceil : {false, true}) {
      builder b(18);
      b.input("x", {1, 2, 7}).output("y");
      auto& n = b.node("LpPool", {"x"}, {"y"});
      set_list(n, "kernel_shape", {3});
      set_list(n, "strides", {2});
      set_list(n, "dilations", {2});
      set(n, "pads", std::vector<std::int64_t>{1, 0});
      set(n, "ceil_mode", ceil ? 1 : 0);
      if (p != 2) set(n, "p", p);
      floats y;
      for (int c = 0; c < 2; ++c)
        for (int o = 0; o < (ceil ? 3 : 2); ++o) {
          float sum = 0;
          for (int k = 0; k < 3; ++k)
            if (const int i = 2 * o - 1 + 2 * k; i >= 0 && i < 7)
              sum += std::pow(std::abs(x[7 * c + i]), static_cast<float>(p));
          y.push_back(std::pow(sum, 1 / static_cast<float>(p)));
        }
      expect_near(compute(b, {x}), y, "p = " + std::to_string(p));
    }
  builder b(18);
  b.input("x", {1, 2, 7}).output("y");
  auto& n = b.node("LpPool", {"x"}, {"y"});
  set_list(n, "kernel_shape", {2});
  set(n, "auto_pad", "SAME_UPPER");
  set(n, "p", 0);
  EXPECT_NE(problems(b).find("its p is not positive"), std::string::npos);
}

/// Attention of one head: 4 queries of 2 features, 5 keys.
struct attention {
  explicit attention(int opset = 24) : model(opset) {
    model.input("q", {1, 1, 4, 2}).input("k", {1, 1, 5, 2}).input("v", {1, 1, 5, 2}).output("y");
    node = &model.node("Attention", {"q", "k", "v"}, {"y"});
  }
  /// What it should compute if a query q sees key k only where sees(q, k), or the scores of a stage.
  floats expected(const std::function<bool(int, int)>& sees, float cap = 0, bool weights_only = false) const {
    floats y;
    for (int query = 0; query < 4; ++query) {
      float score[5], sum = 0, out[2]{};
      for (int key = 0; key < 5; ++key) {
        const auto at = [&](const floats& x, int row, int column) { return x[2 * row + column]; };
        float s = (at(q, query, 0) * at(k, key, 0) + at(q, query, 1) * at(k, key, 1)) / std::sqrt(2.0f);
        if (cap > 0) s = cap * std::tanh(s / cap);
        score[key] = sees(query, key) ? std::exp(s) : 0;
        sum += score[key];
      }
      for (int key = 0; key < 5; ++key) {
        const float w = sum > 0 ? score[key] / sum : 0;
        if (weights_only) y.push_back(w);
        for (const int f : {0, 1}) out[f] += w * v[2 * key + f];
      }
      if (!weights_only) y.insert(y.end(), out, out + 2);
    }
    return y;
  }
  void check(const std::function<bool(int, int)>& sees, const std::string& what, float cap = 0) const {
    expect_near(compute(model, {q, k, v}), expected(sees, cap), what);
  }
  /// Input number `input` of the node is `name`.
  void give(int input, const std::string& name) {
    while (node->input_size() < input) node->add_input("");
    node->add_input(name);
  }

  builder model;
  onnx::NodeProto* node;
  floats q = numbers({4, 2}, 4), k = numbers({5, 2}, 5), v = numbers({5, 2}, 6);
};

TEST(Computed, AttentionThatIsLimited) {
  attention causal;
  set(*causal.node, "is_causal", 1);
  causal.check([](int q, int k) { return k <= q; }, "causal");

  attention window(25);
  set(*window.node, "left_window_size", 1);
  set(*window.node, "right_window_size", 2);
  window.check([](int q, int k) { return k >= q - 1 && k <= q + 2; }, "window");

  attention few;  // the four queries are the last of four keys
  few.model.ints("n", {4});
  few.give(6, "n");
  set(*few.node, "is_causal", 1);
  few.check([](int q, int k) { return k <= q && k < 4; }, "number of keys");

  attention masked;  // query 2 sees nothing, and the mask lacks the last key
  masked.model.tensor("m", onnx::TensorProto::BOOL, {4, 4})
      .set_raw_data(std::string("\1\1\0\1\0\1\1\1\0\0\0\0\1\0\0\0", 16));
  masked.give(3, "m");
  set(*masked.node, "softcap", 0.5f);
  const bool mask[4][4]{{true, true, false, true}, {false, true, true, true}, {}, {true}};
  const auto sees = [&](int q, int k) { return k < 4 && mask[q][k]; };
  masked.check(sees, "mask and softcap", 0.5f);
  masked.model.graph().mutable_output(0)->set_name("s");
  for (const char* name : {"", "", "s"}) masked.node->add_output(name);
  set(*masked.node, "qk_matmul_output_mode", 3);
  expect_near(compute(masked.model, {masked.q, masked.k, masked.v}), masked.expected(sees, 0.5f, true), "weights");

  attention given;  // the same mask at run time; also behind a limit, is_causal
  given.model.input("m", {1, 4, 5}, onnx::TensorProto::BOOL);
  given.give(3, "m");
  const floats m{1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  const auto with_limit = [&](std::function<bool(int, int)> limit) {
    return given.expected([&](int q, int k) { return sees(q, k) && limit(q, k); });
  };
  EXPECT_EQ(problems(given.model), "");
  expect_near(compute(given.model, {given.q, given.k, given.v, m}), with_limit([](int, int) { return true; }), "given mask");
  set(*given.node, "is_causal", 1);
  expect_near(compute(given.model, {given.q, given.k, given.v, m}), with_limit([](int q, int k) { return k <= q; }),
              "causal");

  attention added;
  added.model.floats("m", {1, 5}, {0, never, 0, never, 0});
  added.give(3, "m");
  set(*added.node, "is_causal", 1);
  added.check([](int q, int k) { return k <= q && k % 2 == 0; }, "added mask");

  attention wide;
  wide.model.weights("m", {4, 6});
  wide.give(3, "m");
  EXPECT_NE(problems(wide.model).find("its mask does not fit"), std::string::npos);
}

TEST(Computed, AttentionWithACache) {
  const attention whole;
  const auto head = [](const floats& x, int rows) { return floats(x.begin(), x.begin() + 2 * rows); };
  const auto tail = [](const floats& x, int rows) { return floats(x.end() - 2 * rows, x.end()); };
  for (const bool flat : {false, true}) {
    const auto of = [&](std::int64_t rows) {
      return flat ? std::vector<std::int64_t>{1, rows, 2} : std::vector<std::int64_t>{1, 1, rows, 2};
    };
    builder b(24);
    b.input("q", of(4)).input("k", of(3)).input("v", of(3)).input("past_k", {1, 1, 2, 2}).input("past_v", {1, 1, 2, 2});
    b.output("y");
    auto& n = b.node("Attention", {"q", "k", "v", "", "past_k", "past_v"}, {"y", "present_k", "present_v"});
    set(n, "is_causal", 1);
    if (flat) {
      set(n, "q_num_heads", 1);
      set(n, "kv_num_heads", 1);
    }
    const std::vector<floats> inputs{whole.q, tail(whole.k, 3), tail(whole.v, 3), head(whole.k, 2), head(whole.v, 2)};
    expect_near(compute(b, inputs), whole.expected([](int q, int k) { return k <= q + 2; }), "y");
    for (const bool keys : {true, false}) {
      b.graph().mutable_output(0)->set_name(keys ? "present_k" : "present_v");
      expect_near(compute(b, inputs), keys ? whole.k : whole.v, "present");
    }
    b.ints("n", {4});
    n.add_input("n");
    EXPECT_NE(problems(b).find("a cache and the number of keys"), std::string::npos);
  }
}

TEST(Computed, Comparisons) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN(),
                  least = std::numeric_limits<float>::denorm_min();
  const floats x{-1, 0, least, 1, std::nextafter(1.0f, 2.0f), inf, -inf, nan}, c{-1, -least, 0, 1, 1, 1, 1, 1};
  const auto check = [&](const char* op, auto compares) {
    for (const int how : {0, 1, 2}) {  // two inputs, or either is a constant
      builder b(13);
      b.output("y");
      how == 1 ? b.floats("a", {8}, c) : b.input("a", {8});
      how == 2 ? b.floats("b", {8}, c) : b.input("b", {8});
      b.node(op, {"a", "b"}, {"y"});
      const auto& first = how == 1 ? c : x;
      const auto& second = how == 1 ? x : c;
      if (how == 0 && std::string(op) != "Greater" && std::string(op) != "Less") {
        EXPECT_NE(problems(b).find("it compares two activations"), std::string::npos);
        continue;
      }
      EXPECT_EQ(convert(b).layers.back().op.get_if<dice::ops::output>()->number, dice::tensor::number::boolean);
      const auto y = compute(b, how == 0 ? std::vector<floats>{x, c} : std::vector<floats>{x});
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(dice::frames::as_number<bool>(y[i]), compares(first[i], second[i])) << op << ' ' << how << ' ' << i;
    }
  };
  check("Greater", std::greater<>());
  check("GreaterOrEqual", std::greater_equal<>());
  check("Less", std::less<>());
  check("LessOrEqual", std::less_equal<>());
  check("Equal", std::equal_to<>());
  builder b(13);
  b.input("x", {2}).output("y").floats("c", {2}, {1, inf});
  b.node("LessOrEqual", {"x", "c"}, {"y"});
  EXPECT_NE(problems(b).find("its constant has numbers that are not finite"), std::string::npos);
  // As numbers, and as a type of its own.
  builder m(13);
  m.input("x", {3}).output("y").scalar("half", 0.5f);
  m.node("Greater", {"x", "half"}, {"mask"});
  set(m.node("Cast", {"mask"}, {"m"}), "to", onnx::TensorProto::FLOAT);
  m.node("Mul", {"x", "m"}, {"y"});
  expect_near(compute(m, {{0.25f, 0.5f, 0.75f}}), {0, 0, 0.75f}, "mask");
}

/// An exponent of more axes than x gives them to the result.
TEST(Computed, PowByANumberWithMoreAxes) {
  const auto of = [](float exponent) {
    builder b(13);
    b.input("x", {2}).output("y").floats("e", {1, 1, 1}, {exponent}).node("Pow", {"x", "e"}, {"y"});
    EXPECT_EQ(result(convert(b)), (shape{1, 1, 2})) << exponent;
    return compute(b, {{0.25f, 4}});
  };
  EXPECT_EQ(of(1), (floats{0.25f, 4}));
  EXPECT_EQ(of(2), (floats{0.0625f, 16}));
  EXPECT_EQ(of(0.5f), (floats{0.5f, 2}));
  EXPECT_EQ(of(-1), (floats{4, 0.25f}));
  EXPECT_EQ(of(3), (floats{0.015625f, 64}));
}

/// The values are ONNX Runtime's.
TEST(Computed, LogSumExpOfInfinity) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  builder b(13);
  b.input("x", {6, 2}).output("y");
  auto& n = b.node("ReduceLogSumExp", {"x"}, {"y"});
  set_list(n, "axes", {1});
  set(n, "keepdims", 0);
  const auto y = compute(b, {{-inf, -inf, inf, 1, -inf, 2, inf, -inf, 1000, 1000, nan, 1}});
  EXPECT_EQ(floats(y.begin(), y.begin() + 4), (floats{-inf, inf, 2, inf}));
  EXPECT_FLOAT_EQ(y[4], 1000 + std::log(2.0f));
  EXPECT_TRUE(std::isnan(y[5]));
}

TEST(Computed, IntegersThatBecomeRealsAgain) {
  builder b(13);
  b.input("x", {6}).output("y");
  set(b.node("Cast", {"x"}, {"i"}), "to", onnx::TensorProto::INT32);
  set(b.node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  expect_near(compute(b, {{-2.75f, -0.5f, 0, 0.99f, 1, 1e6f}}), {-2, 0, 0, 0, 1, 1e6f}, "truncated");
}

}  // namespace
}  // namespace onnx2hpp_test
