// deploy and rollback: a version on all hosts, or on none.
#include "deploy.hpp"

#include "diagnostics.hpp"
#include "host_locks.hpp"
#include "options.hpp"
#include "scripts.hpp"
#include "signals.hpp"
#include "suitability.hpp"

#include "dice/report/progress_line.hpp"
#include "dice/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace dice_run {

namespace {

constexpr const char* nothing_done = "nothing was switched on any host";

struct prepared {
  std::string folder, current;
  words missing, staged;              ///< files to copy, and those that the host already has outside the version's folder
  std::int64_t bytes = 0, free = -1;  ///< free: -1 if it is not known
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
    if (line.starts_with("staged ")) out.staged.push_back(value);
    if (line.starts_with("missing ") && std::ranges::count(p.files, value, &package_file::name) > 0) {
      out.missing.push_back(value);
      out.bytes += file_of(p, value).bytes;
    }
  }
  return out;
}

/// If there are `messages`, throws a run_error with them, and with `consequence` at the end.
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
  const auto results = s.run_all(s.plan.hosts, scripts::prepare, [&](std::size_t i) {
    words out{s.plan.version};
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
    if (results[i].ok() && !out[i].missing.empty() && out[i].free >= 0 && out[i].free < out[i].bytes + spare)
      wrong.push_back(fmt::format("{}: the disk of {} is full: {} are free, {} are needed; remove something",
                                  s.plan.hosts[i], s.folder, dice::text::bytes_text(out[i].free),
                                  dice::text::bytes_text(out[i].bytes + spare)));
  }
  stop_if(std::move(wrong), nothing_done);
  if (s.hosts->dry_run())  // what is missing is not known
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].folder = fmt::format("{}/.dice-run/{}/{}.part", s.folder, s.plan.name, s.token);
      for (const auto& f : s.plan.packages[i].files) out[i].missing.push_back(f.name);
    }
  return out;
}

/// How much all hosts have got so far, and which is the slowest.
class copied_so_far {
 public:
  copied_so_far(const words& hosts, const std::vector<prepared>& states)
      : hosts_(hosts), states_(states), percent_(hosts.size()) {}
  void set(std::size_t host, int percent, dice::report::progress_line& line) {
    const std::lock_guard lock(guard_);
    percent_[host] = std::clamp(percent, 0, 100);
    std::int64_t done = 0, all = 0;
    std::size_t last = host;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].missing.empty()) continue;
      done += states_[i].bytes * percent_[i] / 100;
      all += states_[i].bytes;
      if (percent_[i] < percent_[last]) last = i;
    }
    line.show_now([&] {
      return fmt::format("copying: {} of {}; {}: {} %", dice::text::bytes_text(done), dice::text::bytes_text(all),
                         hosts_[last], percent_[last]);
    });
  }

 private:
  const words& hosts_;
  const std::vector<prepared>& states_;
  std::vector<int> percent_;
  std::mutex guard_;
};

void copy(const site& s, const std::vector<prepared>& states) {
  std::vector<outcome> results(states.size());
  const bool is_shown = !listener && ::isatty(STDERR_FILENO) == 1;
  dice::report::progress_line line(is_shown ? stderr : nullptr);
  copied_so_far so_far(s.plan.hosts, states);
  s.hosts->at_once(states.size(), [&](std::size_t i) {
    const auto& [folder, current, missing, staged, bytes, free] = states[i];
    if (missing.empty()) return;
    const auto& host = s.plan.hosts[i];
    // The current version's file is probably like the new one: rsync sends the differences.
    const auto basis = current.empty() || current == s.plan.version ? "" : "../" + current;
    std::function<void(int)> told;
    if (is_shown) told = [&, i](int percent) { so_far.set(i, percent, line); };
    results[i] = s.hosts->send(missing, s.plan.packages[i].folder, host, folder, basis, told);
    if (results[i].err.find("No space left on device") == std::string::npos) return;
    s.run(host, scripts::discard);
    results[i].err = fmt::format("the disk of {} is full; remove something", s.folder);
  });
  stop_if(failures(s.plan.hosts, results),
          std::string(nothing_done) + "; the next deploy goes on with what has been copied");
  line.show_now([] { return std::string("the hosts check what they have got"); });
  const auto completed = s.run_all(s.plan.hosts, scripts::complete, [&](std::size_t i) {
    words out{s.plan.version};
    for (const auto& name : states[i].missing) out.insert(out.end(), {name, file_of(s.plan.packages[i], name).sha256});
    for (const auto& name : states[i].staged) out.insert(out.end(), {name, "-"});
    return out;
  });
  stop_if(failures(s.plan.hosts, completed), nothing_done);
}

/// A host's current and previous versions.
struct versions {
  std::string current, previous;
};

/// The states of the hosts that are locked.
std::vector<host_state> reached(const host_locks& locks) {
  std::vector<host_state> out;
  for (const auto& h : locks.states)
    if (h.failure.empty()) out.push_back(h);
  return out;
}

/// Tells all locked hosts which hosts may have something of the deployment.
std::vector<std::string> remember(const site& s, const host_locks& locks, const words& members) {
  return failures(locks.locked(), s.run_all(locks.locked(), scripts::remember, members));
}

/// Switches all locked hosts to the versions `to` or, if one of them fails, all back to their old ones. `done` is the
/// message in the first case.
void switch_all(const site& s, const host_locks& locks, const std::vector<versions>& to, const std::string& done) {
  locks.require();
  const auto all = reached(locks);
  const uninterrupted until_all_have_one_version;
  const auto change = [&](const words& hosts, bool back) {
    return s.run_all(hosts, scripts::switch_to, [&](std::size_t i) {
      const auto at = static_cast<std::size_t>(std::ranges::find(all, hosts[i], &host_state::host) - all.begin());
      words found{all[at].current, all[at].previous}, next{to[at].current, to[at].previous};
      if (back) std::swap(found, next);
      found.insert(found.end(), next.begin(), next.end());
      return found;
    });
  };
  const auto hosts = locks.locked();
  const auto results = change(hosts, false);
  auto wrong = failures(hosts, results);
  if (wrong.empty()) return if_interrupted(done);
  words changed;  // including hosts that are not reached: a connection can end after the host has switched
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (!results[i].failure.empty() || !results[i].out.empty()) changed.push_back(hosts[i]);
  const std::string now = failures(changed, change(changed, true)).empty()
                              ? nothing_done
                              : "hosts may have different versions now (dice-run status shows them); when all hosts answer "
                                "again, deploy again";
  if_interrupted(now);
  stop_if(std::move(wrong), now);
}

/// Removes what no host needs any more. Returns the hosts that still may have something.
words clean_up(const site& s, const host_locks& locks, words members) {
  words of_jobs;
  for (const auto& h : locks.states)
    if (h.supervised && !h.of_job("version").empty()) of_jobs.push_back(h.of_job("version"));
  const auto hosts = locks.locked();
  const auto results = s.run_all(hosts, scripts::clean, of_jobs);
  for (const auto& text : failures(hosts, results)) report("warning", "old versions are left: " + text);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (results[i].ok() && results[i].out.empty()) std::erase(members, hosts[i]);
  return members;
}

void warn_of_job(const std::vector<host_state>& all, const char* version) {
  if (std::ranges::any_of(all, [](const auto& h) { return h.supervised || !h.processes.empty(); }))
    report("warning", fmt::format("a job is running, with the version that it was started with; to run {}: dice-run stop, "
                                  "then dice-run start",
                                  version));
}

/// Names the hosts that had the current version but are no longer in the plan.
void say_who_left(const std::vector<host_state>& all) {
  for (const auto& h : all)
    if (!h.planned && !h.current.empty())
      report("note", fmt::format("{} has no ranks any more; it keeps {} for rollback", h.host, h.current));
}

void warn_of_unreached(const std::vector<host_state>& all) {
  for (const auto& h : all)
    if (!h.planned && !h.failure.empty())
      report("warning",
             fmt::format(
                 "{}; an earlier version ran there; later commands ask it again. If it is gone for good: dice-run deploy "
                 "--forget {}",
                 h.failure, h.host));
}

/// Throws run_error if one of the hosts to forget is not remembered: its name is wrong, or it was forgotten before. The
/// previous version may still name such a host; the current one does only if a deploy that forgot it was cut off.
void require_known(const site& s, const std::vector<host_state>& all, const words& forgotten) {
  words known;
  for (const auto& h : all)
    for (const auto* of : {h.members.empty() ? &h.of_previous : &h.members, &h.of_current})
      for (const auto& host : *of)
        if (std::ranges::count(known, host) == 0) known.push_back(host);
  std::ranges::sort(known);
  std::vector<std::string> wrong;
  for (const auto& host : forgotten)
    if (std::ranges::count(known, host) == 0)
      wrong.push_back(fmt::format("--forget: none of the hosts that answer remembers {}; {}", quote(host),
                                  known.empty() ? fmt::format("{} is not deployed there", s.plan.name)
                                                : fmt::format("they remember {}", fmt::join(known, ", "))));
  stop_if(std::move(wrong), nothing_done);
}

}  // namespace

int deploy(const site& s, const words& forgotten) {
  if_interrupted(std::string(nothing_done) + "; the next deploy goes on from here");
  for (const auto& host : forgotten)
    if (std::ranges::count(s.plan.hosts, host) > 0)
      throw usage_error(fmt::format("--forget: {} is a host of these packages; take it out of the plan first", quote(host)));
  const auto answers = s.run_all(forgotten, scripts::survey);
  for (std::size_t i = 0; i < forgotten.size(); ++i)
    for (const auto& line : lines_of(answers[i].out))
      if (line == "supervised" || line.starts_with("process "))
        throw run_error(
            fmt::format("--forget is for hosts that are gone, and on {} a process of {} runs; dice-run stop ends it",
                        forgotten[i], s.plan.name));
  for (const auto& p : s.plan.packages)
    for (const auto& file : p.unlisted)
      report("warning",
             fmt::format("{} is not copied, because manifest.json does not list it", quote((p.folder / file).string())));
  require_suitable(s, s.plan, facts_of(s, s.plan.hosts), "nothing was changed on any host");
  const host_locks locks(s, forgotten);
  if (!s.hosts->dry_run()) require_known(s, locks.states, forgotten);
  const auto states = prepare(s);
  std::int64_t bytes = 0;
  for (const auto& state : states) bytes += state.bytes;
  copy(s, states);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& p = s.plan.packages[i];
    if (states[i].missing.empty()) say(fmt::format("{}: has all files already\n", p.host));
    else
      say(fmt::format("{}: {} of {} files copied, {}\n", p.host, states[i].missing.size(), p.files.size(),
                      dice::text::bytes_text(states[i].bytes)));
  }
  if (s.hosts->dry_run()) {
    switch_all(s, locks, std::vector<versions>(locks.states.size(), {s.plan.version, ""}), nothing_done);
    return 0;
  }
  const auto all = reached(locks);
  words members;
  for (const auto& h : locks.states) members.push_back(h.host);
  std::vector<versions> to;
  bool changes = false, knows_all = true;
  for (const auto& h : all) {
    const std::string version = h.planned ? s.plan.version : "";
    to.push_back({version, h.current == s.plan.version ? h.previous : h.current});
    changes = changes || h.current != version;
    knows_all = knows_all && h.members == members;
  }
  if (!knows_all) stop_if(remember(s, locks, members), nothing_done);
  if (changes) switch_all(s, locks, to, s.title() + " is now on all hosts");
  auto left = clean_up(s, locks, members);
  for (const auto& host : s.plan.hosts)
    if (std::ranges::count(left, host) == 0) left.push_back(host);
  if (left.size() < members.size())
    for (const auto& text : remember(s, locks, left)) report("warning", "hosts that it has left are asked again: " + text);
  conclude(fmt::format("{} is {}, in {}; {} copied\n", s.title(), changes ? "now on all hosts" : "on all hosts already",
                       s.folder, dice::text::bytes_text(bytes)));
  say_who_left(all);
  for (const auto& host : forgotten) say(fmt::format("{} is forgotten\n", host));
  warn_of_unreached(locks.states);
  if (changes) warn_of_job(all, "the new version");
  return 0;
}

int rollback(const site& s) {
  if_interrupted(nothing_done);
  const host_locks locks(s);
  if (s.hosts->dry_run()) return 0;
  const auto all = reached(locks);
  std::vector<std::string> wrong;
  const auto with_previous = std::ranges::find_if(all, [](const auto& h) { return h.planned && !h.previous.empty(); });
  const auto version = with_previous == all.end() ? "" : with_previous->previous;
  const auto needed =
      with_previous == all.end() || with_previous->of_previous.empty() ? s.plan.hosts : with_previous->of_previous;
  for (const auto& host : needed) {
    const auto known = std::ranges::find(locks.states, host, &host_state::host);
    if (known == locks.states.end()) {
      wrong.push_back(fmt::format(
          "{}: the previous version needs this host, which was forgotten; deploy the version that you need", host));
      continue;
    }
    const auto& h = *known;
    if (!h.failure.empty()) wrong.push_back(h.failure);
    else if (h.previous.empty()) wrong.push_back(fmt::format("{}: there is no previous version", host));
    else if (h.previous != version)
      wrong.push_back(fmt::format("{} has the previous version {}, {} has {}; deploy the version that you need",
                                  with_previous->host, version, host, h.previous));
  }
  stop_if(std::move(wrong), nothing_done);
  std::vector<versions> to;
  for (const auto& h : all) to.push_back({std::ranges::count(needed, h.host) > 0 ? version : "", h.current});
  const auto done = fmt::format(
      "{} {} is now on {}", s.plan.name, version,
      std::ranges::is_permutation(needed, s.plan.hosts) ? "all hosts" : fmt::format("{}", fmt::join(needed, ", ")));
  switch_all(s, locks, to, done);
  const auto back = std::ranges::find_if(all, [&](const auto& h) { return h.previous == version && !h.current.empty(); });
  conclude(done + (back == all.end() ? "\n" : fmt::format(", and {} is the previous version\n", back->current)));
  warn_of_unreached(locks.states);
  warn_of_job(all, "this version");
  return 0;
}

void add_deploy(CLI::App& app, const common_options& common, int& exit_code) {
  const auto forgotten = std::make_shared<words>();
  auto* command = app.add_subcommand("deploy", "Copy the packages to all hosts and switch to them, on all hosts or on none");
  command
      ->add_option("--forget", *forgotten,
                   "Hosts of earlier deployments that are gone for good: they are not asked any more")
      ->type_name("HOST");
  command->callback([&exit_code, &common, forgotten] {
    const auto hosts = names_of("--forget", *forgotten);
    exit_code = deploy(site(common), hosts);
  });
  app.add_subcommand("rollback", "Switch all hosts back to the version before; twice: forward again")->callback([&] {
    exit_code = rollback(site(common));
  });
}

}  // namespace dice_run
