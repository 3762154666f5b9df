// bench and measure: runs of the deployed job that end by themselves, and the files that they write.
#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "job.hpp"
#include "job_log.hpp"
#include "measured_cluster.hpp"
#include "options.hpp"
#include "scripts.hpp"
#include "suitability.hpp"

#include "dice/files/writer.hpp"
#include "dice/text/print.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

namespace dice_run {

namespace {

/// A folder that only this user can see, and that is removed with its contents.
class temporary_folder {
 public:
  temporary_folder() {
    const char* top = std::getenv("TMPDIR");
    if (top == nullptr || *top == '\0') top = "/tmp";
    path_ = fmt::format("{}/dice-run-XXXXXX", top);
    if (::mkdtemp(path_.data()) == nullptr)
      throw run_error(fmt::format("no folder can be made in {} on this machine: {}; name another by TMPDIR", quote(top),
                                  std::strerror(errno)));
  }
  temporary_folder(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code is_left;
    std::filesystem::remove_all(path_, is_left);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Copies a file of this machine into `out`.
void copy_file(const std::string& from, dice::files::writer& out) {
  std::ifstream in(from, std::ios::binary);
  std::vector<char> block(1 << 20);
  do {
    in.read(block.data(), std::ssize(block));
    out.write(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  } while (in);
  if (!in.eof()) throw run_error(fmt::format("{} cannot be read on this machine", quote(from)));
}

/// Fetches files of the host and writes the page: all of them, or none. rsync replaces whatever has the name of its target;
/// a writer follows links, and writes to devices and pipes.
void fetch(const site& s, const std::string& host, const std::vector<std::pair<std::string, std::string>>& fetched,
           const std::string& page, const std::string& page_file) {
  const temporary_folder own;
  try {
    std::vector<std::unique_ptr<dice::files::writer>> files;
    for (const auto& [there, here] : fetched) {
      // Each needs its own name: rsync takes a file of the same name, size and time for the same file.
      const auto copy = fmt::format("{}/{}", own.path(), files.size());
      const auto copied = s.hosts->fetch(host, there, copy);
      if (copied.failure.empty() && copied.err.find("No space left on device") != std::string::npos)
        throw run_error(fmt::format("{} is full on this machine; remove something, or name another folder by TMPDIR",
                                    quote(own.path())));
      if (!copied.ok()) throw run_error(failure_of(host, copied));
      files.push_back(std::make_unique<dice::files::writer>(here));
      copy_file(copy, *files.back());
    }
    if (!page_file.empty()) {
      files.push_back(std::make_unique<dice::files::writer>(page_file));
      files.back()->write(page);
    }
    dice::files::commit_all(files);
  } catch (const dice::files::error& e) {  // on this machine, while most messages are about hosts
    std::string text = e.what();
    if (const auto at = text.find(" cannot be written: "); at != std::string::npos)
      text.insert(at + std::string_view(" cannot be written").size(), " on this machine");
    throw run_error(text);
  }
}

}  // namespace

std::string run_and_fetch(const site& s, const words& options,
                          const std::vector<std::pair<std::string, std::string>>& fetched, const std::string& page_file) {
  if (!s.hosts->dry_run()) {  // better now than after the run
    for (const auto& [there, here] : fetched) dice::files::require_writable(here);
    if (!page_file.empty()) dice::files::require_writable(page_file);
  }
  const host_locks locks(s);  // until the end: nothing else begins meanwhile
  const auto deployed = require_ready(locks.states, s);
  const auto& host = deployed.host_of_rank[0];
  const auto mpirun = mpirun_options(s, deployed, host);
  words arguments{mpirun, deployed.version};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const interruption ends_the_job;
  std::string page;
  const auto result = s.hosts->stream(host, site::with_prelude(scripts::bench), s.with_place(std::move(arguments)),
                                      [&](std::string_view text) {
                                        page += text;
                                        return !interruption::happened();
                                      });
  if (interruption::happened()) {
    stop_job(s, deployed.hosts);
    throw run_error("interrupted; nothing was fetched");
  }
  if (!result.failure.empty())
    throw run_error(std::vector{failure_of(host, result), std::string("the job may still run; dice-run stop ends it")});
  if (!result.ok()) {
    say(page);
    const auto said = reason_in(lines_of(result.err), mpirun);
    throw run_error(
        fmt::format("the job has failed: {}", said.empty() ? fmt::format("exit status {}", result.status) : said));
  }
  if (!s.hosts->dry_run()) fetch(s, host, fetched, page, page_file);
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
                                  files, (here / "explanation.txt").string());
  if (s.hosts->dry_run()) return 0;
  say(page);
  conclude(fmt::format("{}: figures.json, explanation.txt, trace.json (for chrome://tracing or ui.perfetto.dev)\n",
                       here.string()));
  return 0;
}

/// The content of a file of this machine, or "" if there is none.
std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes the cluster of the profile in `profile_file`, and this profile with what only `before` has.
void write_cluster(const std::string& cluster_file, const std::string& profile_file, const std::string& before) {
  const auto measured = measured_cluster_of(text_of_file(profile_file), before);
  std::vector<std::unique_ptr<dice::files::writer>> files;
  for (const auto& [file, text] : {std::pair{&profile_file, &measured.profile}, {&cluster_file, &measured.header}}) {
    files.push_back(std::make_unique<dice::files::writer>(*file));
    files.back()->write(*text);
  }
  dice::files::commit_all(files);
  for (const auto& note : measured.notes) report("note", note);
  const auto profile_name = std::filesystem::path(profile_file).filename().string();
  const auto lists = std::filesystem::path(cluster_file).parent_path() / "CMakeLists.txt";
  if (text_of_file(lists).find(profile_name) == std::string::npos)
    report("note", fmt::format("with {}, dice_add_network in CMakeLists.txt needs PROFILE {}", cluster_file, profile_file));
}

int measure(const common_options& common, const std::string& profile, const std::string& cluster) {
  const site s(common);
  const auto here = profile.empty() ? s.plan.name + ".profile.json" : profile;
  const auto file = there(s, "profile.json");
  std::string before;
  if (!cluster.empty() && !s.hosts->dry_run()) {  // better now than after the run
    dice::files::require_writable(cluster);
    for (const auto& name : {here, cluster})
      if (dice::files::place_of(name).kind == dice::files::place::kinds::special)
        throw usage_error(fmt::format("--cluster: {} is not a file; the header needs the profile in a file", quote(name)));
    before = text_of_file(here);
  }
  const auto page = run_and_fetch(s, {"--measure", file}, {{file, here}});
  if (s.hosts->dry_run()) return 0;
  if (const auto at = dice::files::place_of(here); at.kind == dice::files::place::kinds::special) {
    dice::text::prints_to_stderr = at.descriptor == STDOUT_FILENO;  // which has the profile, and nothing else
    dice::text::print(page);
    return 0;
  }
  say(page);
  if (!cluster.empty()) {
    try {
      write_cluster(cluster, here, before);
    } catch (const run_error& e) {
      auto messages = e.messages;
      messages.push_back(fmt::format("{} is written, {} is as it was", here, cluster));
      throw run_error(std::move(messages));
    }
    conclude(fmt::format("{}: the cluster with what was measured; {}: the profile that it needs\n", cluster, here));
    return 0;
  }
  conclude(fmt::format("{}: the profile; onnx2hpp MODEL --profile {} makes a header of it\n", here, sh_quote(here)));
  return 0;
}

}  // namespace

void add_figures(CLI::App& app, const common_options& common, int& exit_code) {
  struct options {
    int frames = 200;
    std::string folder, profile, cluster;
  };
  const auto opts = std::make_shared<options>();
  auto* bench_command =
      app.add_subcommand("bench", "Run the job on random frames, and fetch its figures, explanation and trace");
  bench_command->add_option("--frames", opts->frames, "How many frames (default: 200)")
      ->type_name("N")
      ->check(whole_number(1, 100000000));
  bench_command->add_option("-o,--output", opts->folder, "Where the files go (default: NAME-bench)")->type_name("FOLDER");
  bench_command->callback([&exit_code, &common, opts] { exit_code = bench(common, opts->frames, opts->folder); });
  auto* measure_command = app.add_subcommand("measure", "Measure all layers and links on the hosts, and fetch the profile");
  measure_command->add_option("-o,--output", opts->profile, "The profile (default: NAME.profile.json)")->type_name("FILE");
  measure_command
      ->add_option("--cluster", opts->cluster,
                   "Also write a header with the cluster `machines` as measured, for best_mapping")
      ->type_name("FILE");
  measure_command->callback([&exit_code, &common, opts] { exit_code = measure(common, opts->profile, opts->cluster); });
}

}  // namespace dice_run
