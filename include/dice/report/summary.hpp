// The figures of a run: merged from all ranks, as JSON and as a table.
#pragma once

#include "dice/job/clock_shift.hpp"
#include "dice/job/record.hpp"
#include "dice/kernels/accelerator.hpp"
#include "dice/kernels/cpu_level.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
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
  std::string host, kernels;  ///< the level of its kernels for CPUs (kernels/cpu_level.hpp); "" if it uses none
  double compute_ms = 0, wait_ms = 0, input_ms = 0;  ///< input: reading and converting frames
  std::int64_t bytes_sent = 0, peak_rss_bytes = 0, planned_bytes = 0;
  kernels::accelerator::memory_figures gpu{};  ///< no name: it computes on a CPU
  this_host::core_use cores{};                 ///< of the whole run, in ns
  std::int64_t of_others = 0;                  ///< ns for which its cores computed for processes that are not of this job
};

/// The figures of a whole run.
struct summary {
  std::int64_t frames = 0;
  double seconds = 0;              ///< from the first frame's entry to the last one's last output
  std::vector<double> latency_ms;  ///< ascending
  std::vector<rank_summary> ranks;
  runtime::stream_counts streams{};  ///< of all ranks

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
  out.put(f.entering);
  out.put(f.bytes_sent);
  for (const auto n : {f.streams.read, f.streams.dropped, f.streams.restarts}) out.put(n);
  out.put(peak_rss_bytes());
  out.put(planned);
  out.put(gpu.name.empty() ? kernels::cpu_level_name() : "");
  out.put(gpu.name);
  for (const auto bytes : {gpu.memory, gpu.staging, gpu.besides}) out.put(bytes);
  const auto& c = f.cores;
  out.put(std::vector<std::int64_t>{c.time, c.waited, c.stolen, c.throttled, c.busy, c.used, c.process, c.threads});
  out.put(c.cores);
  for (const auto* times : {&f.entered, &f.left}) {
    std::vector<std::int64_t> shifted{times->first(), times->last()};
    shifted.insert(shifted.end(), times->kept().begin(), times->kept().end());
    for (auto& t : shifted) t = clock(t);
    out.put(times->count());
    out.put(times->step());
    out.put(shifted);
  }
  return out.text();
}

namespace detail {

/// When frames entered or left: over several ranks, the earliest or latest time of each.
class merged_times {
 public:
  explicit merged_times(bool latest) : latest_(latest) {}
  /// Adds the times of a rank, read from its part.
  void add(job::record& in) {
    const auto count = in.get_number(), step = in.get_number();
    const auto times = in.get_numbers();  // first, last, then every step-th
    if (count <= 0 || step <= 0 || times.size() < 2) return;
    begin_ = std::min(begin_, times[0]);
    end_ = std::max(end_, times[1]);
    for (std::size_t i = 2; i < times.size(); ++i) {
      const auto [at, is_new] = by_frame_.emplace(static_cast<std::int64_t>(i - 2) * step, times[i]);
      if (!is_new) at->second = latest_ ? std::max(at->second, times[i]) : std::min(at->second, times[i]);
    }
    step_ = std::max(step_, step);
  }
  bool empty() const { return by_frame_.empty(); }
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  /// All ranks have the time of every step()-th frame.
  std::int64_t step() const { return step_; }
  const std::map<std::int64_t, std::int64_t>& by_frame() const { return by_frame_; }

 private:
  const bool latest_;
  std::int64_t begin_ = INT64_MAX, end_ = INT64_MIN, step_ = 1;
  std::map<std::int64_t, std::int64_t> by_frame_;
};

/// How many of the cores of `b` are also cores of `a`.
inline std::int64_t shared_cores(const rank_summary& a, const rank_summary& b) {
  if (a.host != b.host) return 0;
  const auto& mine = a.cores.cores;
  return std::count_if(b.cores.cores.begin(), b.cores.cores.end(),
                       [&](auto c) { return std::find(mine.begin(), mine.end(), c) != mine.end(); });
}

/// The time that processes outside this job computed on the cores of `r`; a process of the job is taken to use its cores
/// evenly.
[[gnu::cold]] inline std::int64_t used_by_others(const rank_summary& r, const std::vector<rank_summary>& all) {
  double own = 0;
  std::vector<std::int64_t> counted;  // processes; several ranks may be threads of one
  for (const auto& other : all) {
    const auto shared = shared_cores(r, other);
    if (shared == 0 || std::find(counted.begin(), counted.end(), other.cores.process) != counted.end()) continue;
    counted.push_back(other.cores.process);
    own += static_cast<double>(other.cores.used * shared) / static_cast<double>(other.cores.cores.size());
  }
  return std::max<std::int64_t>(0, r.cores.busy - static_cast<std::int64_t>(own));
}

}  // namespace detail

/// All ranks' parts together.
[[gnu::cold]] inline summary merge(const std::vector<std::string>& parts, std::int64_t frames) {
  summary out;
  out.frames = frames;
  detail::merged_times entered(false), left(true);
  for (const auto& part : parts) {
    job::record in(part);
    rank_summary r;
    r.host = in.get();
    const double per_frame = frames > 0 ? 1e-6 / static_cast<double>(frames) : 0;
    r.compute_ms = static_cast<double>(in.get_number()) * per_frame;
    r.wait_ms = static_cast<double>(in.get_number()) * per_frame;
    r.input_ms = static_cast<double>(in.get_number()) * per_frame;
    r.bytes_sent = in.get_number();
    for (auto* n : {&out.streams.read, &out.streams.dropped, &out.streams.restarts}) *n += in.get_number();
    r.peak_rss_bytes = in.get_number();
    r.planned_bytes = in.get_number();
    r.kernels = in.get();
    r.gpu.name = in.get();
    for (auto* bytes : {&r.gpu.memory, &r.gpu.staging, &r.gpu.besides}) *bytes = in.get_number();
    std::size_t next = 0;
    const auto cores = in.get_numbers();
    for (auto* value : {&r.cores.time, &r.cores.waited, &r.cores.stolen, &r.cores.throttled, &r.cores.busy, &r.cores.used,
                        &r.cores.process, &r.cores.threads})
      if (next < cores.size()) *value = cores[next++];
    r.cores.cores = in.get_numbers();
    entered.add(in);
    left.add(in);
    out.ranks.push_back(r);
  }
  for (auto& r : out.ranks) r.of_others = detail::used_by_others(r, out.ranks);
  const auto& begun = entered.empty() ? left : entered;  // a network without inputs
  const auto step = std::max(begun.step(), left.step());
  for (const auto& [frame, time] : left.by_frame())
    if (const auto at = begun.by_frame().find(frame); frame % step == 0 && at != begun.by_frame().end())
      out.latency_ms.push_back(std::max(0.0, static_cast<double>(time - at->second) * 1e-6));
  std::sort(out.latency_ms.begin(), out.latency_ms.end());
  if (left.end() > begun.begin()) out.seconds = static_cast<double>(left.end() - begun.begin()) * 1e-9;
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
                    .add("input_ms", k.input_ms)
                    .add("bytes_sent", k.bytes_sent)
                    .add("peak_rss_bytes", k.peak_rss_bytes)
                    .add("planned_bytes", k.planned_bytes);
    const auto ms = [&](std::int64_t ns) { return static_cast<double>(ns) * 1e-6 / static_cast<double>(r.frames); };
    rank.add("cores", text::json_object()
                          .add("count", k.cores.cores.size())
                          .add("threads", k.cores.threads)
                          .add("waited_ms", ms(k.cores.waited))
                          .add("stolen_ms", ms(k.cores.stolen))
                          .add("throttled_ms", ms(k.cores.throttled))
                          .add("other_programs_ms", ms(k.of_others)));
    if (!k.kernels.empty()) rank.add("kernels", k.kernels);
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
  auto out = text::json_object()
                 .add("frames", r.frames)
                 .add("frames_per_second", r.frames_per_second())
                 .add("latency_ms", latency)
                 .add("ranks", ranks);
  if (const auto& s = r.streams; s.read > 0)
    out.add("streams", text::json_object().add("read", s.read).add("dropped", s.dropped).add("restarts", s.restarts));
  return out;
}

/// The table at the end of a run.
[[gnu::cold]] inline std::string summary_table(const summary& r) {
  const auto number = [](const char* format, double v) {
    char text[48];
    std::snprintf(text, sizeof text, format, v);
    return std::string(text);
  };
  const auto duration = [&](double s) {
    return s >= 0.1 ? number("%.3f s", s) : s >= 1e-3 ? number("%.1f ms", s * 1e3) : number("%.0f µs", s * 1e6);
  };
  std::string out = std::to_string(r.frames) + (r.frames == 1 ? " frame in " : " frames in ") + duration(r.seconds) + ", " +
                    number("%.2f frames/s; ", r.frames_per_second()) + "latency median " +
                    number("%.2f ms", r.latency(0.5)) + number(", p95 %.2f", r.latency(0.95)) +
                    number(", max %.2f\n", r.latency(1));
  if (const auto& s = r.streams; s.read > 0)
    out += text::count_text(s.read, "frame") + " came, " + std::to_string(s.dropped) + " dropped" +
           (s.restarts > 0 ? "; " + text::count_text(s.restarts, "restart") + " of the source" : "") + "\n";
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
