#pragma once

#include "dice/text/print.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace dice::job {

/// How long rank 0 waits for other ranks before it says so. Slow boards need some seconds to load a program.
inline constexpr std::chrono::milliseconds others_patience = std::chrono::seconds(15);

/// Prints a line to the standard error if it still lives after `patience`: about a call that cannot be interrupted.
class late_note {
 public:
  late_note(std::chrono::milliseconds patience, std::string line)
      : thread_([patience, line = std::move(line)](const std::stop_token& ends) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any wake;
          if (!wake.wait_for(lock, ends, patience, [&] { return ends.stop_requested(); })) text::print_error(line);
        }) {}

 private:
  std::jthread thread_;
};

/// What rank 0, "rank 0 (host a)", says of ranks that do not answer. Open MPI connects hosts only for their first message,
/// and waits for ever where that fails (its issue 6377).
inline std::string nobody_answers(const std::string& where) {
  return "dice: warning: " + where +
         " still waits for the first message of other ranks. If their hosts are up, a firewall is in the way, or networks "
         "in "
         "which hosts share an address, as docker's: mpirun --mca btl_tcp_if_include NETWORK --mca oob_tcp_if_include "
         "NETWORK "
         "keeps a job to one, such as 192.168.50.0/24";
}

}  // namespace dice::job
