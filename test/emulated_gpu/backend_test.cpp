// What the GPU backend does where engines fail, threads disturb each other, or the GPU is another one.
#include "dice/kernels/cudnn/device.hpp"
#include "error_of.hpp"
#include "fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace cudnn = dice::kernels::cudnn;
using dice::platform::numbers;
using emulated::noise;
using test::error_of;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A convolution with 1 × 1 filters that copies its input.
struct copying {
  static constexpr std::int64_t channels = 8, pixels = 81;
  cudnn::convolution what{.x = {1, channels, 9, 9}, .w = {channels, channels, 1, 1}, .y = {1, channels, 9, 9}};
  std::vector<float> x = noise(channels * pixels);
  emulated::numbers dx{x}, dw{unit()}, dy{channels * pixels}, room{1 << 18};

  cudnn::operands operands() const {
    return {.x = dx.at(), .w = dw.at(), .y = dy.at(), .workspace = reinterpret_cast<std::byte*>(room.at()), .room = 1 << 20};
  }
  static std::vector<float> unit() {
    std::vector<float> out(channels * channels);
    for (std::size_t i = 0; i < channels; ++i) out[i * (channels + 1)] = 1;
    return out;
  }
};

class backend : public emulated::gpu_test {
 protected:
  void SetUp() override {
    gpu_test::SetUp();
    on.stream = stream;
    on.name = "GPU";
    on.awake = true;
  }
  /// Why there is no engine for `c`.
  std::string refusal(const copying& c) {
    cudnn::convolutions all(on);
    EXPECT_FALSE(all.run(c.what, c.operands()));
    return error_of([&] { all.refuse(c.what, c.operands().room); });
  }
  std::map<std::string, int>& errors = emulated::now().errors;
  cudnn::setting on;
};

TEST_F(backend, engines_that_fail_are_left_out) {
  const copying c;
  for (const auto* failing : {"cudnnBackendExecute#1", "cudnnBackendFinalize:plan#1", "cudnnBackendFinalize:heuristics#1"})
    for (const int code : {3000, 4000, 5000}) {
      cudnn::convolutions all(on);
      on.chosen = {};  // by the one before
      errors[failing] = code;
      EXPECT_TRUE(all.run(c.what, c.operands())) << failing << code;
      EXPECT_TRUE(errors.empty()) << failing << code;
      emulated::expect_near(c.dy.get(), c.x);
    }
  cudnn::convolutions all(on);
  errors["cudnnBackendExecute"] = CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;  // no other will do better
  EXPECT_TRUE(has(error_of([&] { all.run(c.what, c.operands()); }), "a part of cuDNN is missing"));
}

TEST_F(backend, a_gpu_that_is_lost_is_no_engines_fault) {
  const copying c;
  cudnn::convolutions all(on);
  errors["kernel#1"] = cudaErrorIllegalAddress;
  EXPECT_TRUE(has(error_of([&] { all.run(c.what, c.operands()); }), "a kernel has failed"));
  emulated::reset();
}

TEST_F(backend, tells_why_no_engine_works) {
  const copying c;
  for (const auto& [code, remedy] : {std::pair(4004, "; the GPU has too little memory for cuDNN"),
                                     {4000, "(4000"},
                                     {3005, "; the NVIDIA driver is too old"},
                                     {3009, "; a part of cuDNN is missing"}})
    for (const auto* failing : {"cudnnBackendFinalize:plan", "cudnnBackendFinalize:heuristics", "cudnnBackendFinalize:graph",
                                "cudnnBackendExecute"}) {
      errors[failing] = code;
      const auto text = refusal(c);
      EXPECT_TRUE(has(text, "no engine for this convolution in float32 on GPU (conv x1,8,9,9 ") && has(text, remedy))
          << text;
      EXPECT_FALSE(has(text, "tf32")) << text;
      errors.clear();
    }
  errors["cudnnBackendFinalize:plan"] = CUDNN_STATUS_NOT_SUPPORTED;
  EXPECT_TRUE(has(refusal(c), "; allow it TF32 with precision<tf32>"));
}

// cuDNN has no engine with Winograd's tiles for the emulated GPU, so these are notes of engines for others.
TEST_F(backend, direct_convolutions_have_no_tiles) {
  const cudnn::convolutions all(on);
  using notes = std::vector<cudnnBackendNumericalNote_t>;
  for (const bool direct : {false, true}) {
    on.direct = direct;
    for (const auto tiles :
         {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6}) {
      EXPECT_EQ(all.precise(notes{tiles}, CUDNN_DATA_FLOAT), !direct) << tiles;
      EXPECT_EQ(all.precise(notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, tiles}, CUDNN_DATA_HALF), !direct) << tiles;
    }
    for (const auto wrong : {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, CUDNN_NUMERICAL_NOTE_FFT})
      EXPECT_FALSE(all.precise(notes{wrong}, CUDNN_DATA_FLOAT)) << wrong;
    EXPECT_TRUE(all.precise(notes{}, CUDNN_DATA_FLOAT));
  }
}

// The choice is kept apart from the one without, and the refusal says what to leave out.
TEST_F(backend, direct_convolutions_are_chosen_by_themselves) {
  const copying c;
  on.direct = true;
  cudnn::convolutions all(on);
  ASSERT_TRUE(all.run(c.what, c.operands()));
  const auto key = cudnn::text_of(c.what, c.operands().room);
  EXPECT_TRUE(on.chosen.find(key + " direct"));
  EXPECT_FALSE(on.chosen.find(key));
  on.chosen = {};
  errors["cudnnBackendFinalize:plan"] = CUDNN_STATUS_NOT_SUPPORTED;
  EXPECT_TRUE(has(refusal(c), "; leave out direct_convolutions, allow it TF32 with precision<tf32>, or compute"));
}

TEST_F(backend, engines_that_cannot_be_recorded_are_left_out) {
  const copying c;
  errors["cudnnBackendExecute:captured"] = CUDNN_STATUS_EXECUTION_FAILED;
  EXPECT_TRUE(has(refusal(c), "an error was asked for"));
}

TEST_F(backend, products_that_fail_are_left_out) {
  const int columns = 16, depth = 32;
  const auto x = noise(depth), w = noise(columns * depth, 2);
  const emulated::numbers dx(x), dw(w), dy(columns), room(1 << 16);
  std::vector<float> expected(columns);
  for (std::size_t n = 0; n < expected.size(); ++n)
    for (std::size_t k = 0; k < x.size(); ++k) expected[n] += x[k] * w[n * x.size() + k];
  cudnn::products all(on);
  errors["cublasLtMatmul"] = CUBLAS_STATUS_EXECUTION_FAILED;
  all.run({dy.at(), dx.at(), dw.at(), nullptr, 1, columns, depth, {}}, reinterpret_cast<std::byte*>(room.at()), 1 << 18);
  emulated::expect_near(dy.get(), expected);
}

TEST_F(backend, relu_keeps_nan) {
  copying c;
  c.what.relu = c.what.bias = true;
  const emulated::numbers bias(std::vector<float>(copying::channels, NAN));
  auto at = c.operands();
  at.bias = bias.at();
  cudnn::convolutions all(on);
  ASSERT_TRUE(all.run(c.what, at));
  for (const auto y : c.dy.get()) EXPECT_TRUE(std::isnan(y));
}

// One records slowly; meanwhile the other opens its GPU, chooses an engine, and gives all back, again and again.
TEST_F(backend, ranks_as_threads_do_not_disturb_each_other) {
  const copying c;
  std::atomic<bool> done{false};
  std::thread other([&] {
    EXPECT_EQ(error_of([&] {
                while (!done) {
                  cudnn::device d(0);
                  d.memory(256);
                  d.record([&] {
                    cudnn::current->on.awake = true;
                    EXPECT_TRUE(cudnn::current->convolutions.run(c.what, c.operands()));
                  });
                }
              }),
              "none");
  });
  {
    cudnn::device d(0);
    auto* const x = reinterpret_cast<float*>(d.memory(4));
    int calls = 0;
    const auto slow = [&] {
      ++calls;
      cudnn::current->start(cudnn::elements{x, x, 1, nullptr, nullptr, 1, 1, {}});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    for (int i = 0; i < 10; ++i) d.record(slow);
    EXPECT_EQ(calls, 20) << "recorded more than once";
  }
  done = true;
  other.join();
}

TEST_F(backend, a_recording_that_another_thread_broke_is_tried_again) {
  cudnn::device d(0);
  auto* const x = reinterpret_cast<float*>(d.memory(4));
  int calls = 0, bad = 2;
  const auto body = [&] {
    cudnn::current->start(cudnn::elements{x, x, 1, nullptr, nullptr, 1, 1, {}});
    if (++calls >= 2 && bad-- > 0) std::thread(cudaDeviceSynchronize).join();
  };
  d.start(d.record(body));
  EXPECT_EQ(calls, 4);
  calls = 0;
  bad = 9;
  EXPECT_TRUE(has(error_of([&] { d.record(body); }), "cannot record kernels"));
}

TEST_F(backend, host_memory_counts_where_the_gpu_uses_it) {
  auto& machine = emulated::now();
  machine.total = 1000;
  const dice::kernels::accelerator::memory_request wanted{1 << 20, 1 << 20, 0};
  EXPECT_TRUE(has(error_of([&] { cudnn::device(0).expect(wanted); }), "0 KiB are free"));
  machine.integrated = true;
  cudnn::device d(0);
  EXPECT_EQ(error_of([&] { d.expect(wanted); }), "none");
  EXPECT_TRUE(has(error_of([&] { d.expect({std::int64_t{1} << 50, 0, 0}); }), " are free"));
  machine.total = 100;  // others take it
  EXPECT_EQ(d.memory_used().besides, 0);
}

TEST_F(backend, waiting_leaves_no_error) {
  cudnn::device d(0);
  emulated::numbers x(1 << 20);
  d.copy_in(reinterpret_cast<std::byte*>(x.at()), d.staging(4 << 20), 4 << 20, true);
  const auto mark = d.mark();
  while (!d.reached(mark)) EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(backend, only_tf32_is_tf32) {
  for (const auto precision : {numbers::float32, numbers::tf32, numbers::fp16, numbers::bf16}) {
    cudnn::device d(0, precision, precision == numbers::fp16);
    d.record([] {});
    EXPECT_EQ(cudnn::current->on.tf32, precision == numbers::tf32);
    EXPECT_EQ(cudnn::current->on.direct, precision == numbers::fp16);
  }
}

TEST(choices, are_saved_by_many_at_once) {
  const auto path = "/tmp/dice_choices_" + std::to_string(::getpid());
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 8; ++rank)
    ranks.emplace_back([=] {
      cudnn::choices mine;
      mine.open(path, "a GPU");
      for (int i = 0; i < 20; ++i) {
        mine.put("key " + std::to_string(rank) + "." + std::to_string(i), "value");
        EXPECT_EQ(mine.save(), "");
      }
    });
  for (auto& r : ranks) r.join();
  cudnn::choices all;
  all.open(path, "a GPU");
  for (int rank = 0; rank < 8; ++rank)
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(all.find("key " + std::to_string(rank) + "." + std::to_string(i)));
  for (const auto* end : {"", ".lock"}) std::remove((path + end).c_str());
}

}  // namespace
