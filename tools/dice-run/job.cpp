// start and stop.
#include "job.hpp"
#include "job_log.hpp"

#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "job_input.hpp"
#include "live_status.hpp"
#include "options.hpp"
#include "scripts.hpp"
#include "suitability.hpp"

#include "dice/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>

namespace dice_run {

namespace {

/// Waits until a frame has come out of the job, the job has ended, too much time has passed, or a signal comes that an
/// interruption awaits. If the program does not say how its job is, or with --no-wait, all ranks must have run for two
/// seconds. Returns the exit code; a job of which no frame comes out in time is ended.
int wait_until_up(const site& s, const deployment& deployed, const std::string& starter, const start_options& opts) {
  const auto begin = s.hosts->seconds();
  std::string missing;
  words hosts_missing;
  std::vector<std::string> lost;
  std::optional<live_status> said;
  bool by_frames = opts.waits;
  const double quiet_start = 20;  // for ranks that must only run
  for (double limit = quiet_start; s.hosts->seconds() - begin < limit && !interruption::happened();) {
    s.hosts->pause(0.5);
    const auto all = s.survey({}, deployed.hosts);  // even if the host that named them is lost
    const auto of = [&](const std::string& host) { return std::ranges::find(all, host, &host_state::host); };
    const auto& first = *of(starter);
    by_frames = by_frames && first.reports_status;
    if (by_frames) limit = opts.timeout;
    const auto phase = first.of_job("phase");
    if (phase == "ended") {
      conclude(fmt::format("the job has ended already, without an error{}\n",
                           opts.foreground ? "" : "; dice-run logs shows its output"));
      return 0;
    }
    if (phase == "stopped" || (first.failure.empty() && !first.supervised && phase != "failed")) {
      report("error", phase == "stopped" ? "the job was stopped" : fmt::format("the job was killed on {}", starter));
      return 1;
    }
    if (phase == "failed" || phase == "waiting") {
      const auto reason = reason_on(s, starter);
      report("error", fmt::format("the job has failed{}{}", reason.empty() ? "; dice-run logs shows more" : ": " + reason,
                                  phase == "waiting" ? "; it will be started again (dice-run status, dice-run stop)" : ""));
      return 1;
    }
    hosts_missing.clear();
    lost.clear();
    for (const auto& p : deployed.packages) {
      const auto h = of(p.host);
      if (!h->failure.empty()) lost.push_back(h->failure);
      if (std::ranges::count(h->processes, true, &host_process::is_rank) < std::ssize(p.ranks))
        hosts_missing.push_back(p.host);
    }
    missing = fmt::format("{}", fmt::join(hosts_missing, ", "));
    said = live_status_of(all, first.number());
    const bool up = by_frames ? said && said->answered > 0 : missing.empty() && s.hosts->seconds() - begin > 2;
    if (up) {
      conclude(fmt::format("{} runs on {}, started on {}\n", s.plan.name,
                           dice::text::count_text(std::ssize(deployed.hosts), "host"), starter));
      return 0;
    }
  }
  if (interruption::happened()) return 1;
  for (const auto& text : lost) report("error", text);
  if (!lost.empty()) {
    report("error", fmt::format("the job was started, and then {} lost; dice-run status shows it when {}",
                                lost.size() == 1 ? "this host was" : "these hosts were",
                                lost.size() == 1 ? "it answers" : "they answer"));
    return 1;
  }
  if (!by_frames) {
    report("warning",
           fmt::format("the job runs, but not yet on {}; dice-run logs -f and dice-run status show more", missing));
    return 0;
  }
  for (const auto& text : why_no_frame(said, hosts_missing, opts.timeout)) report("error", text);
  report(
      "error",
      fmt::format("no frame has come out within {} s, so the job is ended; --start-timeout SECONDS waits longer, --no-wait "
                  "lets the job run without waiting for a frame",
                  opts.timeout));
  stop_job(s, deployed.hosts);
  return 1;
}

/// Starts the job on `starter` or, if that is empty, on the host of rank 0, while no other dice-run changes anything.
/// `number` becomes the job's. Returns what is deployed, or nothing if starting failed after an interruption.
std::optional<deployment> start_alone(const site& s, std::string& starter, const start_options& opts, long& number) {
  const host_locks locks(s);
  const auto deployed = require_ready(locks.states, s);
  if (starter.empty()) starter = deployed.host_of_rank[0];
  if (std::ranges::count(deployed.hosts, starter) == 0)
    throw usage_error(fmt::format("--from: {} is not a host of {}; its hosts are {}", quote(starter), deployed.name,
                                  fmt::join(deployed.hosts, ", ")));
  number = 1;
  for (const auto& h : locks.states) number = std::max({number, h.last_number + 1, h.number() + 1});
  words arguments{std::to_string(number),
                  std::to_string(opts.restarts),
                  mpirun_options(s, deployed, starter),
                  deployed.version,
                  scripts::supervise,
                  reads_standard_input(opts.program) ? "input" : ""};
  arguments.insert(arguments.end(), opts.program.begin(), opts.program.end());
  const auto hosts = locks.locked();
  require_all(hosts, s.run_all(hosts, scripts::announce, {std::to_string(number), starter}));
  if_interrupted("the job may have been started: dice-run status");
  const auto started = s.run(starter, scripts::start, arguments);
  if (!started.ok() && interruption::happened()) return {};
  if (!started.ok()) {
    std::vector<std::string> failed{failure_of(starter, started)};
    if (!started.failure.empty() || !started.out.empty())
      failed.emplace_back("the job may have been started: dice-run status");
    throw run_error(std::move(failed));
  }
  if_interrupted(fmt::format("the job was started on {}; dice-run status shows it, dice-run stop ends it", starter));
  return deployed;
}

}  // namespace

deployment require_ready(const std::vector<host_state>& all, const site& s) {
  if (s.hosts->dry_run()) return s.plan;
  auto out = s.deployed(all);
  const host_state* first = nullptr;
  std::vector<std::string> wrong;
  for (const auto& h : all) {
    if (h.supervised)
      wrong.push_back(fmt::format("{} runs already, started on {}; dice-run stop ends it", s.plan.name, h.host));
    if (std::ranges::count(out.hosts, h.host) == 0) continue;
    if (!h.failure.empty()) wrong.push_back(h.failure);
    else if (h.current.empty())
      wrong.push_back(fmt::format("{}: {} is not deployed; dice-run deploy brings it", h.host, s.plan.name));
    else if (first == nullptr) first = &h;
    else if (h.current != first->current)
      wrong.push_back(
          fmt::format("{} has version {}, {} has {}; deploy again", first->host, first->current, h.host, h.current));
  }
  for (const auto& host : out.hosts)
    if (std::ranges::count(all, host, &host_state::host) == 0)
      wrong.push_back(fmt::format("{}: the deployed version needs this host, and no host remembers it; deploy again", host));
  if (wrong.empty() && first->current != out.version)
    wrong.push_back(fmt::format("{}: the files of version {} do not say where its ranks are; deploy again", first->host,
                                first->current));
  if (wrong.empty())
    for (const auto& h : all)
      if (!h.processes.empty())
        wrong.push_back(fmt::format("{}: processes of another run are left; dice-run stop ends them", h.host));
  if (!wrong.empty()) throw run_error(std::move(wrong));
  for (const auto& h : all)
    if (!h.failure.empty())
      report(
          "warning",
          fmt::format("{}; if a job of an earlier deployment runs there, dice-run stop ends it when it answers", h.failure));
  if (out.version != s.plan.version)
    report("note", fmt::format("the hosts have version {}, for {}; the packages here are {}: dice-run deploy brings them",
                               out.version, fmt::join(out.hosts, ", "), s.plan.version));
  return out;
}

std::string reason_on(const site& s, const std::string& host) {
  return failure_reason(lines_of(s.run(host, scripts::output).out));
}

namespace {

struct stopped {
  int found = 0;
  std::vector<std::string> failures;
};

/// Ends what runs on these hosts.
stopped stop_on(const site& s, const words& hosts) {
  constexpr const char* seconds_in_order = "8";
  const auto results = s.run_all(hosts, scripts::stop, {seconds_in_order});
  stopped out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) out.failures.push_back(failure_of(hosts[i], results[i]));
    for (const auto& line : lines_of(results[i].out)) {
      const int n = std::atoi(line.substr(line.find(' ') + 1).c_str());
      if (line.starts_with("found ")) out.found += n;
      if (line.starts_with("killed ") && n > 0)
        say(fmt::format("{}: {} of its processes did not end in order, and had to be ended\n", hosts[i], n));
    }
  }
  return out;
}

}  // namespace

namespace {

/// Ends the job and all its processes on all hosts, including those that are `known` to have it. Returns a function that
/// prints the outcome and returns the exit code.
std::function<int()> end_job(const site& s, const words& known) {
  if_interrupted("what still runs is not known; run dice-run stop again");
  constexpr int rounds = 3;  // a host that was asked early may have new processes by now
  std::vector<std::string> wrong;
  int found = 0;
  bool left = true;
  for (int round = 0; round < rounds && left && wrong.empty(); ++round) {
    words hosts;
    const auto all = s.survey({}, known);
    for (const auto& h : all)
      if (h.failure.empty()) hosts.push_back(h.host);
      else if (h.planned) wrong.push_back(h.failure);
      else
        wrong.push_back(fmt::format("{}; an earlier version ran there. If it is gone for good: dice-run deploy --forget {}",
                                    h.failure, h.host));
    left = round == 0 || std::ranges::any_of(all, [](const auto& h) { return !h.processes.empty(); });
    if (!left) break;
    auto result = stop_on(s, hosts);
    found += result.found;
    wrong.insert(wrong.end(), result.failures.begin(), result.failures.end());
    if (s.hosts->dry_run()) return [] { return 0; };
  }
  return [wrong, found, left, name = s.plan.name] {
    for (const auto& text : wrong) report("error", text);
    if (!wrong.empty())
      report("error", fmt::format("what still runs there is not known; run dice-run stop again when {}",
                                  wrong.size() == 1 ? "it answers" : "they answer"));
    else if (left) report("error", "new processes of it begin again and again; another dice-run starts them");
    else
      conclude(fmt::format("{} {}\n", name,
                           found > 0 ? "is stopped; no process of it is left on any host" : "does not run on any host"));
    return wrong.empty() && !left ? 0 : 1;
  };
}

/// Prints the log until the job ends. If an interruption happens, ends the job meanwhile, and returns the exit code; else 0.
int watch(const site& s, const deployment& deployed, const std::string& starter) {
  std::atomic<bool> has_ended = false;
  std::function<int()> stopped;
  s.hosts->at_once(2, [&](std::size_t which) {
    if (which == 0) {
      try {
        print_log(s, starter, deployed.host_of_rank, 1000000, [&] { return !has_ended; });
        has_ended = true;
      } catch (run_error& e) {
        has_ended = true;
        e.messages.emplace_back("the job may still run: dice-run status");
        if (!interruption::happened()) throw;
      } catch (...) {  // nobody reads it
        has_ended = true;
        if (!interruption::happened()) throw;
      }
      return;
    }
    while (!has_ended && !interruption::happened()) s.hosts->pause(0.1);
    if (!interruption::happened()) return;
    stopped = end_job(s, deployed.hosts);
    for (int tenth = 0; !has_ended && tenth < 50; ++tenth) s.hosts->pause(0.1);  // its last words
    has_ended = true;
  });
  return stopped ? std::max(1, stopped()) : 0;
}

}  // namespace

int stop_job(const site& s, const words& known) { return end_job(s, known)(); }

int start(const site& s, const start_options& opts) {
  if (!opts.foreground) refuse_standard_input(opts.program, "the job goes on when dice-run ends");
  if (opts.restarts > 0 && reads_standard_input(opts.program))
    throw usage_error(
        "--restart: a job that reads the standard input of dice-run cannot be started again, since what it has read is "
        "gone; leave out --restart, or let the host that has the input run what gives the frames (--source 'COMMAND')");
  if_interrupted("nothing was started");
  std::optional<interruption> ends_the_job;
  if (opts.foreground) ends_the_job.emplace();
  auto starter = opts.from;
  long number = 0;
  const auto deployed = start_alone(s, starter, opts, number);
  if (s.hosts->dry_run()) return 0;
  if (!deployed) return std::max(1, stop_job(s));
  std::optional<job_input> input;
  if (reads_standard_input(opts.program)) try {
      input.emplace(s, starter, number);
    } catch (const run_error&) {
      stop_job(s, deployed->hosts);
      throw;
    }
  const int up = wait_until_up(s, *deployed, starter, opts);
  if (!opts.foreground) return up;
  if (const int stopped = watch(s, *deployed, starter); stopped != 0) return stopped;
  const auto missed = input ? input->end() : "";
  if (!missed.empty()) report("error", missed);
  const auto all = s.survey({}, deployed->hosts);
  const auto last = site::job_of(all);
  return last.on != nullptr && last.on->of_job("phase") == "ended" && missed.empty() ? 0 : 1;
}

void add_job(CLI::App& app, const common_options& common, int& exit_code) {
  const auto opts = std::make_shared<start_options>();
  auto* start_command = app.add_subcommand("start", "Start the job; it goes on when this program ends");
  start_command->add_option("--from", opts->from, "The host that starts it (default: the host of rank 0)")
      ->type_name("HOST");
  start_command
      ->add_option("--restart", opts->restarts, "Start it again after a failure, up to N times, after 1, 2, 4, … 60 s")
      ->type_name("N")
      ->check(whole_number(0, 1000000));
  start_command->add_flag_callback(
      "--no-wait", [opts] { opts->waits = false; }, "Do not wait until a frame has come out");
  start_command
      ->add_option("--start-timeout", opts->timeout,
                   "Until a frame must have come out; otherwise the job is ended (default: 60)")
      ->type_name("SECONDS")
      ->check(number_between(1, 86400));
  start_command->add_flag("--foreground", opts->foreground, "Show the log until the job ends; Ctrl-C stops the job");
  start_command->add_option("options", opts->program, "After --: options of the program, the same for all ranks")
      ->type_name("OPTION");
  start_command->callback([&exit_code, &common, opts] { exit_code = start(site(common), *opts); });
  app.add_subcommand("stop", "End the job, and make sure that no process of it is left on any host")->callback([&] {
    exit_code = stop_job(site(common));
  });
}

}  // namespace dice_run
