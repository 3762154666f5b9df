// A GPU as a kernels::accelerator: jobs are CUDA graphs, launched on one stream; copies that do not wait for jobs have
// streams of their own.
#pragma once

#include "dice/kernels/accelerator.hpp"
#include "dice/kernels/cudnn/cuda.hpp"
#include "dice/kernels/cudnn/detail/base.hpp"
#include "dice/kernels/cudnn/detail/timing.hpp"
#include "dice/platform/unit.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::kernels::cudnn {

/// See kernels::accelerator. A template, so that programs without GPU ranks do not contain it: as a class it would be in
/// each, since g++ devirtualizes calls speculatively.
template <class = void> class basic_device final : public accelerator {
 public:
  /// GPU `index` of those that this process sees; float32 operands may be rounded to TF32 if `precision` is tf32;
  /// `direct`: no engine transforms tiles. Throws std::runtime_error, as do all functions here.
  explicit basic_device(int index, platform::numbers precision = {}, bool direct = false) : index_(index) {
    const std::lock_guard held(alone());
    int count = 0;
    check(cudaGetDeviceCount(&count), "be used");
    if (index >= count) throw std::runtime_error(where_text() + ": this process sees " + visible(count));
    check(cudaSetDevice(index), "be used");
    check(cudaFree(nullptr), "be used");  // makes the context, which is where most things fail
    cudaDeviceProp about{};
    check(cudaGetDeviceProperties(&about, index), "report its properties");
    auto& on = kernels_.on;
    on.gpu = index;
    on.name = about.name;
    on.tf32 = precision == platform::numbers::tf32;
    on.direct = direct;
    on.turn = turn_name();
    integrated_ = about.integrated;
    for (auto* s : {&jobs_, &in_, &out_}) check(cudaStreamCreateWithFlags(s->put(), cudaStreamNonBlocking), "make a stream");
    for (auto* e : {&arrived_, &computed_}) make(*e);
    on.stream = jobs_.get();
    identity_ = on.name + ", " + std::to_string(about.multiProcessorCount) + " multiprocessors, driver " +
                version_text(driver()) + ", cuDNN " + std::to_string(cudnnGetVersion()) + ", cuBLASLt " +
                std::to_string(cublasLtGetVersion());
    try_a_kernel(about);
    check(cudaMemGetInfo(&free_at_start_, &total_), "report its free memory");
  }
  basic_device(const basic_device&) = delete;
  ~basic_device() override {
    settle();
    const std::lock_guard held(alone());
    recorded_.clear();
    staging_.clear();
    memory_.clear();
  }

  void expect(const memory_request& w) override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "report its free memory");
    const auto available = room(static_cast<std::int64_t>(free));
    if (w.weights + w.arena <= available) return;
    throw std::runtime_error(where_text() + ": this rank needs " + amount(w.weights + w.arena) + " (weights " +
                             amount(w.weights) + ", arena " + amount(w.arena) + ", of which working memory of kernels " +
                             amount(w.workspace) + "), but of " + amount(static_cast<std::int64_t>(total)) + " only " +
                             amount(available) +
                             " are free; give it fewer layers or frames in flight, or limit it with memory<…>, which saves "
                             "working memory");
  }
  void remember_beside(const std::string& weights) override {
    std::string name = kernels_.on.name;
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
    kernels_.on.chosen.open(weights + "." + name + ".kernels", identity_);
  }
  std::string remember() override { return kernels_.on.chosen.save(); }

  std::byte* memory(std::int64_t bytes) override {
    if (bytes <= 0) return nullptr;
    void* at = nullptr;
    const auto code = cudaMalloc(&at, static_cast<std::size_t>(bytes));
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::runtime_error(where_text() + ": it cannot provide " + amount(bytes) +
                               "; others use it, too (nvidia-smi), or give this rank fewer layers or frames in flight");
    }
    check(code, "allocate memory");
    memory_.emplace_back(at);
    given_ += bytes;
    return static_cast<std::byte*>(at);
  }
  std::byte* staging(std::int64_t bytes) override {
    if (bytes <= 0) return nullptr;
    void* at = nullptr;
    const auto code = cudaHostAlloc(&at, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::runtime_error(where_text() + ": the host cannot provide " + amount(bytes) +
                               " of pinned memory for copies; let fewer frames be in flight, or see ulimit -l");
    }
    check(code, "allocate pinned memory of the host");
    std::memset(at, 0, static_cast<std::size_t>(bytes));
    staging_.emplace_back(at);
    pinned_ += bytes;
    return static_cast<std::byte*>(at);
  }
  memory_figures memory_used() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "report its free memory");
    const auto taken = static_cast<std::int64_t>(free_at_start_) - static_cast<std::int64_t>(free) - given_;
    return {kernels_.on.name, given_, pinned_, integrated_ ? 0 : std::max<std::int64_t>(0, taken)};
  }

  void upload(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    constexpr std::int64_t chunk = std::int64_t{4} << 20;
    if (!chunks_[0])
      for (auto& p : chunks_) p = staging(chunk);
    for (std::int64_t at = 0; at < bytes; at += chunk) {
      next_chunk_ = 1 - next_chunk_;
      auto& sent = sent_[next_chunk_];
      if (!sent.get()) make(sent);
      else check(cudaEventSynchronize(sent.get()), "copy weights in");  // its half of the buffer is free
      const auto n = static_cast<std::size_t>(std::min(chunk, bytes - at));
      std::memcpy(chunks_[next_chunk_], from + at, n);
      check(cudaMemcpyAsync(to + at, chunks_[next_chunk_], n, cudaMemcpyHostToDevice, in_.get()), "copy weights in");
      check(cudaEventRecord(sent.get(), in_.get()), "copy weights in");
    }
    arriving_ = true;
  }

  int record(std::function<void()> body) override {
    recorded_.push_back(captured(body, 1));
    return static_cast<int>(recorded_.size()) - 1;
  }
  std::vector<std::int64_t> times(std::function<void()> body) override {
    constexpr int samples = 20, repeats = 10;  // one after the other in a graph, as in a job
    const auto job = captured(body, repeats);
    std::vector<std::int64_t> out;
    for (int i = 0; i < samples; ++i) {
      const auto ms = fastest_of(1, kernels_.on, [&] { check(cudaGraphLaunch(job.get(), jobs_.get()), "compute"); });
      out.push_back(static_cast<std::int64_t>(static_cast<double>(ms) * 1e6 / repeats));
    }
    return out;
  }

  void start(int job) override {
    join_copies_in();
    check(cudaGraphLaunch(recorded_[job].get(), jobs_.get()), "compute");
  }
  void copy_in(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) override {
    arriving_ |= apart;
    if (!apart) join_copies_in();
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, (apart ? in_ : jobs_).get()),
          "copy data in");
  }
  void copy_out(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) override {
    join_copies_in();
    if (apart) join(jobs_, out_, "copy data out");
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, (apart ? out_ : jobs_).get()),
          "copy data out");
  }

  std::int64_t mark() override {
    // All three streams join in the stream of copies out.
    join(in_, out_, "compute");
    join(jobs_, out_, "compute");
    auto& e = marks_.emplace_back();
    if (spare_.empty()) make(e);
    else {
      e = std::move(spare_.back());
      spare_.pop_back();
    }
    check(cudaEventRecord(e.get(), out_.get()), "compute");
    return passed_ + static_cast<std::int64_t>(marks_.size()) - 1;
  }
  bool reached(std::int64_t mark) override {
    while (passed_ <= mark) {
      const auto code = cudaEventQuery(marks_.front().get());
      if (code == cudaErrorNotReady) {
        cudaGetLastError();  // "not ready" may count as an error
        return false;
      }
      check(code, "compute");
      spare_.push_back(std::move(marks_.front()));
      marks_.pop_front();
      ++passed_;
    }
    return true;
  }
  void settle() noexcept override {
    for (auto* s : {&in_, &jobs_, &out_})
      if (s->get()) cudaStreamSynchronize(s->get());
    cudaGetLastError();
  }

 private:
  /// What body starts, `repeats` times, as a graph that can be launched.
  executable captured(const std::function<void()>& body, int repeats) {
    const std::lock_guard held(alone());
    current = &kernels_;
    join_copies_in();
    body();  // once without recording: what is measured, loaded or allocated at first use would break a recording
    check(cudaStreamSynchronize(jobs_.get()), "compute");
    return recorded(kernels_.on, repeats, body);
  }

  /// Makes the jobs' stream wait for the copies in that have a stream of their own.
  void join_copies_in() {
    if (!std::exchange(arriving_, false)) return;
    check(cudaEventRecord(arrived_.get(), in_.get()), "copy data in");
    check(cudaStreamWaitEvent(jobs_.get(), arrived_.get(), 0), "copy data in");
  }
  /// Makes `to` wait for what is on `from`.
  void join(const stream& from, const stream& to, const char* doing) {
    check(cudaEventRecord(computed_.get(), from.get()), doing);
    check(cudaStreamWaitEvent(to.get(), computed_.get(), 0), doing);
  }
  void check(cudaError_t code, const char* doing) const { cudnn::check(code, index_, doing); }
  void make(event& e) const { check(cudaEventCreateWithFlags(e.put(), cudaEventDisableTiming), "make an event"); }
  static int driver() {
    int version = 0;
    cudaDriverGetVersion(&version);
    return version;
  }

  /// Throws if this program has no code for this GPU.
  void try_a_kernel(const cudaDeviceProp& about) {
    device_memory one;
    check(cudaMalloc(one.put(), 256), "allocate memory");
    check(cudaMemsetAsync(one.get(), 0, 256, jobs_.get()), "write");
    auto* const x = static_cast<float*>(one.get());
    const auto code = cudnn::start(elements{x, x, 1, nullptr, nullptr, 1, 1, {}}, jobs_.get());
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
      cudaGetLastError();
      throw std::runtime_error(where_text() + ": its compute capability is " + std::to_string(about.major) + "." +
                               std::to_string(about.minor) + ", but this program has code for " + built_for() +
                               "; build it with -DDICE_CUDA_ARCHITECTURES=" + std::to_string(about.major) +
                               std::to_string(about.minor));
    }
    check(code, "compute");
    check(cudaStreamSynchronize(jobs_.get()), "compute");
  }

  /// How much of its memory is available, if CUDA reports `free` bytes. If it is the host's memory, CUDA's figure leaves out
  /// what the host would release, such as cached files.
  std::int64_t room(std::int64_t free) const {
    std::ifstream host(integrated_ ? "/proc/meminfo" : "");
    std::string name;
    for (std::int64_t kib = 0; host >> name >> kib; host.ignore(100, '\n'))
      if (name == "MemAvailable:") return std::max(free, kib << 10);
    return free;
  }
  std::string turn_name() const {
    char bus[32] = "";
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, index_), "report its PCI address");
    return std::string("GPU ") + bus;
  }

  /// "GPU 0 (NVIDIA …)".
  std::string where_text() const {
    return "GPU " + std::to_string(index_) + (kernels_.on.name.empty() ? "" : " (" + kernels_.on.name + ")");
  }
  static std::string amount(std::int64_t bytes) {
    return bytes < (10 << 20) ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes >> 20) + " MiB";
  }
  /// "GPU 0 (NVIDIA …, capability 9.0), …", and why there may be no more.
  static std::string visible(int count) {
    std::string out = count ? "only " : "none";
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp p{};
      if (cudaGetDeviceProperties(&p, i) != cudaSuccess) continue;
      out += (i ? ", " : "") + std::string("GPU ") + std::to_string(i) + " (" + p.name + ", capability " +
             std::to_string(p.major) + "." + std::to_string(p.minor) + ")";
    }
    const char* const hides = std::getenv("CUDA_VISIBLE_DEVICES");
    return out + (hides ? std::string("; CUDA_VISIBLE_DEVICES is '") + hides + "'" : "") +
           "; name one of them with gpu_at<…>";
  }

  const int index_;
  bool integrated_ = false;  ///< its memory is the host's
  std::string identity_;     ///< all that the choice of kernels depends on
  stream jobs_, in_, out_;
  event arrived_, computed_;
  bool arriving_ = false;  ///< there are copies in that no job waits for yet
  std::vector<device_memory> memory_;
  std::vector<pinned_memory> staging_;
  std::array<std::byte*, 2> chunks_{};  ///< through which weights go, in turn
  std::array<event, 2> sent_;
  std::size_t next_chunk_ = 0;
  std::vector<executable> recorded_;
  std::deque<event> marks_;  ///< not known to be reached, from number passed_ on
  std::vector<event> spare_;
  std::int64_t passed_ = 0;
  std::size_t free_at_start_ = 0, total_ = 0;
  std::int64_t given_ = 0, pinned_ = 0;
  recording kernels_;
};

using device = basic_device<>;

}  // namespace dice::kernels::cudnn
