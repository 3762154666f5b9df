#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace dice::files {

/// SHA-256 of a stream of bytes (FIPS 180-4). Here and not from a library, because libcrypto alone is five times as large as
/// a program with all of dice.
class sha256 {
 public:
  void add(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    if (filled_ > 0) {
      const auto n = std::min(bytes.size(), block - filled_);
      std::memcpy(pending_.data() + filled_, bytes.data(), n);
      bytes = bytes.subspan(n);
      if ((filled_ += n) < block) return;
      mix(pending_.data());
    }
    for (; bytes.size() >= block; bytes = bytes.subspan(block)) mix(bytes.data());
    if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
    filled_ = bytes.size();
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }

  /// The digest's 32 bytes; ends the stream.
  std::array<std::byte, 32> bytes() {
    const auto bits = size_ * 8;
    std::array<std::byte, 2 * block> end{std::byte{0x80}};
    const auto length = (filled_ < block - 8 ? block : 2 * block) - filled_;
    for (std::size_t i = 0; i < 8; ++i) end[length - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
    add(std::span(end).first(length));
    std::array<std::byte, 32> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
  }
  /// The digest as 64 hexadecimal digits; ends the stream.
  std::string text() {
    std::string out;
    for (const auto b : bytes())
      for (const int shift : {4, 0}) out += "0123456789abcdef"[std::to_integer<int>(b >> shift) & 15];
    return out;
  }

 private:
  static constexpr std::size_t block = 64;

  void mix(const std::byte* from) {
    static constexpr std::array<std::uint32_t, 64> constants{
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i) {
      std::uint32_t word;
      std::memcpy(&word, from + 4 * i, 4);
      w[i] = std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
    }
    using std::rotr;
    for (std::size_t i = 16; i < 64; ++i)
      w[i] = w[i - 16] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
             (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto first = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const auto second = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
  }

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, block> pending_{};
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace dice::files
