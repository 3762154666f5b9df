#include "process.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace dice_run {

namespace {

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw run_error(fmt::format("no more pipes: {}", std::strerror(errno)));
  return ends;
}

}  // namespace

process::process(const std::vector<std::string>& words, bool own_group) {
  auto in = make_pipe(), out = make_pipe(), err = make_pipe();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&files, out[1], 1);
  ::posix_spawn_file_actions_adddup2(&files, err[1], 2);
  // This program ignores SIGPIPE; those that it starts must not.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &pipe);
  ::posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int failed = ::posix_spawnp(&pid_, argv[0], &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  for (int* fd : {&in[0], &out[1], &err[1]}) close_fd(*fd);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
  if (failed == 0) return;
  for (int* fd : {&in_, &out_, &err_}) close_fd(*fd);
  throw run_error(failed == ENOENT
                      ? fmt::format("there is no program {} on this machine; install it (Debian: openssh-client, "
                                    "rsync)",
                                    quote(words[0]))
                      : fmt::format("cannot start {}: {}", quote(words[0]), std::strerror(failed)));
}

process::process(process&& o) noexcept
    : pid_(std::exchange(o.pid_, -1)),
      in_(std::exchange(o.in_, -1)),
      out_(std::exchange(o.out_, -1)),
      err_(std::exchange(o.err_, -1)),
      status_(o.status_),
      pending_(std::move(o.pending_)) {}

process::~process() {
  for (int* fd : {&in_, &out_, &err_}) close_fd(*fd);
  end();
}

void process::end() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  for (int hundredth = 0; hundredth < 500 && !ended(); ++hundredth) ::usleep(10'000);
  if (pid_ >= 0) ::kill(pid_, SIGKILL);
  wait(true);
}

int process::wait(bool block) {
  if (pid_ < 0) return status_;
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0) return -1;
  pid_ = -1;
  return status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool process::ended() { return wait(false) >= 0; }

bool process::write(std::string_view text, const std::function<bool()>& goes_on) {
  if (in_ >= 0 && goes_on) ::fcntl(in_, F_SETFL, O_NONBLOCK);
  while (in_ >= 0 && !text.empty() && (!goes_on || goes_on())) {
    const auto n = ::write(in_, text.data(), text.size());
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno == EAGAIN) {
      pollfd one{in_, POLLOUT, 0};
      ::poll(&one, 1, 200);
    } else if (errno != EINTR) close_fd(in_);
  }
  return in_ >= 0;
}

void process::close_input() { close_fd(in_); }

std::string process::read_line(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (const auto at = pending_.find('\n'); at != std::string::npos) {
      auto line = pending_.substr(0, at);
      pending_.erase(0, at + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd one{out_, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&one, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    char block[4096];
    const auto n = ::read(out_, block, sizeof block);
    if (n <= 0) return {};
    pending_.append(block, static_cast<std::size_t>(n));
  }
}

outcome process::finish(std::string_view input, const reader& on_output) {
  outcome result;
  if (in_ >= 0) ::fcntl(in_, F_SETFL, O_NONBLOCK);
  bool reading = true;
  const auto take = [&](std::string_view text) {
    if (!on_output) result.out += text;
    else if (reading && !on_output(text)) reading = false;
  };
  take(std::exchange(pending_, {}));
  while (reading && (out_ >= 0 || err_ >= 0)) {
    if (result.out.size() + result.err.size() > most_output) {
      result.failure = "it prints without an end";
      reading = false;
      break;
    }
    if (input.empty()) close_fd(in_);
    pollfd all[]{{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    // A reader is also called now and then when there is no output, so that it can end the program. Reading also stops when
    // the program has ended: others may keep its outputs open, such as an ssh that stays in the background for later
    // connections (ControlPersist).
    const bool has_ended = ended();
    const int ready = ::poll(all, 3, 200);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) {
      if (on_output) take({});
      if (ready == 0 && has_ended) break;
      continue;
    }
    if (all[0].revents != 0) {
      const auto n = ::write(in_, input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      else if (errno != EAGAIN && errno != EINTR) input = {};
    }
    char block[65536];
    for (auto [fd, events] : {std::pair{&out_, all[1].revents}, {&err_, all[2].revents}}) {
      if (events == 0) continue;
      const auto n = ::read(*fd, block, sizeof block);
      if (n <= 0) close_fd(*fd);
      else if (fd == &out_) take({block, static_cast<std::size_t>(n)});
      else result.err.append(block, static_cast<std::size_t>(n));
    }
  }
  for (int* fd : {&in_, &out_, &err_}) close_fd(*fd);
  if (!reading) end();
  result.status = wait(true);
  return result;
}

}  // namespace dice_run
