#include "watts.hpp"

#include "cluster_header.hpp"
#include "diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace dice_run {

namespace {

/// A whole text as a number that is not negative; or -1.
double watts_in(std::string_view text) {
  double out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  return wrong == std::errc() && end == text.data() + text.size() && std::isfinite(out) && out >= 0 ? out : -1;
}

/// What is known: as given, or else by RAPL.
power power_of(const host_facts& h) {
  if (h.busy_watts > 0) return {h.busy_watts, h.idle_watts};
  if (h.rapl_limit > 0 && h.rapl_drawn > 0) return {h.rapl_limit, std::min(h.rapl_drawn, h.rapl_limit)};
  return {};
}

}  // namespace

const char* const watts_are_missing =
    "// Its power is not known. For --search=energy, write dice::watts<BUSY, IDLE> into each processor: what the board "
    "draws while\n"
    "// the processor computes and while it waits, in W, as a meter shows it.\n";

void add_watts(CLI::App& command, words& given) {
  command
      .add_option("--watts", given,
                  "What a host draws while it computes and while it waits, in W, as a meter shows it (may be repeated)")
      ->type_name("HOST=BUSY[/IDLE]")
      ->allow_extra_args(false);
}

std::map<std::string, power> read_watts(const words& given, const words& hosts) {
  std::map<std::string, power> out;
  for (const auto& word : given) {
    const auto equals = word.rfind('=');
    const auto slash = std::min(word.find('/', std::min(equals, word.size())), word.size());
    const auto host = word.substr(0, equals);
    if (equals == std::string::npos || std::ranges::count(hosts, host) == 0)
      throw usage_error(fmt::format("--watts: {} does not begin with a host and '='; the hosts are {}", quote(word),
                                    fmt::join(hosts, ", ")));
    const auto text = std::string_view(word).substr(equals + 1);
    const auto at = slash - equals - 1;
    const power p{watts_in(text.substr(0, at)), at < text.size() ? watts_in(text.substr(at + 1)) : 0};
    if (!(p.busy > 0) || p.idle < 0 || p.idle > p.busy)
      throw usage_error(
          fmt::format("--watts: expected HOST=BUSY or HOST=BUSY/IDLE with numbers of W, as in pi=6.4/2.7, and no more IDLE "
                      "than BUSY; found {}",
                      quote(word)));
    if (!out.emplace(host, p).second) throw usage_error(fmt::format("--watts: {} is given twice", quote(host)));
  }
  return out;
}

void set_watts(const std::map<std::string, power>& given, std::vector<host_facts>& hosts) {
  for (auto& h : hosts)
    if (const auto at = given.find(h.host); at != given.end())
      h.busy_watts = at->second.busy, h.idle_watts = at->second.idle;
}

std::string watts_text(const host_facts& h) {
  const auto p = power_of(h);
  return p.busy > 0 ? fmt::format(", dice::watts<{}, {}>", three_digits(p.busy), three_digits(p.idle)) : "";
}

std::string watts_remark(const host_facts& h) {
  if (h.busy_watts > 0) return "// watts are those of --watts.\n";
  if (power_of(h).busy > 0)
    return "// watts are of the processors alone, by RAPL: their limit, and what they drew when they had nothing to do.\n";
  return (h.rapl_limit > 0 ? fmt::format("// RAPL lets its processors draw {} W.\n", three_digits(h.rapl_limit)) : "") +
         watts_are_missing;
}

}  // namespace dice_run
