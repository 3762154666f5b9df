// A GPU as a kernels::accelerator.
#include "error_of.hpp"
#include "gpu/bench.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace dice;
using kernels::cudnn::device;
using ::test::error_of;

void wait(device& d) {
  const auto end = d.mark();
  while (!d.reached(end)) std::this_thread::yield();
}
const std::byte* bytes(const std::vector<float>& v) { return reinterpret_cast<const std::byte*>(v.data()); }

// More than one of the chunks in which weights travel, and not a multiple of them.
TEST(device, uploads_whole_blocks) {
  device d(0);
  std::vector<float> content(3'000'001);
  std::iota(content.begin(), content.end(), 0.0f);
  const auto size = static_cast<std::int64_t>(content.size() * sizeof(float));
  auto* const there = d.memory(size);
  auto* const back = d.staging(size);
  d.upload(there, bytes(content), size);
  d.copy_out(back, there, size, false);
  wait(d);
  EXPECT_EQ(0, std::memcmp(back, content.data(), static_cast<std::size_t>(size)));
  EXPECT_EQ(d.memory_used().memory, size);
  EXPECT_GE(d.memory_used().staging, size);
  EXPECT_FALSE(d.memory_used().name.empty());
}

// Jobs and copies as offload starts them: each frame's input is copied independently of the job of the frame before, and its
// result independently of the next job.
TEST(device, keeps_the_order) {
  constexpr int n = 20000, frames = 50;
  constexpr std::int64_t size = n * sizeof(float);
  device d(0);
  std::byte* in[2] = {d.memory(size), d.memory(size)};
  std::byte* out[2] = {d.memory(size), d.memory(size)};
  std::byte* from[2] = {d.staging(size), d.staging(size)};
  std::byte* to[2] = {d.staging(size), d.staging(size)};
  int jobs[2];
  for (int s : {0, 1})
    jobs[s] = d.record([=] {
      auto* const x = reinterpret_cast<const float*>(in[s]);
      auto* const y = reinterpret_cast<float*>(out[s]);
      kernels::cudnn::current->start(
          kernels::cudnn::elements{y, x, n, nullptr, nullptr, 1, 1, {kernels::cudnn::function::leaky_relu, 2, 0, x}});
    });
  std::int64_t marks[2] = {-1, -1};
  const auto check = [&](int frame) {
    while (!d.reached(marks[frame % 2])) std::this_thread::yield();
    const auto* y = reinterpret_cast<const float*>(to[frame % 2]);
    const float x = static_cast<float>(frame % 7 - 3), expected = x < 0 ? 4 * x : 2 * x;
    for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], expected) << "frame " << frame;
  };
  for (int frame = 0; frame < frames; ++frame) {
    const int s = frame % 2;
    if (frame > 1) check(frame - 2);
    std::fill_n(reinterpret_cast<float*>(from[s]), n, static_cast<float>(frame % 7 - 3));
    d.copy_in(in[s], from[s], size, true);
    d.start(jobs[s]);
    d.copy_out(to[s], out[s], size, true);
    marks[s] = d.mark();
  }
  check(frames - 2);
  check(frames - 1);
}

TEST(device, measures_kernels) {
  device d(0);
  const std::vector<float> zeros(1 << 20);
  auto* const there = d.memory(4 << 20);
  d.upload(there, bytes(zeros), 4 << 20);
  auto* const x = reinterpret_cast<float*>(there);
  const auto times = d.times([&] {
    kernels::cudnn::current->start(kernels::cudnn::elements{x, x, 1 << 20, nullptr, nullptr, 1, 1, {}});
  });
  EXPECT_GE(times.size(), 5u);
  for (const auto t : times) EXPECT_GT(t, 0);
}

TEST(device, refuses_what_is_not_there) {
  EXPECT_NE(error_of([] { device(1000); }).find("GPU 1000: this process sees only GPU 0 ("), std::string::npos);
  device d(0);
  const std::int64_t huge = std::int64_t{1} << 50;
  EXPECT_EQ(error_of([&] { d.expect({1000, 1000, 0}); }), "none");
  const auto text = error_of([&] { d.expect({huge, 1 << 20, 1 << 10}); });
  EXPECT_NE(text.find("(weights 1073741824 MiB, arena 1024 KiB, of which working memory of kernels 1 KiB)"),
            std::string::npos)
      << text;
  EXPECT_NE(error_of([&] { d.memory(huge); }).find("it cannot provide 1073741824 MiB"), std::string::npos);
  d.memory(1000);  // and goes on
}

}  // namespace
