// status: what the hosts have and run.
#include "status.hpp"

#include "diagnostics.hpp"
#include "job.hpp"

#include "dice/text/print.hpp"
#include "dice/text/table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <memory>

namespace dice_run {

namespace {

long long number(const std::map<std::string, std::string>& job, const char* key, long long otherwise) {
  const auto at = job.find(key);
  constexpr long long year_9999 = 253402300799;  // localtime knows no later times
  return at == job.end() || at->second.empty() ? otherwise : std::clamp(std::atoll(at->second.c_str()), 0LL, year_9999);
}

job_report read_job(const site& s, const last_job& last) {
  if (last.on == nullptr)
    return {.host = last.starter, .phase = last.began ? "unknown" : "interrupted", .number = last.number};
  const auto& h = *last.on;
  job_report out{h.host,  h.of_job("phase"),        h.of_job("version"), {}, last.number, number(h.job, "run", 0),
                 h.clock, number(h.job, "ended", 0)};
  out.restarts = static_cast<int>(number(h.job, "restarts", 0));
  out.allowed = static_cast<int>(number(h.job, "allowed", 0));
  out.exit = static_cast<int>(number(h.job, "exit", -1));
  const bool has_ended = out.phase == "ended" || out.phase == "failed" || out.phase == "stopped" || out.phase == "lost";
  if (!has_ended && !h.supervised) out.phase = "lost";
  else if (!has_ended && out.phase != "starting" && out.phase != "running" && out.phase != "waiting") out.phase = "unsaved";
  // While the job runs, computed from the host's uptime: its clock may have been set since.
  if (h.supervised && h.job.contains("uptime")) out.since = h.clock - std::max(0LL, h.uptime - number(h.job, "uptime", 0));
  if (out.phase == "failed" || out.restarts > 0) out.reason = reason_on(s, h.host);
  return out;
}

}  // namespace

std::optional<job_report> report_job(const site& s, const std::vector<host_state>& all) {
  const auto last = site::job_of(all);
  if (last.number == 0 && last.on == nullptr) return {};
  auto out = read_job(s, last);
  if (out.phase == "running" || out.phase == "unsaved") out.live = live_status_of(all, out.number);
  return out;
}

namespace {

std::string duration_text(long long seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string job_text(const job_report& j) {
  const auto time = [](long long t) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(t)));
  };
  if (j.phase == "unknown") return fmt::format("job: the last one was started on {}, which is not reached\n", j.host);
  if (j.phase == "interrupted")
    return fmt::format("job: none was begun; dice-run start on {} failed or was interrupted\n", j.host);
  if (j.version.empty() && j.phase == "starting") return fmt::format("job: is being started on {}\n", j.host);
  if (j.version.empty())
    return fmt::format("job: started on {}, where its file job/about is damaged, or start was interrupted\n", j.host);
  std::string out = fmt::format("job: version {}, started on {}; ", j.version, j.host);
  if (j.phase == "unsaved") out += fmt::format("runs, but cannot save its state: is the disk of {} full?", j.host);
  if (j.phase == "starting") out += "is being started";
  if (j.phase == "running") out += fmt::format("runs since {} ({})", time(j.since), duration_text(j.now - j.since));
  if (j.phase == "waiting") out += "waits before it starts again";
  if (j.phase == "ended") out += fmt::format("has ended at {} without an error", time(j.ended));
  if (j.phase == "stopped") out += fmt::format("was stopped at {}", time(j.ended));
  if (j.phase == "failed") out += fmt::format("has failed at {}", time(j.ended));
  if (j.phase == "lost") out += fmt::format("was killed, or {} was restarted", j.host);
  if (j.allowed > 0) out += fmt::format("; restarts: {} of {}", j.restarts, j.allowed);
  if (!j.reason.empty()) out += fmt::format("\nlast failure: {}", j.reason);
  return out + "\n" + (j.live ? live_text(*j.live) : "");
}

/// Of a host, by its number in the survey, in the packages here.
std::vector<int> ranks_of(const site& s, std::size_t host) {
  return host < s.plan.packages.size() ? s.plan.packages[host].ranks : std::vector<int>();
}

/// Numbers that are not known are null.
nlohmann::ordered_json live_json(const live_status& l) {
  const auto known = [](double x, double least = 0) {
    return x < least ? nlohmann::ordered_json() : nlohmann::ordered_json(x);
  };
  auto ranks = nlohmann::ordered_json::array();
  for (const auto& r : l.ranks)
    ranks.push_back({{"host", r.host},
                     {"stage_ms", known(r.stage_ms)},
                     {"busy", known(r.busy)},
                     {"temperature_c", known(r.temperature_c, live_rank::no_temperature + 1)},
                     {"silent_s", known(r.silent_s < 0 ? -1 : r.silent_s + l.age_s)}});
  return {{"phase", l.phase},
          {"age_s", l.age_s},
          {"frames", {{"entered", l.entered}, {"answered", l.answered}, {"read", l.read}, {"dropped", l.dropped}}},
          {"source_restarts", l.source_restarts},
          {"frames_per_second", l.frames_per_second},
          {"latency_ms", {{"median", l.median_ms}, {"p95", l.p95_ms}}},
          {"last_frame_s", known(l.last_frame_s < 0 ? -1 : l.last_frame_s + l.age_s)},
          {"ranks", ranks}};
}

nlohmann::ordered_json json_of(const site& s, const std::vector<host_state>& all, const std::optional<job_report>& job) {
  nlohmann::ordered_json hosts = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& h = all[i];
    nlohmann::ordered_json one{
        {"host", h.host}, {"planned", h.planned}, {"reachable", h.failure.empty()}, {"ranks", ranks_of(s, i)}};
    if (!h.failure.empty()) one["failure"] = h.failure;
    else {
      one["current"] = h.current;
      one["previous"] = h.previous;
      one["processes"] = nlohmann::ordered_json::array();
      for (const auto& p : h.processes)
        one["processes"].push_back({{"pid", p.pid},
                                    {"program", p.program},
                                    {"rank", p.is_rank},
                                    {"cpu_seconds", p.cpu_seconds},
                                    {"memory_bytes", p.kilobytes * 1024}});
    }
    hosts.push_back(std::move(one));
  }
  nlohmann::ordered_json out{
      {"deployment", s.plan.name}, {"packages", s.plan.version}, {"folder", s.folder}, {"hosts", hosts}, {"job", nullptr}};
  if (job)
    out["job"] = {{"number", job->number},      {"host", job->host},       {"phase", job->phase},
                  {"version", job->version},    {"since", job->since},     {"ended", job->ended},
                  {"restarts", job->restarts},  {"allowed", job->allowed}, {"exit", job->exit},
                  {"last_failure", job->reason}};
  if (job && job->live) out["job"]["live"] = live_json(*job->live);
  return out;
}

/// How many ranks run on the host if all is well: those of the job, which may be of another version than the packages here.
std::size_t ranks_expected(const site& s, const std::vector<host_state>& all, std::size_t host) {
  const auto last = site::job_of(all);
  const auto ranks = last.on != nullptr && last.on->supervised ? last.on->job_rank_hosts() : words();
  return ranks.empty() ? ranks_of(s, host).size() : static_cast<std::size_t>(std::ranges::count(ranks, all[host].host));
}

/// What the ranks of a host take for a frame, and its temperature.
std::vector<std::string> stage_of(const live_status& live, const std::string& host) {
  std::vector<std::string> stages;
  double temperature = live_rank::no_temperature;
  for (const auto& r : live.ranks)
    if (r.host == host) {
      stages.push_back(r.stage_ms < 0 ? "-" : fmt::format("{:.1f} ms", r.stage_ms));
      temperature = std::max(temperature, r.temperature_c);
    }
  return {stages.empty() ? "-" : fmt::format("{}", fmt::join(stages, ", ")),
          temperature <= live_rank::no_temperature ? "-" : fmt::format("{:.0f} °C", temperature)};
}

std::string text_of(const site& s, const std::vector<host_state>& all, const std::optional<job_report>& job) {
  std::vector<std::vector<std::string>> lines{{"host", "version", "previous", "ranks", "running", "CPU", "memory", "pids"}};
  const auto* const live = job && job->live ? &*job->live : nullptr;
  if (live) lines[0].insert(lines[0].end() - 1, {"stage", "temp"});
  std::vector<std::string> missing, notes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& h = all[i];
    if (!h.failure.empty()) {
      missing.push_back(h.planned ? h.failure : h.failure + " (an earlier version ran there)");
      continue;
    }
    if (!h.planned && h.is_empty()) continue;
    double cpu = 0;
    long kilobytes = 0;
    std::vector<int> pids;
    for (const auto& p : h.processes)
      if (p.is_rank) {
        cpu += p.cpu_seconds;
        kilobytes += p.kilobytes;
        pids.push_back(p.pid);
      }
    const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    const auto expected = ranks_expected(s, all, i);
    if (pids.size() > expected)
      notes.push_back(
          fmt::format("{}: {} processes of {} run, but only {} should; the others are left from another run, or were "
                      "started by hand: dice-run stop ends all",
                      h.host, pids.size(), s.plan.name, expected));
    lines.push_back({h.host, or_dash(h.current), or_dash(h.previous),
                     h.planned ? fmt::format("{}", fmt::join(ranks_of(s, i), ",")) : "left",
                     fmt::format("{} of {}", std::min(pids.size(), expected), expected), fmt::format("{:.1f} s", cpu),
                     dice::text::bytes_text(kilobytes * 1024), or_dash(fmt::format("{}", fmt::join(pids, ",")))});
    if (live) {
      const auto more = stage_of(*live, h.host);
      lines.back().insert(lines.back().end() - 1, more.begin(), more.end());
    }
  }
  auto out = fmt::format("{} in {}; the packages here: {}\n", s.plan.name, s.folder, s.plan.version);
  if (lines.size() > 1) out += dice::text::table_text(std::move(lines), 4);
  for (const auto& text : notes) out += text + "\n";
  for (const auto& text : missing) out += "not reached: " + text + "\n";
  return out;
}

int status(const common_options& common, bool json) {
  const site s(common);
  const auto all = s.survey();
  if (s.hosts->dry_run()) return 0;
  const auto job = report_job(s, all);
  const bool complete = std::ranges::all_of(all, [](const auto& h) { return h.failure.empty(); });
  if (json) dice::text::print(json_of(s, all, job).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  else
    dice::text::print(text_of(s, all, job) + (job        ? job_text(*job)
                                              : complete ? "job: none was started\n"
                                                         : "job: none is known to the hosts that answer\n"));
  return complete ? 0 : 1;
}

}  // namespace

void add_status(CLI::App& app, const common_options& common, int& exit_code) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("status", "Show what each host has and runs, and how the job is");
  command->add_flag("--json", *json, "Print it as JSON");
  command->callback([&exit_code, &common, json] { exit_code = status(common, *json); });
}

}  // namespace dice_run
