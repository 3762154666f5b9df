#include "site.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include "dice/files/sha256.hpp"

#include <fmt/format.h>

#include <pwd.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>

namespace dice_run {

namespace {

std::string user_name() {
  const auto* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::getuid());
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

template <class Number> Number number(std::string_view text) {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// 0 for other numbers, from a damaged file: the next job must have a higher one.
long job_number(std::string_view text) {
  const auto out = number<long>(text);
  return out > 0 && out < 1'000'000'000'000 ? out : 0;
}

/// "a b c" → "a", "b c".
std::pair<std::string, std::string> split(const std::string& line) {
  const auto at = line.find(' ');
  return at == std::string::npos ? std::pair{line, std::string()} : std::pair{line.substr(0, at), line.substr(at + 1)};
}

/// Names that packages can have: what a host prints is not trusted.
bool is_host(std::string_view name) {
  return !name.empty() && name[0] != '-' && name[0] != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string_view::npos;
}

/// "0=a" of the file `ranks`, in the order of ranks: the host of one.
void read_rank(std::string_view text, words& hosts) {
  const auto at = text.find('=');
  if (at != std::string_view::npos && number<std::size_t>(text.substr(0, at)) == hosts.size() &&
      is_host(text.substr(at + 1)))
    hosts.emplace_back(text.substr(at + 1));
}

host_state state_of(const std::string& host, const outcome& result) {
  host_state out;
  out.host = host;
  out.failure = failure_of(host, result);
  if (!out.failure.empty()) return out;  // what it printed may be incomplete
  for (const auto& line : lines_of(result.out)) {
    const auto [key, value] = split(line);
    if (key == "current") out.current = value;
    if (key == "previous") out.previous = value;
    if (key == "clock") out.clock = number<long long>(value);
    if (key == "uptime") out.uptime = number<long long>(value);
    if (key == "now") out.now = number<double>(value);
    if (key == "supervised") out.supervised = true;
    if (key == "reports_status") out.reports_status = true;
    if (key == "status") {
      const auto [which, text] = split(value);
      if (const long n = job_number(which); n > out.status_number) {
        out.status_number = n;
        out.status = text;
      }
    }
    if (key == "members" || key == "current_host" || key == "previous_host")
      if (const auto name = split(value).first; is_host(name))
        (key == "members" ? out.members : key == "current_host" ? out.of_current : out.of_previous).push_back(name);
    if (key == "current_rank")  // "rank 0=a slot=*:*"
      read_rank(split(split(value).second).first, out.rank_hosts);
    if (key == "last_job") {
      const auto [which, starter] = split(value);
      out.last_number = job_number(which);
      if (is_host(starter)) out.last_starter = starter;
    }
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

long host_state::number() const { return job_number(of_job("number")); }

words host_state::job_rank_hosts() const {
  words out;
  std::istringstream in(of_job("ranks"));
  for (std::string rank; in >> rank;) read_rank(rank, out);
  return out;
}

namespace {

/// The path without parts that do not change where it leads: "//", "/./" and a final "/". Processes are known by a digest of
/// it.
std::string plain_path(std::string path) {
  if (path.starts_with('/')) path += '/';
  for (const std::string_view part : {"/./", "//"})
    for (std::size_t at = 0; (at = path.find(part)) != std::string::npos;) path.replace(at, part.size(), "/");
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

site::site(const common_options& common)
    : site(read_packages(find_packages(common.packages)), common.folder, std::make_unique<remote>(common.ssh),
           random_token()) {}

site::site(deployment all, std::string to, std::unique_ptr<remote> reached, std::string own)
    : plan(std::move(all)), folder(std::move(to)), token(std::move(own)), hosts(std::move(reached)) {
  if (folder.empty()) folder = plan.folder;
  if (folder.empty()) folder = "/var/tmp/dice-" + user_name();
  folder = plain_path(folder);
  if (folder[0] != '/' || folder == "/" || folder.find('\n') != std::string::npos)
    throw usage_error(fmt::format(
        "--to: expected a folder that has the same whole path on all hosts, such as /opt, found {}", quote(folder)));
  if (!plan.folder.empty() && folder != plain_path(plan.folder))
    throw usage_error(
        fmt::format("--to: {} was built for the folder {} (FOLDER of dice_add_deployment), so it cannot go to {}", plan.name,
                    quote(plan.folder), quote(folder)));
  dice::files::sha256 hash;
  hash.add(folder + "/" + plan.name);
  job = "dice-run-" + hash.text().substr(0, 16);
}

std::string site::with_prelude(const std::string& script) { return scripts::prelude + script; }

words site::with_place(words arguments) const {
  arguments.insert(arguments.begin(), {folder, plan.name, job, token, std::to_string(++calls_)});
  return arguments;
}

outcome site::run(const std::string& host, const std::string& script, const words& arguments) const {
  return hosts->run(host, with_prelude(script), with_place(arguments));
}

std::vector<outcome> site::run_all(const words& names, const std::string& script, const words& arguments) const {
  return hosts->run_all(names, with_prelude(script), with_place(arguments));
}

std::vector<outcome> site::run_all(const words& names, const std::string& script,
                                   const std::function<words(std::size_t)>& arguments) const {
  return hosts->run_all(names, with_prelude(script), [&](std::size_t i) { return with_place(arguments(i)); });
}

std::vector<host_state> site::survey(const words& left_out, const words& also) const {
  std::vector<host_state> out;
  words names = plan.hosts;
  for (const auto& host : also)
    if (std::ranges::count(names, host) == 0) names.push_back(host);
  while (!names.empty()) {
    const auto results = run_all(names, scripts::survey);
    for (std::size_t i = 0; i < results.size(); ++i) {
      out.push_back(state_of(names[i], results[i]));
      out.back().planned = std::ranges::count(plan.hosts, names[i]) > 0;
    }
    names.clear();
    for (const auto& h : out)  // hosts without a list of members: only the versions themselves say where they are
      for (const auto& host : h.members.empty() ? h.of_current : h.members)
        if (std::ranges::count(out, host, &host_state::host) == 0 && std::ranges::count(names, host) == 0 &&
            std::ranges::count(left_out, host) == 0)
          names.push_back(host);
  }
  return out;
}

last_job site::job_of(const std::vector<host_state>& all) {
  last_job out;
  const auto take = [&](const host_state& h) { out = {h.number(), h.host, &h}; };
  // A running job counts before all others, even one that went on on a host that was not reached for a while.
  for (const auto& h : all)
    if (h.supervised && !h.job.empty() && (out.on == nullptr || h.number() > out.number)) take(h);
  if (out.on != nullptr) return out;
  for (const auto& h : all)
    if (!h.job.empty() && (out.on == nullptr || h.number() > out.number)) take(h);
  for (const auto& h : all)
    if (h.last_number > out.number) {
      if (out.on != nullptr && out.on->host == h.last_starter && out.number == 0) continue;  // its record is damaged
      const auto starter = std::ranges::find(all, h.last_starter, &host_state::host);
      out = {h.last_number, h.last_starter, nullptr, starter == all.end() || !starter->failure.empty()};
    }
  return out;
}

deployment site::deployed(const std::vector<host_state>& all) const {
  if (std::ranges::count(all, plan.version, &host_state::current) > 0) return plan;
  const auto knows = std::ranges::find_if(
      all, [](const auto& h) { return !h.current.empty() && !h.of_current.empty() && !h.rank_hosts.empty(); });
  if (knows == all.end()) return plan;
  deployment out{.name = plan.name,
                 .version = knows->current,
                 .folder = plan.folder,
                 .hosts = knows->of_current,
                 .host_of_rank = knows->rank_hosts};
  for (const auto& host : out.hosts) {
    auto& one = out.packages.emplace_back(package{.host = host});
    for (std::size_t r = 0; r < out.host_of_rank.size(); ++r)
      if (out.host_of_rank[r] == host) one.ranks.push_back(static_cast<int>(r));
  }
  return out;
}

std::string site::title() const { return fmt::format("{} {}", plan.name, plan.version); }

}  // namespace dice_run
