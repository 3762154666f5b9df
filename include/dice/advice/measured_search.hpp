// --search=…,measured=N: runs the mappings that a search found on the hosts of the job, and compares them.
#pragma once

#include "dice/advice/mixes.hpp"
#include "dice/advice/search_request.hpp"
#include "dice/channels/transports.hpp"
#include "dice/cost/problem.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/mix.hpp"
#include "dice/partition/worth_measuring.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/table.hpp"
#include "dice/this_host/command.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dice::advice {

/// A mapping that was run.
struct measured_mix {
  partition::mixed is;
  cost::prediction expected{};
  double value = 0;    ///< as partition::value_of: s of the period, or of one frame
  std::string failed;  ///< why it did not run
};

/// Spearman's rank correlation of two rows of numbers, of at least two; equal numbers share the mean of their ranks. 0 if
/// all numbers of a row are equal.
inline double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& of) {
    std::vector<double> out;
    for (const double x : of) {
      double rank = 0;
      for (const double y : of) rank += y < x ? 1 : y == x ? 0.5 : 0;
      out.push_back(rank);
    }
    return out;
  };
  const auto x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(x.size()) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

namespace detail {

/// The number after `"key": ` in JSON that a program of dice wrote; below 0 if it is not there.
[[gnu::cold]] inline double number_after(std::string_view json, std::string_view key) {
  const auto at = json.find("\"" + std::string(key) + "\": ");
  return at == std::string_view::npos ? -1 : std::strtod(std::string(json.substr(at + key.size() + 4, 40)).c_str(), nullptr);
}

/// A signal asked this program to stop while a mapping ran.
struct stopped_run : std::runtime_error {
  stopped_run() : std::runtime_error("stopped") {}
};

/// Runs a shell command; its standard output. Throws stopped_run, or std::runtime_error if it fails or takes longer than
/// `most`.
[[gnu::cold]] inline std::string output_of(const std::string& text, std::chrono::duration<double> most) {
  const auto begin = std::chrono::steady_clock::now();
  this_host::command child(text, this_host::command::pipe_to::output);
  std::string out;
  for (char some[4096];;) {
    pollfd it{child.pipe(), POLLIN, 0};
    ::poll(&it, 1, 100);
    if (files::interrupts::stop_signal() != 0) throw stopped_run();
    const auto n = ::read(child.pipe(), some, sizeof some);
    if (n == 0) break;
    if (n > 0) out.append(some, static_cast<std::size_t>(n));
    if (std::chrono::steady_clock::now() - begin > most)
      throw std::runtime_error(text::number_text(most.count(), "not done within %.4g s"));
  }
  const auto end = child.end(std::chrono::seconds(5));
  if (!end.ok()) throw std::runtime_error(end.text());
  return out;
}

/// How many frames a mapping computes when it is measured, for about two seconds; with many frames in flight, several times
/// as many as these, since the first and the last ones pass faster or slower than the others. `each`: the time in s that is
/// predicted for one.
struct measured_frames {
  int warmup = 0, timed = 0;
  double each = 0;

  measured_frames(double predicted, bool one_frame)
      : warmup(one_frame ? 3 : 12),
        timed(static_cast<int>(std::clamp(2 / std::max(predicted, 1e-9), one_frame ? 5.0 : 40.0, 2000.0))),
        each(predicted) {}

  /// A run that takes longer hangs, such as when a host does not answer.
  std::chrono::duration<double> most() const { return std::chrono::duration<double>(60 + 10 * (warmup + timed) * each); }
};

/// The command that runs a mapping on its hosts, with this weights file, if it is not empty.
[[gnu::cold]] inline std::string command_for(const cluster_model& f, const runtime::program& p, const mixes& all,
                                             const measured_mix& m, const measured_frames& frames, bool one_frame,
                                             const std::string& weights) {
  const auto& by = channels::usual_launcher();
  const auto written = all.written(m.is);
  const char* const other = std::getenv("MPIRUN");
  const char* const options = std::getenv("MPIRUN_OPTIONS");
  std::string hosts;
  for (const int d : written.devices)
    hosts += (hosts.empty() ? "" : ",") + std::string(f.setting.cluster.hosts[all.problem().devices[d].host].name) + ":1";
  std::string program(4096, '\0');
  const auto length = ::readlink("/proc/self/exe", program.data(), program.size());
  program.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  const auto quoted = [](const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  std::string text;
  for (const char c : placement::write(written.mapping.values(), p.network, p.network_layers()))
    if (c != '\n') text += c;
  return std::string(other && *other ? other : by.name) + " " + (options ? options : "") + " " + std::string(by.unbind) +
         " " + std::string(by.hosts) + " " + quoted(hosts) + " " + std::string(by.count) + " " +
         std::to_string(written.devices.size()) + " " + quoted(program) + " --mapping " + quoted(text) +
         (weights.empty() ? "" : " --weights " + quoted(weights)) + " --random 1 --warmup " + std::to_string(frames.warmup) +
         " --frames " + std::to_string(frames.timed) + (one_frame ? " --in-flight 1" : "") + " --json /dev/stdout";
}

/// Runs the best mappings that were found, and says how fast they were: a table, and which one was the best; the first,
/// which was predicted best, if none ran.
struct measured_search {
  std::vector<measured_mix> all;
  std::size_t best = 0;
  int compared = 0;        ///< how many ran
  double correlation = 0;  ///< of what was predicted and measured: rank_correlation; if several ran
  bool stopped = false;    ///< before all had run; `all` are those that had
  std::string text;
  std::string failed;  ///< why none ran
};
[[gnu::cold]] inline measured_search measure(const cluster_model& f, const runtime::program& p, const mixes& known,
                                             const search_request& r, const partition::mix_result& found,
                                             const std::string& weights) {
  measured_search out;
  const auto objective = r.wanted.aim.best;
  for (const auto& [m, expected] : partition::worth_measuring(found, objective, r.measured))
    out.all.push_back({m, expected, 0, {}});
  const bool one_frame = objective == partition::objective::latency;
  const auto predicted_for = [&](const measured_mix& m) { return one_frame ? m.expected.latency : m.expected.period; };
  const auto command = [&](const measured_mix& m) {
    return command_for(f, p, known, m, {predicted_for(m), one_frame}, one_frame, weights);
  };
  const std::string by_hand = out.all.empty() ? "" : command(out.all[0]);
  {
    report::progress_line shown;
    for (std::size_t i = 0; i < out.all.size(); ++i) {
      auto& m = out.all[i];
      shown.show_now([&] { return "measuring mapping " + std::to_string(i + 1) + " of " + std::to_string(out.all.size()); });
      try {
        const auto json = output_of(command(m), measured_frames(predicted_for(m), one_frame).most());
        const double figure = number_after(json, one_frame ? "median" : "frames_per_second");
        if (!(figure > 0)) throw std::runtime_error("it did not say how fast it was");
        m.value = one_frame ? figure * 1e-3 : 1 / figure;
      } catch (const stopped_run&) {
        out.stopped = true;
        out.all.resize(i);
      } catch (const std::runtime_error& e) {
        m.failed = e.what();
      }
    }
  }
  std::vector<double> predicted, measured;
  std::vector<std::vector<std::string>> lines{{"", "computes by", "devices", "predicted", "measured"}};
  const auto figure = [&](double value) {
    return one_frame ? text::number_text(value * 1e3, "%.4g ms") : text::number_text(1 / value, "%.4g frames/s");
  };
  for (std::size_t i = 0; i < out.all.size(); ++i) {
    const auto& m = out.all[i];
    const double expected = predicted_for(m);
    meta::array<cost::arrangement> used;
    for (const auto& part : m.is) used.push_back(part.by);
    const auto kinds = kinds_text(used);
    lines.push_back({std::to_string(i + 1), kinds.empty() ? "whole layers" : kinds,
                     std::to_string(known.written(m.is).devices.size()), figure(expected),
                     m.failed.empty() ? figure(m.value) : m.failed});
    if (!m.failed.empty()) continue;
    predicted.push_back(expected);
    measured.push_back(m.value);
    if (!out.all[out.best].failed.empty() || m.value < out.all[out.best].value) out.best = i;
  }
  if (!out.all.empty()) out.text = text::table_text(lines, 1);
  if (measured.empty()) {
    if (!out.stopped) out.failed = "no mapping ran (" + out.all[0].failed + "); try one by hand: " + by_hand;
    out.text += out.stopped ? "The measurements were stopped before a mapping had run" : "No mapping ran";
    out.text += ": this is the one that was predicted best.\n";
    return out;
  }
  out.text += "Mapping " + std::to_string(out.best + 1) + " was the best one measured. ";
  out.compared = static_cast<int>(measured.size());
  if (out.compared > 1) {
    out.correlation = rank_correlation(predicted, measured);
    out.text += text::number_text(out.correlation, "Rank correlation (Spearman) of predicted and measured: %.2f.");
  }
  out.text += "\n";
  if (out.stopped) out.text += "The measurements were stopped: others had not run.\n";
  return out;
}

}  // namespace detail
}  // namespace dice::advice
