// The commands. Each adds itself to the command line, and sets `exit_code` when it has run. They throw run_error (exit code
// 1) and usage_error (2).
#pragma once

#include "remote.hpp"

#include <string>

namespace CLI {
class App;
}

namespace dice_run {

/// Options that all commands have.
struct common_options {
  remote::settings ssh;
  std::string packages;  ///< -p FOLDER, or ""
  std::string folder;    ///< --to FOLDER, or ""
};

void add_init(CLI::App& app, const common_options& common, int& exit_code);     ///< init
void add_check(CLI::App& app, const common_options& common, int& exit_code);    ///< check
void add_deploy(CLI::App& app, const common_options& common, int& exit_code);   ///< deploy, rollback
void add_job(CLI::App& app, const common_options& common, int& exit_code);      ///< start, stop
void add_status(CLI::App& app, const common_options& common, int& exit_code);   ///< status
void add_logs(CLI::App& app, const common_options& common, int& exit_code);     ///< logs
void add_figures(CLI::App& app, const common_options& common, int& exit_code);  ///< bench, measure
void add_service(CLI::App& app, const common_options& common, int& exit_code);  ///< install-service, uninstall-service

}  // namespace dice_run
