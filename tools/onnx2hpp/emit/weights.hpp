// The weights file: safetensors with each tensor at a multiple of 64 bytes and an identity in its header.
#pragma once

#include "graph/network.hpp"

#include "dice/files/writer.hpp"
#include "dice/weights/block.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace onnx2hpp {

/// Where each parameter of each layer lies in the data section. Equal parameters of several layers are stored once.
struct weights_layout {
  struct tensor {
    std::string name;
    std::int64_t offset = 0, bytes = 0;
    const parameter* source = nullptr;
  };
  std::vector<tensor> tensors;                     ///< in order of their offsets
  std::vector<std::vector<std::int64_t>> offsets;  ///< by layer and parameter
  std::int64_t bytes = 0;                          ///< of the data section
};

/// The result refers to the parameters of `net`, which must outlive it.
weights_layout lay_out_weights(const network& net);

/// The data section.
dice::weights::block weights_data(const weights_layout& layout);

/// The file's digest: dice::weights::digest_of its tensors.
std::string data_digest(const weights_layout& layout);

/// Writes the file. Returns its digest.
std::string write_weights(const weights_layout& layout, const std::string& network_name, dice::files::writer& out);

}  // namespace onnx2hpp
