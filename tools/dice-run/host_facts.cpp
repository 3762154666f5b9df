#include "host_facts.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <sys/utsname.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>

namespace dice_run {

namespace {

/// "a  b c" → "a", "b c".
std::pair<std::string, std::string> split(std::string_view line) {
  const auto at = std::min(line.find(' '), line.size());
  const auto rest = std::min(line.find_first_not_of(" \t", at), line.size());
  return {std::string(line.substr(0, at)), std::string(line.substr(rest))};
}

/// The text after ':' in a line of /proc/cpuinfo.
std::string_view after_colon(std::string_view line) {
  const auto at = std::min(line.find(':'), line.size());
  return line.substr(std::min(line.find_first_not_of(": \t", at), line.size()));
}

double real(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }
unsigned hexadecimal(std::string_view text) {
  return static_cast<unsigned>(std::strtoul(std::string(text).c_str(), nullptr, 16));
}

std::vector<std::string> blank_separated(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \t"), rest.size());
    if (end > 0) out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

/// The name of an ARM core, by the "CPU part" of Arm Ltd.
std::string arm_core(unsigned part) {
  static const std::map<unsigned, const char*> names{
      {0xd03, "Cortex-A53"},   {0xd04, "Cortex-A35"}, {0xd05, "Cortex-A55"},  {0xd07, "Cortex-A57"},
      {0xd08, "Cortex-A72"},   {0xd09, "Cortex-A73"}, {0xd0a, "Cortex-A75"},  {0xd0b, "Cortex-A76"},
      {0xd0c, "Neoverse-N1"},  {0xd0d, "Cortex-A77"}, {0xd40, "Neoverse-V1"}, {0xd41, "Cortex-A78"},
      {0xd42, "Cortex-A78AE"}, {0xd44, "Cortex-X1"},  {0xd46, "Cortex-A510"}, {0xd47, "Cortex-A710"},
      {0xd49, "Neoverse-N2"},  {0xd4f, "Neoverse-V2"}};
  const auto found = names.find(part);
  return found == names.end() ? "" : found->second;
}

/// "eth0", "192.168.50.11/24" → with "192.168.50.0/24". Without a length, as of connections between two, the address alone.
network_address address_of(const std::string& interface, const std::string& text) {
  const auto slash = std::min(text.find('/'), text.size());
  network_address out{interface, text.substr(0, slash), {}};
  const int length = slash < text.size() ? std::atoi(text.c_str() + slash + 1) : 32;
  in_addr number{};
  if (length < 1 || length > 32 || ::inet_pton(AF_INET, out.address.c_str(), &number) != 1) return {};
  number.s_addr &= htonl(~std::uint32_t{0} << (32 - length));
  char network[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &number, network, sizeof network);
  out.network = fmt::format("{}/{}", network, length);
  return out;
}

/// How many bits a system has: what getconf says, or else Debian's name for it, or else the loaders of C libraries.
int bits_of(const std::string& getconf, const std::string& debian, const std::vector<std::string>& loaders) {
  static const std::set<std::string> small{"armel", "armhf", "i386", "mipsel"};
  if (getconf == "32" || getconf == "64") return getconf == "32" ? 32 : 64;
  if (!debian.empty()) return small.contains(debian) ? 32 : 64;
  if (loaders.empty()) return 0;
  // ld-linux-aarch64.so.1, ld-linux-x86-64.so.2; but ld-linux-armhf.so.3, ld-linux.so.2
  return std::ranges::any_of(loaders, [](const auto& l) { return l.find("64") != std::string::npos; }) ? 64 : 32;
}

void read_cpuinfo(std::string_view line, std::map<int, core_facts>& cpus, int& current, std::string& name) {
  const auto value = after_colon(line);
  if (line.starts_with("processor")) cpus[current = std::atoi(std::string(value).c_str())] = {};
  else if (line.starts_with("model name")) name = value;
  else if (line.starts_with("cpu MHz")) cpus[current].ghz = real(value) / 1000;
  else if (line.starts_with("CPU implementer")) cpus[current].implementer = hexadecimal(value);
  else if (line.starts_with("CPU part")) cpus[current].part = hexadecimal(value);
}

}  // namespace

bool host_facts::has_flag(std::string_view name) const { return std::ranges::find(flags, name) != flags.end(); }

int host_facts::physical_cores() const {
  std::set<std::string> distinct;
  for (const auto& c : cores) distinct.insert(c.siblings.empty() ? std::to_string(c.id) : c.siblings);
  return static_cast<int>(distinct.size());
}

bool host_facts::has_cpu_of(const host_facts& other) const {
  const auto kinds = [](const host_facts& h) {  // of ARM cores
    std::set<std::pair<unsigned, unsigned>> out;
    for (const auto& c : h.cores) out.emplace(c.implementer, c.part);
    return out;
  };
  const auto all = [](const host_facts& h) { return std::set(h.flags.begin(), h.flags.end()); };
  return architecture == other.architecture && !flags.empty() && all(*this) == all(other) && kinds(*this) == kinds(other);
}

host_facts this_machine() {
  host_facts out;
  utsname name{};
  ::uname(&name);
  out.architecture = name.machine;
  std::ifstream in("/proc/cpuinfo");
  std::map<int, core_facts> cpus;
  int current = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) out.flags = blank_separated(after_colon(line));
    read_cpuinfo(line, cpus, current, out.cpu);
  }
  for (const auto& [id, core] : cpus) out.cores.push_back(core);
  return out;
}

void read_facts(std::string_view printed, const std::vector<std::string>& others, host_facts& out) {
  std::map<int, core_facts> cpus;
  int current = 0;
  std::string getconf, debian;
  std::vector<std::string> loaders;
  const auto other = [&](const std::string& number) -> std::string {
    std::size_t i = others.size();
    std::from_chars(number.data(), number.data() + number.size(), i);
    return i < others.size() ? others[i] : "";
  };
  for (const auto& line : lines_of(printed)) {
    const auto [key, value] = split(line);
    const auto [first, rest] = split(value);
    if (key == "hostname") out.hostname = value;
    if (key == "architecture") out.architecture = value;
    if (key == "user") out.user = value;
    if (key == "boot") out.boot = value;
    if (key == "address") out.address = value;
    if (key == "system" && value.starts_with("PRETTY_NAME=")) {
      out.system = value.substr(12);
      std::erase(out.system, '"');
    }
    if (key == "model") out.model = value.substr(0, value.find_last_not_of(' ') + 1);
    if (key == "compatible") out.compatible = blank_separated(value);
    if (key == "tegra") out.tegra = value;
    if (key == "cpuinfo") read_cpuinfo(value, cpus, current, out.cpu);
    if (key == "flags") out.flags = blank_separated(after_colon(value));
    if (key == "core") {
      const auto [khz, siblings] = split(rest);
      core_facts core{.id = std::atoi(first.c_str())};
      if (khz != "-") core.ghz = real(khz) / 1e6;
      if (siblings != "-") core.siblings = siblings;
      out.cores.push_back(core);
    }
    if (key == "memory" && first == "MemTotal:") out.memory = std::atoll(rest.c_str()) * 1024;
    if (key == "disk")
      if (const auto columns = blank_separated(value); columns.size() > 3)
        out.disk_free = std::atoll(columns[3].c_str()) * 1024;
    if (key == "mpirun" && value.find("Open MPI") != std::string::npos) out.open_mpi = value.substr(value.rfind(' ') + 1);
    if (key == "bits") getconf = value;
    if (key == "debian") debian = value;
    if (key == "loader") loaders.push_back(value);
    if (key == "libc") {  // "glibc 2.36", "ldd (Debian GLIBC 2.36-9) 2.36", "musl libc (x86_64)"
      const auto last = value.substr(value.rfind(' ') + 1);
      if (!last.empty() && last.find_first_not_of("0123456789.") == std::string::npos) out.glibc = last;
      out.is_musl = value.starts_with("musl");
    }
    if (key == "mount") out.is_noexec = ("," + value + ",").find(",noexec,") != std::string::npos;
    if (key == "network" && first != "lo")
      if (auto one = address_of(first, rest); !one.address.empty()) out.networks.push_back(std::move(one));
    if (key == "networks") out.has_chosen_networks = true;
    if (key == "library" && std::ranges::find(out.libraries, value) == out.libraries.end()) out.libraries.push_back(value);
    if (key == "gpu") out.gpus.push_back(value);
    if (key == "perl") out.has_perl = true;
    if (key == "rsync") out.has_rsync = true;
    if (key == "fill")
      if (const auto parts = blank_separated(value); parts.size() > 4) {
        const double seconds = real(parts[parts.size() - 4]);
        if (seconds > 0) out.fill_gbytes_per_s = std::max(out.fill_gbytes_per_s, real(parts[0]) / seconds * 1e-9);
      }
    if (key == "power")
      if (const auto parts = blank_separated(value); parts.size() > 2) {
        out.rapl_limit += real(parts[0]) * 1e-6;
        if (const double drawn = real(parts[2]) - real(parts[1]); drawn > 0) out.rapl_drawn += drawn * 1e-6;
      }
    if (key == "reaches") out.ssh[other(first)] = "";
    if (key == "refused") out.ssh[other(first)] = rest.empty() ? "no message" : rest;
  }
  for (auto& c : out.cores) {
    const auto& cpu = cpus[c.id];
    c.implementer = cpu.implementer;
    c.part = cpu.part;
    if (c.ghz == 0) c.ghz = cpu.ghz;
  }
  std::ranges::sort(out.cores, {}, &core_facts::id);
  out.bits = bits_of(getconf, debian, loaders);
  if (out.bits == 32) out.bits_name = debian;
  const auto is_musl = [](const auto& l) { return l.starts_with("ld-musl"); };
  if (out.glibc.empty() && std::ranges::any_of(loaders, is_musl)) out.is_musl = true;
  if (out.cpu.empty() && !cpus.empty()) out.cpu = arm_core(cpus.begin()->second.part);
}

host_facts ask_host(const remote& hosts, const std::string& host, const std::string& place,
                    const std::vector<std::string>& others) {
  using namespace std::chrono;
  host_facts out;
  out.host = host;
  std::vector<std::string> arguments{place};
  arguments.insert(arguments.end(), others.begin(), others.end());
  const auto begin = steady_clock::now();
  auto script = hosts.start(host, std::string(scripts::check) + scripts::facts, arguments);
  out.failure = hosts.obstacle(host, script, "ready");
  const bool ready = out.failure.empty();
  out.ssh_seconds = duration<double>(steady_clock::now() - begin).count();
  // The shortest of several round trips gives the time there most exactly.
  for (int i = 0; ready && i < 5; ++i) {
    const auto asked = system_clock::now();
    script.write("clock\n");
    const auto [key, value] = split(script.read_line(10));
    const auto answered = system_clock::now();
    const double half = duration<double>(answered - asked).count() / 2;
    if (key != "clock" || (i > 0 && half >= out.clock_error)) continue;
    out.clock_error = half;
    out.clock_offset = real(value) - duration<double>(asked.time_since_epoch()).count() - half;
  }
  if (!ready || hosts.dry_run()) return out;
  script.write("go\n");
  const auto result = hosts.end(host, script);
  if (result.ok()) read_facts(result.out, others, out);
  else out.failure = failure_of(host, result).substr(host.size() + 2);
  return out;
}

}  // namespace dice_run
