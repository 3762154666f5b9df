// A version on all hosts, or on none.
#pragma once

#include "site.hpp"

namespace dice_run {

/// Brings the packages to all their hosts and switches to them. `forgotten` are hosts of earlier deployments that are no
/// longer asked. Returns the exit code; throws a run_error that says what the hosts have then.
int deploy(const site& s, const words& forgotten);

/// Switches all hosts back to the version before. Returns the exit code; throws run_error like deploy.
int rollback(const site& s);

}  // namespace dice_run
