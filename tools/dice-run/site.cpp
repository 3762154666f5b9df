#include "site.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include "dice/files/sha256.hpp"

#include <fmt/format.h>

#include <pwd.h>
#include <unistd.h>
#include <charconv>

namespace dice_run {

namespace {

std::string user_name() {
  const auto* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::getuid());
}

template <class Number> Number number(std::string_view text) {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// "a b c" → "a", "b c".
std::pair<std::string, std::string> split(const std::string& line) {
  const auto at = line.find(' ');
  return at == std::string::npos ? std::pair{line, std::string()} : std::pair{line.substr(0, at), line.substr(at + 1)};
}

host_state state_of(const std::string& host, const outcome& result) {
  host_state out;
  out.host = host;
  out.failure = failure_of(host, result);
  for (const auto& line : lines_of(result.out)) {
    const auto [key, value] = split(line);
    if (key == "current") out.current = value;
    if (key == "previous") out.previous = value;
    if (key == "clock") out.clock = number<long long>(value);
    if (key == "supervised") out.supervised = true;
    if (key == "job") out.job.insert(split(value));
    if (key == "process") {
      const auto [pid, rest] = split(value);
      const auto [ticks, more] = split(rest);
      const auto [kilobytes, last] = split(more);
      const auto [rank, program] = split(last);
      out.processes.push_back(
          {number<int>(pid), number<double>(ticks) / 100, number<long>(kilobytes), program, rank == "1"});
    }
  }
  return out;
}

}  // namespace

std::string host_state::of_job(const std::string& key) const {
  const auto at = job.find(key);
  return at == job.end() ? "" : at->second;
}

site::site(const common_options& common)
    : plan(read_packages(find_packages(common.packages))), folder(common.folder), hosts(common.ssh) {
  if (folder.empty()) folder = plan.folder;
  if (folder.empty()) folder = "/var/tmp/dice-" + user_name();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder[0] != '/' || folder == "/" || folder.find('\n') != std::string::npos)
    throw usage_error(fmt::format(
        "--to: expected a folder that has the same whole path on all hosts, such as /opt, found {}", quote(folder)));
  if (!plan.folder.empty() && folder != plan.folder)
    throw usage_error(
        fmt::format("--to: {} was built for the folder {} (FOLDER of dice_add_deployment), so it cannot go to {}", plan.name,
                    quote(plan.folder), quote(folder)));
  dice::files::sha256 hash;
  hash.add(folder + "/" + plan.name);
  job = "dice-run-" + hash.text().substr(0, 16);
}

std::string site::with_prelude(const std::string& script) { return scripts::prelude + script; }

words site::with_place(words arguments) const {
  arguments.insert(arguments.begin(), {folder, plan.name, job});
  return arguments;
}

outcome site::run(const std::string& host, const std::string& script, const words& arguments) const {
  return hosts.run(host, with_prelude(script), with_place(arguments));
}

std::vector<outcome> site::run_all(const std::string& script, const words& arguments) const {
  return hosts.run_all(plan.hosts, with_prelude(script), with_place(arguments));
}

std::vector<outcome> site::run_all(const std::string& script, const std::function<words(std::size_t)>& arguments) const {
  return hosts.run_all(plan.hosts, with_prelude(script), [&](std::size_t i) { return with_place(arguments(i)); });
}

std::vector<host_state> site::survey() const {
  const auto results = run_all(scripts::survey);
  std::vector<host_state> out;
  for (std::size_t i = 0; i < results.size(); ++i) out.push_back(state_of(plan.hosts[i], results[i]));
  return out;
}

const host_state* site::job_of(const std::vector<host_state>& all) {
  const host_state* last = nullptr;
  for (const auto& h : all)
    if (!h.job.empty() &&
        (last == nullptr || h.supervised || (!last->supervised && h.of_job("started") > last->of_job("started"))))
      last = &h;
  return last;
}

std::string site::title() const { return fmt::format("{} {}", plan.name, plan.version); }

}  // namespace dice_run
