// bench and measure: runs of the deployed job that end by themselves, and the files that they write.
#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "job.hpp"
#include "job_log.hpp"
#include "scripts.hpp"

#include "dice/files/writer.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace dice_run {

std::string run_and_fetch(const site& s, const words& options,
                          const std::vector<std::pair<std::string, std::string>>& fetched) {
  for (const auto& [there, here] : fetched) {  // better now than after the run
    if (s.hosts->dry_run()) break;
    // rsync removes what is no file, even /dev/null.
    if (std::error_code none; std::filesystem::exists(here, none) && !std::filesystem::is_regular_file(here, none))
      throw run_error(fmt::format("{} is there, and is not a file; name another one", quote(here)));
    dice::files::require_writable(here);
  }
  const host_locks locks(s);  // until the end: nothing else begins meanwhile
  const auto deployed = require_ready(locks.states, s);
  const auto& host = deployed.host_of_rank[0];
  const char* mpirun = std::getenv("MPIRUN_OPTIONS");
  words arguments{mpirun != nullptr ? mpirun : "", deployed.version};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const interruption ends_the_job;
  std::string page;
  const auto result = s.hosts->stream(host, site::with_prelude(scripts::bench), s.with_place(std::move(arguments)),
                                      [&](std::string_view text) {
                                        page += text;
                                        return !interruption::happened();
                                      });
  if (interruption::happened()) {
    stop_job(s);
    throw run_error("interrupted; nothing was fetched");
  }
  if (!result.failure.empty()) throw run_error(failure_of(host, result));
  if (!result.ok()) {
    say(page);
    const auto said = reason_in(lines_of(result.err), mpirun == nullptr ? "" : mpirun);
    throw run_error(
        fmt::format("the job has failed: {}", said.empty() ? fmt::format("exit status {}", result.status) : said));
  }
  for (const auto& [there, here] : fetched) {
    const auto copied = s.hosts->fetch(host, there, here);
    if (!copied.ok()) throw run_error(failure_of(host, copied));
  }
  return page;
}

namespace {

/// A file of the job on the host of rank 0.
std::string there(const site& s, const std::string& name) {
  return fmt::format("{}/.dice-run/{}/bench/{}", s.folder, s.plan.name, name);
}

int bench(const common_options& common, int frames, const std::string& folder) {
  const site s(common);
  const std::filesystem::path here = folder.empty() ? s.plan.name + "-bench" : folder;
  if (std::error_code shown_when_files_are_written; !s.hosts->dry_run())
    std::filesystem::create_directories(here, shown_when_files_are_written);
  std::vector<std::pair<std::string, std::string>> files;
  for (const char* name : {"figures.json", "trace.json"}) files.emplace_back(there(s, name), here / name);
  const auto page = run_and_fetch(s,
                                  {"--random", "1", "--frames", std::to_string(frames), "--warmup", "5", "--explain",
                                   "--json", files[0].first, "--trace", files[1].first},
                                  files);
  if (s.hosts->dry_run()) return 0;
  dice::files::write_text((here / "explanation.txt").string(), page);
  say(page);
  conclude(fmt::format("{}: figures.json, explanation.txt, trace.json (for chrome://tracing or ui.perfetto.dev)\n",
                       here.string()));
  return 0;
}

int measure(const common_options& common, const std::string& profile) {
  const site s(common);
  const auto here = profile.empty() ? s.plan.name + ".profile.json" : profile;
  const auto file = there(s, "profile.json");
  const auto page = run_and_fetch(s, {"--measure", file}, {{file, here}});
  if (s.hosts->dry_run()) return 0;
  say(page);
  conclude(fmt::format("{}: the profile; onnx2hpp MODEL --profile {} makes a header of it\n", here, sh_quote(here)));
  return 0;
}

}  // namespace

void add_figures(CLI::App& app, const common_options& common, int& exit_code) {
  struct options {
    int frames = 200;
    std::string folder, profile;
  };
  const auto opts = std::make_shared<options>();
  auto* bench_command =
      app.add_subcommand("bench", "Run the job on random frames, and fetch its figures, explanation and trace");
  bench_command->add_option("--frames", opts->frames, "How many frames (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000));
  bench_command->add_option("-o,--output", opts->folder, "Where the files go (default: NAME-bench)")->type_name("FOLDER");
  bench_command->callback([&exit_code, &common, opts] { exit_code = bench(common, opts->frames, opts->folder); });
  auto* measure_command = app.add_subcommand("measure", "Measure all layers and links on the hosts, and fetch the profile");
  measure_command->add_option("-o,--output", opts->profile, "The profile (default: NAME.profile.json)")->type_name("FILE");
  measure_command->callback([&exit_code, &common, opts] { exit_code = measure(common, opts->profile); });
}

}  // namespace dice_run
