// dice-run init: a project for a model and hosts, which builds, deploys and runs.
#include "check.hpp"
#include "cluster_header.hpp"
#include "commands.hpp"
#include "diagnostics.hpp"
#include "networks.hpp"
#include "options.hpp"
#include "process.hpp"
#include "watts.hpp"

#include "dice/files/writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>
#include <vector>

namespace dice_run {

namespace {

namespace fs = std::filesystem;

struct init_options {
  std::string model, folder, name, onnx2hpp;
  words hosts, watts, inputs, dims;  ///< the latter two as for onnx2hpp
  bool without_links = false, one_by_one = false;
};

fs::path own_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

/// The prefix of an installed dice that this program is part of, if CMake does not look there by itself; or "".
std::string prefix() {
  const auto out = own_folder().parent_path();
  for (const char* known : {"/usr", "/usr/local"})
    if (out == known) return {};
  for (const char* lib : {"lib", "lib64"})
    if (fs::exists(out / lib / "cmake/dice/diceConfig.cmake")) return out.string();
  return {};
}

/// The folder with dice's script `sysroot`, or a name for it.
std::string sysroot_script() {
  const auto out = own_folder().parent_path();
  for (const char* lib : {"lib", "lib64"})
    if (fs::exists(out / lib / "cmake/dice/sysroot")) return sh_quote((out / lib / "cmake/dice/sysroot").string());
  return "DICE/scripts/sysroot";
}

/// A name for packages and the network's namespace, from the letters and digits of `text`.
std::string name_from(const std::string& text) {
  std::string out;
  for (const unsigned char c : text)
    if (c < 128 && std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != '-') out += '-';
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::string namespace_from(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  static const std::vector<std::string> of_the_project{"cluster", "deployment", "machines", "plan"};
  const bool taken = std::isdigit(static_cast<unsigned char>(name[0])) != 0 || std::ranges::count(of_the_project, name) != 0;
  return taken ? "net_" + name : name;
}

void require_deployment_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '+' || c == '-' || c == '.';
  };
  static const std::vector<std::string> taken{"app",  "hosts",   "ranks", "run",     "all", "clean",
                                              "help", "install", "test",  "package", "dice"};
  if (name.size() < 2 || !std::ranges::all_of(name, allowed) || std::isalnum(static_cast<unsigned char>(name[0])) == 0)
    throw usage_error(
        fmt::format("{} cannot name a deployment, because Debian packages are named after it: a --name has at least two "
                    "characters, which are lower-case letters, digits, +, - and ., and begins with a letter or digit",
                    quote(name)));
  if (std::ranges::count(taken, name) != 0)
    throw usage_error(fmt::format(
        "{} is taken by a file of packages or a target of CMake; give the deployment another --name", quote(name)));
}

/// The heading of the layers that onnx2hpp lists.
constexpr const char* list_begins = "  id  name ";

/// The namespace, and header, of the converted model: `name`, or another if this one has a meaning in C++. Throws run_error,
/// with onnx2hpp's messages, if the model cannot be converted.
std::string converted_name(const init_options& given, const std::string& name, const remote::settings& hosts) {
  words command{given.onnx2hpp.empty() ? "onnx2hpp" : given.onnx2hpp};
  if (const auto beside = own_folder() / "onnx2hpp"; given.onnx2hpp.empty() && fs::exists(beside))
    command[0] = beside.string();
  command.insert(command.end(), {given.model, "--list-layers"});
  for (const auto& input : given.inputs) command.insert(command.end(), {"-i", input});
  for (const auto& dim : given.dims) command.insert(command.end(), {"-d", dim});
  command.insert(command.end(), {"--name", ""});
  outcome first;
  for (const auto& tried : {name, "net_" + name}) {
    command.back() = tried;
    if (hosts.verbose || hosts.dry_run) remote::show(command);
    if (hosts.dry_run) return tried;
    outcome result;
    try {
      result = process(command).finish();
    } catch (const run_error&) {
      throw run_error(fmt::format("there is no converter {}; name one with --onnx2hpp FILE", quote(command[0])));
    }
    if (result.ok() && !result.out.starts_with(list_begins))
      throw run_error(
          fmt::format("{} is not onnx2hpp: it lists no layers of the model; name the converter with --onnx2hpp FILE",
                      quote(command[0])));
    if (result.ok()) return tried;
    if (tried == name) first = std::move(result);
  }
  auto said = lines_of(first.err);
  said.push_back("nothing was written, because onnx2hpp does not convert the model");
  throw run_error(std::move(said));
}

/// A path in double quotes, as CMake reads it.
std::string cmake_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == ';') out += '\\';
    out += c;
  }
  return out + "\"";
}

constexpr const char* native_means =
    "# native: all of these hosts have the CPU of the machine where dice-run init ran, so that dice's library there fits "
    "them. If a\n"
    "# host with another CPU joins, or another machine builds, write the value of docs/building.md in its place: x86-64-v3 "
    "for PCs\n"
    "# with AVX2 or AVX-512, x86-64-v2 for older ones, rpi4 … for boards.\n";

std::string lists_text(const init_options& given, const std::string& network, const std::string& model,
                       const std::vector<board_kind>& kinds, const std::string& mpirun_options) {
  std::string boards;
  for (const auto& line : board_lines(kinds)) boards += line + "\n";
  const bool native = std::ranges::count(kinds, "native", &board_kind::dice_board) > 0;
  if (!boards.empty())
    boards =
        std::string("# How programs for the boards of cluster.hpp are compiled.\n") + (native ? native_means : "") + boards;
  std::string sizes;
  for (const auto& input : given.inputs) sizes += " INPUT " + cmake_string(input);
  for (const auto& dim : given.dims) sizes += " DIM " + cmake_string(dim);
  std::string deployment =
      "# ANY_MAPPING: with all kernels, boards of each kind measure all layers, and try other mappings.\n";
  std::string options = " ANY_MAPPING";
  if (!mpirun_options.empty()) {
    deployment += "# Jobs use only the network over which the hosts were measured.\n";
    options += "\n  MPIRUN_OPTIONS " + mpirun_options;
  }
  deployment += fmt::format("dice_add_deployment({} NETWORK {} PLAN plan.hpp{})\n", given.name, network, options);
  return fmt::format(R"(# Made by dice-run init. README.md says what to do with it.
cmake_minimum_required(VERSION 3.25)
project({0} VERSION 1.0 LANGUAGES CXX)

find_package(dice CONFIG REQUIRED)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

{3}# dice-run measure writes the PROFILE; until then it is left out.
dice_add_network({1} ONNX {2}{4} PROFILE {0}.profile.json)
{5})",
                     given.name, network, cmake_string(model), boards, sizes, deployment);
}

std::string plan_text(const std::string& name, const std::string& network) {
  return fmt::format(
      R"(// The plan of the deployment {0}: who computes which layers. dice's docs/partitioning.md has other objectives
// than dice::throughput, limits, and constraints: dice::input_at<"HOST"> for the host with the camera, dice::output_at<"HOST">,
// dice::fewest_devices<5>, dice::whole_layers to split no layers. docs/dsl.md says how mappings are written by hand.
#pragma once

#include <dice/dice.hpp>

#include "{1}.hpp"  // made by onnx2hpp
#include "cluster.hpp"

using deployment = dice::best_mapping<{1}::network, machines, dice::throughput>;
)",
      name, network);
}

std::string readme_text(const init_options& given, const std::string& folder, const cluster_facts& cluster,
                        const std::vector<board_kind>& kinds) {
  const auto& name = given.name;
  std::string watts;  // as options
  for (const auto& w : given.watts) watts += " --watts " + sh_quote(w);
  const std::string to = folder.empty() ? "" : " --to " + sh_quote(folder);
  std::string before, options;
  const host_facts* cross = nullptr;
  // A program also runs with newer libraries than those that it was linked with.
  const auto minor = [](const host_facts& h) {
    return std::atoi(h.glibc.substr(std::min(h.glibc.find('.') + 1, h.glibc.size())).c_str());
  };
  for (const auto& k : kinds)
    for (const auto i : k.hosts)
      if (k.cross && (cross == nullptr || minor(cluster.hosts[i]) < minor(*cross))) cross = &cluster.hosts[i];
  if (cross != nullptr) {
    // Debian's packages fit a host with Debian 12's libraries; else the host's own are taken.
    const bool debian = cross->glibc == "2.36" && cross->open_mpi == "4.1.4";
    options += " -DDICE_SYSROOT=sysroot";
    before = fmt::format(
        R"(Programs for hosts with ARM are compiled with a cross compiler and a folder with the libraries of their system.
Once, in this folder:

```sh
sudo apt install g++-aarch64-linux-gnu rsync
{0}
```

)",
        debian ? fmt::format("{} debian sysroot", sysroot_script())
               : fmt::format("ssh {0} sudo apt install libopenmpi-dev libboost-mpi-dev libxtensor-dev libstb-dev\n{1} board "
                             "{0} sysroot",
                             sh_quote(cross->host), sysroot_script()));
  }
  if (!prefix().empty()) options += fmt::format(" -DCMAKE_PREFIX_PATH={}", sh_quote(prefix()));
  return fmt::format(R"(# {0}

{1}Build the packages, copy them to the hosts, and start the job, here with random frames:

```sh
cmake -S . -B build{2} && cmake --build build --target {0}-packages --parallel $(nproc)
dice-run deploy{5}
dice-run start{5} -- --random 1 --frames 100
```

`dice-run logs` shows what the job prints, `build/{0} --help` all options that `start` takes after `--`, `build/{0} --plan` who computes
what, how fast that should be, and which kind of mapping suits the hosts best, for one frame and for many. `build/{0} --search=latency`
finds the mapping with the shortest latency; write it in `plan.hpp` instead of `best_mapping`. Hosts that would not make the job faster
get no ranks and no package.

Live frames come from the host with the input, here from its camera (`/dev/video0`, by ffmpeg) or from any command; results go to the
log:

```
dice-run start{5} -- --input /dev/video0 --fit letterbox --results json
dice-run start{5} -- --source 'COMMAND' --frames-as rgb24:640x480 --fit letterbox --results json
```

A detector such as YOLOv8 takes pictures otherwise, and `--decode` makes boxes of its numbers: add `--mean 0 --std 1 --border 114
--decode yolov8 --labels labels.txt`. Files that options name lie on the host that reads them: `dice_add_deployment(… FILES
labels.txt)` brings them there. `--sink 'cat >> /path/boxes.jsonl'` writes clean lines of JSON on the host of the last rank.

`dice-run status{5}` says how the job is, `dice-run stop{5}` ends it, and `dice-run install-service{5} -- OPTION…` starts it with the
hosts.

Speeds in `cluster.hpp` are stated or estimated. Measured ones give better predictions, and often a faster plan. This measures the
deployed job's hosts, writes `cluster.hpp` again with what was measured, and finds the plan for it:

```sh
dice-run measure{5} --cluster cluster.hpp    # also writes {0}.profile.json, which CMakeLists.txt names
cmake --build build --target {0}-packages --parallel $(nproc)
dice-run deploy{5}
```

| file | |
|---|---|
| `CMakeLists.txt` | the network, and how programs for each kind of board are compiled |
| `cluster.hpp` | the hosts and their connections; `dice-run check --hosts {3}{4} --cluster cluster.hpp` writes it as it was |
| `plan.hpp` | who computes which layers |
)",
                     name, before, options,
                     [&] {
                       std::vector<std::string> names;
                       for (const auto& h : cluster.hosts) names.push_back(sh_quote(h.host));
                       return fmt::format("{}", fmt::join(names, ","));
                     }(),
                     watts, to);
}

/// Throws run_error unless files can be made in `folder`, which need not be there yet.
void require_place(const fs::path& folder) {
  std::error_code none;
  auto top = fs::absolute(folder);
  while (!fs::exists(top, none) && top.has_relative_path()) top = top.parent_path();
  if (!fs::is_directory(top, none))
    throw run_error(fmt::format("{} is not a folder; name another FOLDER", quote(top.string())));
  if (::access(top.c_str(), W_OK | X_OK) != 0)
    throw run_error(
        fmt::format("nothing can be written in {}: {}; name another FOLDER", quote(top.string()), std::strerror(errno)));
}

/// Writes all files or none, and never replaces any.
void write_project(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& files) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw run_error(fmt::format("{} cannot be made: {}", quote(folder.string()), failed.message()));
  std::vector<std::unique_ptr<dice::files::writer>> writers;
  for (const auto& [name, text] : files) {
    writers.push_back(std::make_unique<dice::files::writer>((folder / name).string()));
    writers.back()->write(text);
  }
  dice::files::commit_all(writers);
}

int init(const common_options& common, init_options given) {
  const fs::path model = given.model;
  std::error_code none;
  if (fs::is_directory(model, none))
    throw usage_error(fmt::format("{} is a folder; name the model's .onnx file", quote(given.model)));
  if (!fs::is_regular_file(model, none)) throw usage_error(fmt::format("there is no model {}", quote(given.model)));
  if (given.name.empty()) given.name = name_from(model.stem().string());
  require_deployment_name(given.name);
  const fs::path folder = given.folder.empty() ? given.name : given.folder;
  if (fs::exists(folder, none) && (!fs::is_directory(folder, none) || !fs::is_empty(folder, none)))
    throw usage_error(fmt::format("{} exists, and is not an empty folder; nothing is overwritten: name another FOLDER",
                                  quote(folder.string())));
  require_place(folder);  // better now than after the measurements
  const auto network = converted_name(given, namespace_from(given.name), common.ssh);
  given.hosts = names_of("--hosts", given.hosts);
  const bool alone = given.hosts.empty();
  if (alone) {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    given.hosts = {name};
  }
  const auto watts = read_watts(given.watts, given.hosts);
  auto cluster = survey(remote(common.ssh), given.hosts, common.folder, given.without_links, given.one_by_one);
  set_watts(watts, cluster.hosts);
  if (common.ssh.dry_run) return 0;
  say(text_of(cluster));
  const auto findings = findings_of(cluster);
  const bool failed = report_findings(findings);
  if (std::ranges::any_of(cluster.hosts, [](const auto& h) { return !h.failure.empty(); }))
    throw run_error("nothing was written, because not all hosts were reached; mend this, or name the other hosts only");
  if (std::ranges::any_of(cluster.hosts, [](const auto& h) { return h.bits == 32; }))
    throw run_error(
        "nothing was written, because not all hosts have a 64-bit system; mend this, or name the other hosts only");
  const auto header = cluster_header(cluster);
  const auto kinds = kinds_of(cluster.hosts);
  for (const auto& k : kinds)
    if (k.foreign)
      throw run_error(
          fmt::format("{}: this machine does not compile for {}; run dice-run init on a machine of this architecture",
                      cluster.hosts[k.hosts.front()].host, cluster.hosts[k.hosts.front()].architecture));
  std::error_code outside;
  auto path = fs::proximate(fs::canonical(model), fs::weakly_canonical(fs::absolute(folder)), outside);
  // With several networks, Open MPI would use them all, and the slow one would set the pace.
  const auto over = measured_network(cluster.hosts, cluster.links);
  const auto mpirun_options = over.empty() ? "" : network_options({over}, cluster.hosts[0].open_mpi);
  write_project(folder, {{"CMakeLists.txt", lists_text(given, network, path.string(), kinds, mpirun_options)},
                         {"cluster.hpp", header},
                         {"plan.hpp", plan_text(given.name, network)},
                         {"README.md", readme_text(given, common.folder, cluster, kinds)}});
  say(fmt::format("\n{}: README.md says how to build the packages, deploy them and start the job{}\n", folder.string(),
                  failed ? "; mend the errors above before you start it" : ""));
  if (cluster.hosts.size() > 1)
    say("the build of the packages says which hosts get no ranks, because they would not make the job faster\n");
  return failed ? 1 : 0;
}

}  // namespace

void add_init(CLI::App& app, const common_options& common, int& exit_code) {
  const auto given = std::make_shared<init_options>();
  auto* command = app.add_subcommand("init", "Write a project for a model and hosts, which builds, deploys and runs");
  command->add_option("MODEL", given->model, "The network, an .onnx file")->type_name("FILE")->required();
  command->add_option("FOLDER", given->folder, "The project's folder, new or empty (default: its name)")->type_name("");
  command->add_option("--hosts", given->hosts, "The hosts (default: this machine alone)")
      ->type_name("A,B,C")
      ->allow_extra_args(false);
  command->add_option("--name", given->name, "The deployment's name (default: from the model's)")->type_name("NAME");
  command->add_option("--onnx2hpp", given->onnx2hpp, "The converter (default: the one beside this program, or on the PATH)")
      ->type_name("FILE");
  add_watts(*command, given->watts);
  for (const auto& [name, values, what] :
       {std::tuple{"-i,--input", &given->inputs, "NAME:SHAPE"}, {"-d,--dimension", &given->dims, "SYMBOL=N"}})
    command->add_option(name, *values, "As for onnx2hpp, for a model that leaves sizes open (may be repeated)")
        ->type_name(what)
        ->allow_extra_args(false);
  command->add_flag("--no-links", given->without_links, "Do not measure the connections: take Gigabit Ethernet");
  command->add_flag("--one-by-one", given->one_by_one, "Measure one connection at a time");
  command->callback([&exit_code, &common, given] { exit_code = init(common, *given); });
}

}  // namespace dice_run
