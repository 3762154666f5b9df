// The emulated CUDA runtime keeps CUDA's rules: orders of streams, captures, memory, errors.
#include "fixture.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using emulated::numbers;
using runtime = emulated::gpu_test;

/// A kernel that takes a while.
auto slow(std::function<void()> f) {
  return [f = std::move(f)] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    f();
  };
}

struct second_stream {
  explicit second_stream(unsigned flags = cudaStreamNonBlocking) { cudaStreamCreateWithFlags(&stream, flags); }
  ~second_stream() { cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};
struct event {
  event() { cudaEventCreate(&e); }
  ~event() { cudaEventDestroy(e); }
  operator cudaEvent_t() const { return e; }
  cudaEvent_t e = nullptr;
};
struct graph {
  ~graph() {
    if (x) cudaGraphExecDestroy(x);
    if (g) cudaGraphDestroy(g);
  }
  cudaGraph_t g = nullptr;
  cudaGraphExec_t x = nullptr;
};

TEST_F(runtime, a_stream_keeps_its_order_and_the_host_goes_on) {
  std::vector<int> order;
  std::atomic<bool> done = false;
  emulated::enqueue(stream, slow([&] { order.push_back(1); }));
  for (int i = 2; i < 50; ++i) emulated::enqueue(stream, [&, i] { order.push_back(i); });
  emulated::enqueue(stream, [&] { done = true; });
  EXPECT_FALSE(done);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  ASSERT_EQ(order.size(), 49u);
  for (int i = 1; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i) - 1], i);
}

TEST_F(runtime, events_order_streams_by_their_record_at_the_time) {
  const second_stream other;
  const event e;
  EXPECT_EQ(cudaEventQuery(e), cudaSuccess);  // never recorded
  EXPECT_EQ(cudaStreamWaitEvent(stream, e, 0), cudaSuccess);
  std::atomic<int> first = 0, second = 0;
  int seen = -1, seen_later = -1;
  emulated::enqueue(other.stream, slow([&] { first = 1; }));
  EXPECT_EQ(cudaEventRecord(e, other.stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(e), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamWaitEvent(stream, e, 0), cudaSuccess);
  emulated::enqueue(stream, [&] { seen = first + 10 * second; });
  emulated::enqueue(other.stream, slow([&] { second = 1; }));
  EXPECT_EQ(cudaEventRecord(e, other.stream), cudaSuccess);  // too late for the wait above
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(cudaStreamWaitEvent(stream, e, 0), cudaSuccess);
  emulated::enqueue(stream, [&] { seen_later = second; });
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen_later, 1);
  EXPECT_EQ(cudaEventSynchronize(e), cudaSuccess);
}

TEST_F(runtime, time_passes_between_events) {
  const event from, to;
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, from, to), cudaErrorInvalidResourceHandle);
  cudaEventRecord(from, stream);
  emulated::enqueue(stream, slow([] {}));
  cudaEventRecord(to, stream);
  EXPECT_EQ(cudaEventElapsedTime(&ms, from, to), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(to), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, from, to), cudaSuccess);
  EXPECT_GE(ms, 19);
  EXPECT_LT(ms, 10000);
}

TEST_F(runtime, the_legacy_stream_waits_for_blocking_streams_only) {
  const second_stream blocking(cudaStreamDefault);
  std::atomic<int> a = 0, b = 0;
  int seen_a = -1, after = -1;
  emulated::enqueue(blocking.stream, slow([&] { a = 1; }));
  emulated::enqueue(nullptr, [&] { seen_a = a; });
  emulated::enqueue(nullptr, slow([&] { b = 1; }));
  emulated::enqueue(blocking.stream, [&] { after = b; });
  EXPECT_EQ(cudaStreamSynchronize(blocking.stream), cudaSuccess);
  EXPECT_EQ(seen_a, 1);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(runtime, copies) {
  const numbers d(std::vector<float>{1, 2, 3, 4});
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 16, cudaHostAllocPortable | cudaHostAllocMapped), cudaSuccess);
  auto* p = static_cast<float*>(pinned);
  void* seen = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&seen, pinned, 0), cudaSuccess);
  EXPECT_EQ(seen, pinned);
  float pageable[4] = {};
  EXPECT_EQ(cudaHostGetDevicePointer(&seen, pageable, 0), cudaErrorInvalidValue);

  // Pinned memory is read when the copy runs, other memory when it is enqueued.
  for (int i = 0; i < 4; ++i) {
    p[i] = 5;
    pageable[i] = 6;
  }
  emulated::enqueue(stream, slow([] {}));
  EXPECT_EQ(cudaMemcpyAsync(d.at(), p, 8, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(d.at() + 2, pageable, 8, cudaMemcpyHostToDevice, stream), cudaSuccess);
  std::memset(pageable, 0, sizeof pageable);
  EXPECT_EQ(cudaMemcpyAsync(pageable, d.at(), 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);  // waits
  EXPECT_EQ(std::vector<float>(pageable, pageable + 4), (std::vector<float>{5, 5, 6, 6}));
  EXPECT_EQ(cudaMemcpyAsync(d.at() + 2, d.at(), 8, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(d.at(), 0, 4, stream), cudaSuccess);
  EXPECT_EQ(d.get(), (std::vector<float>{0, 5, 5, 5}));

  EXPECT_EQ(cudaMemcpyAsync(pageable, p, 16, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(d.at(), p, 20, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);  // beyond its end
  EXPECT_EQ(cudaMemcpyAsync(pageable, d.at(), 16, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(runtime, memory_ends_and_begins_as_nan) {
  emulated::now().total = 1000;
  std::size_t free = 0, total = 0;
  void *a = nullptr, *b = nullptr;
  EXPECT_EQ(cudaMalloc(&a, 600), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
  EXPECT_TRUE(std::isnan(static_cast<float*>(a)[149]));
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 400u);
  EXPECT_EQ(total, 1000u);
  EXPECT_EQ(cudaMalloc(&b, 401), cudaErrorMemoryAllocation);
  EXPECT_EQ(b, nullptr);
  bool done = false;
  emulated::enqueue(stream, slow([&] { done = true; }));
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_TRUE(done);  // it waited
  EXPECT_EQ(cudaFree(a), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(runtime, captured_work_runs_at_each_launch) {
  int n = 0;
  graph g;
  cudaStreamCaptureStatus status{};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  emulated::enqueue(stream, [&] { ++n; });
  emulated::enqueue(stream, [&] { n *= 2; });
  ASSERT_EQ(cudaStreamEndCapture(stream, &g.g), cudaSuccess);
  EXPECT_EQ(n, 0);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(g.g, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 2u);
  ASSERT_EQ(cudaGraphInstantiate(&g.x, g.g, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(g.x, stream), cudaSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(g.x, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(n, 14);
}

TEST_F(runtime, a_forked_stream_joins_the_capture) {
  const second_stream other;
  const event fork, join;
  std::vector<int> order;
  graph g;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  emulated::enqueue(stream, [&] { order.push_back(1); });
  EXPECT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other.stream, fork, 0), cudaSuccess);
  emulated::enqueue(other.stream, [&] { order.push_back(2); });
  EXPECT_EQ(cudaEventRecord(join, other.stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &g.g), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&g.x, g.g, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(g.x, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));

  graph unjoined, unmatched;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other.stream, fork, 0);
  emulated::enqueue(other.stream, [] {});
  EXPECT_EQ(cudaStreamEndCapture(stream, &unjoined.g), cudaErrorStreamCaptureUnjoined);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other.stream, fork, 0);
  EXPECT_EQ(cudaStreamEndCapture(other.stream, &unmatched.g), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream, &unmatched.g), cudaErrorStreamCaptureInvalidated);
}

TEST_F(runtime, what_no_capture_allows) {
  const event e, outside;
  const second_stream other;
  cudaEventRecord(outside, other.stream);
  void* p = nullptr;
  float host[2] = {};
  const numbers d(2);
  const auto refused = [&](const char* what, cudaError_t expected, auto call) {
    graph g;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess) << what;
    cudaEventRecord(e, stream);
    EXPECT_EQ(call(), expected) << what;
    cudaStreamCaptureStatus status{};
    cudaStreamIsCapturing(stream, &status);
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated) << what;
    EXPECT_EQ(emulated::enqueue(stream, [] {}), cudaErrorStreamCaptureInvalidated) << what;
    EXPECT_EQ(cudaStreamEndCapture(stream, &g.g), cudaErrorStreamCaptureInvalidated) << what;
    EXPECT_EQ(g.g, nullptr);
  };
  const auto unsupported = cudaErrorStreamCaptureUnsupported;
  refused("allocation", unsupported, [&] { return cudaMalloc(&p, 4); });
  refused("pinned allocation", unsupported, [&] { return cudaHostAlloc(&p, 4, 0); });
  refused("free", unsupported, [&] { return cudaFree(d.at()); });
  refused("waiting", unsupported, [&] { return cudaStreamSynchronize(stream); });
  refused("asking", unsupported, [&] { return cudaStreamQuery(stream); });
  refused("waiting for all", unsupported, [&] { return cudaDeviceSynchronize(); });
  refused("an event within", cudaErrorCapturedEvent, [&] { return cudaEventQuery(e); });
  refused("an event outside", unsupported, [&] { return cudaEventQuery(outside); });
  refused("a wait for what is outside", cudaErrorStreamCaptureIsolation,
          [&] { return cudaStreamWaitEvent(stream, outside, 0); });
  refused("a copy of memory that is not pinned", unsupported,
          [&] { return cudaMemcpyAsync(d.at(), host, 8, cudaMemcpyHostToDevice, stream); });
  refused("a synchronous copy", unsupported, [&] { return cudaMemcpy(d.at(), host, 8, cudaMemcpyHostToDevice); });

  // What waits for the whole GPU breaks those of other threads, too.
  cudaMalloc(&p, 4);
  const std::function<cudaError_t()> waits[] = {cudaDeviceSynchronize, [&] { return cudaFree(p); }};
  for (const auto& call : waits) {
    graph g;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    std::thread(call).join();
    EXPECT_EQ(cudaStreamEndCapture(stream, &g.g), cudaErrorStreamCaptureInvalidated);
  }

  // Captures of one thread's own leave others alone; global ones do not.
  graph g;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  std::thread([&] { EXPECT_EQ(cudaEventSynchronize(outside), cudaSuccess); }).join();
  EXPECT_EQ(cudaStreamEndCapture(stream, &g.g), cudaSuccess);
  graph none;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  std::thread([&] { EXPECT_EQ(cudaEventSynchronize(outside), unsupported); }).join();
  EXPECT_EQ(cudaStreamEndCapture(stream, &none.g), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(none.g, nullptr);
}

TEST_F(runtime, properties_of_the_device) {
  cudaDeviceProp p{};
  int n = 0, value = 0;
  char bus[16] = "";
  ASSERT_EQ(cudaGetDeviceCount(&n), cudaSuccess);
  EXPECT_EQ(n, 1);
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(p.name, std::string("Emulated GPU"));
  EXPECT_EQ(p.major * 10 + p.minor, 90);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, 132);
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_EQ(bus, std::string("0000:01:00.0"));
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  emulated::now().devices = 2;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&value), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(runtime, machines_without_a_gpu_or_driver) {
  int n = 7;
  emulated::now().devices = 0;
  EXPECT_EQ(cudaGetDeviceCount(&n), cudaErrorNoDevice);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorNoDevice);
  emulated::now().driver = 12020;
  EXPECT_EQ(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&n), cudaSuccess);
  EXPECT_EQ(n, 12020);
  EXPECT_EQ(cudaGetErrorName(cudaErrorInsufficientDriver), std::string("cudaErrorInsufficientDriver"));
  EXPECT_EQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), std::string("unknown error"));
}

TEST_F(runtime, errors_that_were_asked_for) {
  void* p = nullptr;
  auto& errors = emulated::now().errors;
  errors["cudaMalloc#2"] = cudaErrorDevicesUnavailable;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);  // that one only
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  errors["cudaMalloc"] = cudaErrorMemoryAllocation;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  errors["cudaStreamQuery#1"] = cudaErrorECCUncorrectable;
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorECCUncorrectable);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorECCUncorrectable);  // it stays
}

TEST_F(runtime, after_a_failed_kernel_nothing_works) {
  emulated::now().errors["kernel#2"] = cudaErrorLaunchFailure;
  int n = 0;
  for (int i = 0; i < 4; ++i) emulated::enqueue(stream, slow([&] { ++n; }));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(n, 1);
  void* p = nullptr;
  const event e;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorLaunchFailure);
  EXPECT_EQ(emulated::enqueue(stream, [] {}), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);  // it stays
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorLaunchFailure);
  emulated::reset();
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
}

TEST_F(runtime, handles_that_are_gone) {
  const event e;
  cudaStream_t gone = nullptr;
  cudaStreamCreate(&gone);
  cudaStreamDestroy(gone);
  EXPECT_EQ(cudaEventRecord(e, gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(emulated::enqueue(gone, [] {}), cudaErrorInvalidResourceHandle);
}

TEST(environment, sets_the_machine_up) {
  // DICE_EMULATED_GPU as CMakeLists.txt sets it for this test; else there is nothing to see.
  const char* text = std::getenv("DICE_EMULATED_GPU");
  if (!text || std::string(text) != "devices=2,total=64M,driver=13010,cudaHostAlloc#2=2") GTEST_SKIP();
  emulated::reset();
  std::size_t free = 0, total = 0;
  int n = 0;
  void *a = nullptr, *b = nullptr;
  EXPECT_EQ(cudaGetDeviceCount(&n), cudaSuccess);
  EXPECT_EQ(n, 2);
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, std::size_t{64} << 20);
  EXPECT_EQ(cudaDriverGetVersion(&n), cudaSuccess);
  EXPECT_EQ(n, 13010);
  EXPECT_EQ(cudaHostAlloc(&a, 4, 0), cudaSuccess);
  EXPECT_EQ(cudaHostAlloc(&b, 4, 0), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFreeHost(a), cudaSuccess);
}

}  // namespace
