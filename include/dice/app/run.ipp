// From the command line to the exit code.
#pragma once

#include "dice/app/run.hpp"
#include "dice/runtime/usage_error.hpp"

#include "dice/app/command_line.hpp"
#include "dice/app/help.hpp"
#include "dice/app/rank.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/standard_streams.hpp"
#include "dice/job/agreement.hpp"
#include "dice/job/late_note.hpp"
#include "dice/job/mapping_choice.hpp"
#include "dice/job/status_reporter.hpp"
#include "dice/kernels/cpu_level.hpp"
#include "dice/measure/pack.hpp"
#include "dice/measure/tune.hpp"
#include "dice/measure/verify.hpp"
#include "dice/placement/text/write.hpp"
#include "dice/report/draw.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/steps.hpp"
#include "dice/text/print.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dice::app {

namespace detail {

/// A refusal before this process joins its job. Of the processes that mpirun started, only the first prints it, and does so
/// before the others exit: mpirun ends all processes once one has exited.
inline int refuse_alone(const std::string& what, bool first = channels::launched().rank <= 0, int code = 2) {
  if (!first) std::this_thread::sleep_for(std::chrono::seconds(1));
  else text::print_error("dice: error: " + what);
  return code;
}

/// The hosts of the cluster that have ranks.
[[gnu::cold]] inline text::json_array hosts_json(const advice::cluster_model& f) {
  text::json_array out;
  for (int h = 0; h < f.setting.cluster.size(); ++h) {
    text::json_array ranks;
    for (std::size_t r = 0; r < f.ranks.size(); ++r)
      if (f.ranks[r].on_host == h) ranks.add(static_cast<int>(r));
    const auto& host = f.setting.cluster.hosts[h];
    if (!ranks.empty()) out.add(text::json_object().add("host", host.name).add("board", host.board).add("ranks", ranks));
  }
  return out;
}

/// The plan in `form`, which is not plan_form::none; with predictions if there is a cluster.
inline std::string plan_as(const runtime::program& p, const advice::cluster_model* f, plan_form form) {
  switch (form) {
    case plan_form::steps:
      return report::plan_steps(p);
    case plan_form::dot:
      return report::plan_dot(p);
    case plan_form::svg:
      return report::plan_svg(p);
    default:
      break;
  }
  if (form == plan_form::json) {
    auto out = report::plan_json(p);
    if (f) out.add("hosts", hosts_json(*f)).add("predicted", text::json_text{f->plan(*f, p, true)});
    return out.json() + "\n";
  }
  auto out = report::plan_table(p);
  if (f) out += f->plan(*f, p, false);
  return out;
}

/// The text of --version.
[[gnu::cold]] inline std::string version_text(const runtime::program& p) {
  std::string out = "dice " + std::string(p.version) + "\n", names;
  for (const auto& level : kernels::cpu_levels()) names += (names.empty() ? "" : ", ") + std::string(level.name);
  if (names.empty()) return out;
  out += "kernels for " + names;
  try {
    const std::string here = kernels::cpu_level_name();
    return out + (here == names ? "" : "; here " + here) + "\n";
  } catch (const std::exception& e) {
    return out + ": " + e.what() + "\n";
  }
}

/// The ranks of this process, each in a thread of its own if there are several.
inline int run_ranks(const runtime::program& p, const options& o, const std::string& usage, const channels::membership& job,
                     const advice::cluster_model* f, const std::function<std::string()>& page,
                     job::status_reporter* reporter) {
  std::vector<int> codes(job.ranks.size(), 1);
  const auto work = [&](std::size_t i) {
    auto* const of_rank = job.ranks[i]->rank() == 0 ? reporter : nullptr;
    codes[i] = rank_job(p, o, usage, *job.ranks[i], job.by, f, page, of_rank).run();
  };
  if (job.ranks.size() == 1) {
    work(0);
  } else {
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 0; i < job.ranks.size(); ++i) threads.emplace_back(work, i);
    } catch (const std::exception& e) {
      job.ranks.front()->stop("dice: error: no thread for rank " + std::to_string(threads.size()) + ": " + e.what());
    }
    for (auto& t : threads) t.join();
  }
  for (int code : codes)
    if (code) return code;
  return 0;
}

/// The transport of a run for which the command line says `wanted`. `meets`: the ranks may exchange messages.
inline const channels::transport_info& transport_of(channels::transport wanted, const channels::launch& launch, bool meets) {
  if (!meets) return channels::in_process::about;
  const auto& by = channels::chosen(wanted);
  return launch.size > 1 && !by.processes && launch.by->available() ? *launch.by : by;
}

/// The program's cluster_model for the ranks of another mapping; `ranks` must outlive it. Throws runtime::usage_error.
[[gnu::cold]] inline advice::cluster_model cluster_model_for(const advice::cluster_model& own,
                                                             const runtime::other_mapping& other,
                                                             std::vector<cost::placed_rank>& ranks) {
  const auto& cluster = own.setting.cluster;
  ranks.resize(other.devices().size());
  cost::place_ranks(other.devices(), cluster, ranks.data());
  if (const int r = cost::misplaced_rank(ranks, cluster); r >= 0) {
    const auto& device = other.devices()[r];
    const auto rank = "rank " + std::to_string(r);
    const int host = ranks[r].on_host;
    if (host < 0)
      throw runtime::usage_error("--mapping: rank_on_unknown_host: " + rank + " is on '" + std::string(device.host) +
                                 "', which is not a host of the cluster; tie the rank to a host of the cluster");
    throw runtime::usage_error("--mapping: unit_not_on_host: host '" + std::string(cluster.hosts[host].name) +
                               "' has no unit " + placement::unit_text(device.unit, device.cores, "") + ", which " + rank +
                               " uses; choose a unit that the board of this host has");
  }
  auto out = own;
  out.ranks = ranks;
  return out;
}

/// run() without what begins and ends every run. Also throws the errors that run() shows.
[[gnu::cold]] inline int run_once(const runtime::program& own, const advice::cluster_model* f, int argc, char** argv) {
  const std::span<const char* const> arguments(argv + (argc > 0), static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  // The plan of a program for one kind of board has the kernels of its own ranks only. A program that accepts any mapping
  // has them all, and under its mapping as text it measures all layers.
  const bool measures_all = own.remap && !own.here.empty() && mapping_argument(arguments).empty() &&
                            std::any_of(arguments.begin(), arguments.end(), [](std::string_view word) {
                              return word == "--measure" || word.starts_with("--measure=");
                            });
  const auto own_mapping = measures_all ? placement::write(own.mapping, own.network, own.network_layers()) : std::string();
  const auto chosen =
      job::choose_mapping(own, measures_all ? std::string_view(own_mapping) : mapping_argument(arguments), "--mapping");
  const auto& p = chosen.of(own);
  options o;
  std::string usage = chosen.mistake;
  std::vector<cost::placed_rank> placed;
  std::optional<advice::cluster_model> other_model;
  try {
    o = parse(p, arguments);
    if (o.help || o.version) usage.clear();  // whatever the mapping is
    else if (!usage.empty()) o = {};
    if (usage.empty() && f && chosen.other) f = &other_model.emplace(cluster_model_for(*f, *chosen.other, placed));
  } catch (const runtime::usage_error& e) {
    if (usage.empty()) usage = e.what();
  }
  const auto written = o.written();
  text::prints_to_stderr = o.prints_results() || std::any_of(written.begin(), written.end(), [](const std::string& file) {
                             return files::place_of(file).descriptor == STDOUT_FILENO;
                           });
  const auto launch = channels::launched();
  const bool several = launch.size > 1, first = launch.rank == 0;
  if (usage.empty() && !o.search.empty() && !f)
    usage = "--search: this program has no cluster; give dice::main one as its third argument";
  if (usage.empty() && !o.search.empty() && o.plan != plan_form::none)
    usage = "--search and --plan are given together; give one, and the mapping that --search finds as --mapping with --plan";
  std::function<std::string()> page;  // what is printed in place of a run
  if (usage.empty() && o.prints())
    page = [&]() -> std::string {
      if (o.help) return help(p, argc > 0 ? argv[0] : "program");
      if (o.version) return version_text(p);
      return o.plan != plan_form::none ? plan_as(p, f, o.plan) : f->search(*f, p, o.search, o.weights);
    };
  if (usage.empty() && several && !page) {
    const auto remedy = "; start it without " + std::string(launch.by->started_by.name);
    if (!o.tune.empty() || !o.pack.empty())
      usage = std::string(o.pack.empty() ? "--tune" : "--pack") + ": one process handles all ranks, one after the other" +
              remedy;
    else if (o.by != channels::transport::automatic && !channels::info_of(o.by).processes)
      usage = "--transport " + std::string(channels::info_of(o.by).word) + ": all ranks run in one process" + remedy;
  }
  // Other processes may have other options or another mapping, or may lack its file; so all meet, to be told of it.
  const bool meets = p.ranks() > 1 || !chosen.mistake.empty() || (several && own.remap);
  const auto& by = transport_of(o.by, launch, meets);
  if (!(by.processes && several)) {
    if (!usage.empty()) return refuse_alone(usage);
    if (page && first) text::print(page());
    if (page) return 0;
  }
  if (usage.empty() && !page && !o.verifies_only()) {
    try {
      kernels::cpu_level_here();
    } catch (const std::exception& e) {
      // The first process of each host says so. Others do if they are still alive then, since each may have its own program
      // and DICE_CPU_LEVEL.
      if (launch.local_rank > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
      return refuse_alone((several ? "host " + job::host_name() + ": " : "") + e.what(), true, 1);
    }
  }
  if (usage.empty() && !page && (!o.tune.empty() || !o.pack.empty())) {
    const files::interrupts ends("dice: error: ", "");
    o.pack.empty() ? measure::tune(p, o.tune, o.json) : measure::pack(p, o.weights, o.pack, o.ranks);
    return 0;
  }
  if (o.verifies_only() && !several) {
    const files::interrupts ends("dice: error: ", "");
    measure::verify(p, o.weights, o.packed);
    return 0;
  }
  if (several && !by.processes)
    return refuse_alone(p.ranks() == 1
                            ? "this program's plan has 1 rank, started with " + std::to_string(launch.size) +
                                  ": run it without " + std::string(launch.by->started_by.name)
                            : "this program was built without " + std::string(launch.by->library) +
                                  ", so all its ranks run in one process: start it without " +
                                  std::string(launch.by->started_by.name) + ", or " + std::string(launch.by->remedy));
  // The launcher ends the ranks by SIGTERM; one of them says so.
  const files::interrupts ends(!by.processes ? "dice: error: "
                               : first       ? "dice: "
                                             : "",
                               by.processes && first ? ": " + std::string(by.lost_peer) : "");
  if (p.pack_at_start && usage.empty() && !page && o.packed.empty() && o.weights.empty()) measure::pack_at_first_start(p);
  if (const auto other = p.board.empty() || !by.misfit ? std::string() : by.misfit(); !other.empty()) {
    text::print_error("dice: error: host " + job::host_name() + " " + other);
    return 1;
  }
  // Before the ranks meet: if they never do, dice-run can say so.
  std::optional<job::status_reporter> reporter;
  if (const auto to = o.status(); usage.empty() && !page && first && !to.empty()) reporter.emplace(to, p.network);
  std::optional<job::late_note> late;
  if (by.processes && several && first)
    late.emplace(job::others_patience, job::nobody_answers("rank 0 (host " + job::host_name() + ")"));
  const auto job = by.join(p.ranks(), false);
  late.reset();
  if (!page) files::interrupts::stop_first(o.stop_timeout);
  return run_ranks(p, o, usage, job, f, page, reporter ? &*reporter : nullptr);
}

}  // namespace detail

[[gnu::cold]] DICE_API int run(const runtime::program& own, const advice::cluster_model* f, int argc, char** argv) {
  files::occupy_standard_streams();
  try {
    const int code = detail::run_once(own, f, argc, argv);
    files::require_stored();
    return code;
  } catch (const runtime::usage_error& e) {
    return detail::refuse_alone(e.what());
  } catch (const std::exception& e) {
    text::print_error("dice: error: " + std::string(e.what()));
    return 1;
  }
}

}  // namespace dice::app
