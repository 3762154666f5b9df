// Ctrl-C ends all programs of a pipeline, in any order: what looks like an error may be its consequence.
#pragma once

#include "dice/channels/transports.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/text/print.hpp"

#include <chrono>
#include <string_view>

namespace dice::app {

/// How much later than other programs this one may learn of Ctrl-C.
inline std::chrono::milliseconds ctrl_c_delay() {
  const auto by = channels::launched();
  return std::chrono::milliseconds(500) + (by.size > 0 ? by.by->started_by.signals : std::chrono::milliseconds());
}

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
