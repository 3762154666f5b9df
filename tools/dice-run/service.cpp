// install-service and uninstall-service.
#include "service.hpp"

#include "diagnostics.hpp"
#include "job_input.hpp"
#include "options.hpp"
#include "scripts.hpp"
#include "suitability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace dice_run {

std::string systemd_quote(std::string_view word) {
  std::string out = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;
    out += c;
  }
  return out + "\"";
}

std::string unit_name(std::string name) {
  std::ranges::replace(name, '+', '_');
  return fmt::format("dice-{}.service", name);
}

std::string unit_text(const std::string& name, const std::string& folder, bool system) {
  // The supervisor of the job starts it again, with longer and longer waits. systemd does so only if the supervisor has
  // given up or was killed, or if a version or a host is not as it should be.
  return fmt::format(
      "# Written by dice-run install-service; dice-run uninstall-service removes it.\n"
      "[Unit]\nDescription=dice-run: {0} on all its hosts\nStartLimitIntervalSec=0\n{1}\n"
      "[Install]\nWantedBy={2}\n\n"
      "[Service]\nExecStart=/bin/sh {3}\nRestart=on-failure\nRestartSec=30\nKillMode=mixed\nTimeoutStopSec=30\n",
      name, system ? "Wants=network-online.target\nAfter=network-online.target\n" : "",
      system ? "multi-user.target" : "default.target",
      systemd_quote(fmt::format("{}/.dice-run/{}/service/boot", folder, name)));
}

namespace {

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Shows what a script has said that it has done, and what is left to do. Returns whether something is.
bool show_steps(const std::string& host, const std::string& said) {
  bool left = false;
  for (const auto& line : lines_of(said)) {
    const bool to_do = line.starts_with("run ");
    left = left || to_do;
    say(to_do ? fmt::format("{}: to do there: {}\n", host, line.substr(4)) : fmt::format("{}: {}\n", host, line));
  }
  return left;
}

/// `given`, or the host of rank 0 of what is deployed.
std::string service_host(const deployment& deployed, const std::string& given) {
  const auto host = given.empty() ? deployed.host_of_rank[0] : given;
  if (std::ranges::count(deployed.hosts, host) == 0)
    throw usage_error(fmt::format("--from: {} is not a host of {}; its hosts are {}", quote(host), deployed.name,
                                  fmt::join(deployed.hosts, ", ")));
  return host;
}

}  // namespace

int install_service(const site& s, const service_options& opts) {
  refuse_standard_input(opts.program, "nobody gives a job that starts at boot a standard input");
  for (const auto& word : opts.program)
    if (word.find('\n') != std::string::npos)
      throw usage_error(
          fmt::format("the option {} has a line break, which the file of the options cannot hold", quote(word)));
  const auto all = s.hosts->dry_run() ? std::vector<host_state>() : s.survey();
  const auto deployed = s.hosts->dry_run() ? s.plan : s.deployed(all);
  const auto host = service_host(deployed, opts.host);
  std::vector<std::string> failures;
  for (const auto& h : all)
    if (!h.failure.empty() && std::ranges::count(deployed.hosts, h.host) > 0) failures.push_back(h.failure);
  if (!failures.empty()) {
    failures.emplace_back("the service was not installed: the networks of a job are chosen when all its hosts answer");
    throw run_error(std::move(failures));
  }
  const auto unit = unit_text(s.plan.name, s.folder, opts.system), file = unit_name(s.plan.name);
  std::string options;
  for (const auto& word : opts.program) options += word + "\n";
  if (s.hosts->dry_run()) {
    say(
        fmt::format("{0}: writes {1}/.dice-run/{2}/service, with the scripts that start the job, and its options:\n{3}"
                    "{0}: writes {4}, a unit of the {5}:\n{6}{0}: runs {7} daemon-reload\n{0}: runs {7} enable {4}\n",
                    host, s.folder, s.plan.name, options, file, opts.system ? "system" : "user", unit,
                    opts.system ? "sudo systemctl" : "systemctl --user"));
    return 0;
  }
  const auto mpirun = on_one_line(mpirun_options(s, deployed, host));
  const auto result = s.run(host, scripts::install_service,
                            {opts.system ? "system" : "user",
                             file,
                             sh_quote(fmt::format("{}/.dice-run/{}/service/{}", s.folder, s.plan.name, file)),
                             file,
                             unit,
                             "boot",
                             scripts::boot,
                             "settings",
                             fmt::format("{}\n{}\n{}\n{}\n{}\n", s.folder, s.plan.name, s.job, opts.restarts, mpirun),
                             "options",
                             options,
                             "prelude",
                             scripts::prelude,
                             "survey",
                             scripts::survey,
                             "lock",
                             scripts::lock,
                             "announce",
                             scripts::announce,
                             "start",
                             scripts::start,
                             "supervise",
                             scripts::supervise,
                             "stop",
                             scripts::stop});
  if (!result.ok()) throw run_error(failure_of(host, result));
  const bool left = show_steps(host, result.out);
  conclude(fmt::format("{} starts with {}{}; at once: {}systemctl {}start {}\n", s.plan.name, host,
                       left ? " when that is done" : "", opts.system ? "sudo " : "", opts.system ? "" : "--user ", file));
  return 0;
}

int uninstall_service(const site& s, const std::string& given) {
  const auto host = service_host(s.deployed(s.survey()), given);
  const auto result = s.run(host, scripts::uninstall_service, {unit_name(s.plan.name)});
  if (!result.ok()) throw run_error(failure_of(host, result));
  show_steps(host, result.out);
  return 0;
}

void add_service(CLI::App& app, const common_options& common, int& exit_code) {
  const auto opts = std::make_shared<service_options>();
  const auto add_from = [&](CLI::App* command) {
    command->add_option("--from", opts->host, "The host that starts the job (default: the host of rank 0)")
        ->type_name("HOST");
  };
  auto* install = app.add_subcommand("install-service", "Let systemd start the job at each boot of its starting host");
  add_from(install);
  auto* user = install->add_flag_callback(
      "--user", [opts] { opts->system = false; }, "As a unit of the user, which needs no root (default)");
  install->add_flag("--system", opts->system, "As a unit of the system, which root must enable")->excludes(user);
  install
      ->add_option("--restart", opts->restarts, "Start it again after a failure, up to N times (default: a million times)")
      ->type_name("N")
      ->check(whole_number(0, 1000000));
  install->add_option("options", opts->program, "After --: options of the program, the same for all ranks")
      ->type_name("OPTION");
  install->callback([&exit_code, &common, opts] { exit_code = install_service(site(common), *opts); });
  auto* uninstall = app.add_subcommand("uninstall-service", "Remove what install-service has made; the job goes on");
  add_from(uninstall);
  uninstall->callback([&exit_code, &common, opts] { exit_code = uninstall_service(site(common), opts->host); });
}

}  // namespace dice_run
