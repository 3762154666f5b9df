// The results of `check` for people and for programs.
#include "check.hpp"
#include "cluster_header.hpp"

#include "dice/text/table.hpp"
#include "dice/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace dice_run {

namespace {

/// "4 × 1.5 GHz", "4 × 1.8 GHz + 2 × 2.2 GHz".
std::string cores_text(const host_facts& h) {
  std::map<std::string, int> count;
  for (const auto& c : h.cores) ++count[c.ghz > 0 ? fmt::format(" × {:.1f} GHz", c.ghz) : ""];
  std::vector<std::string> parts;
  for (const auto& [each, n] : count) parts.push_back(fmt::format("{}{}", n, each));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string gib(std::int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)); }
std::string or_dash(const std::string& text) { return text.empty() ? "–" : text; }

}  // namespace

std::string text_of(const cluster_facts& cluster) {
  std::vector<std::vector<std::string>> hosts{
      {"host", "machine", "architecture", "cores", "memory", "disk free", "Open MPI", "glibc", "GPU", "clock", "ssh"}};
  for (const auto& h : cluster.hosts)
    if (!h.failure.empty()) hosts.push_back({h.host, "not reached"});
    else
      hosts.push_back({h.host, or_dash(h.model.empty() ? h.cpu : h.model), h.architecture, cores_text(h), gib(h.memory),
                       gib(h.disk_free), or_dash(h.open_mpi), or_dash(h.glibc),
                       or_dash(!h.gpus.empty()   ? h.gpus[0]
                               : h.tegra.empty() ? ""
                                                 : "Tegra"),
                       fmt::format("{:+.0f} ms", h.clock_offset * 1e3), fmt::format("{:.0f} ms", h.ssh_seconds * 1e3)});
  auto out = dice::text::table_text(std::move(hosts), 11);
  if (cluster.links.empty()) return out;
  std::vector<std::vector<std::string>> links{{"connection", "Mbit/s", "back", "latency"}};
  for (const auto& l : cluster.links) {
    const auto name = fmt::format("{} – {}", cluster.hosts[l.a].host, cluster.hosts[l.b].host);
    if (!l.measured()) links.push_back({name, "not measured"});
    else
      links.push_back({name, three_digits(l.mbit_per_s), three_digits(l.back_mbit_per_s), three_digits(l.us / 1e3) + " ms"});
  }
  return out + "\n" + dice::text::table_text(std::move(links), 1);
}

std::string json_of(const cluster_facts& cluster, const std::vector<finding>& findings) {
  using json = nlohmann::ordered_json;
  json out{{"dice_version", dice::version}, {"folder", cluster.place}, {"starting_hosts", starting_hosts(cluster)}};
  for (const char* list : {"hosts", "links", "errors", "warnings"}) out[list] = json::array();
  for (const auto& h : cluster.hosts) {
    json host{{"host", h.host}, {"reached", h.failure.empty()}};
    if (!h.failure.empty()) {
      host["failure"] = h.failure;
      out["hosts"].push_back(host);
      continue;
    }
    json cores = json::array();
    for (const auto& c : h.cores)
      cores.push_back({{"core", c.id},
                       {"ghz", c.ghz},
                       {"cpu_implementer", c.implementer},
                       {"cpu_part", c.part},
                       {"siblings", c.siblings}});
    json networks = json::array();
    for (const auto& n : h.networks)
      networks.push_back({{"interface", n.interface}, {"address", n.address}, {"network", n.network}});
    json ssh = json::object();
    for (const auto& [to, why] : h.ssh) ssh[to] = why.empty() ? json(true) : json(why);
    host.update({{"hostname", h.hostname},
                 {"ssh_s", h.ssh_seconds},
                 {"address", h.address},
                 {"user", h.user},
                 {"system", h.system},
                 {"architecture", h.architecture},
                 {"system_bits", h.bits},
                 {"model", h.model},
                 {"compatible", h.compatible},
                 {"board", known_board(h)},
                 {"cpu", h.cpu},
                 {"cpu_flags", fmt::format("{}", fmt::join(h.flags, " "))},
                 {"cores", cores},
                 {"physical_cores", h.physical_cores()},
                 {"memory_bytes", h.memory},
                 {"disk_free_bytes", h.disk_free},
                 {"memory_fill_gbytes_per_s", h.fill_gbytes_per_s},
                 {"open_mpi", h.open_mpi},
                 {"glibc", h.glibc},
                 {"musl", h.is_musl},
                 {"noexec", h.is_noexec},
                 {"networks", networks},
                 {"libraries", h.libraries},
                 {"perl", h.has_perl},
                 {"rsync", h.has_rsync},
                 {"gpus", h.gpus},
                 {"tegra", h.tegra},
                 {"clock_offset_ms", h.clock_offset * 1e3},
                 {"clock_error_ms", h.clock_error * 1e3},
                 {"ssh", ssh}});
    out["hosts"].push_back(host);
  }
  for (const auto& l : cluster.links) {
    json link{{"hosts", {cluster.hosts[l.a].host, cluster.hosts[l.b].host}}, {"measured", l.measured()}};
    if (l.measured()) link.update({{"mbit_per_s", l.mbit_per_s}, {"back_mbit_per_s", l.back_mbit_per_s}, {"us", l.us}});
    else link["failure"] = l.failure;
    out["links"].push_back(link);
  }
  for (const auto& f : findings) out[f.is_error ? "errors" : "warnings"].push_back(f.text);
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace dice_run
