#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace dice::weights {

/// Anonymous memory, 64-byte aligned (page-aligned), in huge pages where the system provides them. Owns the memory; movable.
class block {
 public:
  block() = default;
  /// `bytes` zeroed bytes; 0 gives an empty block. Throws std::bad_alloc.
  explicit block(std::int64_t bytes) {
    if (bytes <= 0) return;
    void* at = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(at);
    bytes_ = bytes;
    ::madvise(at, bytes, MADV_HUGEPAGE);  // a hint: failure costs only speed
  }
  block(block&& other) noexcept { swap(other); }
  block& operator=(block&& other) noexcept {
    swap(other);
    return *this;
  }
  ~block() {
    if (data_) ::munmap(data_, static_cast<std::size_t>(bytes_));
  }

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Writes every page, so that no page faults occur later.
  void touch() const {
    if (data_) std::memset(data_, 0, static_cast<std::size_t>(bytes_));
  }

 private:
  void swap(block& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace dice::weights
