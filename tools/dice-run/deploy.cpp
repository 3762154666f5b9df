// deploy and rollback: a version on all hosts, or on none.
#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "scripts.hpp"
#include "site.hpp"

#include "dice/text/print.hpp"
#include "dice/text/table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

namespace dice_run {

namespace {

constexpr const char* nothing_done = "nothing was switched on any host";

struct prepared {
  std::string folder, current;
  words missing;
  std::int64_t bytes = 0, free = 0;
  bool running = false;
};

const package_file& file_of(const package& p, const std::string& name) {
  return *std::ranges::find(p.files, name, &package_file::name);
}

prepared read(const package& p, const outcome& result) {
  prepared out;
  for (const auto& line : lines_of(result.out)) {
    const auto value = line.substr(std::min(line.size(), line.find(' ') + 1));
    if (line.starts_with("folder ")) out.folder = value;
    if (line.starts_with("current ")) out.current = value;
    if (line.starts_with("free ")) out.free = std::atoll(value.c_str());
    if (line.starts_with("missing ") && std::ranges::count(p.files, value, &package_file::name) > 0)
      out.missing.push_back(value), out.bytes += file_of(p, value).bytes;
    if (line == "running") out.running = true;
  }
  return out;
}

/// Throws a run_error with `messages`, if there are any, that ends with `consequence`.
void stop_if(std::vector<std::string> messages, const std::string& consequence) {
  if (messages.empty()) return;
  messages.push_back(consequence);
  throw run_error(std::move(messages));
}

std::vector<std::string> failures(const words& hosts, const std::vector<outcome>& results) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (auto text = failure_of(hosts[i], results[i]); !text.empty()) out.push_back(std::move(text));
  return out;
}

std::vector<prepared> prepare(const site& s) {
  const auto results = s.run_all(scripts::prepare, [&](std::size_t i) {
    words out{s.plan.version, s.plan.packages[i].processor};
    for (const auto& f : s.plan.packages[i].files) {
      const auto path = s.plan.packages[i].folder / f.name;
      out.insert(out.end(), {f.name, std::to_string(f.bytes), f.sha256, ::access(path.c_str(), X_OK) == 0 ? "755" : "644"});
    }
    return out;
  });
  auto wrong = failures(s.plan.hosts, results);
  std::vector<prepared> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out.push_back(read(s.plan.packages[i], results[i]));
    constexpr std::int64_t spare = 1 << 20;  // for what the file system itself needs
    if (results[i].ok() && !s.hosts.dry_run() && !out[i].missing.empty() && out[i].free < out[i].bytes + spare)
      wrong.push_back(fmt::format("{}: the disk of {} is full: {} are free, {} are needed; remove something",
                                  s.plan.hosts[i], s.folder, dice::text::bytes_text(out[i].free),
                                  dice::text::bytes_text(out[i].bytes + spare)));
  }
  stop_if(std::move(wrong), nothing_done);
  if (s.hosts.dry_run())  // what is missing is not known
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].folder = fmt::format("{}/.dice-run/{}/{}.part", s.folder, s.plan.name, s.plan.version);
      for (const auto& f : s.plan.packages[i].files) out[i].missing.push_back(f.name);
    }
  return out;
}

void copy(const site& s, const std::vector<prepared>& states) {
  std::vector<outcome> results(states.size());
  for_all(states.size(), [&](std::size_t i) {
    const auto& [folder, current, missing, bytes, free, running] = states[i];
    if (missing.empty()) return;
    const auto& host = s.plan.hosts[i];
    // The current version's file is probably like the new one: rsync sends the differences.
    const auto basis = current.empty() || current == s.plan.version ? "" : "../" + current;
    results[i] = s.hosts.send(missing, s.plan.packages[i].folder, host, folder, basis);
    if (results[i].err.find("No space left on device") == std::string::npos) return;
    s.run(host, "rm -rf \"$base\"/*.part");
    results[i].err = fmt::format("the disk of {} is full; remove something", s.folder);
  });
  stop_if(failures(s.plan.hosts, results),
          std::string(nothing_done) + "; the next deploy goes on with what has been copied");
  const auto completed = s.run_all(scripts::complete, [&](std::size_t i) {
    words out{s.plan.version};
    for (const auto& name : states[i].missing) out.insert(out.end(), {name, file_of(s.plan.packages[i], name).sha256});
    return out;
  });
  stop_if(failures(s.plan.hosts, completed), nothing_done);
}

/// Hosts' current and previous versions.
struct versions {
  std::string current, previous;
};

/// While it lives, neither this program nor those that it starts end by Ctrl-C and the like.
class uninterrupted {
 public:
  uninterrupted() {
    for (std::size_t i = 0; i < signals.size(); ++i) before_[i] = std::signal(signals[i], SIG_IGN);
  }
  uninterrupted(const uninterrupted&) = delete;
  ~uninterrupted() {
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), signals.size()> before_{};
};

/// All hosts get the versions `to`, or, if one of them fails, all get those of `before` back.
void switch_all(const site& s, const std::vector<versions>& before, const std::vector<versions>& to) {
  const uninterrupted until_all_have_one_version;
  const auto point_to = [&](const std::vector<versions>& all) {
    return failures(s.plan.hosts, s.run_all(scripts::point, [&](std::size_t i) {
      return words{all[i].current, all[i].previous};
    }));
  };
  auto wrong = point_to(to);
  if (wrong.empty()) return;
  // Also on hosts that failed: a connection can end when the host has switched.
  const bool back = point_to(before).empty();
  stop_if(std::move(wrong),
          back ? nothing_done
               : "hosts may have different versions now (dice-run status shows them); when all hosts answer again, "
                 "deploy again");
}

int deploy(const common_options& common) {
  const site s(common);
  const host_locks locks(s);
  const auto states = prepare(s);
  std::int64_t bytes = 0;
  bool new_somewhere = false, running = false;
  for (const auto& state : states) {
    bytes += state.bytes;
    new_somewhere = new_somewhere || state.current != s.plan.version;
    running = running || state.running;
  }
  copy(s, states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& p = s.plan.packages[i];
    if (states[i].missing.empty()) fmt::print("{}: has all files already\n", p.host);
    else
      fmt::print("{}: {} of {} files copied, {}\n", p.host, states[i].missing.size(), p.files.size(),
                 dice::text::bytes_text(states[i].bytes));
  }
  if (!new_somewhere && !s.hosts.dry_run()) {
    fmt::print("{} is on all hosts already, in {}; {} copied\n", s.title(), s.folder, dice::text::bytes_text(bytes));
    return 0;
  }
  std::vector<versions> before, to;
  for (const auto& h : s.survey()) {
    if (!h.failure.empty()) throw run_error({h.failure, nothing_done});
    before.push_back({h.current, h.previous});
    to.push_back({s.plan.version, h.current == s.plan.version ? h.previous : h.current});
  }
  switch_all(s, before, to);
  for (const auto& text : failures(s.plan.hosts, s.run_all(scripts::clean)))
    report("warning", "old versions are left: " + text);
  fmt::print("{} is now on all hosts, in {}; {} copied\n", s.title(), s.folder, dice::text::bytes_text(bytes));
  if (running)
    report("warning", "a job is running, with the version that it was started with; dice-run stop and start change it");
  return 0;
}

int rollback(const common_options& common) {
  const site s(common);
  const host_locks locks(s);
  const auto states = s.survey();
  std::vector<std::string> wrong;
  for (const auto& h : states)
    if (!h.failure.empty()) wrong.push_back(h.failure);
  stop_if(std::move(wrong), nothing_done);
  if (s.hosts.dry_run()) return 0;
  for (const auto& h : states)
    if (h.previous.empty()) wrong.push_back(fmt::format("{}: there is no previous version", h.host));
    else if (h.previous != states[0].previous)
      wrong.push_back(fmt::format("{} has the previous version {}, {} has {}; deploy the version that you need",
                                  states[0].host, states[0].previous, h.host, h.previous));
  stop_if(std::move(wrong), nothing_done);
  std::vector<versions> before, to;
  for (const auto& h : states) before.push_back({h.current, h.previous}), to.push_back({h.previous, h.current});
  switch_all(s, before, to);
  dice::text::print(fmt::format("{} {} is now on all hosts, and {} is the previous version\n", s.plan.name, to[0].current,
                                to[0].previous));
  if (std::ranges::any_of(states, [](const auto& h) { return !h.processes.empty(); }))
    report("warning", "a job is running, with the version that it was started with; dice-run stop and start change it");
  return 0;
}

}  // namespace

void add_deploy(CLI::App& app, const common_options& common, int& exit_code) {
  app.add_subcommand("deploy", "Copy the packages to all hosts and switch to them, on all hosts or on none")->callback([&] {
    exit_code = deploy(common);
  });
  app.add_subcommand("rollback", "Switch all hosts back to the version before; twice: forward again")->callback([&] {
    exit_code = rollback(common);
  });
}

}  // namespace dice_run
