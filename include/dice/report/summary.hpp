// The figures of a run: merged from all ranks, as JSON and as a table.
#pragma once

#include "dice/job/clock_shift.hpp"
#include "dice/job/record.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace dice::report {

/// Largest resident size of this process so far, in bytes; 0 if the system does not say. Ranks that are threads share it.
inline std::int64_t peak_rss_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atoll(line.c_str() + 6) * 1024;
  return 0;
}

/// One rank's figures of a run. Milliseconds are means per frame; bytes are of all frames.
struct rank_summary {
  std::string host;
  double compute_ms = 0, wait_ms = 0;
  std::int64_t bytes_sent = 0, peak_rss_bytes = 0, planned_bytes = 0;
  kernels::accelerator::memory_figures gpu{};  ///< no name: it computes on a CPU
};

/// The figures of a whole run.
struct summary {
  std::int64_t frames = 0;
  double seconds = 0;              ///< from the first frame's entry to the last one's last output
  std::vector<double> latency_ms;  ///< ascending
  std::vector<rank_summary> ranks;

  double frames_per_second() const { return seconds > 0 ? static_cast<double>(frames) / seconds : 0; }
  /// The latency below which the fraction `q` of the frames lies, with linear interpolation.
  double latency(double q) const {
    if (latency_ms.empty()) return 0;
    const double at = q * static_cast<double>(latency_ms.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, latency_ms.size() - 1);
    return latency_ms[below] + (at - static_cast<double>(below)) * (latency_ms[above] - latency_ms[below]);
  }
};

/// A rank's part, for all_gather, in the time of rank 0's clock.
inline std::string summary_part(const std::string& host, const runtime::figures& f, const job::clock_shift& clock,
                                std::int64_t planned, const kernels::accelerator::memory_figures& gpu) {
  job::record out;
  out.put(host);
  out.put(f.computing);
  out.put(f.waiting);
  out.put(f.bytes_sent);
  out.put(peak_rss_bytes());
  out.put(planned);
  out.put(gpu.name);
  for (const auto bytes : {gpu.memory, gpu.staging, gpu.besides}) out.put(bytes);
  for (const auto* times : {&f.entered, &f.left}) {
    auto shifted = *times;
    for (auto& t : shifted) t = clock(t);
    out.put(shifted);
  }
  return out.text();
}

/// All ranks' parts together.
[[gnu::cold]] inline summary merge(const std::vector<std::string>& parts, std::int64_t frames) {
  summary out;
  out.frames = frames;
  const auto n = static_cast<std::size_t>(frames);
  std::vector<std::int64_t> first(n, INT64_MAX), last(n, INT64_MIN);
  for (const auto& part : parts) {
    job::record in(part);
    rank_summary r;
    r.host = in.get();
    const double per_frame = 1e-6 / static_cast<double>(frames);
    r.compute_ms = static_cast<double>(in.get_number()) * per_frame;
    r.wait_ms = static_cast<double>(in.get_number()) * per_frame;
    r.bytes_sent = in.get_number();
    r.peak_rss_bytes = in.get_number();
    r.planned_bytes = in.get_number();
    r.gpu.name = in.get();
    for (auto* bytes : {&r.gpu.memory, &r.gpu.staging, &r.gpu.besides}) *bytes = in.get_number();
    const auto entered = in.get_numbers(), left = in.get_numbers();
    for (std::size_t f = 0; f < std::min(n, entered.size()); ++f) first[f] = std::min(first[f], entered[f]);
    for (std::size_t f = 0; f < std::min(n, left.size()); ++f) last[f] = std::max(last[f], left[f]);
    out.ranks.push_back(r);
  }
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (std::size_t f = 0; f < n; ++f) {
    if (last[f] == INT64_MIN) continue;
    if (first[f] == INT64_MAX) first[f] = last[f];  // a network without inputs
    begin = std::min(begin, first[f]), end = std::max(end, last[f]);
    out.latency_ms.push_back(std::max(0.0, static_cast<double>(last[f] - first[f]) * 1e-6));
  }
  std::sort(out.latency_ms.begin(), out.latency_ms.end());
  if (end > begin) out.seconds = static_cast<double>(end - begin) * 1e-9;
  return out;
}

/// The content of --json.
[[gnu::cold]] inline text::json_object summary_json(const summary& r) {
  text::json_array ranks;
  for (std::size_t i = 0; i < r.ranks.size(); ++i) {
    const auto& k = r.ranks[i];
    auto rank = text::json_object()
                    .add("rank", i)
                    .add("host", k.host)
                    .add("compute_ms", k.compute_ms)
                    .add("wait_ms", k.wait_ms)
                    .add("bytes_sent", k.bytes_sent)
                    .add("peak_rss_bytes", k.peak_rss_bytes)
                    .add("planned_bytes", k.planned_bytes);
    if (!k.gpu.name.empty())
      rank.add("gpu", text::json_object()
                          .add("name", k.gpu.name)
                          .add("memory_bytes", k.gpu.memory)
                          .add("pinned_bytes", k.gpu.staging)
                          .add("libraries_bytes", k.gpu.besides));
    ranks.add(rank);
  }
  const auto latency = text::json_object()
                           .add("min", r.latency(0))
                           .add("median", r.latency(0.5))
                           .add("p95", r.latency(0.95))
                           .add("p99", r.latency(0.99))
                           .add("max", r.latency(1));
  return text::json_object()
      .add("frames", r.frames)
      .add("frames_per_second", r.frames_per_second())
      .add("latency_ms", latency)
      .add("ranks", ranks);
}

/// The table at the end of a run.
[[gnu::cold]] inline std::string summary_table(const summary& r) {
  const auto number = [](const char* format, double v) {
    char text[48];
    std::snprintf(text, sizeof text, format, v);
    return std::string(text);
  };
  std::string out = std::to_string(r.frames) + (r.frames == 1 ? " frame in " : " frames in ") +
                    number("%.3f s, ", r.seconds) + number("%.2f frames/s; ", r.frames_per_second()) + "latency median " +
                    number("%.2f ms", r.latency(0.5)) + number(", p95 %.2f", r.latency(0.95)) +
                    number(", max %.2f\n", r.latency(1));
  std::vector<std::vector<std::string>> lines{{"rank", "host", "compute ms", "wait ms", "sent", "memory", "planned"}};
  for (std::size_t i = 0; i < r.ranks.size(); ++i) {
    const auto& k = r.ranks[i];
    lines.push_back({std::to_string(i), k.host, number("%.2f", k.compute_ms), number("%.2f", k.wait_ms),
                     text::bytes_text(k.bytes_sent), text::bytes_text(k.peak_rss_bytes), text::bytes_text(k.planned_bytes)});
  }
  out += text::table_text(lines, 2);
  for (std::size_t i = 0; i < r.ranks.size(); ++i)
    if (const auto& gpu = r.ranks[i].gpu; !gpu.name.empty())
      out += "rank " + std::to_string(i) + " on " + gpu.name + ": " + text::bytes_text(gpu.memory) + " of its memory, " +
             text::bytes_text(gpu.besides) + " more for CUDA's libraries; " + text::bytes_text(gpu.staging) +
             " of pinned host memory\n";
  return out;
}

}  // namespace dice::report
