// Networks with channels last, as TensorFlow's and Keras' exporters write them: what is left of their Transposes, and that
// they still compute the same.
#include "computed.hpp"

#include "dice/graph/ops.hpp"

#include <random>

namespace onnx2hpp_test {
namespace {

namespace ops = dice::ops;

void to_first(builder& b, const std::string& in, const std::string& out) {
  set(b.node("Transpose", {in}, {out}, "to " + out), "perm", {0, 3, 1, 2});
}
void to_last(builder& b, const std::string& in, const std::string& out) {
  set(b.node("Transpose", {in}, {out}, "to " + out), "perm", {0, 2, 3, 1});
}
/// A convolution with channels last.
void conv(builder& b, const std::string& in, const std::string& out, const std::vector<std::int64_t>& filter,
          const std::vector<std::int64_t>& pads = {1, 1, 1, 1}) {
  b.weights(out + "w", filter);
  to_first(b, in, out + "i");
  auto& n = b.node("Conv", {out + "i", out + "w"}, {out + "c"}, out + "conv");
  set(n, "pads", pads);
  set(n, "strides", {2, 2});
  to_last(b, out + "c", out);
}

TEST(Transposes, CancelAroundConvolutions) {
  // Convolutions with SAME padding, a BatchNormalization of which only Mul and Add are left, Relu6, and a residual sum.
  builder b;
  b.input("x", {1, 9, 8, 3}).output("y").weights("scale", {4}).weights("shift", {1, 1, 1, 4});
  b.scalar("zero", 0).scalar("six", 6);
  conv(b, "x", "a", {4, 3, 3, 3}, {1, 0, 1, 1});
  b.node("Mul", {"a", "scale"}, {"m"});
  b.node("Add", {"shift", "m"}, {"n"});
  b.node("Clip", {"n", "zero", "six"}, {"r"});
  conv(b, "r", "c", {4, 4, 3, 3});
  conv(b, "r", "d", {4, 4, 3, 3});
  b.node("Add", {"c", "d"}, {"s"});
  b.node("Relu", {"s"}, {"y"});
  const auto net = convert(b);
  EXPECT_EQ(operators(net), "Transpose Conv Clip Conv Conv Add Relu Transpose");
  EXPECT_TRUE(first<ops::conv>(net).bias);
  EXPECT_EQ(net.layers[1].onnx_name, "to ai");
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, OfSqueezeAndExcitation) {
  // A gate of each channel, from reduced axes and a Reshape, times the pixels.
  builder b;
  b.input("x", {1, 3, 8, 8}).output("y").ints("to", {-1, 1, 1, 4}).weights("w", {4, 3, 1, 1});
  b.weights("w1", {2, 4, 1, 1}).weights("w2", {4, 2, 1, 1}).weights("b1", {2});
  b.node("Conv", {"x", "w"}, {"c"});
  to_last(b, "c", "l");
  auto& mean = b.node("ReduceMean", {"l"}, {"m"});
  set_list(mean, "axes", {1, 2});
  set(mean, "keepdims", 0);
  b.node("Reshape", {"m", "to"}, {"r"});
  to_first(b, "r", "g");
  b.node("Conv", {"g", "w1", "b1"}, {"g1"});
  to_last(b, "g1", "g2");
  b.node("Relu", {"g2"}, {"g3"});
  to_first(b, "g3", "g4");
  b.node("Conv", {"g4", "w2"}, {"g5"});
  to_last(b, "g5", "g6");
  b.node("Sigmoid", {"g6"}, {"g7"});
  b.node("Mul", {"g7", "l"}, {"p"});
  to_first(b, "p", "y");
  EXPECT_EQ(operators(convert(b)), "Conv ReduceMean Reshape Conv Relu Conv Sigmoid Mul");
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, PassOperatorsThatNameAxes) {
  builder b(13);
  b.input("x", {1, 2, 6, 4}).output("y").ints("pads", {0, 1, 0, 0, 0, 0, 2, 0}).ints("times", {1, 1, 2, 1});
  b.ints("from", {1}).ints("to", {9}).ints("axis", {2}).floats("scales", {4}, {1, 2, 1, 1}).weights("c", {6, 1});
  b.ints("two", {1, 2, 2, 3}).weights("w", {2, 6, 1, 1}).ints("shape", {1, 6, 16, 6}).ints("back", {1, 6, 8, 2, 2, 3});
  to_last(b, "x", "l");                                       // 1 6 4 2
  b.node("Pad", {"l", "pads"}, {"a"});                        // 1 7 6 2
  b.node("Tile", {"a", "times"}, {"t"});                      // 1 7 12 2
  b.node("Slice", {"t", "from", "to", "axis"}, {"s"});        // 1 7 8 2
  set(b.node("Concat", {"s", "s", "s"}, {"j"}), "axis", -1);  // 1 7 8 6
  b.node("Resize", {"j", "", "scales"}, {"z"});               // 1 14 8 6
  set(b.node("Softmax", {"z"}, {"f"}), "axis", 3);
  set_list(b.node("ReduceMax", {"f"}, {"m"}), "axes", {1});  // 1 1 8 6
  b.node("Sub", {"f", "m"}, {"d"});
  to_first(b, "d", "y");
  EXPECT_EQ(operators(convert(b)), "Pad Tile Slice Concat Resize Softmax ReduceMax Sub");
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, OfGroupNormalization) {
  // Keras: the channels become two axes, and the mean is of one of them and of the pixels.
  builder b(13);
  b.input("x", {1, 6, 4, 4}).output("y").ints("split", {1, 4, 4, 2, 3}).ints("join", {1, 4, 4, 6}).weights("scale", {2, 3});
  to_last(b, "x", "l");
  b.node("Reshape", {"l", "split"}, {"g"});
  set_list(b.node("ReduceMean", {"g"}, {"m"}), "axes", {1, 2, 4});
  b.node("Sub", {"g", "m"}, {"d"});
  b.node("Mul", {"d", "scale"}, {"s"});
  b.node("Reshape", {"s", "join"}, {"j"});
  to_first(b, "j", "y");
  EXPECT_EQ(operators(convert(b)), "Reshape ReduceMean Sub Mul Reshape");
  EXPECT_EQ(first<ops::reduce>(convert(b)).over, (std::array{false, false, true, true, true, false, false, false}));
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, OfSignals) {
  // tf2onnx: a convolution along one axis is one of pictures with one row.
  builder b(13);
  b.input("x", {1, 16, 3})
      .output("y")
      .ints("one", {1})
      .weights("w", {5, 3, 1, 3})
      .weights("b", {1, 5, 1})
      .weights("s", {5, 1});
  b.node("Unsqueeze", {"x", "one"}, {"u"});
  to_first(b, "u", "f");
  b.node("Conv", {"f", "w"}, {"c"});
  to_last(b, "c", "l");
  b.node("Squeeze", {"l", "one"}, {"q"});
  set(b.node("Transpose", {"q"}, {"t"}), "perm", {0, 2, 1});
  b.node("Mul", {"t", "s"}, {"m"});
  b.node("Add", {"m", "b"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Reshape Transpose Conv Reshape");
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, OfDenseLayersOfPixels) {
  builder b;
  b.input("x", {1, 3, 4, 5}).output("y").weights("w", {3, 6}).weights("b", {6});
  to_last(b, "x", "l");
  b.node("MatMul", {"l", "w"}, {"m"});
  b.node("Add", {"m", "b"}, {"a"});
  to_first(b, "a", "y");
  EXPECT_EQ(operators(convert(b)), "Conv");
  EXPECT_LT(error(b), 1e-6);
}

TEST(Transposes, StayWhereElementsMustMove) {
  builder b;
  b.input("x", {1, 2, 3, 4}).output("y").weights("w", {24, 2}).weights("k", {2, 2, 1, 1});
  b.node("Conv", {"x", "k"}, {"c"});
  to_last(b, "c", "l");
  b.node("Relu", {"l"}, {"r"});
  b.node("Flatten", {"r"}, {"f"});
  b.node("Gemm", {"f", "w"}, {"y"});
  EXPECT_EQ(operators(convert(b)), "Conv Transpose Relu Flatten Gemm");
  EXPECT_LT(error(b), 1e-6);
  // Several outputs come last, also those that need a Transpose.
  builder c;
  c.input("x", {1, 2, 3, 4}).output("y").output("z");
  to_last(c, "x", "l");
  c.node("Relu", {"l"}, {"r"});
  to_first(c, "r", "y");
  set_list(c.node("ReduceSum", {"r"}, {"s"}), "axes", {1});
  c.node("Relu", {"s"}, {"z"});
  c.model.mutable_opset_import(0)->set_version(11);
  const auto net = convert(c);
  EXPECT_EQ(operators(net), "Relu ReduceSum Relu Transpose");
  EXPECT_TRUE(is_output(net.layers[net.layers.size() - 2]));
  EXPECT_LT(error(c), 1e-6);
}

/// Random networks of operators on tensors of four axes, with Transposes between them.
builder random_network(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  builder b(13);
  b.input("x", {1, 4, 2, 6});
  struct tensor {
    std::string name;
    std::vector<std::int64_t> dims;
  };
  std::vector<tensor> made{{"x", {1, 4, 2, 6}}};
  for (int i = 0; i < 24; ++i) {
    const auto in = made[made.size() - 1 - below(std::min<std::size_t>(made.size(), 3))];
    tensor out{"t" + std::to_string(i), in.dims};
    const auto parameter = out.name + "p";
    const auto axis = below(4);
    const auto a = static_cast<std::int64_t>(axis);
    const auto mate = std::ranges::find_if(made, [&](const tensor& t) { return t.dims == in.dims && t.name != in.name; });
    switch (below(9)) {
      case 0:
      case 1: {
        std::vector<std::int64_t> perm{0, 1, 2, 3};
        std::shuffle(perm.begin() + (below(3) ? 1 : 0), perm.end(), random);
        for (std::size_t k = 0; k < 4; ++k) out.dims[k] = in.dims[perm[k]];
        set(b.node("Transpose", {in.name}, {out.name}), "perm", perm);
        break;
      }
      case 2:
        b.node(mate != made.end() ? "Add" : "Relu",
               mate != made.end() ? std::vector{in.name, mate->name} : std::vector{in.name}, {out.name});
        break;
      case 3: {
        std::vector<std::int64_t> dims(in.dims.begin() + static_cast<std::ptrdiff_t>(below(4)), in.dims.end());
        for (auto& d : dims) d = below(2) ? d : 1;
        b.weights(parameter, dims).node("Sub", {parameter, in.name}, {out.name});
        break;
      }
      case 4:
        out.dims[axis] = 1;
        set_list(b.node("ReduceMean", {in.name}, {parameter}), "axes", {a});
        b.node("Add", {in.name, parameter}, {out.name});
        out.dims = in.dims;
        break;
      case 5: {
        std::vector<std::int64_t> wide = in.dims;  // and back, in other groups
        std::swap(wide[axis], wide[(axis + 1) % 4]);
        out.dims = wide;
        b.ints(parameter, wide).node("Reshape", {in.name, parameter}, {out.name});
        break;
      }
      case 6: {
        std::vector<std::int64_t> split;
        for (std::size_t k = 0; k < 4; ++k) {
          if (k == axis && in.dims[k] % 2 == 0) {
            split.push_back(2);
            split.push_back(in.dims[k] / 2);
          } else split.push_back(in.dims[k]);
        }
        b.ints(parameter, split).ints(parameter + "b", in.dims);
        b.node("Reshape", {in.name, parameter}, {out.name + "s"});
        b.node("Sigmoid", {out.name + "s"}, {out.name + "g"});
        b.node("Reshape", {out.name + "g", parameter + "b"}, {out.name});
        break;
      }
      case 7:
        set(b.node("Softmax", {in.name}, {out.name}), "axis", a);
        break;
      default:
        b.weights(parameter, {in.dims[3], in.dims[3]}).node("MatMul", {in.name, parameter}, {out.name});
    }
    made.push_back(out);
  }
  for (std::size_t k = made.size() - 3; k < made.size(); ++k) b.output(made[k].name);
  return b;
}

TEST(Transposes, RandomNetworksComputeTheSame) {
  int fewer = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const auto b = random_network(seed);
    EXPECT_LT(error(b), 1e-5) << "seed " << seed;
    const auto count = [](const network& net) {
      return std::ranges::count_if(net.layers, [](const auto& l) { return l.op.onnx_name() == "Transpose"; });
    };
    fewer += count(convert(b)) < count(convert(b, {.fold = false}));
  }
  EXPECT_GT(fewer, 40);
}

}  // namespace
}  // namespace onnx2hpp_test
