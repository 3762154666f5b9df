// The standard input of a job, which is that of this program.
#pragma once

#include "process.hpp"
#include "site.hpp"

#include <memory>
#include <string>
#include <thread>

namespace dice_run {

/// Whether a program with these options reads its standard input (docs/live.md).
bool reads_standard_input(const words& program);

/// Throws usage_error, with the remedies, if a program with these options would read a standard input that it does not get:
/// `why` is the reason.
void refuse_standard_input(const words& program, const std::string& why);

/// While it lives, a thread passes this program's standard input on to a job, over a connection of its own, as fast as the
/// job reads, until either ends.
class job_input {
 public:
  /// Of the job `number`, which start.sh has begun on `starter` with "input". Throws run_error.
  job_input(const site& s, std::string starter, long number);
  /// For a job that has ended: why it has not got all of the input, or "".
  std::string end();

 private:
  const remote& hosts_;
  std::string starter_;
  std::unique_ptr<held_script> heart_;
  process feed_;
  std::string failure_;
  std::jthread thread_;  ///< the last member: ends first
  void pass(const std::stop_token& stop);
};

}  // namespace dice_run
