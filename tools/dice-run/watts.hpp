// The power of hosts: what --watts says, and what RAPL says.
#pragma once

#include "host_facts.hpp"

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dice_run {

/// What a board draws while it computes and while it waits, in W.
struct power {
  double busy = 0, idle = 0;
};

/// The option --watts of a command.
void add_watts(CLI::App& command, words& given);

/// Reads "HOST=BUSY" and "HOST=BUSY/IDLE". Throws usage_error if one is not of `hosts`, or makes no sense.
std::map<std::string, power> read_watts(const words& given, const words& hosts);

/// Gives hosts these watts.
void set_watts(const std::map<std::string, power>& given, std::vector<host_facts>& hosts);

/// dice::watts<…> for each processor of a host whose board has none, with a comma before it; or "" if its power is not
/// known.
std::string watts_text(const host_facts& h);

/// Comment lines that say where its watts are from, or what to write in their place.
std::string watts_remark(const host_facts& h);

/// The comment of a board without watts.
extern const char* const watts_are_missing;

}  // namespace dice_run
