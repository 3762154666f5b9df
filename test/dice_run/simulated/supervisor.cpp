// The supervisor of a job on a simulated host (supervise.sh), mpirun and the ranks.
#include "world.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

namespace simulated {

namespace {

bool is_up(const host& h) { return h.is_on && h.is_reached; }

/// What signals have told a process.
struct told {
  bool to_end = false, to_terminate = false;
  std::function<void(int)> by_signals() {
    return [this](int signal) { (signal == SIGUSR1 ? to_end : to_terminate) = true; };
  }
};

/// Starts a rank. It ends with its mpirun, whose life is `job`, or if its host and that of mpirun do not reach each other.
std::weak_ptr<int> start_rank(world& w, host& g, host& by, const std::string& name, const std::string& version,
                              const std::shared_ptr<int>& job) {
  w.check(w.is_complete(g, version), g.name + " runs the version " + version + ", which is not complete");
  const auto life = std::make_shared<int>(0);
  const auto signals = std::make_shared<told>();
  const bool is_deaf = w.below(10) == 0;
  w.spawn_process(g, {.program = name, .version = version, .is_rank = true, .signal = signals->by_signals()},
                  [&w, &g, &by, job = std::weak_ptr(job), life, signals, is_deaf] {
                    w.wait([&] {
                      return (job.expired() && !is_deaf) || (signals->to_terminate && !is_deaf) ||
                             (&g != &by && (!is_up(g) || !is_up(by)));
                    });
                  });
  return life;
}

/// Those of a version, as its file says.
std::vector<host*> hosts_of(world& w, const host& h, const std::string& version_folder) {
  std::vector<host*> out;
  std::istringstream in(h.files.text(version_folder + "/hosts"));
  for (std::string line; std::getline(in, line);) out.push_back(&w.hosts.at(line));
  return out;
}

/// mpirun: starts a rank on each host of a version, and ends with them. Returns its exit status.
int mpirun(world& w, host& h, const std::string& name, const std::string& version, const told& signals, bool ends) {
  const auto life = std::make_shared<int>(0);
  const auto folder = ".dice-run/" + name + "/" + version;
  w.check(h.files.has_file(folder + "/hosts"), h.name + " has no version " + version + " any more, and runs it");
  const auto on = hosts_of(w, h, folder);
  const auto is_cut_off = [&](host* g) { return g != &h && (!is_up(*g) || !is_up(h)); };
  const auto is_told = [&] { return signals.to_end || signals.to_terminate; };
  std::vector<std::weak_ptr<int>> ranks;
  for (auto* const g : on) {
    w.step();
    if (is_told()) return 3;
    if (is_cut_off(g)) return 1;
    ranks.push_back(start_rank(w, *g, h, name, version, life));
  }
  const auto is_lost = [&] {
    return std::ranges::any_of(on, is_cut_off) ||
           std::ranges::any_of(ranks, [](const auto& rank) { return rank.expired(); });
  };
  if (!w.wait([&] { return is_told() || is_lost(); }, ends)) return w.faithful_jobs ? 0 : w.below(2);
  return is_told() ? 3 : 1;
}

/// What is true of a job while it lives.
class record {
 public:
  record(world& w, job j) : w_(w), job_((w.jobs.push_back(std::move(j)), w.jobs.back())) {
    job_.born = w.now;
    w.check_one_job(job_);
  }
  record(const record&) = delete;
  ~record() { job_.died = w_.now; }
  void is(const std::string& truth) {
    if (!job_.truth.empty()) job_.was.emplace_back(w_.now, job_.truth);
    job_.truth = truth;
  }
  void ends(const std::string& how) { job_.end = how; }

 private:
  world& w_;
  job& job_;
};

class supervisor {
 public:
  supervisor(world& w, host& h, std::string name, long number, std::string version, int restarts)
      : w_(w), h_(h), name_(std::move(name)), number_(number), version_(std::move(version)), restarts_(restarts) {}
  told signals;

  void run(record& truth) {
    for (;;) {
      began_ = std::to_string(h_.clock);
      up_ = std::to_string(h_.uptime);
      h_.files.write(folder_() + "/log", "starts version " + version_ + "\n");
      w_.step();
      if (h_.files.is_full) return finish(truth, "failed");  // no room for a fifo
      save("running");
      truth.is("running");
      const int code = mpirun(w_, h_, name_, version_, stop_, !w_.faithful_jobs);
      ended_ = std::to_string(h_.clock);
      began_ = std::to_string(h_.clock - h_.uptime + std::atoll(up_.c_str()));
      code_ = std::to_string(code);
      if (signals.to_end) return finish(truth, "stopped");
      if (code == 0) return finish(truth, "ended");
      if (count_ >= restarts_) return finish(truth, "failed");
      ++count_;
      save("waiting");
      truth.is("waiting");
      w_.wait([&] { return signals.to_end; }, true);
      const bool is_outdated = !signals.to_end && knows_newer();
      if (signals.to_end) return finish(truth, "stopped");
      if (is_outdated) return finish(truth, "failed");
    }
  }
  /// Signals come to the supervisor; SIGUSR1 it hands on.
  std::function<void(int)> by_signals() {
    return [this](int signal) {
      if (signal == SIGUSR1) signals.to_end = stop_.to_end = true;
    };
  }

 private:
  world& w_;
  host& h_;
  std::string name_;
  long number_;
  std::string version_;
  int restarts_, count_ = 0;
  std::string began_ = "-", code_ = "-", ended_ = "-", up_ = "-";
  told stop_;

  std::string folder_() const { return ".dice-run/" + name_ + "/job"; }
  /// Whether a host that it reaches knows of a newer job (ask_hosts).
  bool knows_newer() {
    const auto last_job = ".dice-run/" + name_ + "/last_job";
    bool out = false;
    for (auto* const g : hosts_of(w_, h_, ".dice-run/" + name_ + "/" + version_)) {
      w_.step();
      out = out || (g != &h_ && is_up(*g) && is_up(h_) && std::atol(g->files.target(last_job).c_str()) > number_);
    }
    return out;
  }
  void save(const std::string& phase) {
    const auto path = folder_() + "/state";
    w_.step();
    h_.files.point(path + ".new", phase + " " + std::to_string(number_) + " " + began_ + " " + std::to_string(count_) + " " +
                                      code_ + " " + ended_ + " " + up_);
    w_.step();
    h_.files.rename(path + ".new", path);
  }
  void finish(record& truth, const std::string& phase) {
    save(phase);
    truth.ends(phase);
  }
};

}  // namespace

int supervise(world& w, host& h, std::shared_ptr<caller> by, const std::string& name, long number,
              const std::string& version, int restarts, kernel_lock::key lock) {
  if (!w.jobs_begin) return 0;
  const auto one = std::make_shared<supervisor>(w, h, name, number, version, restarts);
  const auto truth =
      std::make_shared<record>(w, job{.number = number, .host = h.name, .version = version, .by = std::move(by)});
  truth->is("starting");
  return w.spawn_process(h, {.program = "sh", .version = version, .signal = one->by_signals()},
                         [one, truth, lock] { one->run(*truth); });
}

int run_bench(world& w, host& h, std::shared_ptr<caller> by, const std::string& name, const std::string& version) {
  if (!w.jobs_begin) return 0;
  told signals;
  const auto shown = w.show_process(h, {.program = "mpirun", .version = version, .signal = signals.by_signals()});
  record truth(w, job{.host = h.name, .version = version, .by = std::move(by)});
  truth.is("running");
  return mpirun(w, h, name, version, signals, true);
}

}  // namespace simulated
