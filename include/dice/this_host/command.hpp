// A shell command that another program's frames come from or results go to.
#pragma once

#include "dice/this_host/cores.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace dice::this_host {

/// The cores that this process could use when it was started, before it chose some for a rank.
inline const std::vector<int> cores_at_start = usable_cores();

/// How a command has ended: "exit status 1", "killed by SIGKILL".
struct command_end {
  int status = 0;     ///< as waitpid() says
  bool late = false;  ///< it did not end by itself within the patience of end(), which has sent it SIGTERM

  bool ok() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  std::string text() const {
    // A shell says of a program that a signal has killed: exit status 128 and the signal.
    const int said = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
              signal = WIFSIGNALED(status) ? WTERMSIG(status) : said - 128;
    const char* const name = signal > 0 && signal < SIGRTMIN ? ::sigabbrev_np(signal) : nullptr;
    return name ? std::string("killed by SIG") + name : "exit status " + std::to_string(said);
  }
};

/// A command that /bin/sh runs in a process group of its own, on all cores of this process, with one end of a pipe as its
/// standard output or input. Its standard error is this program's, and its standard input is empty. It is ended when this
/// object is destroyed, and gets SIGTERM when the thread that began it ends.
class command {
 public:
  enum class pipe_to { output, input };

  /// Throws std::runtime_error.
  command(const std::string& text, pipe_to which) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail();
    const bool reads = which == pipe_to::output;
    const int ours = ends[reads ? 0 : 1], its = ends[reads ? 1 : 0];
    const int nothing = reads ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;  // it must not read our standard input
    const pid_t parent = ::getpid();
    const auto before = usable_cores();
    use_cores(cores_at_start);  // the child inherits it
    group_ = ::fork();
    if (group_ == 0) {  // only async-signal-safe calls: other threads may have had locks
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) ::_exit(1);
      ::dup2(its, reads ? STDOUT_FILENO : STDIN_FILENO);
      if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
      sigset_t none;
      ::sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ}) ::signal(s, SIG_DFL);
      ::execl("/bin/sh", "sh", "-c", leader, "sh", text.c_str(), nullptr);
      ::_exit(127);
    }
    const int why = errno;
    use_cores(before);
    ::close(its);
    if (nothing >= 0) ::close(nothing);
    if (group_ < 0) {
      ::close(ours);
      errno = why;
      fail();
    }
    ::setpgid(group_, group_);  // whichever of the two comes first
    ::fcntl(ours, F_SETFL, O_NONBLOCK);
    pipe_ = ours;
  }
  command(const command&) = delete;
  command& operator=(const command&) = delete;
  ~command() { end(std::chrono::milliseconds(0)); }

  /// This program's end of the pipe, which does not block; -1 after close_pipe() and end().
  int pipe() const { return pipe_; }
  void close_pipe() {
    if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
  }

  /// Closes the pipe and waits for the end of the command: after `patience` it gets SIGTERM, two seconds later SIGKILL.
  /// Returns how it has ended.
  command_end end(std::chrono::milliseconds patience) {
    close_pipe();
    if (group_ < 0) return ended_;
    const auto terminate = std::chrono::steady_clock::now() + patience, kill = terminate + std::chrono::seconds(2);
    for (;;) {
      if (::waitpid(group_, &ended_.status, WNOHANG) != 0) break;
      const auto now = std::chrono::steady_clock::now();
      if (now >= kill) ::kill(-group_, SIGKILL);
      else if (now >= terminate && !std::exchange(ended_.late, true)) ::kill(-group_, SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(-group_, SIGKILL);  // what the shell has left behind
    group_ = -1;
    return ended_;
  }

 private:
  /// Runs the command in a shell of its own, and passes SIGTERM on to all that it has started: the kernel sends this only to
  /// the first process when this program is killed. The first process keeps no end of the pipe, and the shell takes the
  /// input of a background command away. SIGTERM interrupts `wait`, but the command may need a moment to end. The first
  /// process is silent: a shell says of a program that a signal has ended "Terminated".
  static constexpr const char* leader =
      "exec 3<&0 </dev/null; trap 'trap : TERM; exec 2>&-; kill 0' TERM; sh -c \"$1\" <&3 3<&- & exec 3<&- >&- 2>&-; "
      "while wait $!; s=$?; kill -0 $! 2>&-; do :; done; exit $s";

  [[noreturn]] static void fail() {
    throw std::runtime_error(std::string("no process can be started: ") + std::strerror(errno));
  }

  pid_t group_ = -1;
  int pipe_ = -1;
  command_end ended_;
};

/// Whether a program of this name is on the PATH.
inline bool has_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (;;) {
    const auto colon = rest.find(':');
    const auto file = std::string(rest.substr(0, colon)) + "/" + std::string(name);
    if (::access(file.c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) return false;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace dice::this_host
