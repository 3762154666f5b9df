// Shell scripts on hosts, by ssh.
#pragma once

#include "process.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice_run {

using words = std::vector<std::string>;

/// A word as a POSIX shell reads it back, whatever characters it holds.
std::string sh_quote(std::string_view word);

/// `text` split at blanks; parts in single or double quotes stay whole (as in rsync's -e). Throws usage_error if a quote is
/// open.
words split_words(std::string_view text);

/// A script that keeps something on a host while this machine gives signs of life, one every five seconds.
class held_script {
 public:
  virtual ~held_script() = default;  ///< ends it
  virtual bool is_lost() const = 0;  ///< it has ended, or cannot be reached
};

/// Runs POSIX sh scripts on hosts: by ssh or, on this machine, by sh. Scripts see their arguments as $1, $2, …; their
/// standard input is empty. A script that arrives only in part, because the connection ends, does not run at all.
class remote {
 public:
  struct settings {
    std::string ssh = "ssh";  ///< program and options, split by split_words
    bool verbose = false;     ///< shows each command on stderr
    bool dry_run = false;     ///< shows each command and runs none: each has outcome{}
    double begin_s = 30;      ///< a host is given up if it has not begun a script after this many seconds,
    double silent_s = 600;    ///< or if a script that is waited for has printed nothing for this long
  };

  /// Throws usage_error if `settings::ssh` is empty or not readable.
  explicit remote(settings);
  remote(const remote&) = delete;
  virtual ~remote() = default;

  /// Throws usage_error if the name cannot be a host's: empty, with a leading '-', with control characters.
  static void require_name(std::string_view host);
  /// Whether `host` is this machine: localhost, or what `hostname` prints.
  bool is_here(std::string_view host) const;
  bool dry_run() const { return settings_.dry_run; }
  /// Shows a command, and its standard input, on stderr, as it would be typed.
  static void show(const words& command, std::string_view input = {});

  /// If the host is not reached, or does not run the script, outcome::failure says why and what to do. What its shell prints
  /// before the script is left out.
  outcome run(const std::string& host, const std::string& script, const words& arguments = {}) const;
  /// The same on all hosts at once; results in the order of `hosts`.
  std::vector<outcome> run_all(const words& hosts, const std::string& script, const words& arguments = {}) const;
  /// The same with arguments for each host: arguments(i) for hosts[i].
  std::vector<outcome> run_all(const words& hosts, const std::string& script,
                               const std::function<words(std::size_t)>& arguments) const;
  /// Passes on the script's standard output while it runs, however long that takes.
  virtual outcome stream(const std::string& host, const std::string& script, const words& arguments,
                         const reader& on_output) const;
  /// Runs a script that prints `expected` first, and then reads until its standard input ends. Throws run_error if it fails.
  virtual std::unique_ptr<held_script> hold(const std::string& host, const std::string& script, const words& arguments,
                                            std::string_view expected) const;
  /// Runs a script that reads from its standard input, which process::write fills.
  process start(const std::string& host, const std::string& script, const words& arguments = {}) const;
  /// "" if `expected` is its first line, within settings::begin_s; else it has ended, and this is why.
  std::string obstacle(const std::string& host, process& script, std::string_view expected) const;
  /// How such a script ends: closes its input, and waits, but not for ever.
  outcome end(const std::string& host, process& script) const;

  /// Copies files of the folder `from`, on this machine, into the existing folder `to` of a host, by rsync. What has arrived
  /// of a file stays if the connection ends, and a later call goes on from there. `basis`: a folder of the host whose files
  /// of the same names are probably alike, or "". `progress` gets the percentage done now and then.
  virtual outcome send(const words& files, const std::string& from, const std::string& host, const std::string& to,
                       const std::string& basis = {}, const std::function<void(int)>& progress = {}) const;
  /// Copies a file from a host to this machine, by rsync.
  virtual outcome fetch(const std::string& host, const std::string& file, const std::string& to) const;
  /// for_all, on behalf of hosts.
  virtual void at_once(std::size_t count, const std::function<void(std::size_t)>& work) const;
  /// The clock for waiting for hosts: seconds since some beginning.
  virtual double seconds() const;
  virtual void pause(double seconds) const;

 private:
  settings settings_;
  words ssh_;
  std::string here_;
  words command(const std::string& host) const;
  std::string by_hand(const std::string& host) const;                     ///< how a user tries to log in there
  std::string ended_silently(const std::string& host, int status) const;  ///< as a failure
  outcome listen(const std::string& host, process& script, std::string_view input, double begin_s, double silent_s,
                 const reader& on_output) const;
  outcome copy(const std::string& host, words rsync, std::string_view input, const reader& on_output = {}) const;
};

/// Calls `work(i)` for each i below `count`, each in a thread of its own. The first exception is thrown when all have ended.
void for_all(std::size_t count, const std::function<void(std::size_t)>& work);

/// "HOST: REASON" if `result` failed: the failure of the connection, what the script said on stderr, or its exit status.
std::string failure_of(const std::string& host, const outcome& result);

/// Throws a run_error with failure_of each host that failed, if there is one.
void require_all(const words& hosts, std::span<const outcome> results);

}  // namespace dice_run
