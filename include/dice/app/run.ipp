// From the command line to the exit code.
#pragma once

#include "dice/app/run.hpp"
#include "dice/runtime/usage_error.hpp"

#include "dice/app/command_line.hpp"
#include "dice/app/help.hpp"
#include "dice/app/rank.hpp"
#include "dice/channels/channels.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/standard_streams.hpp"
#include "dice/job/launcher.hpp"
#include "dice/job/mapping_choice.hpp"
#include "dice/measure/pack.hpp"
#include "dice/measure/tune.hpp"
#include "dice/measure/verify.hpp"
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
#include <thread>
#include <vector>

namespace dice::app {

namespace detail {

/// A refusal without MPI. Of the processes that mpirun started only the first prints it, and before the others exit: mpirun
/// ends all processes once one has exited.
inline int refuse_alone(const std::string& what) {
  if (job::launched_rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  else text::print_error("dice: error: " + what);
  return 2;
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

/// All ranks as threads of this process.
inline int run_threads(const runtime::program& p, const options& o, const advice::cluster_model* f) {
  channels::in_process::hub hub(p.ranks());
  std::vector<int> codes(static_cast<std::size_t>(p.ranks()), 1);
  const auto work = [&](int rank) {
    channels::in_process::communicator ranks(hub, rank);
    codes[rank] = rank_job(p, o, {}, ranks, false, f).run();
  };
  if (p.ranks() == 1) {
    work(0);
  } else {
    std::vector<std::thread> threads;
    try {
      for (int r = 0; r < p.ranks(); ++r) threads.emplace_back(work, r);
    } catch (const std::exception& e) {
      hub.stop("dice: error: no thread for rank " + std::to_string(threads.size()) + ": " + e.what());
    }
    for (auto& t : threads) t.join();
  }
  for (int code : codes)
    if (code) return code;
  return 0;
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

/// run() without what begins and ends all runs. Throws also errors that run() shows.
[[gnu::cold]] inline int run_once(const runtime::program& own, const advice::cluster_model* f, int argc, char** argv) {
  const std::span<const char* const> arguments(argv + (argc > 0), static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  const auto chosen = job::choose_mapping(own, mapping_argument(arguments), "--mapping");
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
  text::prints_to_stderr = std::any_of(written.begin(), written.end(), [](const std::string& file) {
    return files::place_of(file).descriptor == STDOUT_FILENO;
  });
  const bool first = job::launched_rank() == 0;
  if (usage.empty() && !o.search.empty() && !f)
    usage = "--search: this program has no cluster; give dice::main one as its third argument";
  std::function<std::string()> page;  // what is printed in place of a run
  if (usage.empty() && o.prints())
    page = [&]() -> std::string {
      if (o.help) return help(p, argc > 0 ? argv[0] : "program");
      if (o.version) return "dice " + std::string(p.version) + "\n";
      return o.plan != plan_form::none ? plan_as(p, f, o.plan) : f->search(*f, p, o.search);
    };
  const bool several = job::launched_size() > 1;
  if (usage.empty() && several && !page) {
    if (!o.tune.empty() || !o.pack.empty())
      usage = std::string(o.pack.empty() ? "--tune" : "--pack") +
              ": one process handles all ranks, one after the other; start it without mpirun";
    else if (o.by == job::transport::in_process)
      usage = "--transport in-process: all ranks run in one process; start it without mpirun";
  }
#ifdef DICE_WITH_MPI
  // Other processes may have other options or another mapping, or may lack its file; they meet by MPI, so that all are
  // told.
  const bool by_mpi = several ? p.ranks() > 1 || !chosen.mistake.empty() || own.remap
                              : (p.ranks() > 1 || !chosen.mistake.empty()) && o.by != job::transport::in_process;
#else
  const bool by_mpi = false;
#endif
  if (!(by_mpi && several)) {
    if (!usage.empty()) return refuse_alone(usage);
    if (page && first) text::print(page());
    if (page) return 0;
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
  if (const int n = job::launched_size(); n > 1 && !by_mpi)
    return refuse_alone(
        p.ranks() == 1
            ? "this program's plan has 1 rank, started with " + std::to_string(n) + ": run it without mpirun"
            : "this program was built without MPI, so all its ranks run in one process: start it without mpirun, or build "
              "it where CMake finds Boost.MPI, or with pkg-config's flags");
  // mpirun ends the ranks by SIGTERM; one of them says so.
  const files::interrupts ends(!by_mpi ? "dice: error: "
                               : first ? "dice: "
                                       : "",
                               by_mpi && first ? ": mpirun was interrupted, or another rank has failed" : "");
  if (p.pack_at_start && usage.empty() && !page && o.packed.empty() && o.weights.empty()) measure::pack_at_first_start(p);
#ifdef DICE_WITH_MPI
  if (by_mpi) {
    if (const auto other = p.board.empty() ? std::string() : channels::mpi::another_library(); !other.empty()) {
      text::print_error("dice: error: host " + job::host_name() + " " + other);
      return 1;
    }
    channels::mpi::session session(argc, argv);
    channels::mpi::communicator ranks;
    if (!page) files::interrupts::stop_first(o.stop_timeout);
    return rank_job(p, o, usage, ranks, true, f, page).run();
  }
#endif
  files::interrupts::stop_first(o.stop_timeout);
  return run_threads(p, o, f);
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
