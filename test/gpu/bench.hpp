// A GPU on which tests try kernels, one after the other.
#pragma once

#include <dice/kernels/cudnn/device.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace harness {

class gpu_bench {
 public:
  /// The one of this process; opened by the first call, which throws std::runtime_error if there is no GPU.
  static gpu_bench& get() {
    static gpu_bench one;
    return one;
  }

  dice::kernels::cudnn::device& device() { return device_; }
  /// Frees all memory of room(), and forgets again().
  void clear() {
    used_ = 0;
    again_ = {};
  }
  /// Memory of the GPU, at a multiple of 256.
  std::byte* room(std::int64_t bytes) {
    auto* const at = memory_ + used_;
    used_ += (bytes + 255) / 256 * 256;
    if (used_ > size) throw std::runtime_error("this test wants more memory than it may have");
    return at;
  }
  float* put(const std::vector<float>& content) {
    const auto bytes = static_cast<std::int64_t>(content.size() * sizeof(float));
    auto* const at = room(bytes);
    device_.upload(at, reinterpret_cast<const std::byte*>(content.data()), bytes);
    return reinterpret_cast<float*>(at);
  }
  /// From now on, a copy of n elements precedes each run of kernels.
  void again(float* to, const float* from, std::size_t n) {
    again_ = [=] { dice::kernels::cudnn::copy(to, from, static_cast<std::int64_t>(n)); };
  }
  /// Runs what body calls, recorded as a job.
  void run(const std::function<void()>& body) {
    device_.start(device_.record([&] {
      if (again_) again_();
      body();
    }));
    const auto end = device_.mark();
    while (!device_.reached(end)) std::this_thread::yield();
  }
  std::vector<float> get(const float* from, std::size_t n) {
    const auto bytes = static_cast<std::int64_t>(n * sizeof(float));
    if (bytes > staged) throw std::runtime_error("this test has larger results than it may have");
    device_.copy_out(staging_, reinterpret_cast<const std::byte*>(from), bytes, false);
    const auto end = device_.mark();
    while (!device_.reached(end)) std::this_thread::yield();
    std::vector<float> out(n);
    std::memcpy(out.data(), staging_, n * sizeof(float));
    return out;
  }

 private:
  static constexpr std::int64_t size = std::int64_t{512} << 20, staged = std::int64_t{64} << 20;
  dice::kernels::cudnn::device device_{0};
  std::byte* const memory_ = device_.memory(size);
  std::byte* const staging_ = device_.staging(staged);
  std::int64_t used_ = 0;
  std::function<void()> again_;
};

}  // namespace harness
