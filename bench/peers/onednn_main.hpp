// main of a program of bench/peers: `dice …` is dice::main on one rank, `layers` and `machine` print the JSON of layers.hpp,
// `auto|tune WEIGHTS IN.npy OUT.npy THREADS WARMUP SECONDS` runs oneDNN, and prints and stops as engine.py does.
#pragma once

#include "layers.hpp"
#include "onednn.hpp"

#include <dice/frames/npy.hpp>
#include <dice/report/summary.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string_view>

namespace onednn {

template <class Net> using plan = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>;

template <class Net> int main(int argc, char** argv) try {
  if (argc > 1 && std::string_view(argv[1]) == "dice") {
    argv[1] = argv[0];
    return dice::main<Net, plan<Net>>(argc - 1, argv + 1);
  }
  if (argc == 2 && std::string_view(argv[1]) == "layers")
    return layers::print<Net>(dice::assembly::program_of<Net, plan<Net>>), 0;
  if (argc == 2 && std::string_view(argv[1]) == "machine") return layers::print_machine(), 0;
  if (argc != 8) {
    std::cerr << "usage: PROGRAM dice … | layers | machine | auto|tune WEIGHTS IN.npy OUT.npy THREADS WARMUP SECONDS\n";
    return 2;
  }
  omp_set_num_threads(std::stoi(argv[5]));
  const double warm_up = std::stod(argv[6]), measured = std::stod(argv[7]);
  const auto& program = dice::assembly::program_of<Net, plan<Net>>;
  const auto shape_of = [&](std::string_view op) {
    for (const auto& l : program.layers.layers)
      if (l.op == op) return l.output;
    throw std::runtime_error("no " + std::string(op));
  };
  const auto shape = shape_of("Input"), result = shape_of("Output");
  const auto in = dice::frames::read_frames(argv[3], shape, "the input"),
             wanted = dice::frames::read_frames(argv[4], result, "the output");
  std::vector<float> out(static_cast<std::size_t>(result.elements()));
  const auto base = dice::report::peak_rss_bytes();
  const double start = seconds();
  engine<Net> peer(program, argv[2], std::string_view(argv[1]) == "tune");
  const double loaded = seconds();
  peer.run(in.data(), out.data());
  const double first = seconds();
  std::vector<double> times;
  const auto frames = [&](double length, std::size_t least) {  // for `length` seconds, and at least `least` frames
    times.clear();
    for (const double began = seconds(); times.size() < least || seconds() < began + length;) {
      const double before = seconds();
      peer.run(in.data(), out.data());
      times.push_back(1000 * (seconds() - before));
    }
  };
  frames(warm_up, 5);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("{\"frame_ms\": %.4f}\n", times[times.size() / 2]);
  std::fflush(stdout);
  raise(SIGSTOP);
  frames(measured, 10);
  float error = 0, largest = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    error = std::max(error, std::abs(out[i] - wanted.data()[i]));
    largest = std::max(largest, std::abs(wanted.data()[i]));
  }
  const auto* version = dnnl_version();
  std::printf(
      "{\"version\": \"%d.%d.%d\", \"load_ms\": %.3f, \"first_ms\": %.3f, \"bytes\": %lld, \"error\": %.3g, "
      "\"times_ms\": [",
      version->major, version->minor, version->patch, 1000 * (loaded - start), 1000 * (first - loaded),
      static_cast<long long>(dice::report::peak_rss_bytes() - base), static_cast<double>(error / largest));
  for (std::size_t i = 0; i < times.size(); ++i) std::printf("%s%.4f", i ? ", " : "", times[i]);
  std::printf("]}\n");
  return 0;
} catch (const std::exception& problem) {
  std::cerr << argv[0] << ": " << problem.what() << '\n';
  return 1;
}

}  // namespace onednn
