// Predictions for a program's mapping, and better mappings.
#pragma once

#include "dice/advice/advice.hpp"
#include "dice/advice/alone.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/measured_search.hpp"
#include "dice/advice/mixes.hpp"
#include "dice/advice/prediction.hpp"
#include "dice/advice/schemes.hpp"
#include "dice/advice/search_json.hpp"
#include "dice/advice/search_progress.hpp"
#include "dice/advice/search_request.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/partition/catalogue.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/mix.hpp"
#include "dice/partition/search_direct.hpp"
#include "dice/text/print.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::advice {

namespace detail {

/// A link as numbers.
[[gnu::cold]] inline text::json_object link_json(const platform::link& l) {
  return text::json_object().add("us", l.seconds * 1e6).add("gbytes_per_s", l.bytes_per_s * 1e-9);
}

/// A processor with what is stated or measured of it, so that its type can be written again.
[[gnu::cold]] inline text::json_object processor_json(const platform::processor_info& p) {
  text::json_object out;
  out.add("unit", placement::unit_text(p.unit, p.cores, "") + (p.unit.direct ? ", direct_convolutions" : ""));
  if (p.flops > 0) out.add("gflops", p.flops * 1e-9);
  if (p.bytes_per_s > 0) out.add("gbytes_per_s", p.bytes_per_s * 1e-9);
  if (p.has_watts) out.add("busy_watts", p.busy_watts).add("idle_watts", p.idle_watts);
  if (p.own_memory) out.add("memory_bytes", p.memory);
  if (p.sending.bytes_per_s > 0) out.add("sending", link_json(p.sending));
  if (p.receiving.bytes_per_s > 0) out.add("receiving", link_json(p.receiving));
  return out;
}

/// The cluster and where the ranks are, from which `dice-testbed try` makes hosts, and `dice-run measure --cluster` the
/// measured cluster.
[[gnu::cold]] inline text::json_object cluster_json(const cluster_model& f) {
  const auto& cluster = f.setting.cluster;
  text::json_array hosts, links, ranks;
  for (const auto& h : cluster.hosts) {
    text::json_array processors;
    for (int k = 0; k < h.processors; ++k) processors.add(processor_json(cluster.processors[h.first_processor + k]));
    auto host = text::json_object().add("host", h.name).add("board", h.board).add("memory_bytes", h.memory);
    host.add("processors", processors);
    if (h.inside.bytes_per_s != platform::shared_memory.bytes_per_s || h.inside.seconds != platform::shared_memory.seconds)
      host.add("inside", link_json(h.inside));
    hosts.add(host);
  }
  for (int b = 0; b < cluster.size(); ++b)
    for (int a = 0; a < b; ++a)
      links.add(text::json_object()
                    .add("hosts", text::json_array().add(cluster.hosts[a].name).add(cluster.hosts[b].name))
                    .add("mbit_per_s", cluster.between(a, b).bytes_per_s * 8e-6)
                    .add("us", cluster.between(a, b).seconds * 1e6));
  const auto problem = cost::problem_of(f.setting);
  for (std::size_t r = 0; r < f.ranks.size(); ++r) {
    const auto& host = cluster.hosts[f.ranks[r].on_host];
    double speed = 0;  // networks a second
    for (int d = 0; d < problem.devices.size(); ++d)
      if (problem.devices[d].host == f.ranks[r].on_host)
        speed += cost::share_of(cluster, problem.devices[d].processor, f.ranks[r]) / problem.time(d, 0, problem.cut_units);
    ranks.add(text::json_object().add("rank", r).add("host", host.name).add("network_s", 1 / speed));
  }
  return text::json_object().add("hosts", hosts).add("links", links).add("ranks", ranks);
}

/// The prediction for a plan in which layers have parts, by rank.
[[gnu::cold]] inline std::string parts_prediction_text(const cluster_model& f, const runtime::program& p, bool json) {
  const auto found = cost::simulate(f.setting, {.net = p.layers, .parts = p.parts}, p.plan, f.ranks);
  const auto problem = cost::problem_of(f.setting);
  std::vector<std::vector<std::string>> lines{{"", "host", "ms", "ms for messages", "of the period"}};
  text::json_array ranks;
  for (int r = 0; r < p.ranks(); ++r) {
    const auto host = std::string(f.setting.cluster.hosts[f.ranks[r].on_host].name);
    const auto computing = found.ranks[r].computing, messages = found.ranks[r].messages;
    const auto ms = [](double t) { return text::number_text(t * 1e3, "%.3f"); };
    lines.push_back(
        {"rank " + std::to_string(r), host, ms(computing), problem.messages_cost_time ? ms(messages) : "not stated",
         found.expected.period > 0 ? text::number_text((computing + messages) / found.expected.period * 100, "%.0f %%")
                                   : "–"});
    ranks.add(text::json_object().add("rank", r).add("host", host).add("compute_s", computing).add("message_s", messages));
  }
  const auto alone = beside_one_device(f, problem, {}, found.expected, p.ranks());
  if (json)
    return prediction_json(found.expected)
        .add("ranks", ranks)
        .add("best_device_alone", alone.json)
        .add("schemes", schemes_of(f, p).json)
        .add("cluster", cluster_json(f))
        .json();
  return "\nPredicted on the cluster:\n" + text::table_text(lines, 2) + "\n" + totals_text(found.expected) + alone.text +
         schemes_of(f, p).text + "\n" + mapping_text(p, p.mapping);
}

}  // namespace detail

/// cluster_model::plan.
[[gnu::cold]] DICE_API std::string predicted_text(const cluster_model& f, const runtime::program& p, bool json) {
  if (!p.parts.empty()) return detail::parts_prediction_text(f, p, json);
  const auto problem = cost::problem_of(f.setting, p.plan, f.ranks);
  if (partition::relays_matter(f.setting, problem))
    return detail::parts_prediction_text(f, p, json);  // no stage is relayed to
  const auto stages = cost::stages_of(problem, p.plan);
  const auto expected = cost::simulate(f.setting, {.net = p.layers}, p.plan, f.ranks).expected;
  const auto host = [&](int rank) { return std::string(f.setting.cluster.hosts[f.ranks[rank].on_host].name); };
  const auto alone = beside_one_device(f, cost::problem_of(f.setting), {}, expected, p.ranks());
  if (!json)
    return "\nPredicted on the cluster:\n" +
           detail::prediction_table(
               problem, stages, expected, [](int r) { return "rank " + std::to_string(r); }, host) +
           alone.text + schemes_of(f, p).text + "\n" + detail::mapping_text(p, p.mapping);
  text::json_array of_stages;
  for (int k = 0; k < stages.size(); ++k) {
    const auto& s = stages[k];
    const double x = k ? problem.transfer(problem.link(stages[k - 1].device, s.device), s.first) : 0;
    of_stages.add(text::json_object()
                      .add("rank", s.device)
                      .add("host", host(s.device))
                      .add("received_bytes", k ? problem.crossing[s.first] : 0)
                      .add("transfer_s", x)
                      .add("compute_s", problem.time(s.device, s.first, s.last))
                      .add("message_s", cost::message_time(problem, stages, k)));
  }
  return detail::prediction_json(expected)
      .add("stages", of_stages)
      .add("best_device_alone", alone.json)
      .add("schemes", schemes_of(f, p).json)
      .add("cluster", detail::cluster_json(f))
      .json();
}

namespace detail {

/// A mapping that may be better than the present one.
struct better_mapping {
  std::string text;  ///< as C++, and its prediction
  double throughput = 0;
  int devices = 0;
};

/// The mix with the highest throughput. `stages`: the best mapping of whole layers.
[[gnu::cold]] inline better_mapping mix_found(const cluster_model& f, const runtime::program& p,
                                              const partition::search_result& stages) {
  const mixes all(f, p);
  const partition::mix_request r{.wanted = {}, .ratings = 300};
  const auto found = all.find(r, partition::mix_of(stages.stages));
  if (found.sections.empty()) return {};
  const auto written = all.written(found.sections);
  return {mapping_text(p, written.mapping.values()) + "\n" + rank_table(f, all, written, found.expected) +
              totals_text(found.expected),
          found.expected.throughput, written.devices.size()};
}

}  // namespace detail

/// cluster_model::advise.
[[gnu::cold]] DICE_API assessment advised(const cluster_model& f, const runtime::program& p, const report::seen_run& run) {
  constexpr double little = 0.03;  // a gain that is lost in the noise
  assessment out{predicted(f, p), {}, {"null"}};
  if (detail::lost_too_much(run)) {
    out.advice = "No mapping is advised: a rank had no core for " + detail::share_text(detail::largest_loss(run)) +
                 " of the time, so its times are too long by an unknown factor.\n";
    return out;
  }
  const auto problem = detail::as_seen(f, p, run, out.expected);
  // The throughput that the model gives this mapping, as it does others: frames that wait for one another are not a reason
  // to change it.
  double slowest = 0;
  for (std::size_t r = 0; r < run.busy.size(); ++r)
    slowest = std::max(slowest, run.busy[r] + out.expected.message_seconds[r]);
  for (const auto& l : run.links)
    slowest = std::max(slowest, detail::seen_late(run, l) ? detail::expected_of(out.expected, p, l) : l.seconds);
  const auto present =
      beside_one_device(f, problem, {}, {.throughput = 1 / slowest, .period = slowest}, p.ranks(), "The present mapping's");
  out.alone = present.json;
  const auto beside = p.ranks() == 1 ? "" : present.text;
  const auto stages = partition::find_best(f.setting, problem, {}, detail::max_routes_at_run_time);
  detail::better_mapping found;
  if (!stages.empty())
    found = {detail::found_text(f, p, problem, {}, stages, ""), stages.expected.throughput, stages.ranks.devices.size()};
  std::string schemes;
  if (p.tables) {
    const detail::seen_model seen(f, problem);
    if (auto mix = detail::mix_found(seen.model(), p, stages); mix.throughput > found.throughput * (1 + little))
      found = std::move(mix);
    schemes = schemes_of(seen.model(), p).text;
  }
  if (found.text.empty()) {
    out.advice =
        "No better mapping was found: there are too many kinds of hosts to try all orders, or no plan fits their memory.\n" +
        beside;
    return out;
  }
  const double gain = found.throughput * slowest - 1;
  if (!(gain > little)) {  // or nothing takes any time
    out.advice = "No other mapping on this cluster is predicted to gain more than 3 %" +
                 std::string(p.ranks() == 1 ? ": none is better than this one device.\n" : ".\n") + beside + schemes;
    return out;
  }
  const bool alone = found.devices == 1 && p.ranks() > 1;
  out.advice =
      (alone ? "No mapping on several devices is better than a single device, which would reach "
             : "This mapping would reach ") +
      text::number_text(found.throughput, "%.4g frames/s") + ", " + detail::gain_text(gain) +
      text::number_text(1 / slowest, " the %.4g of the present one, both predicted from the times measured here:\n") +
      found.text +
      (p.remap
           ? "Try it with --mapping, and paste it into the program's source.\n"
           : "Paste it into the source (in a deployment, the plan's header), build again, and bring it to all hosts.\n") +
      beside + schemes;
  out.better.value =
      text::json_object().add("frames_per_s", found.throughput).add("gain", gain).add("mapping", found.text).json();
  return out;
}

namespace detail {

/// While it lives, the first Ctrl-C, or another signal that ends programs, only stops the search.
class stoppable {
 public:
  explicit stoppable(partition::watch& of) {
    of.stops = [](void*) { return files::interrupts::stop_signal() != 0; };
  }
  stoppable(const stoppable&) = delete;
  stoppable& operator=(const stoppable&) = delete;
  ~stoppable() { files::interrupts::let_finish(); }

 private:
  struct begun {
    begun() { files::interrupts::stop_first(-1); }
  };
  const files::interrupts ends_{"dice: error: ", ""};
  const begun begun_;
};

/// Throws if an objective needs the power of processors and one states none.
[[gnu::cold]] inline void require_watts(const cluster_model& f) {
  const auto& cluster = f.setting.cluster;
  for (std::size_t k = 0; k < f.setting.usable.size(); ++k)
    if (const auto& it = cluster.processors[k]; f.setting.usable[k] && !it.has_watts)
      throw std::runtime_error("--search energy: the processor " + placement::unit_text(it.unit, it.cores, "") +
                               " of host '" + std::string(cluster.hosts[cluster.host_of[k]].name) +
                               "' has no watts; write dice::watts<BUSY, IDLE> into its dice::processor<…> in the cluster: "
                               "the power that it draws while it computes and while it waits, in W");
}

inline constexpr const char* stopped_early = "--search: it was stopped before it found a mapping";

/// Why no mix meets the request: the first limit that none meets together with those before it, in the order memory,
/// frames/s, latency. Throws std::runtime_error if it is stopped.
[[gnu::cold]] inline partition::nearest why_no_mix(const mixes& all, partition::mix_request r) {
  const auto wanted = r.wanted;
  auto& aim = r.wanted.aim;
  const auto found = [&](partition::objective best) {
    aim.best = best;
    auto out = all.find(r, partition::detail::stages_for(all.setting(), all.problem(), r));
    if (out.stopped) throw std::runtime_error(stopped_early);
    return out;
  };
  aim.max_period = aim.max_latency = partition::infinity;
  if (const auto fastest = found(partition::objective::throughput); !fastest.sections.empty()) {
    if (fastest.expected.period > wanted.aim.max_period) return {partition::obstacle::fps, fastest.expected.throughput};
    aim.max_period = wanted.aim.max_period;
    if (const auto quickest = found(partition::objective::latency); !quickest.sections.empty())
      return {partition::obstacle::latency, quickest.expected.latency};
  }
  r.any_memory = true;
  if (const auto smallest = found(partition::objective::peak_memory); !smallest.sections.empty())
    return {partition::obstacle::memory, static_cast<double>(partition::rounded_bytes(smallest.expected.memory))};
  return {partition::obstacle::constraints, 0};
}

/// What --search=whole_layers prints. Where relays matter, the stages are only a beginning for the search that rates plans.
[[gnu::cold]] inline std::string searched_stages(const cluster_model& f, const runtime::program& p,
                                                 const search_request& r) {
  const auto problem = cost::problem_of(f.setting);
  search_progress shown;
  auto watched = mix_request_of(r);
  watched.wanted.aim.seen_by = &shown.seen_by();
  const auto found = partition::find_best(f.setting, watched.wanted, max_routes_at_run_time);
  auto why = found.why;
  if (p.tables && !r.wanted.aim.repeats && problem.devices.size() <= partition::most_devices &&
      partition::relays_matter(f.setting, problem)) {
    const mixes all(f, p);
    watched.wanted.words = 0;
    const auto mix = all.find(watched, partition::mix_of(found.stages));
    if (!mix.sections.empty()) return r.json ? mix_json(f, p, all, r, mix, {}) : mix_text(f, p, all, r, mix, "// ");
    if (found.empty()) why = why_no_mix(all, watched);
  }
  if (found.too_many_kinds)
    throw std::runtime_error(
        "--search: there are too many kinds of hosts to try all orders; list the hosts in order, and add in_order");
  if (found.empty()) throw std::runtime_error("--search: " + no_mapping_text(f.setting.cluster, r.wanted, why));
  if (!r.json) return found_text(f, p, problem, r.wanted, found, "// ");
  const auto m = written_stages(f, problem, found);
  return found_json(p, r, m.values(), found.expected).json() + "\n";
}

}  // namespace detail

/// cluster_model::search.
[[gnu::cold]] DICE_API std::string searched_text(const cluster_model& f, const runtime::program& p, std::string_view text,
                                                 const std::string& weights) {
  auto r = detail::request_of_text(text, f.setting.cluster, p);
  if (r.wanted.aim.best == partition::objective::energy) detail::require_watts(f);
  const bool many = cost::problem_of(f.setting).devices.size() > partition::most_devices;
  if (r.wanted.whole || many || !p.tables) return detail::searched_stages(f, p, r);
  if (r.measured > 0 && !p.remap)
    throw std::runtime_error(
        "--search: measured needs a program that accepts other mappings (--mapping); this one has the kernels of one kind "
        "of "
        "board only");
  const mixes all(f, p);
  partition::search_result stages;
  partition::watch stop;
  const detail::stoppable stops(stop);
  const auto watched_by = [&](search_progress& shown) {
    shown.seen_by().stops = stop.stops;
    auto watched = detail::mix_request_of(r);
    watched.wanted.aim.seen_by = &shown.seen_by();
    return watched;
  };
  auto found = [&] {
    search_progress shown;
    const auto watched = watched_by(shown);
    stages = partition::find_best(f.setting, all.problem(), watched.wanted, detail::max_routes_at_run_time);
    return all.find(watched, partition::mix_of(stages.stages));
  }();
  if (found.sections.empty()) {
    if (found.stopped) throw std::runtime_error(detail::stopped_early);
    using enum partition::obstacle;
    const bool at_ends = !stages.too_many_kinds && (stages.why.what == input_host || stages.why.what == output_host);
    const auto why = at_ends ? stages.why : [&] {
      search_progress shown;
      return detail::why_no_mix(all, watched_by(shown));
    }();
    throw std::runtime_error("--search: " + detail::no_mapping_text(f.setting.cluster, r.wanted, why));
  }
  detail::measured_search measured;
  if (r.measured > 0 && !found.stopped) {
    measured = detail::measure(f, p, all, r, found, weights);
    if (!measured.all.empty()) {
      found.sections = measured.all[measured.best].is;
      found.expected = measured.all[measured.best].expected;
    }
  }
  auto answer =
      r.json ? detail::mix_json(f, p, all, r, found, measured) : detail::mix_text(f, p, all, r, found, "// ", measured.text);
  if (measured.failed.empty()) return answer;
  text::print(answer);
  throw std::runtime_error("--search: " + measured.failed);
}

}  // namespace dice::advice
