// Results of the usual sizes: 640×640 pixels and 80 classes of COCO for YOLO, 300×300 and 90 for SSD. The argument is the
// number of boxes in 10000 whose scores are high.
#include <dice/decode/boxes.hpp>
#include <dice/decode/mask.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using decode::head;

/// n boxes as centre and size in 640×640 pixels.
void write_boxes(std::vector<float>& rows, std::size_t columns, std::mt19937& random) {
  std::uniform_real_distribution<float> centre(0, 640), size(10, 200);
  for (std::size_t at = 0; at < rows.size(); at += columns)
    for (std::size_t i = 0; i < 4; ++i) rows[at + i] = i < 2 ? centre(random) : size(random);
}

/// Rows of n boxes: each score is low, but of some boxes one is high.
std::vector<float> detections(std::size_t n, std::size_t columns, bool objectness, std::int64_t high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> low(0, 0.1f), strong(0.3f, 1);
  std::vector<float> rows(n * columns);
  for (auto& x : rows) x = low(random);
  write_boxes(rows, columns, random);
  for (std::size_t at = 0; at < rows.size(); at += columns)
    if (static_cast<std::int64_t>(random() % 10000) < high) {
      if (objectness) rows[at + 4] = 1;
      rows[at + 5 + random() % (columns - 5)] = strong(random);
    }
  return rows;
}

void run(benchmark::State& state, head as, const std::vector<decode::result>& results, const decode::options& o = {}) {
  std::size_t found = 0;
  for (auto _ : state) found = decode::boxes(as, results, o)[0].boxes.size();
  state.counters["boxes"] = static_cast<double>(found);
}

void yolov5(benchmark::State& state) {
  const auto rows = detections(25200, 85, true, state.range(0));
  run(state, head::yolov5, {{rows.data(), {1, 25200, 85}}});
}
void yolov8_rows(benchmark::State& state) {
  const auto rows = detections(8400, 84, false, state.range(0));
  run(state, head::yolov8, {{rows.data(), {1, 8400, 84}}});
}
void yolov8(benchmark::State& state) {
  const auto rows = detections(8400, 84, false, state.range(0));
  std::vector<float> planes(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) planes[i % 84 * 8400 + i / 84] = rows[i];
  run(state, head::yolov8, {{planes.data(), {1, 84, 8400}}});
}
void ssd(benchmark::State& state) {  // logits, whose background is certain but for some boxes
  std::mt19937 random(1);
  std::normal_distribution<float> logit(0, 2);
  const std::size_t n = 8732, classes = 91;
  std::vector<float> offsets(4 * n), scores(n * classes), priors(4 * n, 0.1f);
  for (auto& x : offsets) x = logit(random);
  for (auto& x : scores) x = logit(random);
  for (std::size_t i = 0; i < n; ++i)
    scores[i * classes + (static_cast<std::int64_t>(random() % 10000) < state.range(0) ? 1 + random() % 90 : 0)] = 16;
  run(state, head::ssd, {{offsets.data(), {1, 8732, 4}}, {scores.data(), {1, 8732, 91}}},
      {.width = 300, .height = 300, .priors = priors});
}
void mask(benchmark::State& state) {
  std::mt19937 random(1);
  std::normal_distribution<float> logit(0, 2);
  std::vector<float> numbers(21 * 520 * 520);
  for (auto& x : numbers) x = logit(random);
  for (auto _ : state) benchmark::DoNotOptimize(decode::masks({numbers.data(), {1, 21, 520, 520}}));
}

#define CASES ->Arg(0)->Arg(20)->Arg(500)->Arg(10000)->Unit(benchmark::kMicrosecond)
BENCHMARK(yolov5) CASES;
BENCHMARK(yolov8) CASES;
BENCHMARK(yolov8_rows) CASES;
BENCHMARK(ssd) CASES;
BENCHMARK(mask)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
