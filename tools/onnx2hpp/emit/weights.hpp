// The weights file: safetensors with each tensor at a multiple of 64 bytes and an identity in its header.
#pragma once

#include "graph/network.hpp"

#include "dice/files/writer.hpp"
#include "dice/weights/block.hpp"

#include <cstdint>
#include <functional>
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

/// The facts in a weights file about its network and the model that it comes from; digests are SHA-256 in hexadecimal.
struct weights_origin {
  std::string network, structure;
  std::function<std::string()> model_digest;  ///< of the model's file; called once the weights are written
};

/// Writes the file. Returns its content digest: dice::weights::digest_of its tensors. Throws dice::files::error.
std::string write_weights(const weights_layout& layout, const weights_origin& from, dice::files::writer& out);

}  // namespace onnx2hpp
