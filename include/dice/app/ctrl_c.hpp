// Ctrl-C ends all programs of a pipeline, in any order: what looks like an error may be its consequence.
#pragma once

#include "dice/files/interrupts.hpp"
#include "dice/job/launcher.hpp"
#include "dice/text/print.hpp"

#include <chrono>
#include <string_view>

namespace dice::app {

/// How much later than other programs this one may learn of Ctrl-C. Open MPI 4.1 passes it on after a second.
inline std::chrono::milliseconds ctrl_c_delay() { return std::chrono::milliseconds(job::launched_size() > 0 ? 1500 : 500); }

/// Prints results or figures. It is an error if no program reads the standard output any more, unless a signal has asked
/// this one to stop, or does so soon. Throws std::runtime_error.
inline void print_result(std::string_view page) {
  try {
    text::print(page);
  } catch (const text::no_reader&) {
    if (files::interrupts::stop_signal_within(ctrl_c_delay()) == 0) throw;
  }
}

}  // namespace dice::app
