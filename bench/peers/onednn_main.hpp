// main of a program of bench/peers: `dice …` is dice::main on one rank, `layers` and `machine` print the JSON of layers.hpp,
// `auto|tune WEIGHTS IN.npy OUT.npy THREADS SECONDS` runs oneDNN and prints the same as engine.py.
#pragma once

#include "layers.hpp"
#include "onednn.hpp"

#include <dice/frames/npy.hpp>

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string_view>

namespace onednn {

template <class Net> using plan = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>;

inline std::int64_t peak_bytes() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return std::int64_t{1024} * used.ru_maxrss;
}

/// Seconds of CPU time of this process.
inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The CPU seconds that the whole machine has used.
inline double machine_seconds() {
  std::FILE* file = std::fopen("/proc/stat", "r");
  double n[8]{};
  const int read =
      std::fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7);
  std::fclose(file);
  return read == 8 ? (n[0] + n[1] + n[2] + n[5] + n[6] + n[7]) / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
}

template <class Net> int main(int argc, char** argv) try {
  if (argc > 1 && std::string_view(argv[1]) == "dice") {
    argv[1] = argv[0];
    return dice::main<Net, plan<Net>>(argc - 1, argv + 1);
  }
  if (argc == 2 && std::string_view(argv[1]) == "layers")
    return layers::print<Net>(dice::assembly::program_of<Net, plan<Net>>), 0;
  if (argc == 2 && std::string_view(argv[1]) == "machine") return layers::print_machine(), 0;
  if (argc != 7) {
    std::cerr << "usage: PROGRAM dice … | layers | machine | PROGRAM auto|tune WEIGHTS IN.npy OUT.npy THREADS SECONDS\n";
    return 2;
  }
  omp_set_num_threads(std::stoi(argv[5]));
  const double measured = std::stod(argv[6]);
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
  const auto base = peak_bytes();
  const double start = seconds();
  engine<Net> peer(program, argv[2], std::string_view(argv[1]) == "tune");
  const double loaded = seconds();
  peer.run(in.data(), out.data());
  const double first = seconds();
  std::vector<double> times;
  const auto frames = [&](std::size_t least) {  // for `measured` seconds, and at least `least` frames
    times.clear();
    for (const double began = seconds(); times.size() < least || seconds() < began + measured;) {
      const double before = seconds();
      peer.run(in.data(), out.data());
      times.push_back(1000 * (seconds() - before));
    }
  };
  frames(5);
  double others = machine_seconds(), own = cpu_seconds();
  const double began = seconds();
  frames(10);
  others = machine_seconds() - others - (cpu_seconds() - own);
  float error = 0, largest = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    error = std::max(error, std::abs(out[i] - wanted.data()[i]));
    largest = std::max(largest, std::abs(wanted.data()[i]));
  }
  const auto* version = dnnl_version();
  std::printf(
      "{\"version\": \"%d.%d.%d\", \"load_ms\": %.3f, \"first_ms\": %.3f, \"bytes\": %lld, \"error\": %.3g, \"others\": "
      "%.3f, \"times_ms\": [",
      version->major, version->minor, version->patch, 1000 * (loaded - start), 1000 * (first - loaded),
      static_cast<long long>(peak_bytes() - base), static_cast<double>(error / largest),
      std::max(0.0, others / (seconds() - began)));
  for (std::size_t i = 0; i < times.size(); ++i) std::printf("%s%.4f", i ? ", " : "", times[i]);
  std::printf("]}\n");
  return 0;
} catch (const std::exception& problem) {
  std::cerr << argv[0] << ": " << problem.what() << '\n';
  return 1;
}

}  // namespace onednn
