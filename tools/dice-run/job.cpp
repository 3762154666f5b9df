// start and stop.
#include "job.hpp"
#include "job_log.hpp"

#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "options.hpp"
#include "scripts.hpp"

#include "dice/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

namespace dice_run {

namespace {

/// Waits until all ranks have run for two seconds, the job has ended, some twenty seconds have passed, or a signal comes
/// that an interruption awaits. Returns the exit code.
int wait_until_up(const site& s, const std::string& starter) {
  const auto begin = s.hosts->seconds();
  std::string missing;
  std::vector<std::string> lost;
  while (s.hosts->seconds() - begin < 20 && !interruption::happened()) {
    s.hosts->pause(0.5);
    const auto all = s.survey();
    const auto& first = *std::ranges::find(all, starter, &host_state::host);
    const auto phase = first.of_job("phase");
    if (phase == "ended") {
      say("the job has ended already, without an error; dice-run logs shows its output\n");
      return 0;
    }
    if (phase == "stopped" || (first.failure.empty() && !first.supervised && phase != "failed")) {
      report("error", phase == "stopped" ? "the job was stopped" : fmt::format("the job was killed on {}", starter));
      return 1;
    }
    if (phase == "failed" || phase == "waiting") {
      report("error", fmt::format("the job has failed: {}{}", reason_on(s, starter),
                                  phase == "waiting" ? "; it will be started again (dice-run status, dice-run stop)" : ""));
      return 1;
    }
    missing.clear(), lost.clear();
    for (const auto& h : all)
      if (h.planned && !h.failure.empty()) lost.push_back(h.failure);
    for (std::size_t i = 0; i < s.plan.packages.size(); ++i)
      if (std::ranges::count(all[i].processes, true, &host_process::is_rank) < std::ssize(s.plan.packages[i].ranks))
        missing += (missing.empty() ? "" : ", ") + all[i].host;
    if (missing.empty() && s.hosts->seconds() - begin > 2) {
      say(fmt::format("{} runs on {}, started on {}\n", s.plan.name,
                      dice::text::count_text(std::ssize(s.plan.hosts), "host"), starter));
      return 0;
    }
  }
  if (interruption::happened()) return 1;
  for (const auto& text : lost) report("error", text);
  if (!lost.empty()) {
    report("error", "the job was started, and then these hosts were lost; dice-run status shows it when they answer");
    return 1;
  }
  report("warning", fmt::format("the job runs, but not yet on {}; dice-run logs -f and dice-run status show more", missing));
  return 0;
}

/// Starts the job on `starter`, while no other dice-run changes anything.
void start_alone(const site& s, const std::string& starter, const start_options& opts) {
  const host_locks locks(s);
  const auto version = require_ready(locks.states, s);
  long number = 1;
  for (const auto& h : locks.states) number = std::max({number, h.last_number + 1, h.number() + 1});
  const char* mpirun = std::getenv("MPIRUN_OPTIONS");
  words arguments{std::to_string(number), std::to_string(opts.restarts), mpirun != nullptr ? mpirun : "", version,
                  scripts::supervise};
  arguments.insert(arguments.end(), opts.program.begin(), opts.program.end());
  const auto hosts = locks.locked();
  require_all(hosts, s.run_all(hosts, scripts::announce, {std::to_string(number), starter}));
  const auto started = s.run(starter, scripts::start, arguments);
  if (!interruption::happened()) require_all({starter}, std::vector{started});
}

}  // namespace

int start(const site& s, const start_options& opts) {
  const auto starter = opts.from.empty() ? s.plan.host_of_rank[0] : opts.from;
  if (std::ranges::count(s.plan.hosts, starter) == 0)
    throw usage_error(fmt::format("--from: {} is no host of {}; its hosts are {}", quote(starter), s.plan.name,
                                  fmt::join(s.plan.hosts, ", ")));
  std::optional<interruption> ends_the_job;
  if (opts.foreground) ends_the_job.emplace();
  start_alone(s, starter, opts);
  if (s.hosts->dry_run()) return 0;
  const int up = wait_until_up(s, starter);
  if (!opts.foreground) return up;
  if (!interruption::happened()) print_log(s, starter, 1000000, true);
  if (interruption::happened()) return std::max(1, stop_job(s));
  const auto all = s.survey();
  const auto last = site::job_of(all);
  return last.on != nullptr && last.on->of_job("phase") == "ended" ? 0 : 1;
}

namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

interruption::interruption() {
  interrupted = 0;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = 1; });
}

interruption::~interruption() {
  interrupted = 0;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

bool interruption::happened() { return interrupted != 0; }

std::string require_ready(const std::vector<host_state>& all, const site& s) {
  if (s.hosts->dry_run()) return s.plan.version;
  std::vector<std::string> wrong;
  for (const auto& h : all) {
    if (h.supervised)
      wrong.push_back(fmt::format("{} runs already, started on {}; dice-run stop ends it", s.plan.name, h.host));
    if (!h.planned) continue;
    if (!h.failure.empty()) wrong.push_back(h.failure);
    else if (h.current.empty())
      wrong.push_back(fmt::format("{}: {} is not deployed; dice-run deploy brings it", h.host, s.plan.name));
    else if (h.current != all[0].current && all[0].failure.empty())
      wrong.push_back(
          fmt::format("{} has version {}, {} has {}; deploy again", all[0].host, all[0].current, h.host, h.current));
  }
  if (wrong.empty())
    for (const auto& h : all)
      if (!h.processes.empty())
        wrong.push_back(fmt::format("{}: processes of another run are left; dice-run stop ends them", h.host));
  if (auto of = all[0].of_current; wrong.empty() && !of.empty()) {
    auto here = s.plan.hosts;
    std::ranges::sort(of), std::ranges::sort(here);
    if (of != here)
      wrong.push_back(fmt::format("the version {} on the hosts is for {}, the packages here are for {}; deploy again",
                                  all[0].current, fmt::join(of, ", "), fmt::join(here, ", ")));
  }
  if (!wrong.empty()) throw run_error(std::move(wrong));
  for (const auto& h : all)
    if (!h.failure.empty())
      report(
          "warning",
          fmt::format("{}; if a job of an earlier deployment runs there, dice-run stop ends it when it answers", h.failure));
  if (all[0].current != s.plan.version)
    report("note", fmt::format("the hosts have version {}, the packages here are {}", all[0].current, s.plan.version));
  return all[0].current;
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

int stop_job(const site& s) {
  constexpr int rounds = 3;  // a host that was asked first may have got new processes meanwhile
  std::vector<std::string> wrong;
  int found = 0;
  bool left = true;
  for (int round = 0; round < rounds && left && wrong.empty(); ++round) {
    words hosts;
    const auto all = s.survey();
    for (const auto& h : all)
      if (h.failure.empty()) hosts.push_back(h.host);
      else if (h.planned) wrong.push_back(h.failure);
      else
        wrong.push_back(
            fmt::format("{}; an earlier deployment had this host, and if it is gone for good: dice-run deploy "
                        "--forget {}",
                        h.failure, h.host));
    left = round == 0 || std::ranges::any_of(all, [](const auto& h) { return !h.processes.empty(); });
    if (!left) break;
    auto result = stop_on(s, hosts);
    found += result.found;
    wrong.insert(wrong.end(), result.failures.begin(), result.failures.end());
    if (s.hosts->dry_run()) return 0;
  }
  for (const auto& text : wrong) report("error", text);
  if (!wrong.empty())
    report("error",
           "what runs on these hosts is not known; dice-run stop again, when they answer, makes sure that nothing does");
  else if (left) report("error", "new processes of it begin again and again; another dice-run starts them");
  else
    say(fmt::format("{} {}\n", s.plan.name,
                    found > 0 ? "is stopped; no process of it is left on any host" : "does not run on any host"));
  return wrong.empty() && !left ? 0 : 1;
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
  start_command->add_flag("--foreground", opts->foreground, "Show the log until the job ends; Ctrl-C stops the job");
  start_command->add_option("options", opts->program, "After --: options of the program, the same for all ranks")
      ->type_name("OPTION");
  start_command->callback([&exit_code, &common, opts] { exit_code = start(site(common), *opts); });
  app.add_subcommand("stop", "End the job, and make sure that no process of it is left on any host")->callback([&] {
    exit_code = stop_job(site(common));
  });
}

}  // namespace dice_run
