// dice-run: a deployment on its hosts.
#include "commands.hpp"
#include "diagnostics.hpp"
#include "options.hpp"

#include "dice/files/standard_streams.hpp"
#include "dice/version.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdlib>
#include <new>
#include <sstream>

namespace dice_run {

namespace {

constexpr const char* footer = R"(
dice-run COMMAND --help explains a command, dice-run --help the options that all commands have. Hosts are reached by ssh, which must not ask for a password (ssh-copy-id HOST);
other users, ports and keys of hosts belong in ~/.ssh/config. This machine, if it is one of the hosts, needs no ssh.

Exit codes: 0 done; 1 something on a host or in a file stands in the way; 2 wrong usage.)";

int run(int argc, char** argv) {
  CLI::App app("Runs a deployment of dice on its hosts, over ssh, rsync and mpirun.", "dice-run");
  common_options common;
  int exit_code = 0;
  if (const char* ssh = std::getenv("DICE_RUN_SSH"); ssh != nullptr && *ssh != '\0') common.ssh.ssh = ssh;
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("dice-run {}", dice::version), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  app.fallthrough();  // common options may also stand after the command
  app.add_option("-p,--packages", common.packages,
                 "The packages, made by cmake --build build --target NAME-packages (default: the only "
                 "*-packages in . or ./build)")
      ->type_name("FOLDER");
  app.add_option("--to", common.folder,
                 "The folder of the deployment on all hosts (default: its FOLDER, or /var/tmp/dice-USER)")
      ->type_name("FOLDER");
  app.add_option("--ssh", common.ssh.ssh, "Another ssh, with its options (default: $DICE_RUN_SSH, or ssh)")
      ->type_name("COMMAND");
  app.add_flag("-v,--verbose", common.ssh.verbose, "Show each command that is run");
  app.add_flag("--dry-run", common.ssh.dry_run, "Show the commands, and run none");
  for (const auto add : {add_init, add_check, add_deploy, add_job, add_status, add_logs, add_figures, add_service})
    add(app, common, exit_code);
  const words given(argv + 1, argv + argc);
  refuse_empty_texts(app, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    std::ostringstream page;
    const int code = app.exit(e, page, page);
    say(page.str());
    return code;
  } catch (const CLI::ParseError& e) {
    throw usage_error(mistake_of(app, e, given));
  }
  return exit_code;
}

}  // namespace
}  // namespace dice_run

int main(int argc, char** argv) {
  dice::files::occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // if a host or a reader of stdout is gone, one write fails
  // The caller may ignore these signals. Then the kernel would keep no exit status, and a shell such as the supervisor could
  // not trap SIGUSR1.
  for (const int signal : {SIGCHLD, SIGUSR1}) std::signal(signal, SIG_DFL);
  try {
    const int code = dice_run::run(argc, argv);
    dice_run::require_said();
    return code;
  } catch (const dice_run::usage_error& e) {
    dice_run::report("error", e.what());
    return 2;
  } catch (const dice_run::run_error& e) {
    for (const auto& message : e.messages) dice_run::report("error", message);
    return 1;
  } catch (const std::bad_alloc&) {
    dice_run::report("error", "out of memory");
    return 1;
  } catch (const std::exception& e) {
    dice_run::report("error", dice_run::after_all(e.what()));
    return 1;
  }
}
