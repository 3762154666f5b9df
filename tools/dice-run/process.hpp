// Other programs on this machine: ssh, rsync, sh.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dice_run {

/// How a program ended and what it printed.
struct outcome {
  int status = 0;  ///< exit status; 128 + N if signal N ended it; 127 if it was not found
  std::string out{}, err{};
  std::string failure{};  ///< "" or why the host was not reached, with a remedy
  bool ok() const { return status == 0 && failure.empty(); }
};

/// Gets what the program has printed on stdout since the last call. Returns false to end the program.
using reader = std::function<bool(std::string_view)>;

/// A program that runs beside this one, with pipes to its standard streams.
class process {
 public:
  /// Throws run_error if it cannot be started at all. `own_group`: it gets no Ctrl-C from the terminal.
  explicit process(const std::vector<std::string>& words, bool own_group = false);
  process(process&& other) noexcept;
  process& operator=(process&&) = delete;
  ~process();  ///< ends it, and waits for that

  /// False if it no longer reads. Waits while it does not take the text, as long as `goes_on` is true.
  bool write(std::string_view text, const std::function<bool()>& goes_on = {});
  void close_input();
  /// Its next line on stdout, or "" if it ends before that, or after `seconds`.
  std::string read_line(double seconds);
  /// Writes `input`, closes it, and reads all until the end. `on_output`: instead of outcome::out.
  outcome finish(std::string_view input = {}, const reader& on_output = {});
  bool ended();
  static constexpr std::size_t most_output = std::size_t{64} << 20;  ///< of a program whose output has an end

 private:
  int pid_ = -1, in_ = -1, out_ = -1, err_ = -1, status_ = -1;
  std::string pending_;
  int wait(bool block);
  void end();  ///< by SIGTERM; after five seconds (it may be stopped, or ignore that) by SIGKILL
};

}  // namespace dice_run
