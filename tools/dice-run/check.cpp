#include "check.hpp"

#include "cluster_header.hpp"
#include "commands.hpp"
#include "diagnostics.hpp"
#include "networks.hpp"
#include "options.hpp"
#include "suitability.hpp"
#include "watts.hpp"

#include "dice/files/writer.hpp"
#include "dice/report/progress_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

namespace dice_run {

namespace {

constexpr std::int64_t little_disk = std::int64_t{1} << 30;

void find_in_host(const host_facts& h, const cluster_facts& cluster, std::vector<finding>& out) {
  const bool alone = cluster.hosts.size() == 1;
  const auto error = [&](const std::string& text) { out.push_back({true, fmt::format("{}: {}", h.host, text)}); };
  const auto warning = [&](const std::string& text) { out.push_back({false, fmt::format("{}: {}", h.host, text)}); };
  if (!h.failure.empty()) return error(h.failure);
  for (const auto& text : obstacles_on(h, cluster.place, cluster.plan.folder == cluster.place)) error(text);
  if (const auto p = std::ranges::find(cluster.plan.packages, h.host, &package::host); p != cluster.plan.packages.end())
    for (const auto& text : obstacles_for(h, *p)) error(text);
  else if (h.is_musl)
    warning("its C library is musl, on which programs that were built for glibc, as on Debian, do not run");
  if (h.open_mpi.empty())
    error("there is no mpirun of Open MPI; install it (Debian: openmpi-bin), or add it to the PATH of ssh's shells");
  struct library {
    const char *name, *package;
  };
  for (const auto& [name, package] : {library{"libmpi", "openmpi-bin"},
                                      {"libboost_mpi", "libboost-mpi1.74.0; 13: libboost-mpi1.83.0"},
                                      {"libgomp", "libgomp1"},
                                      {"libstb", "libstb0; programs built without stb do not need it"}})
    if (std::ranges::none_of(h.libraries,
                             [&prefix = name](const auto& l) { return l.starts_with(std::string(prefix) + ".so"); }))
      warning(
          fmt::format("there is no {}, which programs need; install the package NAME-BOARD.deb, or the library (Debian: {})",
                      name, package));
  if (!h.has_rsync) warning("there is no rsync, which dice-run deploy needs; install it (Debian: rsync)");
  if (h.disk_free < little_disk)
    warning(fmt::format("only {} MiB of disk are free where deployments go; make room, or choose another folder with --to",
                        h.disk_free >> 20));
  if (std::abs(h.clock_offset) > 1 + h.clock_error)
    warning(fmt::format(
        "its clock is {:.1f} s {} this machine's, so that logs and files have wrong times; let it ask a time server "
        "(timedatectl set-ntp true)",
        std::abs(h.clock_offset), h.clock_offset > 0 ? "ahead of" : "behind"));
  if (!alone && h.hostname != h.host && h.host != "localhost")
    warning(
        fmt::format("it calls itself {}; if jobs are started there, name it so in the cluster{}: mpirun takes another "
                    "name for another machine",
                    quote(h.hostname),
                    h.host == h.hostname + ".local"
                        ? ", with this name in /etc/hosts of all hosts"
                        : fmt::format(", or give it this name (hostnamectl set-hostname {0}, and {0} in its /etc/hosts)",
                                      sh_quote(h.host))));
  if (!alone && h.host == "localhost")
    error(fmt::format("other hosts cannot reach it by this name; use {}", quote(h.hostname)));
}

/// Emulated hosts share a running system, but have different hostnames.
void find_twins(const std::vector<host_facts>& hosts, std::vector<finding>& out) {
  for (auto b = hosts.begin(); b != hosts.end(); ++b)
    if (const auto a = std::ranges::find_if(
            hosts, [&](const auto& h) { return !h.boot.empty() && h.boot == b->boot && h.hostname == b->hostname; });
        a < b)
      out.push_back({true, fmt::format("{}: it is the same machine as {}; name each machine once", b->host, a->host)});
}

void find_versions(const std::vector<host_facts>& hosts, std::vector<finding>& out) {
  std::map<std::string, std::vector<std::string>> with;
  for (const auto& h : hosts)
    if (!h.open_mpi.empty()) with[h.open_mpi].push_back(h.host);
  if (with.size() < 2) return;
  std::vector<std::string> parts;
  for (const auto& [version, names] : with) parts.push_back(fmt::format("{} on {}", version, fmt::join(names, ", ")));
  out.push_back(
      {true, fmt::format("the hosts have different versions of Open MPI: {}; all need the same, down to the last digit: "
                         "use the same release of the system, or compile one Open MPI for all",
                         fmt::join(parts, ", "))});
}

void find_shared_addresses(const std::vector<host_facts>& hosts, std::vector<finding>& out) {
  const auto networks = usable_networks(hosts);
  for (const auto& shared : shared_addresses(hosts))
    out.push_back(
        {false, fmt::format("{}; a job whose Open MPI takes this for one network waits for ever. {}", text_of(shared),
                            networks.empty()
                                ? "Name the network to use (docs/boards.md, several networks)"
                                : fmt::format("dice-run start keeps jobs to {}; without it: "
                                              "MPIRUN_OPTIONS=\"{}\"",
                                              fmt::join(networks, ", "), network_options(networks, hosts[0].open_mpi)))});
}

/// What to do on hosts whose ssh said `why`.
std::string ssh_remedy(const std::string& to, const std::string& why) {
  const auto holds = [&](const char* part) { return why.find(part) != std::string::npos; };
  if (holds("Permission denied")) return fmt::format("ssh-keygen if it has no key, then ssh-copy-id {}", sh_quote(to));
  if (holds("Host key verification")) return fmt::format("log in once: ssh {}", sh_quote(to));
  if (holds("resolve")) return "add the name to /etc/hosts";
  return fmt::format("see what ssh {} says", sh_quote(to));
}

/// Hosts that another host rejects for the same reason make one finding; hosts that were not reached have theirs already.
void find_ssh(const cluster_facts& cluster, std::vector<finding>& out) {
  const bool none = starting_hosts(cluster).empty();
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> from;
  for (const auto& h : cluster.hosts)
    for (const auto& [to, why] : h.ssh)
      if (const auto at = std::ranges::find(cluster.hosts, to, &host_facts::host);
          !why.empty() && at != cluster.hosts.end() && at->failure.empty())
        from[{to, why}].push_back(h.host);
  for (const auto& [end, names] : from)
    out.push_back(
        {none, fmt::format("{} cannot log in to {} without a password ({}), as mpirun must from the host that starts a job. "
                           "On {}: {}",
                           fmt::join(names, ", "), end.first, end.second, names.size() == 1 ? names[0] : "each of them",
                           ssh_remedy(end.first, end.second))});
}

struct check_options {
  words hosts, more_hosts, watts;
  std::string json, cluster;
  bool without_links = false, one_by_one = false;
};

int check(const common_options& common, const check_options& given) {
  words names = given.hosts;
  for (const auto& name : names)
    if (name.find(',') != std::string::npos)
      throw usage_error(
          fmt::format("write hosts as separate words: dice-run check {}", fmt::join(names_of("HOST", names), " ")));
  const auto more = names_of("--hosts", given.more_hosts);
  names.insert(names.end(), more.begin(), more.end());
  std::string place = common.folder;
  deployment plan;
  if (names.empty() || !common.packages.empty()) plan = read_packages(find_packages(common.packages));
  if (names.empty()) names = plan.hosts;
  if (place.empty()) place = plan.folder;
  for (const auto& file : {given.json, given.cluster})
    if (!file.empty()) dice::files::require_writable(file);  // better now than after the measurements
  const auto watts = read_watts(given.watts, names);
  auto cluster = survey(remote(common.ssh), names, place, given.without_links, given.one_by_one);
  set_watts(watts, cluster.hosts);
  cluster.plan = std::move(plan);
  if (common.ssh.dry_run) return 0;
  const auto findings = findings_of(cluster);
  say(text_of(cluster));
  const bool failed = report_findings(findings);
  if (!given.json.empty()) dice::files::write_text(given.json, json_of(cluster, findings));
  if (!given.cluster.empty()) {
    dice::files::write_text(given.cluster, cluster_header(cluster));
    for (const auto& line : board_lines(kinds_of(cluster.hosts)))
      report("note", fmt::format("with {}, CMakeLists.txt needs {}", given.cluster, line));
  }
  return failed ? 1 : 0;
}

}  // namespace

cluster_facts survey(const remote& hosts, const words& names, const std::string& place, bool without_links,
                     bool one_by_one) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    remote::require_name(names[i]);
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw usage_error(fmt::format("the host {} is named twice", quote(names[i])));
    if (names[i].find('@') != std::string::npos)
      throw usage_error(
          fmt::format("{}: name the host alone; its user belongs into ~/.ssh/config (Host …, User …)", quote(names[i])));
  }
  cluster_facts out;
  out.place = place.empty() ? "/var/tmp" : place;
  out.hosts.resize(names.size());
  for_all(names.size(), [&](std::size_t i) {
    auto others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    out.hosts[i] = ask_host(hosts, names[i], out.place, others);
  });
  if (without_links) return out;
  dice::report::progress_line progress(hosts.dry_run() ? nullptr : stderr);
  out.links = measure_links(hosts, out.hosts, one_by_one, [&](std::size_t done, std::size_t total) {
    progress.show_now([&] { return fmt::format("dice-run: measures connections, {} of {} rounds ", done + 1, total); });
  });
  return out;
}

std::vector<std::string> starting_hosts(const cluster_facts& cluster) {
  std::vector<std::string> out;
  for (const auto& h : cluster.hosts)
    if (h.failure.empty() && std::ranges::all_of(h.ssh, [](const auto& to) { return to.second.empty(); }))
      out.push_back(h.host);
  return out;
}

std::vector<finding> findings_of(const cluster_facts& cluster) {
  std::vector<finding> out;
  for (const auto& h : cluster.hosts) find_in_host(h, cluster, out);
  find_twins(cluster.hosts, out);
  find_versions(cluster.hosts, out);
  find_ssh(cluster, out);
  find_shared_addresses(cluster.hosts, out);
  for (const auto& l : cluster.links)
    if (const auto& a = cluster.hosts[l.a], &b = cluster.hosts[l.b]; !l.measured() && a.failure.empty() && b.failure.empty())
      out.push_back(
          {l.failure.find("no TCP connection") != std::string::npos,
           fmt::format("the connection between {} and {} was not measured: {}; ranks need free TCP connections, so look at "
                       "cables, firewalls and names",
                       a.host, b.host, l.failure)});
  return out;
}

bool report_findings(const std::vector<finding>& findings) {
  for (const auto& f : findings) report(f.is_error ? "error" : "warning", f.text);
  return std::ranges::any_of(findings, &finding::is_error);
}

void add_check(CLI::App& app, const common_options& common, int& exit_code) {
  const auto given = std::make_shared<check_options>();
  auto* command =
      app.add_subcommand("check", "Say what the hosts are and what connects them, and what stands in the way of a job");
  command->add_option("HOST", given->hosts, "Hosts (default: those of the packages)")->type_name("");
  command->add_option("--hosts", given->more_hosts, "The same, in one word")->type_name("A,B,C")->allow_extra_args(false);
  command->add_option("--json", given->json, "Also write all of it as JSON")->type_name("FILE");
  command->add_option("--cluster", given->cluster, "Also write a header with the cluster `machines`, for best_mapping")
      ->type_name("FILE");
  add_watts(*command, given->watts);
  command->add_flag("--no-links", given->without_links, "Do not measure the connections");
  command->add_flag(
      "--one-by-one", given->one_by_one,
      "Measure one connection at a time, not one of each host: for hosts that share a radio channel or a cable");
  command->callback([&exit_code, &common, given] { exit_code = check(common, *given); });
}

}  // namespace dice_run
