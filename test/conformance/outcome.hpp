// What onnx2hpp makes of a case.
#pragma once

#include "cases.hpp"
#include "graph/convert.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace conformance {

struct outcome {
  std::vector<int> kept{};  ///< inputs of the case that stay graph inputs
  std::string model_digest{};
  onnx2hpp::model model{};  ///< where the network's parameters lie
  std::optional<onnx2hpp::network> network{};
  std::vector<onnx2hpp::problem> problems{};
};

/// What onnx2hpp makes of a model; `file` is written, and must exist while the outcome is used.
outcome convert(const onnx::ModelProto& model, const std::filesystem::path& file);

/// Keeps as many of the first real inputs with elements as onnx2hpp accepts: those that must be constants (weights, limits)
/// come last.
outcome convert(const test_case& c, const std::filesystem::path& file);

/// Of a case with two kept inputs, the networks in which only one stays, if onnx2hpp accepts that. `file` is as above, and
/// is written for each; `use` is called before the next.
template <class Use> void convert_halves(const test_case& c, const outcome& o, const std::filesystem::path& file, Use use);

/// Why a case is left out: operators that dice does not have, element types, or onnx2hpp's first complaint about a node. ""
/// if the case is not left out.
std::string reason(const test_case& c, const outcome& o);

/// Leaves a file alone if it has this text already, so that what is compiled from it stays valid.
void write_file(const std::filesystem::path& path, const std::string& text);

/// The SHA-256 in hexadecimal.
std::string digest(const std::string& text);

// -----------------------------------------------------------------------------------------------------------------------

outcome convert(const test_case& c, const std::vector<int>& kept, const std::filesystem::path& file);

template <class Use> void convert_halves(const test_case& c, const outcome& o, const std::filesystem::path& file, Use use) {
  if (o.kept.size() != 2) return;
  for (int k : o.kept)
    if (const auto one = convert(c, {k}, file); one.network) use(one);
}

}  // namespace conformance
