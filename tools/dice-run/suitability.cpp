#include "suitability.hpp"

#include "cluster_header.hpp"
#include "diagnostics.hpp"
#include "networks.hpp"
#include "scripts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/utsname.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace dice_run {

namespace {

/// What /proc/cpuinfo calls the instructions that compilers call `name`.
std::string in_cpuinfo(const std::string& name) {
  static const std::map<std::string, std::string> others{{"sse3", "pni"},
                                                         {"sse4.1", "sse4_1"},
                                                         {"sse4.2", "sse4_2"},
                                                         {"sahf", "lahf_lm"},
                                                         {"bmi", "bmi1"},
                                                         {"lzcnt", "abm"},
                                                         {"avx512vbmi2", "avx512_vbmi2"},
                                                         {"avx512vnni", "avx512_vnni"},
                                                         {"avx512bitalg", "avx512_bitalg"},
                                                         {"avx512vpopcntdq", "avx512_vpopcntdq"},
                                                         {"avx512bf16", "avx512_bf16"},
                                                         {"avx512fp16", "avx512_fp16"},
                                                         {"avxvnni", "avx_vnni"},
                                                         // ARM
                                                         {"crc", "crc32"},
                                                         {"lse", "atomics"},
                                                         {"fp16", "fphp"},
                                                         {"rdma", "asimdrdm"},
                                                         {"rcpc", "lrcpc"},
                                                         {"dotprod", "asimddp"},
                                                         {"fp16fml", "asimdfhm"}};
  const auto found = others.find(name);
  return found == others.end() ? name : found->second;
}

/// "2.34" → {2, 34}, to be compared.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> out;
  std::istringstream in(version);
  for (std::string part; std::getline(in, part, '.');) out.push_back(std::atoi(part.c_str()));
  return out;
}

bool names_networks(const std::string& options) {
  return options.find("_if_include") != std::string::npos || options.find("_if_exclude") != std::string::npos;
}

}  // namespace

std::vector<std::string> obstacles_on(const host_facts& h, const std::string& place, bool is_fixed) {
  std::vector<std::string> out;
  if (h.bits == 32)
    out.push_back(fmt::format(
        "its system is 32-bit{}{}, and programs need a 64-bit one; install that, such as Raspberry Pi OS (64-bit)",
        h.bits_name.empty() ? "" : fmt::format(" ({})", h.bits_name),
        h.architecture.find("64") == std::string::npos ? "" : ", although its kernel is 64-bit"));
  if (h.is_noexec)
    out.push_back(
        fmt::format("programs cannot run in {}, because its file system is mounted noexec; choose another folder {}", place,
                    is_fixed ? "as FOLDER of dice_add_deployment" : "with --to"));
  return out;
}

std::vector<std::string> obstacles_for(const host_facts& h, const package& p) {
  if (!p.processor.empty() && !h.architecture.empty() && p.processor != h.architecture)
    return {fmt::format("its processor is {}, and its package is for {}: take another board for this host in the plan",
                        h.architecture, p.processor)};
  std::vector<std::string> out, missing;
  for (const auto& one : p.instructions)
    if (!h.flags.empty() && !h.has_flag(in_cpuinfo(one))) missing.push_back(one);
  utsname here{};
  ::uname(&here);
  const bool cross = h.architecture == "aarch64" && h.architecture != here.machine;
  const auto line = board_lines({{.name = p.board, .dice_board = dice_board_of(h), .cross = cross}})[0];
  if (!missing.empty())
    out.push_back(
        fmt::format("its CPU{} lacks {}, which its program needs; let CMakeLists.txt have {}, and build the packages again",
                    h.cpu.empty() ? "" : fmt::format(" ({})", h.cpu), fmt::join(missing, ", "), line));
  const auto remedy =
      "install a newer system there, or build the packages for its system (docs/building.md, Which systems fit)";
  if (!p.glibc.empty() && h.is_musl)
    out.push_back("its C library is musl, and its program needs glibc; install a system with glibc there, such as Debian");
  else if (!p.glibc.empty() && !h.glibc.empty() && numbers_of(h.glibc) < numbers_of(p.glibc))
    out.push_back(fmt::format("it has glibc {}, and its program needs {} or newer; {}", h.glibc, p.glibc, remedy));
  return out;
}

std::vector<host_facts> facts_of(const site& s, const words& hosts) {
  const auto results = s.run_all(hosts, scripts::facts);
  std::vector<host_facts> out(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    out[i].host = hosts[i];
    if (results[i].ok()) read_facts(results[i].out, {}, out[i]);
  }
  return out;
}

void require_suitable(const site& s, const deployment& deployed, const std::vector<host_facts>& hosts,
                      const std::string& consequence) {
  std::vector<std::string> wrong;
  for (const auto& h : hosts) {
    auto found = obstacles_on(h, s.folder, !s.plan.folder.empty());
    const auto p = std::ranges::find(deployed.packages, h.host, &package::host);
    if (found.empty() && p != deployed.packages.end()) found = obstacles_for(h, *p);
    for (const auto& text : found) wrong.push_back(fmt::format("{}: {}", h.host, text));
  }
  if (wrong.empty()) return;
  wrong.push_back(consequence);
  throw run_error(std::move(wrong));
}

std::string mpirun_options(const site& s, const deployment& deployed, const std::string& starter) {
  const auto hosts = facts_of(s, deployed.hosts);
  require_suitable(s, deployed, hosts, "nothing was started");
  const char* given = std::getenv("MPIRUN_OPTIONS");
  std::string out = given != nullptr ? given : "";
  const auto& from = *std::ranges::find(hosts, starter, &host_facts::host);
  const auto networks = usable_networks(hosts);
  if (networks.empty() || names_networks(out) || from.has_chosen_networks) return out;
  for (const auto& shared : shared_addresses(hosts))
    report("note", fmt::format("{}; the job uses only {}", text_of(shared), fmt::join(networks, ", ")));
  return out + (out.empty() ? "" : " ") + network_options(networks, from.open_mpi);
}

}  // namespace dice_run
