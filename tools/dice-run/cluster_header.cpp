#include "cluster_header.hpp"

#include "diagnostics.hpp"
#include "watts.hpp"

#include "dice/platform/boards.hpp"
#include "dice/platform/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/utsname.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace dice_run {

namespace {

namespace platform = dice::platform;

/// A board of boards.hpp: the beginnings of the names by which device trees know it ("compatible", or else "model").
struct known {
  const char* name;
  std::span<const platform::processor_info> processors;
  std::int64_t memory;
  std::vector<const char*> trees;
};

template <class Board> known row(std::vector<const char*> trees) {
  using traits = platform::board_traits<Board>;
  return {traits::name.data(), traits::values, traits::memory, std::move(trees)};
}

const std::vector<known>& known_boards() {
  namespace boards = dice::boards;
  static const std::vector<known> all{row<boards::raspberry_pi_4>({"raspberrypi,4-", "raspberrypi,400", "Raspberry Pi 4"}),
                                      row<boards::raspberry_pi_5>({"raspberrypi,5-", "raspberrypi,500", "Raspberry Pi 5"}),
                                      row<boards::jetson_nano>({"nvidia,p3450", "nvidia,jetson-nano", "NVIDIA Jetson Nano"}),
                                      row<boards::jetson_tx2>({"nvidia,p2771", "NVIDIA Jetson TX2"}),
                                      row<boards::jetson_xavier_nx>({"nvidia,p3668", "NVIDIA Jetson Xavier NX"}),
                                      row<boards::jetson_orin_nano>({"nvidia,p3767-0003", "nvidia,p3767-0004",
                                                                     "nvidia,p3767-0005", "NVIDIA Jetson Orin Nano"})};
  return all;
}

const known* board_of(const host_facts& h) {
  const auto names = [&](const known& k) {
    return std::ranges::any_of(k.trees, [&](const char* tree) {
      // "nvidia,p3768-0000+nvidia,p3767-0005" names carrier and module.
      return h.model.starts_with(tree) ||
             std::ranges::any_of(h.compatible, [&](const auto& c) { return c.find(tree) != std::string::npos; });
    });
  };
  const auto found = std::ranges::find_if(known_boards(), names);
  return found == known_boards().end() ? nullptr : &*found;
}

/// Floating-point operations of a core in a cycle: its multiply-adds of vectors, times two.
int operations_in_a_cycle(const host_facts& h, const core_facts& c) {
  if (h.architecture == "x86_64") return dice_board_of(h) >= "x86-64-v3" ? 32 : 8;  // programs for others use SSE only
  // Arm's larger cores have two units of four numbers (Cortex-A75 to A78, Neoverse N) or four (X1, Neoverse V).
  static const std::vector<unsigned> two{0xd0a, 0xd0b, 0xd0c, 0xd0d, 0xd41, 0xd42, 0xd47, 0xd49}, four{0xd40, 0xd44, 0xd4f};
  if (c.implementer != 0x41) return 8;
  return std::ranges::count(four, c.part) != 0 ? 32 : std::ranges::count(two, c.part) != 0 ? 16 : 8;
}

/// GFLOPS of some cores; threads of one core count once.
double peak(const host_facts& h, const std::vector<core_facts>& cores) {
  std::map<std::string, double> each;
  for (const auto& c : cores)
    each[c.siblings.empty() ? std::to_string(c.id) : c.siblings] = (c.ghz > 0 ? c.ghz : 1.5) * operations_in_a_cycle(h, c);
  double out = 0;
  for (const auto& [siblings, value] : each) out += value;
  return out;
}

/// Clusters of different ARM cores (big.LITTLE); all cores elsewhere.
std::vector<std::vector<core_facts>> clusters_of(const host_facts& h) {
  std::map<std::pair<unsigned, long>, std::vector<core_facts>> out;
  const bool arm = h.architecture != "x86_64";
  for (const auto& c : h.cores) out[arm ? std::pair(c.part, std::lround(c.ghz * 5)) : std::pair(0U, 0L)].push_back(c);
  std::vector<std::vector<core_facts>> lists;
  for (auto& [key, cores] : out) lists.push_back(std::move(cores));
  return lists;
}

std::string core_list(const std::vector<core_facts>& cores) {
  std::vector<int> ids;
  for (const auto& c : cores) ids.push_back(c.id);
  return fmt::format("dice::cores<{}>", fmt::join(ids, ", "));
}

std::string rates(double gflops, double gbytes_per_s) {
  return fmt::format("dice::gflops<{}>, dice::gbytes_per_s<{}>", three_digits(gflops), three_digits(gbytes_per_s));
}

/// Bytes rounded to MiB, so that equal machines are equal.
std::string ram(std::int64_t bytes) { return fmt::format("dice::ram<{}_MiB>", bytes >> 20); }

/// A known board with another amount of memory, or with the watts of --watts.
std::string changed(const known& k, const host_facts& h) {
  std::string out = fmt::format("dice::board<{}, {}", cpp_string(k.name), ram(h.memory));
  for (const auto& p : k.processors) {
    const auto unit = p.cores.empty() ? std::string("dice::gpu") : fmt::format("dice::cores<{}>", fmt::join(p.cores, ", "));
    const auto watts = h.busy_watts > 0 ? watts_text(h) : fmt::format(", dice::watts<{}, {}>", p.busy_watts, p.idle_watts);
    out += fmt::format(",\n    dice::processor<{}, {}{}>", unit, rates(p.flops * 1e-9, p.bytes_per_s * 1e-9), watts);
  }
  return out + ">";
}

/// An unknown board, described by what was found on it.
std::string estimated(const host_facts& h, const std::string& name) {
  const auto clusters = clusters_of(h);
  // The cores of a cluster get part of the board's memory speed, and one core alone shows some of it.
  const double memory_speed = h.fill_gbytes_per_s > 0 ? h.fill_gbytes_per_s : 4;
  std::string out = fmt::format("dice::board<{}, {}", cpp_string(name), ram(h.memory));
  for (const auto& cores : clusters)
    out += fmt::format(",\n    dice::processor<{}, {}{}>", clusters.size() == 1 ? "dice::cpu" : core_list(cores),
                       rates(peak(h, cores), memory_speed), watts_text(h));
  return out + ">";
}

std::string how_estimated(const host_facts& h) {
  std::string out;
  for (const auto& cores : clusters_of(h)) {
    const auto& c = cores.front();
    host_facts part = h;
    part.cores = cores;
    out += fmt::format("// estimated: {} cores × {} × {} operations in a cycle.\n", part.physical_cores(),
                       c.ghz > 0 ? fmt::format("{:.2f} GHz", c.ghz) : "1.5 GHz (a guess)", operations_in_a_cycle(h, c));
  }
  return out +
         (h.fill_gbytes_per_s > 0 ? "// gbytes_per_s is how fast one core fills memory.\n"
                                  : "// gbytes_per_s is a guess.\n") +
         watts_remark(h);
}

bool alike(const host_facts& a, const host_facts& b) {
  const auto key = [](const host_facts& h) {
    std::string out = fmt::format("{}/{}/{}/{} {}", h.architecture, h.model, h.cpu, h.busy_watts, h.idle_watts);
    for (const auto& c : h.cores) out += fmt::format("/{} {:x} {:.1f} {}", c.id, c.part, c.ghz, c.siblings);
    return out;
  };
  const auto memory = static_cast<double>(a.memory) / static_cast<double>(std::max<std::int64_t>(b.memory, 1));
  return key(a) == key(b) && a.flags == b.flags && memory > 0.95 && memory < 1.05;
}

/// Connections that are nearly the same.
struct link_group {
  std::vector<const link_facts*> links;
  double mbit_per_s = 0, us = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<link_group> groups_of(const std::vector<link_facts>& links) {
  std::vector<link_group> out;
  std::vector<const link_facts*> left;
  for (const auto& l : links)
    if (l.measured()) left.push_back(&l);
  const auto alike = [](const link_facts& a, const link_facts& b) {
    const double faster = std::max(a.slower(), b.slower()) / std::min(a.slower(), b.slower());
    return faster < 1.15 && std::abs(a.us - b.us) < std::max(30., 0.3 * std::min(a.us, b.us));
  };
  while (!left.empty()) {  // around the one that most others are like
    const auto like = [&](const link_facts* l) {
      return std::ranges::count_if(left, [&](const link_facts* other) { return alike(*l, *other); });
    };
    const auto& middle = **std::ranges::max_element(left, {}, like);
    const auto others = std::ranges::stable_partition(left, [&](const link_facts* l) { return alike(middle, *l); });
    out.push_back({.links = {left.begin(), others.begin()}});
    left.erase(left.begin(), others.begin());
  }
  for (auto& g : out) {
    std::vector<double> speeds, waits;
    for (const auto* l : g.links) {
      speeds.push_back(l->slower());
      waits.push_back(l->us);
    }
    g.mbit_per_s = median(speeds);
    g.us = median(waits);
  }
  std::ranges::stable_sort(out, std::greater{}, [](const link_group& g) { return g.links.size(); });
  return out;
}

std::string connection(const std::string& between, double mbit_per_s, double us) {
  return fmt::format("dice::connection<{}dice::mbit_per_s<{}>, dice::us<{}>>", between, three_digits(mbit_per_s),
                     three_digits(us));
}

}  // namespace

std::string three_digits(double value) { return fmt::format("{:.10g}", std::stod(fmt::format("{:.3g}", value))); }

std::string board_identifier(const std::string& host) {
  std::string out = "board_of_";
  for (const unsigned char c : host) out += std::isalnum(c) != 0 && c < 128 ? static_cast<char>(c) : '_';
  return out;
}

std::string known_board(const host_facts& host) {
  const auto* k = board_of(host);
  return k == nullptr ? "" : k->name;
}

std::string dice_board_of(const host_facts& h) {
  if (h.architecture == "x86_64") {
    const auto all = [&](std::initializer_list<const char*> flags) {
      return std::ranges::all_of(flags, [&](const char* f) { return h.has_flag(f); });
    };
    // As this_host/instructions.hpp; /proc/cpuinfo calls lzcnt `abm`.
    if (!all({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})) return "x86-64";
    if (!all({"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"})) return "x86-64-v2";
    return all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? "x86-64-v4" : "x86-64-v3";
  }
  static const std::map<unsigned, const char*> cores{{0xd03, "cortex-a53"}, {0xd05, "cortex-a55"}, {0xd07, "cortex-a57"},
                                                     {0xd08, "cortex-a72"}, {0xd09, "cortex-a73"}, {0xd0a, "cortex-a75"},
                                                     {0xd0b, "cortex-a76"}, {0xd0c, "neoverse-n1"}};
  // If cores differ, the one with the fewest instructions; if one is unknown, the compiler's default.
  unsigned least = 0xfff;
  for (const auto& c : h.cores) least = std::min(least, c.implementer == 0x41 && cores.contains(c.part) ? c.part : 0);
  return cores.contains(least) ? fmt::format("-mcpu={}", cores.at(least)) : "generic";
}

std::vector<board_kind> kinds_of(const std::vector<host_facts>& hosts) {
  utsname here{};
  ::uname(&here);
  std::vector<board_kind> out;
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(out, [&](const auto& k) { return k.type == name; });
  };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].failure.empty()) continue;
    const auto same =
        std::ranges::find_if(out, [&](const board_kind& k) { return alike(hosts[k.hosts.front()], hosts[i]); });
    (same != out.end() ? *same : out.emplace_back()).hosts.push_back(i);
  }
  // PCs of several kinds get one program, for the oldest: it has kernels for the others' levels, too.
  std::vector<std::string> levels;
  for (const auto& k : out)
    if (const auto& h = hosts[k.hosts.front()]; h.architecture == "x86_64") levels.push_back(dice_board_of(h));
  const std::string oldest = levels.size() > 1 ? *std::ranges::min_element(levels) : "";
  for (auto& k : out) {
    auto h = hosts[k.hosts.front()];
    // Some of them may have been busy with other work.
    for (const auto i : k.hosts) h.fill_gbytes_per_s = std::max(h.fill_gbytes_per_s, hosts[i].fill_gbytes_per_s);
    k.cross = h.architecture != here.machine;
    k.foreign = k.cross && h.architecture != "aarch64";
    auto alias = board_identifier(h.host);
    while (taken(alias)) alias += "_";
    const auto* board = board_of(h);
    if (board == nullptr) {
      k.name = k.type = alias;
      k.dice_board = dice_board_of(h);
      std::string remark;
      if (h.architecture == "x86_64" && !oldest.empty()) {
        k.name = "x86";
        const bool by_default = oldest >= "x86-64-v3";  // the level of dice_add_board(x86)
        if (!by_default && dice_board_of(h) == oldest)  // a CMakeLists.txt from before this host joined may lack it
          remark = fmt::format("// CMakeLists.txt needs dice_add_board(x86 DICE_BOARD {}): the level of this PC.\n", oldest);
        k.dice_board = by_default ? "" : oldest;
      }
      k.definition = fmt::format("/// {}, {}.\n{}{}using {} = {};\n", one_line(h.model.empty() ? h.cpu : h.model),
                                 h.architecture, how_estimated(h), remark, alias, estimated(h, k.name));
      if (!h.gpus.empty())
        k.definition = fmt::format("// It also has a GPU, {}: docs/gpu.md says how ranks use it.\n{}", one_line(h.gpus[0]),
                                   k.definition);
    } else if (const double memory = static_cast<double>(h.memory) / static_cast<double>(board->memory);
               memory > 0.75 && memory < 1.1 && h.busy_watts == 0) {
      k.name = board->name;
      k.type = fmt::format("dice::boards::{}", board->name);
    } else {  // another edition, compiled for as the other
      k.name = board->name;
      k.type = alias;
      k.definition = fmt::format("/// {}: dice::boards::{} with {}.\nusing {} = {};\n", one_line(h.model), board->name,
                                 h.busy_watts > 0 ? "other watts" : "another amount of memory", alias, changed(*board, h));
    }
  }
  // Programs that fit this machine's CPU need no other library than the one that this machine has.
  const auto builder = this_machine();
  const auto all_like_it = [&](const board_kind& k) {
    return std::ranges::all_of(k.hosts, [&](auto i) { return hosts[i].has_cpu_of(builder); });
  };
  for (auto& k : out)
    if (std::ranges::all_of(out, [&](const auto& o) { return o.name != k.name || all_like_it(o); })) k.dice_board = "native";
  return out;
}

std::vector<std::string> board_lines(const std::vector<board_kind>& kinds) {
  static const std::map<std::string, std::string> defaults{{"raspberry_pi_4", "rpi4"},
                                                           {"raspberry_pi_5", "rpi5"},
                                                           {"jetson_nano", "jetson_nano"},
                                                           {"jetson_tx2", "jetson_tx2"},
                                                           {"jetson_xavier_nx", "-march=armv8.2-a"},
                                                           {"jetson_orin_nano", "jetson_orin"}};
  utsname here{};
  ::uname(&here);
  std::vector<std::string> out;
  for (const auto& k : kinds) {
    const bool has_default = k.dice_board.empty();
    if (k.foreign) continue;
    if (has_default && std::string_view(here.machine) != "aarch64") continue;
    auto line = fmt::format("dice_add_board({} DICE_BOARD {}{})", k.name, has_default ? defaults.at(k.name) : k.dice_board,
                            k.cross ? " TOOLCHAIN aarch64-linux-gnu.cmake" : "");
    if (std::ranges::count(out, line) == 0) out.push_back(std::move(line));  // one of another amount of memory
  }
  return out;
}

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 32 || c == 127) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else out += c;
  return out + "\"";
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 32 || c == 127 || c == '\\'; }, ' ');
  return text;
}

words connections_of(const std::vector<link_facts>& links, const words& hosts) {
  words out;
  const auto groups = groups_of(links);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto* l : groups[g].links) {
      const auto between = fmt::format("dice::between<{}, {}>, ", cpp_string(hosts[l->a]), cpp_string(hosts[l->b]));
      out.push_back(connection(g == 0 ? "" : between, groups[g].mbit_per_s, groups[g].us));
      if (g == 0) break;  // it is for every pair
    }
  return out;
}

std::string cluster_header(const cluster_facts& cluster) {
  const auto kinds = kinds_of(cluster.hosts);
  if (kinds.empty()) throw run_error("no host was reached, so there is no cluster to write");
  std::string out =
      "// The cluster, as dice-run check found it. Speeds of boards are the makers' figures or estimates:\n"
      "// with what dice-run measure finds, predictions are better (docs/partitioning.md, Measured times).\n"
      "#pragma once\n\n#include <dice/dice.hpp>\n\nusing namespace dice::literals;\n\n";
  for (const auto& k : kinds)
    if (!k.definition.empty()) out += k.definition + "\n";
  std::vector<std::string> entries;
  std::string remarks;
  for (std::size_t i = 0; i < cluster.hosts.size(); ++i) {
    const auto& h = cluster.hosts[i];
    const auto kind =
        std::ranges::find_if(kinds, [&](const auto& k) { return std::ranges::find(k.hosts, i) != k.hosts.end(); });
    if (kind == kinds.end()) remarks += fmt::format("// {} was not reached.\n", one_line(h.host));
    else entries.push_back(fmt::format("dice::host<{}, {}>", cpp_string(h.host), kind->type));
  }
  words names;
  for (const auto& h : cluster.hosts) names.push_back(h.host);
  auto measured = connections_of(cluster.links, names);
  if (measured.empty() && entries.size() > 1) {
    remarks += "// Connections were not measured: this one is a guess, Gigabit Ethernet.\n";
    measured.push_back(connection("", 940, 150));
  }
  entries.insert(entries.end(), measured.begin(), measured.end());
  for (const auto& l : cluster.links) {
    const auto pair = fmt::format("{} – {}", one_line(cluster.hosts[l.a].host), one_line(cluster.hosts[l.b].host));
    if (!l.measured() && cluster.hosts[l.a].failure.empty() && cluster.hosts[l.b].failure.empty())
      remarks += fmt::format("// {} was not measured: {}\n", pair, one_line(l.failure));
    else if (l.measured() && std::max(l.mbit_per_s, l.back_mbit_per_s) > 1.1 * l.slower())
      remarks += fmt::format("// {} has {} Mbit/s there and {} Mbit/s back; the slower one counts.\n", pair,
                             three_digits(l.mbit_per_s), three_digits(l.back_mbit_per_s));
  }
  return out + remarks +
         fmt::format("using machines = dice::cluster<{}>;\n", fmt::join(entries, ",\n                               "));
}

}  // namespace dice_run
