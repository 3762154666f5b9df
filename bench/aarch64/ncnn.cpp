// ncnn_frames NAME.param NAME.bin IN.npy OUT.npy FRAMES: ncnn on the first picture of IN.npy, FRAMES times, float32, one
// thread. Prints the largest error, as a part of the largest number of OUT.npy.
#include <dice/frames/npy.hpp>

#include <net.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 6) throw std::invalid_argument("usage: ncnn_frames NAME.param NAME.bin IN.npy OUT.npy FRAMES");
  ncnn::Net net;
  auto& options = net.opt;
  options.num_threads = 1;
  options.lightmode = options.use_packing_layout = options.use_winograd_convolution = options.use_sgemm_convolution = true;
  options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = options.use_bf16_storage = false;
  if (net.load_param(argv[1]) || net.load_model(argv[2])) throw std::runtime_error(std::string("cannot load ") + argv[1]);
  const dice::tensor::shape picture{1, 3, 224, 224};
  const auto in = dice::frames::read_frames(argv[3], picture, "the input");
  ncnn::Mat frame(224, 224, 3), result;
  for (int c = 0; c < 3; ++c) std::memcpy(frame.channel(c), in.data() + c * 224 * 224, 224 * 224 * sizeof(float));
  for (int n = std::stoi(argv[5]); n > 0; --n) {
    auto run = net.create_extractor();
    run.input("in0", frame);
    if (run.extract("out0", result)) throw std::runtime_error("cannot compute out0");
  }
  const auto wanted = dice::frames::read_frames(argv[4], {1, result.w}, "the output");
  float error = 0, largest = 0;
  for (int i = 0; i < result.w; ++i) {
    error = std::max(error, std::abs(static_cast<const float*>(result)[i] - wanted.data()[i]));
    largest = std::max(largest, std::abs(wanted.data()[i]));
  }
  std::cout << error / largest << '\n';
} catch (const std::exception& problem) {
  std::cerr << argv[0] << ": " << problem.what() << '\n';
  return 1;
}
