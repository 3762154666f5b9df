// How much of a GPU's memory each step of a rank's start takes beyond what it asks for: lines of JSON with the bytes by
// which free memory shrinks.
#include "probe.hpp"

#include <dice/kernels/cudnn/detail/convolutions.hpp>
#include <dice/kernels/cudnn/detail/products.hpp>

namespace {

using namespace dice::kernels;

std::size_t free_now() {
  std::size_t free = 0, total = 0;
  probe::bench::check(cudaMemGetInfo(&free, &total), "tell its free memory");
  return free;
}

}  // namespace

int main() try {
  std::size_t before = 0, total = 0;
  probe::bench::check(cudaMemGetInfo(&before, &total), "tell its free memory");
  // What nvidia-smi shows as used, less other processes' memory, is this context's.
  probe::line().say("step", "context (and other processes)").say("bytes", total - before).say("total", total);
  const auto told = [&](const char* step) {
    probe::bench::check(cudaDeviceSynchronize(), "compute");
    const auto now = free_now();
    probe::line().say("step", step).say("bytes", static_cast<long long>(before) - static_cast<long long>(now));
    before = now;
  };

  cudnn::setting on;
  cudnn::stream stream;
  probe::bench::check(cudaStreamCreateWithFlags(stream.put(), cudaStreamNonBlocking), "make a stream");
  on.stream = stream.get();
  told("a stream");
  constexpr std::int64_t room = std::int64_t{64} << 20, size = std::int64_t{128} << 20;
  cudnn::device_memory memory;
  probe::bench::check(cudaMalloc(memory.put(), size), "give memory");
  probe::bench::check(cudaMemset(memory.get(), 0, size), "give memory");
  told("128 MiB that are asked for");
  auto* const at = static_cast<std::byte*>(memory.get());
  auto* const numbers = reinterpret_cast<float*>(at + room);

  probe::bench::check(cudnn::start(cudnn::elements{numbers, numbers, 256, nullptr, nullptr, 1, 1, {}}, on.stream),
                      "compute");
  told("dice's first kernel");
  cudnn::convolutions convolutions(on);
  const auto convolve = [&](std::int64_t channels, std::int64_t extent, std::int64_t kernel) {
    const int pad = static_cast<int>(kernel) / 2;
    cudnn::convolution c;
    c.x = {1, channels, extent, extent};
    c.w = {channels, channels, kernel, kernel};
    c.y = c.x;
    c.pads = {pad, pad, pad, pad};
    c.bias = c.relu = true;
    cudnn::operands o;
    o.x = numbers;
    o.w = numbers + (1 << 22);
    o.bias = numbers;
    o.y = numbers + (1 << 23);
    o.workspace = at;
    o.room = room;
    if (!convolutions.run(c, o)) probe::line().say("step", "a convolution for which cuDNN has no engine");
  };
  convolve(64, 28, 1);
  told("cuDNN's handle and its first convolution, all engines measured");
  convolve(64, 28, 3);
  told("a second one, 3x3");
  convolve(256, 14, 3);
  told("a third one");
  cudnn::products products(on);
  products.run({numbers + (1 << 23), numbers, numbers + (1 << 22), nullptr, 1, 1000, 2048, {}}, at, room);
  told("cuBLASLt's handle and its first product");
  cudnn::captured_graph graph;
  probe::bench::check(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeThreadLocal), "record kernels");
  for (int i = 0; i < 100; ++i) convolve(64, 28, 3);
  probe::bench::check(cudaStreamEndCapture(on.stream, graph.put()), "record kernels");
  cudnn::executable job;
  probe::bench::check(cudnn::instantiate(graph, job), "prepare kernels");
  probe::bench::check(cudaGraphUpload(job.get(), on.stream), "prepare kernels");
  probe::bench::check(cudaGraphLaunch(job.get(), on.stream), "compute");
  told("a graph of 100 convolutions");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "probe_memory: %s\n", e.what());
  return 1;
}
