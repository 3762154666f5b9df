#include "live_status.hpp"

#include "dice/text/foreign.hpp"
#include "dice/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dice_run {

namespace {

/// A rank says how it is once a second, unless it is in a kernel that takes longer.
constexpr double silent_for_long = 5;

live_status read(const nlohmann::json& in) {
  const auto number = [](const nlohmann::json& of, const char* key, double otherwise) {
    const auto at = of.find(key);
    return at != of.end() && at->is_number() ? at->get<double>() : otherwise;
  };
  const auto count = [&](const char* key) { return static_cast<long long>(std::clamp(number(in, key, 0), 0.0, 9e15)); };
  live_status out{.phase = in.value("phase", ""), .running_s = number(in, "running_s", 0)};
  out.entered = count("entered");
  out.answered = count("answered");
  out.read = count("read");
  out.dropped = count("dropped");
  out.source_restarts = count("source_restarts");
  out.frames_per_second = number(in, "frames_per_second", 0);
  if (const auto at = in.find("latency_ms"); at != in.end() && at->is_object()) {
    out.median_ms = number(*at, "median", 0);
    out.p95_ms = number(*at, "p95", 0);
  }
  out.last_frame_s = number(in, "last_frame_s", -1);
  if (const auto ranks = in.find("ranks"); ranks != in.end() && ranks->is_array())
    for (const auto& r : *ranks)
      if (r.is_object())
        out.ranks.push_back({dice::text::shown(r.value("host", "")), number(r, "stage_ms", -1), number(r, "busy", -1),
                             number(r, "temperature_c", live_rank::no_temperature), number(r, "silent_s", -1)});
  return out;
}

std::string seconds_text(double s) { return s < 10 ? fmt::format("{:.1f} s", s) : fmt::format("{:.0f} s", s); }

/// "rank 1 (pi) has said nothing for 12 s", for each rank that should have.
std::vector<std::string> silent_ranks(const live_status& s) {
  std::vector<std::string> out;
  for (std::size_t r = 0; r < s.ranks.size(); ++r)
    if (const double silent = s.ranks[r].silent_s; silent < 0 || silent + s.age_s > silent_for_long)
      out.push_back(
          silent < 0
              ? fmt::format("rank {} ({}) has said nothing yet", r, s.ranks[r].host)
              : fmt::format("rank {} ({}) has said nothing for {}: it is stuck, stopped or lost, or a kernel takes so long",
                            r, s.ranks[r].host, seconds_text(silent + s.age_s)));
  return out;
}

}  // namespace

std::optional<live_status> live_status_of(const std::vector<host_state>& all, long number) {
  std::optional<live_status> newest;
  for (const auto& h : all) {
    if (h.status_number != number || h.status.empty()) continue;
    const auto in = nlohmann::json::parse(h.status, nullptr, false);
    if (!in.is_object()) continue;
    try {
      auto one = read(in);
      if (const auto at = in.find("uptime_s"); at != in.end() && at->is_number())
        one.age_s = std::max(0.0, h.now - at->get<double>());
      if (!newest || one.age_s < newest->age_s) newest = std::move(one);
    } catch (const nlohmann::json::exception&) {  // a file that is no status
    }
  }
  return newest;
}

std::string live_text(const live_status& s) {
  if (s.phase == "joining")
    return fmt::format("frames: none yet; the ranks have not met for {}\n", seconds_text(s.running_s + s.age_s));
  if (s.phase == "preparing") return fmt::format("frames: none yet; the ranks have met, and read weights and files\n");
  auto out = fmt::format("frames: {} answered", s.answered);
  if (s.dropped > 0) out += fmt::format(", {} dropped", s.dropped);
  if (s.answered > 0)
    out += fmt::format("; {:.3g} frames/s now; latency median {:.1f} ms, p95 {:.1f} ms; the last one {} ago",
                       s.frames_per_second, s.median_ms, s.p95_ms, seconds_text(s.last_frame_s + s.age_s));
  else if (s.entered > 0)
    out += fmt::format("; {} entered, but none has come out", dice::text::count_text(s.entered, "frame"));
  else out += "; none has entered";
  if (s.source_restarts > 0) out += fmt::format("; {} of the source", dice::text::count_text(s.source_restarts, "restart"));
  out += "\n";
  if (s.age_s > silent_for_long && !s.ranks.empty())
    return out + fmt::format("rank 0 ({}) has said nothing for {}: it is stuck, stopped or lost\n", s.ranks[0].host,
                             seconds_text(s.age_s));
  if (s.phase != "ending")
    for (const auto& text : silent_ranks(s)) out += text + "\n";
  return out;
}

std::vector<std::string> why_no_frame(const std::optional<live_status>& s, const words& missing, double limit) {
  std::vector<std::string> out;
  for (const auto& host : missing) out.push_back(fmt::format("{}: its ranks do not run; look at dice-run logs", host));
  if (!missing.empty()) return out;
  if (!s)
    return {fmt::format("all ranks run, but rank 0 has said nothing for {}; look at dice-run logs", seconds_text(limit))};
  if (s->phase == "joining")
    return {
        "all ranks run, but do not meet: a firewall, or networks over which the hosts do not reach each other, keep Open "
        "MPI from "
        "connecting them; dice-run check looks for such networks (docs/boards.md, several networks)"};
  if (s->phase == "preparing")
    return {"the ranks have met, and still read weights and files: a slow disk, or one that hangs"};
  out = silent_ranks(*s);
  if (s->entered == 0) out.insert(out.begin(), "no frame has entered: does the source of the frames give any?");
  else
    out.insert(out.begin(), fmt::format("{} entered, and none has come out", dice::text::count_text(s->entered, "frame")));
  return out;
}

}  // namespace dice_run
