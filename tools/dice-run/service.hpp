// A unit of systemd that starts the job at each boot of its starting host.
#pragma once

#include "site.hpp"

#include <string>

namespace dice_run {

struct service_options {
  std::string host{};   ///< that starts the job; "": that of rank 0
  bool system = false;  ///< a unit of the system, otherwise of the user
  int restarts = 1000000;
  words program{};  ///< its options
};

/// A word in a command of a unit (systemd.service(5), "COMMAND LINES").
std::string systemd_quote(std::string_view word);

/// The file of the unit of deployment `name`. No unit can have a + in its name (systemd.unit(5)), and no deployment a _.
std::string unit_name(std::string name);

/// The unit of the service that lies in `folder` of its host. That of a system ends where its line "User=" is missing.
std::string unit_text(const std::string& name, const std::string& folder, bool system);

/// Puts the service on its host, and says what is to be done there. Returns the exit code; throws run_error.
int install_service(const site& s, const service_options& opts);

/// Removes it. The job goes on.
int uninstall_service(const site& s, const std::string& host);

}  // namespace dice_run
