// The texts that onnx2hpp writes. They depend only on the network: the same model gives the same bytes.
#pragma once

#include "emit/weights.hpp"
#include "expect/comparison.hpp"
#include "graph/network.hpp"
#include "import/mapping.hpp"
#include "import/profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace onnx2hpp {

/// The digest of all that a program is compiled from, SHA-256 in hexadecimal: of what the header says about the layers, the
/// size of the weights, and dice's version. The numbers in the weights do not change it.
std::string structure_digest(const network& net, const weights_layout& layout);
/// The C++ header; `model_digest` is the SHA-256 of the model's file. `pinned`: the digest of the only weights that programs
/// may take; empty: any weights of this structure.
std::string emit_header(const network& net, const weights_layout& layout, const std::string& name,
                        const std::string& model_digest, const std::string& pinned = {});
/// The header of the mapping, NAME::mapped.
std::string emit_mapping(const network& net, const std::vector<mapped_rank>& ranks, const std::string& name,
                         const std::string& model_digest);
/// The header of what was measured, NAME_profile.
std::string emit_profile(const profile& measured, const std::string& name, const std::string& model_digest);
/// The report, JSON; with the result of --expect, if there is one.
std::string emit_report(const network& net, const std::string& name, const comparison* compared = nullptr);
/// A graph for Graphviz.
std::string emit_dot(const network& net, const std::string& name);
/// A table for people.
std::string emit_list(const network& net);

/// The first lines of a header.
std::string notice(const std::string& model_digest);
/// For each layer, the bytes that a cut before it would send: each tensor that a layer before the cut computes and one
/// behind it reads counts once.
std::vector<std::int64_t> cut_bytes(const network& net);
/// Bytes of the parameters of a layer.
std::int64_t parameter_bytes(const layer& l);
/// A shape as 1x3x224x224.
std::string written(const shape& s);

}  // namespace onnx2hpp
