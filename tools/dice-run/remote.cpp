#include "remote.hpp"

#include "diagnostics.hpp"
#include "signals.hpp"

#include "dice/text/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

namespace dice_run {

namespace {

// Nothing hangs: no question, five seconds to connect, eight without a sign of life.
const words ssh_options{"-o", "BatchMode=yes",         "-o", "ConnectTimeout=5",
                        "-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3"};

/// The line that a script prints first: output before it is not the script's. On the standard error, too, where a banner or
/// a complaint of the login shell may come before it. The script's text has the line in two parts.
constexpr std::string_view begins = "dice-run begins\n";

/// All of a script: a function, which runs only if its end has arrived.
std::string whole(const std::string& script, const words& arguments, bool reads_input) {
  std::string call = "dice_run";
  for (const auto& a : arguments) call += " " + sh_quote(a);
  return fmt::format("dice_run() {{\n{}\n}}\necho dice-run \"begins\" >&2; {}{}{}; exit\n", script,
                     reads_input ? "" : "echo dice-run \"begins\"; ", call, reads_input ? "" : " </dev/null");
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Why ssh, which ended with 255, did not reach the host, and what to do. The cases are ssh's messages that name the cause.
/// `by_hand`: the command that a user tries.
std::string connection_failure(const std::string& host, std::string_view said, const std::string& by_hand) {
  if (holds(said, "Could not resolve"))
    return "this name is unknown; add it to ~/.ssh/config or /etc/hosts, or check the plan's cluster";
  if (holds(said, "IDENTIFICATION HAS CHANGED") || holds(said, "Host key verification failed"))
    return holds(said, "CHANGED")
               ? fmt::format(
                     "its host key has changed, as after a new installation; if that is so: ssh-keygen -R {}, then {}",
                     sh_quote(host), by_hand)
               : fmt::format("its host key is not known here yet; log in once: {}", by_hand);
  if (holds(said, "Permission denied"))
    return fmt::format("it refuses this user's key; let it in: ssh-copy-id {}", sh_quote(host));
  if (holds(said, "Connection refused"))
    return "it is up, but has no ssh server; install and start one (Debian: openssh-server)";
  if (holds(said, "timed out") || holds(said, "No route to host") || holds(said, "not responding"))
    return "it does not answer; check its power and its cable";
  if (holds(said, "closed by") || holds(said, "reset by peer") || holds(said, "Broken pipe"))
    return "the connection was cut; check its power and its cable, and try again";
  auto lines = lines_of(said);
  std::erase(lines, "");
  return fmt::format("ssh fails: {}; try {}", lines.empty() ? "without a message" : lines.back(), by_hand);
}

}  // namespace

void remote::show(const words& command, std::string_view input) {
  std::string text = "+";
  for (const auto& w : command) text += " " + sh_quote(w);
  if (!input.empty()) text += fmt::format(" <<'END'\n{}{}END", input, input.ends_with('\n') ? "" : "\n");
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  for (const auto& line : lines_of(text)) dice::text::print_error(line);
}

std::string sh_quote(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word)
    if (c == '\'') out += "'\\''";
    else out += c;
  return out + "'";
}

words split_words(std::string_view text) {
  words out;
  char quoted = 0;
  bool inside = false;
  for (const char c : text) {
    if (quoted != 0) {
      if (c == quoted) quoted = 0;
      else out.back() += c;
      continue;
    }
    const bool blank = c == ' ' || c == '\t';
    if (!blank && !inside) out.emplace_back();
    inside = !blank;
    if (c == '\'' || c == '"') quoted = c;
    else if (!blank) out.back() += c;
  }
  if (quoted != 0) throw usage_error(fmt::format("--ssh: {} has an opening quote without a closing one", quote(text)));
  return out;
}

remote::remote(settings s) : settings_(std::move(s)), ssh_(split_words(settings_.ssh)) {
  if (ssh_.empty()) throw usage_error("--ssh: expected a command, found none");
  ssh_.insert(ssh_.end(), ssh_options.begin(), ssh_options.end());
  char name[HOST_NAME_MAX + 1] = "";
  ::gethostname(name, HOST_NAME_MAX);
  here_ = name;
}

void remote::require_name(std::string_view host) {
  if (host.empty() || host[0] == '-' || std::ranges::any_of(host, [](unsigned char c) { return c < 32 || c == 127; }))
    throw usage_error(fmt::format("{} cannot be a host; expected a name or an address", quote(host)));
}

bool remote::is_here(std::string_view host) const { return host == here_ || host == "localhost"; }

words remote::command(const std::string& host) const {
  require_name(host);
  if (is_here(host)) return {"sh", "-s"};
  words out = ssh_;
  out.insert(out.end(), {"--", host, "sh -s"});
  return out;
}

std::string remote::by_hand(const std::string& host) const { return fmt::format("{} {}", settings_.ssh, sh_quote(host)); }

std::string remote::ended_silently(const std::string& host, int status) const {
  return fmt::format("'{}' ended with exit status {} and said nothing; try {}", is_here(host) ? "sh" : settings_.ssh, status,
                     is_here(host) ? "sh" : by_hand(host));
}

outcome remote::run(const std::string& host, const std::string& script, const words& arguments) const {
  return stream(host, script, arguments, {});
}

/// Listens to a script until it ends or is given up. `begin_s`: the time to wait for the line `begins`; 0 if there is none.
outcome remote::listen(const std::string& host, process& script, std::string_view input, double begin_s, double silent_s,
                       const reader& on_output) const {
  using namespace std::chrono;
  auto heard = steady_clock::now();
  const auto silence = [&] { return duration<double>(steady_clock::now() - heard).count(); };
  std::string out, given_up;
  bool has_begun = begin_s == 0;
  auto result = script.finish(input, [&](std::string_view part) {
    out += part;
    if (!has_begun) {
      if (const auto at = out.find(begins); at != std::string::npos) {
        out.erase(0, at + begins.size());
        has_begun = true;
        heard = steady_clock::now();
      } else if (silence() > begin_s)
        given_up = fmt::format("its shell does not begin within {} s; is it overloaded, or its disk broken? Try {} sh",
                               begin_s, by_hand(host));
    } else if (!part.empty()) heard = steady_clock::now();
    else if (!on_output && silence() > silent_s)
      given_up = fmt::format("what it was asked does not end, for {} s; is it overloaded, or its disk broken?", silent_s);
    if (out.size() > process::most_output) given_up = "it prints without an end";
    if (!given_up.empty()) return false;
    return !on_output || on_output(has_begun ? std::exchange(out, {}) : std::string());
  });
  result.out = std::move(out);
  if (const auto at = result.err.find(begins); at != std::string::npos) result.err.erase(0, at + begins.size());
  if (result.failure.empty()) result.failure = given_up;
  if (!is_here(host) && result.status == 255 && result.failure.empty())
    result.failure = connection_failure(host, result.err, by_hand(host));
  else if (!has_begun && result.failure.empty() && result.status != 0 && result.out.empty() && result.err.empty())
    result.failure = ended_silently(host, result.status);
  else if (!has_begun && result.failure.empty() && (result.status == 0 || result.err.empty()))
    result.failure =
        fmt::format("its shell runs no script{}; try {} sh",
                    result.out.empty() ? "" : fmt::format(", and prints {}", quote(lines_of(result.out)[0])), by_hand(host));
  if (!has_begun) result.out.clear();
  return result;
}

outcome remote::stream(const std::string& host, const std::string& script, const words& arguments,
                       const reader& on_output) const {
  const auto command = this->command(host);
  const auto text = whole(script, arguments, false);
  if (settings_.verbose || settings_.dry_run) show(command, text);
  if (settings_.dry_run) return {};
  process shell(command, interruption::awaited());
  return listen(host, shell, text, settings_.begin_s, settings_.silent_s, on_output);
}

std::vector<outcome> remote::run_all(const words& hosts, const std::string& script, const words& arguments) const {
  return run_all(hosts, script, [&](std::size_t) { return arguments; });
}

std::vector<outcome> remote::run_all(const words& hosts, const std::string& script,
                                     const std::function<words(std::size_t)>& arguments) const {
  std::vector<outcome> out(hosts.size());
  at_once(hosts.size(), [&](std::size_t i) { out[i] = run(hosts[i], script, arguments(i)); });
  return out;
}

void remote::at_once(std::size_t count, const std::function<void(std::size_t)>& work) const { for_all(count, work); }

double remote::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void remote::pause(double seconds) const { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

process remote::start(const std::string& host, const std::string& script, const words& arguments) const {
  const auto command = this->command(host);
  const auto text = whole(script, arguments, true);
  if (settings_.verbose || settings_.dry_run) show(command, text);
  process out(settings_.dry_run ? words{"true"} : command, interruption::awaited());
  out.write(text);
  return out;
}

namespace {

class beating_script final : public held_script {
 public:
  explicit beating_script(process script) : script_(std::move(script)) {}
  ~beating_script() override {  // what the script held is free when this returns
    heart_.request_stop();
    heart_.join();
    script_.close_input();
    if (!lost_) script_.read_line(2);
  }
  bool is_lost() const override { return lost_; }

 private:
  process script_;
  std::atomic<bool> lost_ = false;
  std::jthread heart_{[this](const std::stop_token& stop) {  // the last member: ends first
    std::mutex guard;
    std::condition_variable_any never;
    std::unique_lock lock(guard);
    while (!stop.stop_requested()) {
      if (script_.ended() || !script_.write(".")) lost_ = true;
      never.wait_for(lock, stop, std::chrono::seconds(5), [] { return false; });
    }
  }};
};

struct nothing_held final : held_script {
  bool is_lost() const override { return false; }
};

}  // namespace

std::unique_ptr<held_script> remote::hold(const std::string& host, const std::string& script, const words& arguments,
                                          std::string_view expected) const {
  auto holder = start(host, script, arguments);
  if (const auto why = obstacle(host, holder, expected); !why.empty()) throw run_error(fmt::format("{}: {}", host, why));
  if (dry_run()) return std::make_unique<nothing_held>();
  return std::make_unique<beating_script>(std::move(holder));
}

std::string remote::obstacle(const std::string& host, process& script, std::string_view expected) const {
  const auto line = script.read_line(settings_.begin_s);
  if (line == expected || dry_run()) return {};
  script.close_input();
  const auto result = listen(host, script, {}, 0, std::min(settings_.begin_s, 5.0), {});
  if (!line.empty() && result.failure.empty())
    return fmt::format(
        "its shell prints {}, and what is printed before a command disturbs ssh and rsync; let ~/.bashrc or ~/.cshrc there "
        "print only in interactive shells",
        quote(line));
  if (line.empty() && result.failure.empty() && result.status != 0 && result.out.empty() && result.err.empty())
    return ended_silently(host, result.status);
  if (!result.ok()) return failure_of(host, result).substr(host.size() + 2);
  return fmt::format("its shell runs no script; try {} sh", by_hand(host));
}

outcome remote::end(const std::string& host, process& script) const {
  return listen(host, script, {}, 0, settings_.silent_s, {});
}

outcome remote::copy(const std::string& host, words rsync, std::string_view input, const reader& on_output) const {
  if (!is_here(host)) {
    // rsync splits it like split_words, but "''" within quotes is a quote.
    std::string ssh;
    for (const auto& word : ssh_) {
      ssh += ssh.empty() ? "'" : " '";
      for (const char c : word) ssh += c == '\'' ? "''" : std::string(1, c);
      ssh += "'";
    }
    rsync.insert(rsync.begin() + 1, {"-e", ssh, "--timeout=10"});
  }
  if (settings_.verbose || settings_.dry_run) show(rsync, input);
  if (settings_.dry_run) return {};
  auto result = process(rsync).finish(input, on_output);
  // 255: ssh's own; 10, 12 and 30: the connection ended; 35 belongs to rsync's daemon.
  const bool cut = result.status == 255 || result.status == 10 || result.status == 12 || result.status == 30;
  if (!is_here(host) && cut && !holds(result.err, "No space left on device"))
    result.failure = holds(result.err, "not found") ? "it has no rsync; install it (Debian: rsync)"
                     : result.status == 30          ? "it does not answer; check its power and its cable"
                                                    : connection_failure(host, result.err, by_hand(host));
  return result;
}

namespace {

/// The other end of a copy, as rsync names it.
std::string place(const remote& r, const std::string& host, const std::string& path) {
  remote::require_name(host);
  return r.is_here(host) ? path : (holds(host, ":") ? "[" + host + "]" : host) + ":" + path;
}

}  // namespace

outcome remote::send(const words& files, const std::string& from, const std::string& host, const std::string& to,
                     const std::string& basis, const std::function<void(int)>& progress) const {
  // Not -t: files that did not change are the same whenever their package was built.
  words rsync{"rsync", "-s", "-p", "--ignore-times", "--partial", "--from0", "--files-from=-"};
  if (progress) rsync.insert(rsync.end(), {"--info=progress2", "--outbuf=N"});
  if (!basis.empty()) rsync.push_back("--copy-dest=" + basis);
  rsync.insert(rsync.end(), {from + "/", place(*this, host, to + "/")});
  std::string list;
  for (const auto& file : files) list += "./" + file + '\0';  // "#x" alone is a comment
  if (!progress) return copy(host, rsync, list);
  std::string line;  // "  1,234,567  45%  1.2MB/s  0:00:03", and a carriage return before the next
  return copy(host, rsync, list, [&](std::string_view text) {
    line += text;
    if (const auto end = line.rfind('%'); end != std::string::npos) {
      progress(std::atoi(line.c_str() + line.find_last_not_of("0123456789", end - 1) + 1));
      line.clear();
    }
    return true;
  });
}

outcome remote::fetch(const std::string& host, const std::string& file, const std::string& to) const {
  // A whole path: rsync takes "a:b" for a file of the host a.
  return copy(host, {"rsync", "-s", place(*this, host, file), std::filesystem::absolute(to).string()}, {});
}

void for_all(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::exception_ptr first;
  std::mutex guard;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        try {
          work(i);
        } catch (...) {
          const std::lock_guard lock(guard);
          if (!first) first = std::current_exception();
        }
      });
  }
  if (first) std::rethrow_exception(first);
}

std::string failure_of(const std::string& host, const outcome& result) {
  if (result.ok()) return {};
  if (!result.failure.empty()) return fmt::format("{}: {}", host, result.failure);
  auto said = lines_of(result.err);
  std::erase(said, "");
  return fmt::format("{}: {}", host,
                     said.empty() ? fmt::format("exit status {}", result.status) : fmt::format("{}", fmt::join(said, "; ")));
}

void require_all(const words& hosts, std::span<const outcome> results) {
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (auto text = failure_of(hosts[i], results[i]); !text.empty()) failed.push_back(std::move(text));
  if (!failed.empty()) throw run_error(std::move(failed));
}

}  // namespace dice_run
