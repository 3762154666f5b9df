// Weights files, good and bad, written byte by byte.
#pragma once

#include "dice/weights/weights.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace on_disk {

inline constexpr std::string_view structure = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
inline const std::string content(64, 'c'), other(64, 'd'), model(64, '7');
inline constexpr dice::graph::weights_file wanted{"w.safetensors", structure, 40960};

struct file_on_disk {
  static inline int made = 0;
  std::string path = "/tmp/dice_weights_" + std::to_string(::getpid()) + "_" + std::to_string(made++);
  /// Header as given, padded to 64 bytes if `pad`; data[i] = i as float32.
  explicit file_on_disk(std::string header, std::int64_t bytes = wanted.bytes, bool pad = true) {
    while (pad && (header.size() + 8) % 64) header += ' ';
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
    out << header;
    for (int i = 0; i < bytes / 4; ++i) {
      const auto x = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&x), 4);
    }
  }
  ~file_on_disk() { ::unlink(path.c_str()); }
};

inline std::string header(std::string_view s = structure, const std::string& d = content, const std::string& m = model) {
  return R"({"a.\"w\"":{"dtype":"F32","shape":[1,-2.5e3,[true,null]],"x":{}},"__metadata__":{"format":"pt","dice_structure":")" +
         std::string(s) + R"(","dice_digest":")" + d + R"(","model_sha256":")" + m + R"(","z":"}"}, "b":[]})";
}

inline const float* plain_of(const dice::weights::store& s, int item, int parameter) {
  return static_cast<const float*>(s.plain(item)[parameter]);
}
inline void reverse(const void*, std::span<const void* const> from, std::byte* to) {
  const auto *a = static_cast<const float*>(from[0]), *b = static_cast<const float*>(from[1]);
  for (int i = 0; i < 16; ++i) reinterpret_cast<float*>(to)[i] = a[15 - i] + b[i];
}

}  // namespace on_disk
