// What the GPU probes share: memory full of random numbers, timing, lines of JSON.
#pragma once

#include <dice/kernels/cudnn/cuda/kernels.hpp>
#include <dice/kernels/cudnn/detail/setting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace probe {

using namespace dice::kernels;

/// GPU 0, one stream, and one block of its memory.
class bench {
 public:
  explicit bench(std::size_t wanted) {
    check(cudaSetDevice(0), "be used");
    check(cudaFree(nullptr), "be used");
    cudaDeviceProp about{};
    check(cudaGetDeviceProperties(&about, 0), "tell its properties");
    name_ = about.name;
    cache_ = about.l2CacheSize;
    check(cudaStreamCreateWithFlags(stream_.put(), cudaStreamNonBlocking), "make a stream");
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "tell its free memory");
    size_ = std::min(wanted, free / 4 * 3) / 256 * 256;
    check(cudaMalloc(memory_.put(), size_), "give memory");
    std::vector<float> part(std::min<std::size_t>(size_ / 4, 1 << 20));
    std::minstd_rand engine(1);
    std::uniform_real_distribution<float> values(-1, 1);
    for (float& x : part) x = values(engine);
    for (std::size_t at = 0; at < size_; at += part.size() * 4)
      check(cudaMemcpy(static_cast<std::byte*>(memory_.get()) + at, part.data(), std::min(part.size() * 4, size_ - at),
                       cudaMemcpyHostToDevice),
            "take numbers");
  }

  const std::string& name() const { return name_; }
  std::int64_t cache() const { return cache_; }
  cudaStream_t stream() const { return stream_.get(); }
  std::int64_t left() const { return static_cast<std::int64_t>(size_ - used_); }
  void clear() { used_ = 0; }
  /// Throws std::runtime_error if there is no room.
  std::byte* room(std::int64_t bytes) {
    if (bytes > left()) throw std::runtime_error("the GPU has too little memory for this");
    return static_cast<std::byte*>(memory_.get()) +
           std::exchange(used_, used_ + (static_cast<std::size_t>(bytes) + 255) / 256 * 256);
  }
  float* numbers(std::int64_t n) { return reinterpret_cast<float*>(room(4 * n)); }
  std::vector<float> get(const float* from, std::int64_t n) {
    std::vector<float> out(static_cast<std::size_t>(n));
    check(cudaMemcpy(out.data(), from, out.size() * 4, cudaMemcpyDeviceToHost), "give numbers");
    return out;
  }

  struct times {
    float alone = 0, in_graph = 0;  ///< milliseconds; 0: not measured
  };
  /// Times one `run`, which enqueues on the stream: by itself, and as one of ten in a graph unless that takes longer than
  /// `most`.
  template <class Run> times measure(const Run& run, float most, bool quick) {
    times out{least(quick ? 1 : 2, run), 0};
    if (out.alone > most) return out;
    cudnn::captured_graph graph;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "record kernels");
    const int repeats = quick ? 1 : 10;
    try {
      for (int i = 0; i < repeats; ++i) run();
    } catch (...) {
      cudaStreamEndCapture(stream(), graph.put());
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream(), graph.put()), "record kernels");
    cudnn::executable job;
    check(cudnn::instantiate(graph, job), "prepare kernels");
    out.in_graph =
        least(quick ? 1 : 3, [&] { check(cudaGraphLaunch(job.get(), stream()), "compute"); }) / static_cast<float>(repeats);
    return out;
  }
  static void check(cudaError_t code, const char* doing) { cudnn::check(code, 0, doing); }

 private:
  /// The minimum milliseconds of `runs` runs, after one that does not count.
  template <class Run> float least(int runs, const Run& run) {
    cudnn::event begin, end;
    check(cudaEventCreate(begin.put()), "measure kernels");
    check(cudaEventCreate(end.put()), "measure kernels");
    float out = std::numeric_limits<float>::infinity();
    for (int i = 0; i <= runs; ++i) {
      check(cudaEventRecord(begin.get(), stream()), "measure kernels");
      run();
      check(cudaEventRecord(end.get(), stream()), "measure kernels");
      check(cudaEventSynchronize(end.get()), "compute");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "measure kernels");
      if (i > 0) out = std::min(out, ms);
    }
    return out;
  }

  std::string name_;
  std::int64_t cache_ = 0;
  cudnn::stream stream_;
  cudnn::device_memory memory_;
  std::size_t size_ = 0, used_ = 0;
};

/// One line of JSON on the standard output: {"a": 1, "b": "x"}.
class line {
 public:
  line() = default;
  ~line() {
    std::printf("{%s}\n", text_.str().c_str());
    std::fflush(stdout);
  }
  line(const line&) = delete;
  line& say(const char* name, std::string_view value) {
    begin(name) << '"';
    for (const char c : value)
      if (c == '"' || c == '\\') text_ << '\\' << c;
      else if (static_cast<unsigned char>(c) >= 0x20) text_ << c;
    text_ << '"';
    return *this;
  }
  line& say(const char* name, const char* value) { return say(name, std::string_view(value)); }
  line& say(const char* name, bool value) {
    begin(name) << (value ? "true" : "false");
    return *this;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> line& say(const char* name, Number value) {
    begin(name) << value;
    return *this;
  }
  line& say(const char* name, const std::vector<const char*>& values) {
    begin(name) << '[';
    for (std::size_t i = 0; i < values.size(); ++i) text_ << (i ? ", \"" : "\"") << values[i] << '"';
    text_ << ']';
    return *this;
  }
  line& say(const bench::times& t) {
    say("alone_ms", t.alone);
    return t.in_graph > 0 ? say("ms", t.in_graph) : *this;
  }

 private:
  std::ostream& begin(const char* name) { return text_ << (text_.tellp() > 0 ? ", \"" : "\"") << name << "\": "; }
  std::ostringstream text_;
};

/// --name value, or "" if it is missing; flags are "1".
class arguments {
 public:
  arguments(int argc, char** argv, std::vector<std::string_view> values, std::vector<std::string_view> flags) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view name = argv[i];
      if (std::find(flags.begin(), flags.end(), name) != flags.end()) given_.emplace_back(name, "1");
      else if (std::find(values.begin(), values.end(), name) != values.end() && i + 1 < argc)
        given_.emplace_back(name, argv[++i]);
      else throw std::runtime_error("unknown option, or one without a value: " + std::string(name));
    }
  }
  std::string operator[](std::string_view name) const {
    for (const auto& [n, value] : given_)
      if (n == name) return value;
    return {};
  }
  double number(std::string_view name, double otherwise) const {
    const auto text = (*this)[name];
    return text.empty() ? otherwise : std::atof(text.c_str());
  }

 private:
  std::vector<std::pair<std::string_view, std::string>> given_;
};

}  // namespace probe
