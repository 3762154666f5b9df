// logs: the job's log, with names before its lines.
#include "diagnostics.hpp"
#include "job.hpp"
#include "job_log.hpp"
#include "options.hpp"
#include "scripts.hpp"

#include "dice/text/print.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace dice_run {

void print_log(const site& s, const std::string& host, const words& host_of_rank, int lines,
               const std::function<bool()>& follows) {
  constexpr std::size_t longest_line = 16 << 20;  // a longer line is printed in pieces
  std::string pending;
  const auto line = [&](const std::string& text) { return named(parse_log_line(text), host_of_rank, host) + "\n"; };
  const auto result =
      s.hosts->stream(host, site::with_prelude(scripts::logs),
                      s.with_place({std::to_string(lines), follows ? "follow" : ""}), [&](std::string_view text) {
                        pending += text;
                        std::string page;
                        for (std::size_t end = 0; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1))
                          page += line(pending.substr(0, end));
                        if (pending.size() > longest_line) page += line(std::exchange(pending, {}));
                        if (!page.empty()) dice::text::print(page);
                        return !follows || follows();
                      });
  if (!pending.empty()) dice::text::print(line(pending));  // its end is missing in the log
  if ((!follows || follows()) && !result.ok()) throw run_error(failure_of(host, result));
}

namespace {

/// The hosts of the ranks of the job that `h` started; if its record does not say, like older records, those of the packages
/// here.
words ranks_of(const site& s, const host_state& h) {
  auto out = h.job_rank_hosts();
  return out.empty() ? s.plan.host_of_rank : out;
}

int logs(const common_options& common, int lines, bool follow) {
  const site s(common);
  const auto all = s.survey();
  if (s.hosts->dry_run()) return 0;
  for (const auto& h : all)
    if (!h.failure.empty()) report("warning", h.failure);
  const auto job = site::job_of(all);
  if (job.number == 0 && job.on == nullptr)
    throw run_error("no host has a log of this deployment; dice-run start makes one");
  if (job.on == nullptr && !job.began) {
    const auto text = fmt::format(
        "the last job was not begun; dice-run start on {} failed or was interrupted, so it has no log", job.starter);
    const auto before = std::ranges::max_element(all, {}, &host_state::number);
    if (before->number() == 0) throw run_error(text);
    report("note", text + fmt::format("; this is the log of the job before, on {}", before->host));
    print_log(s, before->host, ranks_of(s, *before), lines);
    return 0;
  }
  if (job.on == nullptr) throw run_error(fmt::format("{}, which has started the last job, is not reached", job.starter));
  const auto ranks = ranks_of(s, *job.on);
  if (!follow) return print_log(s, job.on->host, ranks, lines), 0;
  const interruption is_no_error;
  print_log(s, job.on->host, ranks, lines, [] { return !interruption::happened(); });
  return 0;
}

}  // namespace

void add_logs(CLI::App& app, const common_options& common, int& exit_code) {
  struct options {
    int lines = 100;
    bool follow = false;
  };
  const auto opts = std::make_shared<options>();
  auto* command = app.add_subcommand("logs", "Show what all ranks, mpirun and dice-run have written, with their names");
  command->add_option("-n", opts->lines, "The last N lines (default: 100)")
      ->type_name("N")
      ->check(whole_number(0, 1000000000));
  command->add_flag("-f,--follow", opts->follow, "Go on until the job ends, or Ctrl-C");
  command->callback([&exit_code, &common, opts] { exit_code = logs(common, opts->lines, opts->follow); });
}

}  // namespace dice_run
