#include "job_input.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <vector>

namespace dice_run {

bool reads_standard_input(const words& program) {
  constexpr std::string_view option = "--input";
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::string_view file = program[i];
    if (!file.starts_with(option)) continue;
    file.remove_prefix(option.size());
    if (file.empty() && i + 1 < program.size()) file = program[i + 1];
    else if (!file.starts_with('=')) continue;
    if (file == "-" || file == "/dev/stdin" || file.ends_with("=-") || file.ends_with("=/dev/stdin")) return true;
  }
  return false;
}

void refuse_standard_input(const words& program, const std::string& why) {
  if (!reads_standard_input(program)) return;
  throw usage_error(
      fmt::format("--input -: {}, so it has no standard input. Let the host that has the input run what gives the frames "
                  "(--source 'COMMAND'), name a pipe there (--input PIPE), or pass the standard input of dice-run on: "
                  "dice-run start --foreground",
                  why));
}

job_input::job_input(const site& s, std::string starter, long number)
    : hosts_(*s.hosts),
      starter_(std::move(starter)),
      heart_(hosts_.hold(starter_, site::with_prelude(scripts::heart), s.with_place({}), "beats")),
      feed_(hosts_.start(starter_, site::with_prelude(scripts::feed), s.with_place({std::to_string(number)}))) {
  if (const auto why = hosts_.obstacle(starter_, feed_, "ready"); !why.empty())
    throw run_error(fmt::format("{}: {}", starter_, why));
  thread_ = std::jthread([this](const std::stop_token& stop) { pass(stop); });
}

void job_input::pass(const std::stop_token& stop) {
  const auto goes_on = [&] { return !stop.stop_requested() && !heart_->is_lost() && !feed_.ended(); };
  std::vector<char> block(1 << 16);
  while (goes_on()) {
    pollfd one{STDIN_FILENO, POLLIN, 0};
    if (::poll(&one, 1, 200) <= 0) continue;
    const auto n = ::read(STDIN_FILENO, block.data(), block.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) failure_ = fmt::format("the standard input cannot be read: {}", std::strerror(errno));
    if (n <= 0 || !feed_.write({block.data(), static_cast<std::size_t>(n)}, goes_on)) break;
  }
  feed_.close_input();
  while (goes_on()) hosts_.pause(0.1);  // the job may still read what is on the way
}

std::string job_input::end() {
  thread_.request_stop();
  thread_.join();
  if (!failure_.empty()) return failure_;
  const bool is_lost = heart_->is_lost();
  const auto result = hosts_.end(starter_, feed_);
  if (result.ok() && !is_lost) return {};
  return fmt::format("the job has not got all of the standard input: {}",
                     result.ok() ? starter_ + ": the connection was lost" : failure_of(starter_, result));
}

}  // namespace dice_run
