#include "links.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace dice_run {

namespace {

/// Takes what link.pl printed on one of the hosts.
void read_results(std::string_view printed, link_facts& out) {
  for (const auto& line : lines_of(printed)) {
    const auto at = std::min(line.find(' '), line.size());
    const auto key = line.substr(0, at), value = line.substr(at);
    const double number = std::strtod(value.c_str(), nullptr);
    if (key == "us") out.us = number;
    if (key == "to_server") out.mbit_per_s = number;
    if (key == "to_client") out.back_mbit_per_s = number;
    if (key == "between") {  // two addresses
      const auto second = value.rfind(' ');
      out.address = value.substr(1, second - 1);
      out.back_address = value.substr(second + 1);
    }
    if (key == "failed" && out.failure.empty()) out.failure = value.substr(std::min<std::size_t>(1, value.size()));
  }
}

link_facts measure(const remote& hosts, const host_facts& from, const host_facts& to) {
  link_facts out;
  for (const auto* h : {&from, &to}) {
    if (!h->failure.empty()) out.failure = fmt::format("{} is not reached", h->host);
    else if (!h->has_perl && !hosts.dry_run()) out.failure = fmt::format("{} has no perl (Debian: perl-base)", h->host);
    if (!out.failure.empty()) return out;
  }
  const std::string run = "exec perl -e \"$@\"";
  const auto token = fmt::format("{:016x}", std::random_device{}() * std::uint64_t{0x100000001} ^ std::random_device{}());
  auto server = hosts.start(to.host, run, {scripts::link, "serve", token});
  const auto said = hosts.dry_run() ? "port PORT" : server.read_line(20);
  if (!said.starts_with("port ")) {
    const auto ended = said.empty() ? hosts.end(to.host, server) : outcome{.status = 1, .err = said};
    out.failure = ended.ok() ? fmt::format("{}: perl prints nothing", to.host) : failure_of(to.host, ended);
    return out;
  }
  words arguments{scripts::link, "connect", token, said.substr(5), to.host};
  if (!to.address.empty()) arguments.push_back(to.address);  // where ssh found it
  const auto client = hosts.run(from.host, run, arguments);
  read_results(client.out, out);
  if (!out.failure.empty()) out.failure = fmt::format("{}: {}", from.host, out.failure);
  else if (!client.ok()) out.failure = failure_of(from.host, client);
  else if (read_results(hosts.end(to.host, server).out, out); !out.failure.empty())
    out.failure = fmt::format("{}: {}", to.host, out.failure);
  if (out.failure.empty() && (out.us <= 0 || out.slower() <= 0)) out.failure = "the measurement broke off";
  return out;
}

}  // namespace

std::vector<std::vector<std::pair<std::size_t, std::size_t>>> rounds_of(std::size_t hosts) {
  // The circle method for tournaments: one place is fixed, the others move round it. An odd number gets a place for nobody.
  const auto places = hosts + hosts % 2;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> out;
  for (std::size_t round = 0; hosts > 1 && round + 1 < places; ++round) {
    auto& pairs = out.emplace_back();
    const auto at = [&](std::size_t i) { return i == 0 ? 0 : 1 + (i - 1 + round) % (places - 1); };
    for (std::size_t i = 0; i < places / 2; ++i)
      if (const auto a = at(i), b = at(places - 1 - i); std::max(a, b) < hosts)
        pairs.emplace_back(std::min(a, b), std::max(a, b));
  }
  return out;
}

std::vector<link_facts> measure_links(const remote& hosts, const std::vector<host_facts>& facts, bool one_by_one,
                                      const std::function<void(std::size_t, std::size_t)>& progress) {
  auto rounds = rounds_of(facts.size());
  if (one_by_one) {
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> single;
    for (const auto& round : rounds)
      for (const auto& pair : round) single.push_back({pair});
    rounds = std::move(single);
  }
  std::vector<link_facts> out;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    progress(r, rounds.size());
    const auto first = out.size();
    out.resize(first + rounds[r].size());
    for_all(rounds[r].size(), [&](std::size_t i) {
      const auto [a, b] = rounds[r][i];
      auto& link = out[first + i] = measure(hosts, facts[a], facts[b]);
      link.a = a;
      link.b = b;
    });
  }
  std::ranges::sort(out, {}, [](const link_facts& l) { return std::pair(l.a, l.b); });
  return out;
}

}  // namespace dice_run
