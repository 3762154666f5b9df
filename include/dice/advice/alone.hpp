// How a mapping compares with the best device alone.
#pragma once

#include "dice/advice/cluster_model.hpp"
#include "dice/cost/problem.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace dice::advice {

/// A mapping beside the best device alone: a line, and the same as a JSON object. Empty and null if nothing takes any time.
struct beside_one {
  std::string text;
  text::json_text json{"null"};
};

namespace detail {

/// The totals of a prediction as JSON.
[[gnu::cold]] inline text::json_object prediction_json(const cost::prediction& expected) {
  return text::json_object()
      .add("frames_per_s", expected.throughput)
      .add("latency_s", expected.latency)
      .add("energy_j", expected.energy)
      .add("memory_bytes", expected.memory);
}

/// What an objective makes large or small, and its value for a prediction, with unit.
[[gnu::cold]] inline std::string figure_text(partition::objective o, const cost::prediction& of) {
  if (o == partition::objective::throughput) return text::number_text(of.throughput, "%.4g frames/s");
  if (o == partition::objective::latency) return text::number_text(of.latency * 1e3, "%.4g ms");
  if (o == partition::objective::energy) return text::number_text(of.energy, "%.4g J per frame");
  return text::bytes_text(of.memory) + " at most per rank";
}

/// A change of 0.15 is "15 % higher than", one of 16 "17 times".
[[gnu::cold]] inline std::string change_text(double change) {
  if (std::abs(change) < 5e-4) return "as much as";
  if (change > 1) return text::number_text(change + 1, change < 9 ? "%.1f times" : "%.0f times");
  return text::number_text(std::abs(change) * 100, "%.3g %% ") + (change > 0 ? "higher than" : "lower than");
}

/// Why no single device is a mapping for a request that several devices meet.
[[gnu::cold]] inline std::string none_alone_text(const partition::request& r, const partition::nearest& why) {
  if (why.what == partition::obstacle::fps)
    return text::number_text(r.fps, "No device alone meets at_least_fps=%.6g; ") +
           text::number_text(why.value, "the best reaches %.4g frames/s.");
  if (why.what == partition::obstacle::latency)
    return text::number_text(r.aim.max_latency * 1e3, "No device alone meets at_most_latency=%.6g; ") +
           text::number_text(why.value * 1e3, "the best takes %.4g ms.");
  if (why.what == partition::obstacle::memory)
    return "No device alone can hold the network: it would need " + text::bytes_text(static_cast<std::int64_t>(why.value)) +
           ".";
  return "No device alone is on the hosts of both the input and the output.";
}

}  // namespace detail

/// Compares a mapping on `ranks` ranks, with prediction `expected` in problem p, with the best device alone for request r.
[[gnu::cold]] inline beside_one beside_one_device(const cluster_model& f, const cost::problem& p, partition::request r,
                                                  const cost::prediction& expected, int ranks,
                                                  std::string_view whose = "Its") {
  r.aim.max_devices = 1;
  r.aim.in_order = true;
  r.aim.repeats = false;
  r.aim.seen_by = nullptr;
  r.percent = -1;
  const auto found = partition::find_best(f.setting, p, r);
  if (found.empty()) {
    const auto why = detail::none_alone_text(r, found.why);
    return {why + "\n", {text::json_object().add("none", why).json()}};
  }
  const auto best = r.aim.best;
  const double mine = partition::value_of(best, expected), alone = partition::value_of(best, found.expected);
  const double change = best == partition::objective::throughput ? alone / mine - 1 : mine / alone - 1;
  if (!std::isfinite(change)) return {};
  const auto& device = p.devices[found.ranks.devices[0]];
  const auto& processor = f.setting.cluster.processors[device.processor];
  const auto unit = placement::unit_text(processor.unit, processor.cores, "");
  const std::string host(f.setting.cluster.hosts[device.host].name);
  constexpr std::array<std::string_view, 4> figures{"throughput", "latency", "energy", "memory"};
  const bool same = ranks == 1 && std::abs(change) < 1e-6;
  return {same ? "This is the best device alone.\n"
               : std::string(whose) + " " + std::string(figures[static_cast<std::size_t>(best)]) + " is " +
                     detail::change_text(change) + " the " + detail::figure_text(best, found.expected) +
                     " of the best device alone (" + unit + " on " + host + ").\n",
          {detail::prediction_json(found.expected).add("host", host).add("unit", unit).add("gain", change).json()}};
}

}  // namespace dice::advice
