// How a running job is: as JSON, as metrics, as a line of the log.
#pragma once

#include "dice/frames/ends.hpp"
#include "dice/runtime/control/health.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"
#include "dice/this_host/temperature.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::job {

/// How far a job has come.
enum class phase : unsigned char {
  joining,    ///< its ranks meet
  preparing,  ///< they have met, and read weights and files
  waiting,    ///< they are ready; no frame has come out yet
  running,    ///< a frame has come out
  ending,
};
/// Their words, in this order.
inline constexpr std::string_view phase_words[] = {"joining", "preparing", "waiting", "running", "ending"};

/// One rank.
struct rank_status {
  std::string host;
  double stage_ms = -1;       ///< computing of a frame; -1: not known
  double busy = -1;           ///< the share of the time in which it computes; -1: not known
  double temperature = -300;  ///< of its host, in degrees Celsius; -300: not known
  double silent_s = -1;       ///< since it has said how it is; -1: it never has, or need not any more
};

/// The job.
struct job_status {
  job::phase phase = phase::joining;
  double running_s = 0;  ///< since its start
  std::int64_t entered = 0, answered = 0;
  frames::stream_counts streams{};
  double frames_per_second = 0;      ///< in the last ten seconds, or since the first frame
  double median_ms = 0, p95_ms = 0;  ///< latencies
  double latency_sum_s = 0;          ///< of all answered frames
  double last_frame_s = -1;          ///< since the last frame came out; -1: none has
  std::vector<rank_status> ranks{};
};

/// Makes the status from what ranks say, once a second.
class status_maker {
 public:
  explicit status_maker(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}

  /// `said` at the time `now`, in nanoseconds of the steady clock, since `began`.
  [[gnu::cold]] job_status make(job::phase p, const std::vector<runtime::rank_health>& said, std::int64_t began,
                                std::int64_t now) {
    job_status out{.phase = p, .running_s = seconds(now - began)};
    std::int64_t left = std::numeric_limits<std::int64_t>::max(), last = 0;
    auto counted = now;  // when frames were counted: ranks say how they are once a second
    for (std::size_t r = 0; r < hosts_.size(); ++r) {
      auto& rank = out.ranks.emplace_back(rank_status{.host = hosts_[r]});
      if (r >= said.size() || said[r].heard == 0) continue;
      const auto& h = said[r];
      if (p != phase::ending) rank.silent_s = std::max(0.0, seconds(now - h.heard));  // then nobody says anything
      if (h.temperature != this_host::no_temperature) rank.temperature = static_cast<double>(h.temperature) * 1e-3;
      if (h.enters) {
        out.entered = h.entered;
        out.streams = h.streams;
      }
      if (!h.leaves) continue;
      left = std::min(left, h.left);
      counted = std::min(counted, std::max(h.heard, now - 2 * runtime::health::period));
      last = std::max(last, h.last_left);
      out.median_ms = std::max(out.median_ms, static_cast<double>(h.median) * 1e-6);
      out.p95_ms = std::max(out.p95_ms, static_cast<double>(h.p95) * 1e-6);
      out.latency_sum_s = std::max(out.latency_sum_s, seconds(h.latency_sum));
    }
    out.answered = left == std::numeric_limits<std::int64_t>::max() ? 0 : left;
    if (out.answered > 0) out.last_frame_s = std::max(0.0, seconds(now - last));
    if (out.phase == phase::waiting && out.answered > 0) out.phase = phase::running;
    if (past_.empty()) past_.push_back({began, 0, {}});
    past_.push_back({counted, out.answered, said});
    constexpr std::int64_t window = 10'000'000'000;
    while (past_.size() > 2 && (past_.front().answered == 0 || counted - past_[1].time >= window)) past_.pop_front();
    const auto& before = past_.front();
    const auto time = counted - before.time;
    if (time > 0 && out.answered > before.answered)
      out.frames_per_second = static_cast<double>(out.answered - before.answered) / seconds(time);
    for (std::size_t r = 0; r < std::min(said.size(), out.ranks.size()); ++r) {
      const auto earlier = r < before.said.size() ? before.said[r] : runtime::rank_health{};
      const auto frames = said[r].frames - earlier.frames, computing = said[r].computing - earlier.computing;
      if (frames > 0) out.ranks[r].stage_ms = static_cast<double>(computing) * 1e-6 / static_cast<double>(frames);
      const auto heard = said[r].heard - (earlier.heard > 0 ? earlier.heard : began);
      if (said[r].heard > 0 && heard > 0)
        out.ranks[r].busy = std::clamp(static_cast<double>(computing) / static_cast<double>(heard), 0.0, 1.0);
    }
    return out;
  }

 private:
  struct moment {
    std::int64_t time, answered;
    std::vector<runtime::rank_health> said;
  };
  static double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

  std::vector<std::string> hosts_;  ///< by rank
  std::deque<moment> past_;         ///< the last ten seconds, or those since the first frame
};

/// One line of JSON; `pid` and `uptime_s`, of the process and of its host, say when and by whom it was written.
[[gnu::cold]] inline std::string status_json(const job_status& s, std::int64_t pid, double uptime_s) {
  const auto known = [](double x, bool is) { return is ? x : std::numeric_limits<double>::quiet_NaN(); };  // null in JSON
  text::json_array ranks;
  for (const auto& r : s.ranks)
    ranks.add(text::json_text{text::json_object()
                                  .add("host", r.host)
                                  .add("stage_ms", known(r.stage_ms, r.stage_ms >= 0))
                                  .add("busy", known(r.busy, r.busy >= 0))
                                  .add("temperature_c", known(r.temperature, r.temperature > -300))
                                  .add("silent_s", known(r.silent_s, r.silent_s >= 0))
                                  .json()});
  return text::json_object()
             .add("phase", phase_words[static_cast<std::size_t>(s.phase)])
             .add("pid", pid)
             .add("uptime_s", text::json_text{text::number_text(uptime_s, "%.2f")})
             .add("running_s", s.running_s)
             .add("entered", s.entered)
             .add("answered", s.answered)
             .add("read", s.streams.read)
             .add("dropped", s.streams.dropped)
             .add("source_restarts", s.streams.restarts)
             .add("frames_per_second", s.frames_per_second)
             .add("latency_ms", text::json_text{text::json_object().add("median", s.median_ms).add("p95", s.p95_ms).json()})
             .add("last_frame_s", known(s.last_frame_s, s.last_frame_s >= 0))
             .add("ranks", ranks)
             .json() +
         "\n";
}

/// "1800 frames, 29.9 frames/s, latency median 41.2 ms, p95 55.0; 3 dropped; the last one 0.1 s ago".
[[gnu::cold]] inline std::string status_line(const job_status& s) {
  const auto number = [](double x, const char* format) { return text::number_text(x, format); };
  if (s.phase < phase::waiting) return "the ranks are " + std::string(phase_words[static_cast<std::size_t>(s.phase)]);
  if (s.answered == 0) return "no frame has come out yet; " + text::count_text(s.entered, "frame") + " entered";
  std::string out = text::count_text(s.answered, "frame") + ", " +
                    number(s.frames_per_second, "%.3g frames/s, latency median ") + number(s.median_ms, "%.1f ms, p95 ") +
                    number(s.p95_ms, "%.1f");
  if (s.streams.dropped > 0) out += "; " + std::to_string(s.streams.dropped) + " dropped";
  if (s.streams.restarts > 0) out += "; " + text::count_text(s.streams.restarts, "restart") + " of the source";
  return out + "; the last one " + number(s.last_frame_s, "%.1f s ago");
}

/// In Prometheus's text format (version 0.0.4).
[[gnu::cold]] inline std::string status_metrics(const job_status& s, std::string_view network) {
  std::string out;
  const auto label = [](std::string_view value) {
    std::string text = "\"";
    for (const char c : value) text += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return text + "\"";
  };
  const std::string of = "network=" + label(network);
  const auto number = [](double x) { return text::number_text(x, "%.9g"); };
  const auto head = [&](const char* name, const char* type, const char* help) {
    out += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  };
  const auto add = [&](const char* name, const std::string& labels, double x) {
    out += std::string(name) + "{" + of + labels + "} " + number(x) + "\n";
  };
  head("dice_up", "gauge", "Whether frames have come out, and not ended.");
  add("dice_up", "", s.phase == phase::running);
  head("dice_running_seconds", "gauge", "Time since the start of the job.");
  add("dice_running_seconds", "", s.running_s);
  head("dice_frames_total", "counter", "Frames by their end.");
  add("dice_frames_total", ",end=\"answered\"", static_cast<double>(s.answered));
  add("dice_frames_total", ",end=\"dropped\"", static_cast<double>(s.streams.dropped));
  head("dice_source_restarts_total", "counter", "Restarts of sources of frames.");
  add("dice_source_restarts_total", "", static_cast<double>(s.streams.restarts));
  head("dice_frames_per_second", "gauge", "Frames answered in the last ten seconds, per second.");
  add("dice_frames_per_second", "", s.frames_per_second);
  head("dice_latency_seconds", "summary", "Time from a frame's arrival to its result, of the last minute.");
  add("dice_latency_seconds", ",quantile=\"0.5\"", s.median_ms * 1e-3);
  add("dice_latency_seconds", ",quantile=\"0.95\"", s.p95_ms * 1e-3);
  add("dice_latency_seconds_sum", "", s.latency_sum_s);
  add("dice_latency_seconds_count", "", static_cast<double>(s.answered));
  if (s.last_frame_s >= 0) {
    head("dice_last_frame_age_seconds", "gauge", "Time since the last result.");
    add("dice_last_frame_age_seconds", "", s.last_frame_s);
  }
  const auto ranks = [&](const char* name, const char* help, double rank_status::*value, double least, double scale) {
    bool first = true;
    for (std::size_t r = 0; r < s.ranks.size(); ++r) {
      if (s.ranks[r].*value < least) continue;
      if (std::exchange(first, false)) head(name, "gauge", help);
      add(name, ",rank=\"" + std::to_string(r) + "\",host=" + label(s.ranks[r].host), s.ranks[r].*value * scale);
    }
  };
  ranks("dice_stage_seconds", "Time in which a rank computes a frame, of the last ten seconds.", &rank_status::stage_ms, 0,
        1e-3);
  ranks("dice_busy_ratio", "Share of the time in which a rank computes, of the last ten seconds.", &rank_status::busy, 0, 1);
  ranks("dice_temperature_celsius", "Highest temperature of a rank's host.", &rank_status::temperature, -299, 1);
  ranks("dice_rank_silent_seconds", "Time since a rank has last said how it is.", &rank_status::silent_s, 0, 1);
  return out;
}

}  // namespace dice::job
