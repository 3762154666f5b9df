#include "graph/registry.hpp"

#include <set>
#include <sstream>

namespace onnx2hpp {

namespace {

constexpr struct {
  const char* why;
  const char* names;
} groups[] = {
    {"the shape of the result depends on the data", "Compress NonMaxSuppression NonZero Unique"},
    {"elements are moved to or from places computed at run time",
     "MaxUnpool OneHot ReverseSequence TensorScatter TopK"},
    {"recurrence, or a state kept from frame to frame", "CausalConvWithState GRU LSTM LinearAttention RNN"},
    {"quantised numbers", "ConvInteger DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul"},
    {"bits of integers", "BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor"},
    {"random numbers", "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"},
    {"optional values", "Optional OptionalGetElement OptionalHasElement"},
    {"text", "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer"},
    {"training", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"},
    {"spectra of signals", "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT"},
    {"pictures are read at places computed at run time, or from a file",
     "AffineGrid DeformConv GridSample ImageDecoder MaxRoiPool RoiAlign"},
    {"no kernel yet",
     "Acosh Asinh Atanh CenterCropPad Col2Im CumProd Det EyeLike Hardmax IsInf RotaryEmbedding Shrink"},
};

}  // namespace

const std::map<std::string, std::string>& unread_operators() {
  static const auto table = [] {
    std::map<std::string, std::string> out;
    for (const auto& group : groups) {
      std::istringstream words(group.names);
      for (std::string name; words >> name;) out[name] = group.why;
    }
    return out;
  }();
  return table;
}

bool is_quantised(const std::string& name) {
  static const std::set<std::string> known{"ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
                                           "QLinearConv", "QLinearMatMul",    "QuantizeLinear"};
  return known.contains(name);
}

bool keeps_shape(const std::string& name) {
  // clang-format off
  static const std::set<std::string> known{
      "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "CumSum", "Elu", "Erf", "Exp",
      "Floor", "Gelu", "GroupNormalization", "Hardmax", "InstanceNormalization", "LayerNormalization", "Log", "LogSoftmax",
      "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "PRelu", "RMSNormalization", "Reciprocal", "Round",
      "Selu", "Shrink", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "ThresholdedRelu"};
  // clang-format on
  return known.contains(name);
}

}  // namespace onnx2hpp
