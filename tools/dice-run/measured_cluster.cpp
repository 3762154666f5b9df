#include "measured_cluster.hpp"

#include "cluster_header.hpp"
#include "diagnostics.hpp"
#include "watts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace dice_run {

namespace {

using profile_json = nlohmann::ordered_json;

/// `text` with each run of other characters than letters and digits as one "_": part of a name in C++.
std::string part_of_name(const std::string& text) {
  std::string out;
  for (const unsigned char c : text)
    if (c < 128 && std::isalnum(c) != 0) out += static_cast<char>(c);
    else if (!out.empty() && out.back() != '_') out += '_';
  while (out.ends_with('_')) out.pop_back();
  return out;
}

/// What comes from a host and goes into the header as it is has only these characters.
std::string code(const std::string& text, const char* allowed) {
  if (text.empty() || text.find_first_not_of(allowed) != std::string::npos)
    throw run_error(fmt::format("the profile has {} where a word of C++ belongs", quote(text)));
  return text;
}

bool is_of(const profile_json& unit, const std::string& host, const std::string& name) {
  return unit.at("host") == host && unit.at("unit") == name;
}

/// The unit with this name, if it has the times of all layers.
const profile_json* complete_unit(const profile_json& profile, const std::string& host, const std::string& name) {
  for (const auto& u : profile.at("units"))
    if (is_of(u, host, name) && !u.contains("missing")) return &u;
  return nullptr;
}

/// ms of all layers.
double sum_of(const profile_json& unit) {
  double out = 0;
  for (const auto& l : unit.at("layers")) out += l.at("ms").get<double>();
  return out;
}

/// Gives each unit a name that the converter keeps, since no word of C++ begins with "on_".
void name_units(profile_json& profile) {
  auto& units = profile.at("units");
  std::vector<std::string> taken;
  for (auto& u : units) {
    const auto several = std::ranges::count_if(units, [&](const auto& o) { return o.at("host") == u.at("host"); }) > 1;
    const auto name = "on_" + part_of_name(u.at("host")) + (several ? "_" + part_of_name(u.at("unit")) : "");
    auto free = name;
    for (int n = 2; std::ranges::count(taken, free) > 0; ++n) free = fmt::format("{}_{}", name, n);
    u["name"] = free;
    taken.push_back(free);
  }
}

/// Why a unit has no times of all layers.
std::string why_not_measured(const profile_json& profile, const std::string& host, const std::string& name) {
  std::string other;
  for (const auto& u : profile.at("units")) {
    if (is_of(u, host, name))
      return fmt::format("{} of its layers were not measured on {}, {}", u.at("missing").size(), name,
                         name.starts_with("gpu")
                             ? "since a GPU measures only those of its ranks"
                             : "since its program has only the kernels of its ranks; with ANY_MAPPING in "
                               "dice_add_deployment it has all");
    if (u.at("host") == host) other = u.at("unit").get<std::string>();
  }
  return other.empty() ? fmt::format("{} has no ranks, so it was not measured", name)
                       : fmt::format("{} was not measured; {} was", name, other);
}

/// What the cluster states of a host, without its name.
std::string stated(profile_json host) {
  host.erase("host");
  return host.dump();
}

/// Whether a host of which the same is stated has times of all layers.
bool has_times_of_another(const profile_json& profile, const profile_json& host, const std::string& name) {
  return std::ranges::any_of(profile.at("predicted").at("cluster").at("hosts"), [&](const auto& h) {
    return stated(h) == stated(host) && complete_unit(profile, h.at("host"), name) != nullptr;
  });
}

/// Adds the units that only `before` has to `profile`, and a note for each processor without times of all layers.
void complete(profile_json& profile, const profile_json& before, std::vector<std::string>& notes) {
  const auto measured = profile;
  for (const auto& h : measured.at("predicted").at("cluster").at("hosts"))
    for (const auto& p : h.at("processors")) {
      const std::string host = h.at("host"), name = p.at("unit");
      if (complete_unit(measured, host, name) != nullptr) continue;
      const auto* known = before.is_null() ? nullptr : complete_unit(before, host, name);
      notes.push_back(fmt::format("{}: {}; {}", host, why_not_measured(measured, host, name),
                                  known != nullptr ? "the times of the profile before stay"
                                  : has_times_of_another(measured, h, name)
                                      ? "it gets the times of a host with the same board"
                                      : "its stated rates stay"));
      if (known == nullptr) continue;
      auto& units = profile.at("units");
      units.erase(std::remove_if(units.begin(), units.end(), [&](const auto& u) { return is_of(u, host, name); }),
                  units.end());
      units.push_back(*known);
    }
}

std::string number_in(const profile_json& from, const char* key) { return three_digits(from.at(key).get<double>()); }

std::string message_times(const profile_json& processor, const profile_json* measured) {
  std::string out;
  for (const char* word : {"sending", "receiving"})
    if (processor.contains(word) && (measured == nullptr || !measured->contains(word)))
      out += fmt::format(", dice::{}<dice::us<{}>, dice::gbytes_per_s<{}>>", word, number_in(processor.at(word), "us"),
                         number_in(processor.at(word), "gbytes_per_s"));
  return out;
}

/// A processor with the times of `measured`, or with its stated rates. Stated rates stay beside times, for the case that the
/// times do not fit any more.
std::string processor_text(const std::string& host, const profile_json& p, const profile_json* measured,
                           const std::string& space) {
  auto unit = "dice::" + code(p.at("unit"), "abcdefghijklmnopqrstuvwxyz_0123456789<>, ");
  if (const auto at = unit.find(", direct"); at != std::string::npos) unit.insert(at + 2, "dice::");
  if (measured == nullptr && !(p.contains("gflops") && p.contains("gbytes_per_s")))
    throw run_error(
        fmt::format("{}: neither times nor rates of {} are known; write dice::gflops<…> and dice::gbytes_per_s<…> "
                    "into its dice::processor<…> in the cluster, build, deploy and measure again",
                    host, p.at("unit").get<std::string>()));
  std::string out = "dice::processor<" + unit;
  if (p.contains("gflops")) out += fmt::format(", dice::gflops<{}>", number_in(p, "gflops"));
  // What is stated comes before what is measured.
  if (p.contains("gbytes_per_s") && (measured == nullptr || !measured->contains("memory_gbytes_per_s")))
    out += fmt::format(", dice::gbytes_per_s<{}>", number_in(p, "gbytes_per_s"));
  if (measured != nullptr) out += fmt::format(", dice::profile<{}::{}>", space, measured->at("name").get<std::string>());
  if (p.contains("busy_watts"))
    out += fmt::format(", dice::watts<{}, {}>", number_in(p, "busy_watts"), number_in(p, "idle_watts"));
  if (p.contains("memory_bytes")) out += fmt::format(", dice::ram<{}>", p.at("memory_bytes").get<std::int64_t>());
  return out + message_times(p, measured) + ">";
}

std::string ram_text(std::int64_t bytes) {
  return bytes % (1 << 20) == 0 ? fmt::format("dice::ram<{}_MiB>", bytes >> 20) : fmt::format("dice::ram<{}>", bytes);
}

/// The connection between the processors of a host, or "" for the default.
std::string inside_text(const profile_json& profile, const profile_json& host) {
  for (const auto& c : profile.at("connections"))
    if (c.at("from") == host.at("host") && c.at("to") == host.at("host"))
      return fmt::format(",\n    dice::connection<dice::mbit_per_s<{}>, dice::us<{}>>", number_in(c, "mbit_per_s"),
                         number_in(c, "us"));
  if (!host.contains("inside")) return {};
  return fmt::format(",\n    dice::connection<dice::gbytes_per_s<{}>, dice::us<{}>>",
                     number_in(host.at("inside"), "gbytes_per_s"), number_in(host.at("inside"), "us"));
}

/// Hosts that are alike, and how long they take for all layers.
struct measured_kind {
  std::string stated;      ///< their board
  std::vector<double> ms;  ///< by processor; 0: no times
  std::vector<std::size_t> hosts;
  std::size_t slowest = 0;
  double longest = 0;
};

std::vector<measured_kind> measured_kinds(const profile_json& profile) {
  const auto& hosts = profile.at("predicted").at("cluster").at("hosts");
  std::vector<measured_kind> all, out;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    measured_kind one{stated(hosts[i]), {}, {i}, i, 0};
    for (const auto& p : hosts[i].at("processors")) {
      const auto* u = complete_unit(profile, hosts[i].at("host"), p.at("unit"));
      one.ms.push_back(u == nullptr ? 0 : sum_of(*u));
      one.longest += one.ms.back();
    }
    all.push_back(std::move(one));
  }
  // Processors without times take those of others, so they come last.
  std::ranges::stable_sort(all, {}, [](const auto& k) { return std::ranges::count(k.ms, 0.0); });
  for (const auto& one : all) {
    const auto alike = [&](const measured_kind& k) {
      return k.stated == one.stated &&
             std::ranges::equal(k.ms, one.ms, [](double a, double b) { return b == 0 || (a <= 1.1 * b && b <= 1.1 * a); });
    };
    const auto found = std::ranges::find_if(out, alike);
    if (found == out.end()) {
      out.push_back(one);
      continue;
    }
    found->hosts.push_back(one.hosts[0]);
    if (one.longest > found->longest) found->longest = one.longest, found->slowest = one.slowest;
  }
  for (auto& k : out) std::ranges::sort(k.hosts);
  std::ranges::sort(out, {}, [](const auto& k) { return k.hosts[0]; });
  return out;
}

/// The connections between all hosts: as measured, or else as stated.
std::vector<link_facts> measured_links(const profile_json& profile, const std::vector<std::string>& hosts) {
  const auto number = [&](const profile_json& host) {
    return static_cast<std::size_t>(std::ranges::find(hosts, host.get<std::string>()) - hosts.begin());
  };
  std::vector<link_facts> out;
  const auto take = [&](std::size_t a, std::size_t b, const profile_json& from) {
    if (a == b || std::max(a, b) >= hosts.size()) return;
    std::erase_if(out, [&](const auto& l) { return l.a == std::min(a, b) && l.b == std::max(a, b); });
    const double speed = from.at("mbit_per_s").get<double>();
    out.push_back({std::min(a, b), std::max(a, b), from.at("us").get<double>(), speed, speed, ""});
  };
  for (const auto& l : profile.at("predicted").at("cluster").at("links"))
    take(number(l.at("hosts").at(0)), number(l.at("hosts").at(1)), l);
  for (const auto& c : profile.at("connections")) take(number(c.at("from")), number(c.at("to")), c);
  return out;
}

std::string header_of(const profile_json& profile, const std::vector<std::string>& notes) {
  const auto network = code(profile.at("network"), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  const auto space = network + (network.ends_with('_') ? "profile" : "_profile");
  const auto& hosts = profile.at("predicted").at("cluster").at("hosts");
  std::vector<std::string> names, entries(hosts.size()), aliases;
  for (const auto& h : hosts) names.push_back(h.at("host"));
  std::string boards;
  for (const auto& k : measured_kinds(profile)) {
    const auto& h = hosts[k.slowest];
    auto alias = board_identifier(h.at("host"));
    while (std::ranges::count(aliases, alias) > 0) alias += "_";
    aliases.push_back(alias);
    std::vector<std::string> alike;
    for (const auto i : k.hosts) {
      alike.push_back(one_line(names[i]));
      entries[i] = fmt::format("dice::host<{}, {}>", cpp_string(names[i]), alias);
    }
    auto board = fmt::format("dice::board<{}", cpp_string(h.at("board").get<std::string>()));
    if (const auto bytes = h.at("memory_bytes").get<std::int64_t>(); bytes > 0) board += ", " + ram_text(bytes);
    bool has_watts = true;
    for (const auto& p : h.at("processors")) {
      const auto* times = complete_unit(profile, names[k.slowest], p.at("unit"));
      board += ",\n    " + processor_text(names[k.slowest], p, times, space);
      has_watts = has_watts && p.contains("busy_watts");
    }
    board += inside_text(profile, h) + ">";
    boards += fmt::format(
        "/// {}{}.\n{}using {} = {};\n\n", fmt::join(alike, ", "),
        alike.size() > 1 ? fmt::format("; the figures are those of {}, the slowest", one_line(names[k.slowest])) : "",
        has_watts ? "" : watts_are_missing, alias, board);
  }
  for (auto& c : connections_of(measured_links(profile, names), names)) entries.push_back(std::move(c));
  std::string out =
      "// The cluster, as dice-run measure found it. The times of layers are in the profile: dice_add_network(… PROFILE "
      "FILE) in\n"
      "// CMakeLists.txt makes a header of it.\n#pragma once\n\n#include <dice/dice.hpp>\n\n";
  if (boards.find("dice::profile<") != std::string::npos) out += fmt::format("#include \"{}_profile.hpp\"\n\n", network);
  out += "using namespace dice::literals;\n\n" + boards;
  for (const auto& note : notes) out += fmt::format("// {}.\n", one_line(note));
  return out +
         fmt::format("using machines = dice::cluster<{}>;\n", fmt::join(entries, ",\n                               "));
}

}  // namespace

measured_cluster measured_cluster_of(const std::string& profile, const std::string& before) {
  try {
    auto all = profile_json::parse(profile);
    if (!all.contains("predicted"))
      throw run_error(
          "the deployed program does not say for which cluster it was built: dice_add_deployment's programs do, and others "
          "if "
          "the cluster is the third argument of dice::main; build and deploy again with this version of dice");
    auto last = before.empty() ? profile_json() : profile_json::parse(before, nullptr, false);
    if (!last.is_object() || !last.contains("units") || last.value("digest", profile_json()) != all.at("digest")) last = nullptr;
    measured_cluster out;
    complete(all, last, out.notes);
    name_units(all);
    out.header = header_of(all, out.notes);
    out.profile = all.dump() + "\n";
    return out;
  } catch (const profile_json::exception&) {
    throw run_error("the profile is damaged; measure again");
  }
}

}  // namespace dice_run
