#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace onnx2hpp {

/// SHA-256 of a stream of bytes.
class sha256 {
 public:
  sha256() : state_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!state_ || EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  }
  void add(std::span<const std::byte> bytes) { EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()); }
  /// The digest in hexadecimal; ends the stream.
  std::string finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(state_.get(), digest, &size);
    std::string out;
    for (unsigned i = 0; i < size; ++i) {
      constexpr const char* digits = "0123456789abcdef";
      out += digits[digest[i] >> 4];
      out += digits[digest[i] & 15];
    }
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state_;
};

}  // namespace onnx2hpp
