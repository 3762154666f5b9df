// What tools/dice-run/scripts/*.sh do, step by step, on hosts in memory. model_test.cpp compares them with real shells.
#include "world.hpp"

#include "dice/files/sha256.hpp"

#include <algorithm>
#include <csignal>
#include <map>

namespace simulated {

namespace {

struct exit_status {
  int code;
};

words lines(const std::string& text) {
  words out;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

words split(const std::string& text) {
  static constexpr const char* blanks = " \t\n";
  words out;
  for (std::size_t begin = 0, end = 0; (begin = text.find_first_not_of(blanks, end)) != std::string::npos;) {
    end = std::min(text.find_first_of(blanks, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

std::string digest(const std::string& text) {
  dice::files::sha256 hash;
  hash.add(text);
  return hash.text();
}

bool has(const words& all, const std::string& one) { return std::ranges::count(all, one) > 0; }

/// A shell that runs one script. Its members are named like what they stand for in prelude.sh.
class shell {
 public:
  shell(world& w, host& h, call& c, std::string script, words arguments)
      : w_(w),
        h_(h),
        fs_(h.files),
        c_(c),
        script_(std::move(script)),
        name_(arguments.at(1)),
        token_(arguments.at(3)),
        call_(std::stol(arguments.at(4))),
        base_(".dice-run/" + name_),
        link_(name_),
        args_(arguments.begin() + 5, arguments.end()) {}

  int run() {
    using function = void (shell::*)();
    static const std::map<std::string, function> all{
        {"lock", &shell::lock},       {"survey", &shell::survey},     {"prepare", &shell::prepare},
        {"discard", &shell::discard}, {"complete", &shell::complete}, {"switch_to", &shell::switch_to},
        {"clean", &shell::clean},     {"remember", &shell::remember}, {"announce", &shell::announce},
        {"start", &shell::start},     {"stop", &shell::stop},         {"bench", &shell::bench},
        {"output", &shell::output},   {"facts", &shell::facts}};
    try {
      (this->*all.at(script_))();
      return 0;
    } catch (const exit_status& e) {
      return e.code;
    }
  }

 private:
  world& w_;
  host& h_;
  file_system& fs_;
  call& c_;
  std::string script_, name_, token_;
  long call_;
  std::string base_, link_;
  words args_;
  kernel_lock::key mutex_, lock_, job_lock_;

  /// A step of the table in docs/dice-run-hosts.md; before it, others may run, and the shell may be killed.
  void at(const std::string& step) {
    w_.steps_seen[script_].insert(step);
    w_.step();
    if (w_.kill_after >= 0 && w_.kill_after-- == 0) throw killed();
  }
  void echo(const std::string& line) {
    if (c_.is_cut && w_.below(2)) throw killed();  // by SIGPIPE
    c_.result.out += line + "\n";
  }
  [[noreturn]] void fail(const std::string& text) {
    c_.result.err += text + "\n";
    throw exit_status{1};
  }
  void require(bool ok) {
    if (!ok) fail("no room");
  }

  void point(const std::string& path, const std::string& target, const std::string& beside, const std::string& step) {
    at(step + " beside");
    fs_.point(beside + ".new", target);
    at(step);
    fs_.rename(beside + ".new", path);
  }
  void fenced() {
    require(fs_.has_folder(base_));
    at("mutex");
    if (!w_.wait([&] { return h_.mutex.is_free(); }, true))
      fail("another change of " + name_ + " here does not end; try again");
    mutex_ = h_.mutex.take();
    at("fence");
    const auto holder = fs_.target(base_ + "/holder");
    if (!holder.starts_with(token_ + " ")) fail("this dice-run has lost its lock: " + rest(rest(holder)) + " has taken it");
    if (std::stol(rest(holder)) >= call_) fail("this call comes too late");
    point(base_ + "/holder", token_ + " " + std::to_string(call_) + " " + rest(rest(holder)), base_ + "/holder", "call");
  }
  void require_not_stopped() {
    at("stopped?");
    if (fs_.target(base_ + "/stopped") == token_) fail("dice-run stop has come before it began; nothing is started");
  }
  static std::string rest(const std::string& line) { return line.substr(std::min(line.size(), line.find(' ') + 1)); }
  void take_job_lock() {
    require(fs_.has_folder(base_));
    if (!h_.job_lock.is_exclusive()) {
      const auto shared = h_.job_lock.share();
      settle("lost");
    }
    if (!w_.wait([&] { return h_.job_lock.is_free(); }, true)) fail(name_ + " runs already; dice-run stop ends it");
    job_lock_ = h_.job_lock.take();
  }
  bool supervised() const { return h_.job_lock.is_exclusive(); }
  void settle(const std::string& phase) {
    auto was = split(fs_.target(base_ + "/job/state"));
    if (was.empty() || (was[0] != "starting" && was[0] != "running" && was[0] != "waiting")) return;
    was.resize(5);
    const auto or_else = [](const std::string& text, const char* other) { return text.empty() ? other : text; };
    point(base_ + "/job/state",
          phase + " " + was[1] + " " + or_else(was[2], "-") + " " + or_else(was[3], "0") + " " + or_else(was[4], "-") + " " +
              std::to_string(h_.clock),
          base_ + "/job/state", "settle");
    for (const auto& j : w_.jobs)
      w_.check(j.host != h_.name || !w_.is_live(j) || j.number == 0, "the state of a job that lives becomes " + phase);
  }
  std::string version_of(const std::string& path) const {
    const auto target = fs_.target(path);
    const auto version = target.substr(target.rfind('/') + 1);
    return fs_.has_folder(base_ + "/" + version) ? version : "";
  }
  std::string identity(int pid) const { return std::to_string(pid) + " 1 " + std::to_string(h_.boot); }
  words processes() const {
    words out;
    for (const auto& [pid, p] : h_.processes) out.push_back(std::to_string(pid));
    return out;
  }

  void lock() {
    at("folders");
    require(fs_.make_folder(base_));
    at("lock");
    if (!h_.lock.is_free()) {
      const auto holder = fs_.target(base_ + "/holder");
      fail("another dice-run is at work here: " + rest(rest(holder)) + "; wait until it ends");
    }
    lock_ = h_.lock.take();
    at("mutex");
    if (!w_.wait([&] { return h_.mutex.is_free(); }, true)) fail("a change of " + name_ + " here does not end; try again");
    mutex_ = h_.mutex.take();
    w_.check_promises();
    point(base_ + "/holder", token_ + " " + std::to_string(call_) + " " + args_[0], base_ + "/holder", "holder");
    mutex_.reset();
    echo("locked");
    c_.holds = true;
    // Signs of life end with the connection, or stop with the dice-run.
    w_.wait(
        [&] { return c_.input_is_closed || c_.is_cut || c_.from->is_killed || (c_.from->is_stopped && w_.happens(20)); });
  }

  void survey() {
    at("read");
    echo("current " + version_of(link_));
    echo("previous " + version_of(base_ + "/previous"));
    echo("clock " + std::to_string(h_.clock));
    echo("uptime " + std::to_string(h_.uptime));
    echo("now " + std::to_string(h_.uptime));
    const auto hosts = [&](const std::string& of, const std::string& path) {
      for (const auto& line : lines(fs_.text(path))) echo(of + " " + line);
    };
    at("read");
    hosts("members", base_ + "/members");
    hosts("current_host", base_ + "/" + version_of(link_) + "/hosts");
    hosts("previous_host", base_ + "/" + version_of(base_ + "/previous") + "/hosts");
    hosts("current_rank", base_ + "/" + version_of(link_) + "/ranks");
    at("read");
    for (const auto& [pid, p] : h_.processes)
      echo("process " + std::to_string(pid) + " 0 0 " + (p.is_rank ? "1 " : "0 ") + p.program);
    at("read");
    bool lives = false;
    auto before = record(), job = before;
    for (int attempt = 0; attempt < 5; ++attempt) {
      at("read");
      lives = supervised();
      job = record();
      if (job == before) break;
      before = job;
    }
    if (lives) echo("supervised");
    for (const auto& line : job) echo("job " + line);
    at("read");
    if (const auto last = fs_.target(base_ + "/last_job"); !last.empty()) echo("last_job " + last);
  }
  words record() {
    words out;
    at("read");
    const auto state = split(fs_.target(base_ + "/job/state"));
    const char* const keys[]{"phase", "number", "run", "restarts", "exit", "ended", "uptime"};
    for (std::size_t i = 0; i < state.size() && i < 7; ++i)
      if (state[i] != "-") out.push_back(std::string(keys[i]) + " " + state[i]);
    at("read");
    const auto about = lines(fs_.text(base_ + "/job/about"));
    if (!about.empty() && (state.size() < 2 || about[0] == "number " + state[1]))
      out.insert(out.end(), about.begin(), about.end());
    return out;
  }

  void facts() {  // these hosts are all fit
    at("read");
  }

  void prepare() {
    const auto version = args_[0], old = version_of(link_), fresh = base_ + "/" + token_ + ".part";
    args_.erase(args_.begin());
    at("part");
    require(fs_.make_folder(fresh));
    fenced();
    for (const auto& other : fs_.names(base_)) {
      if (!other.ends_with(".part") || base_ + "/" + other == fresh) continue;
      for (std::size_t i = 0; i < args_.size(); i += 4) {
        if (!fs_.has_file(base_ + "/" + other + "/" + args_[i])) continue;
        at("inherit");
        fs_.rename(base_ + "/" + other + "/" + args_[i], fresh + "/" + args_[i]);
      }
      at("remove part");
      fs_.remove(base_ + "/" + other);
    }
    mutex_.reset();
    echo("folder " + fresh);
    if (!old.empty()) echo("current " + old);
    for (std::size_t i = 0; i < args_.size(); i += 4) {
      const auto &file = args_[i], &expected = args_[i + 2];
      const auto same = [&](const std::string& path) { return fs_.has_file(path) && digest(fs_.text(path)) == expected; };
      at("look");
      if (same(base_ + "/" + version + "/" + file)) {
        echo("there " + file);
        continue;
      }
      if (!same(fresh + "/" + file)) {
        if (old.empty() || !same(base_ + "/" + old + "/" + file)) {
          echo("missing " + file);
          continue;
        }
        at("link");
        if (!fs_.has_folder(fresh)) fail("no such folder");
        fs_.copy(base_ + "/" + old + "/" + file, fresh + "/" + file);
      }
      echo("staged " + file);
    }
    echo("free " + std::to_string(fs_.is_full ? 0 : 1 << 30));
  }

  void discard() {
    at("remove part");
    fs_.remove(base_ + "/" + token_ + ".part");
  }

  void complete() {
    const auto version = args_[0], fresh = base_ + "/" + token_ + ".part", there = base_ + "/" + version;
    for (std::size_t i = 1; i < args_.size(); i += 2) {
      if (args_[i + 1] != "-") {
        at("check");
        if (!fs_.has_file(fresh + "/" + args_[i])) throw exit_status{1};
        if (digest(fs_.text(fresh + "/" + args_[i])) != args_[i + 1]) {
          fs_.remove(fresh + "/" + args_[i]);
          fail(args_[i] + " is not the file that manifest.json describes; build the packages again");
        }
      }
      echo("checked " + args_[i]);
    }
    fenced();
    if (!fs_.has_folder(there)) {
      at("complete");
      require(fs_.rename(fresh, there));
      return;
    }
    for (std::size_t i = 1; i < args_.size(); i += 2) {
      at("mend");
      require(fs_.rename(fresh + "/" + args_[i], there + "/" + args_[i]));
    }
    at("remove part");
    fs_.remove(fresh);
  }

  void switch_to() {
    fenced();
    const auto current = version_of(link_), previous = version_of(base_ + "/previous");
    const auto either = [](const std::string& a, const std::string& b, const std::string& c) { return a == b || a == c; };
    if (!either(current, args_[0], args_[2]) || !either(previous, args_[1], args_[3]))
      fail("its versions are '" + current + "' and '" + previous + "' now, and were '" + args_[0] + "' and '" + args_[1] +
           "': another dice-run has changed them");
    if (!args_[2].empty() && !fs_.has_folder(base_ + "/" + args_[2]))
      fail("the version " + args_[2] + " is not there; deploy it");
    echo("switches");
    if (!args_[3].empty()) point(base_ + "/previous", args_[3], base_ + "/previous", "previous");
    else {
      at("previous");
      fs_.remove(base_ + "/previous");
    }
    if (!args_[2].empty()) point(link_, ".dice-run/" + name_ + "/" + args_[2], base_ + "/current", "current");
    else {
      at("current");
      fs_.remove(link_);
    }
  }

  void clean() {
    fenced();
    words keep = args_;
    keep.push_back(version_of(link_));
    keep.push_back(version_of(base_ + "/previous"));
    at("look");
    const bool running = !h_.processes.empty();
    words used;
    for (const auto& [pid, p] : h_.processes) used.push_back(p.version);
    for (const auto& v : fs_.names(base_)) {
      if (!fs_.has_folder(base_ + "/" + v) || v == "job" || v == "bench" || v == "service") continue;
      if (!has(keep, v) && !has(used, v)) {
        at("remove");
        for (const auto& j : w_.jobs)
          w_.check(!w_.is_live(j) || j.version != v || !c_.from->locked.contains(j.host),
                   h_.name + " loses the version " + v + " of a job that runs on " + j.host);
        w_.check(v != version_of(link_) && v != version_of(base_ + "/previous"), h_.name + " loses a version that it has");
        fs_.remove(base_ + "/" + v);
        continue;
      }
      echo("left " + v);
    }
    if (running || supervised()) echo("running");
  }

  void remember() {
    fenced();
    std::string text;
    for (const auto& host : args_) text += host + "\n";
    at("members beside");
    require(fs_.write(base_ + "/members.new", text));
    at("members");
    require(fs_.rename(base_ + "/members.new", base_ + "/members"));
  }

  void announce() {
    fenced();
    point(base_ + "/last_job", args_[0] + " " + args_[1], base_ + "/last_job", "last_job");
  }

  void start() {
    const auto number = args_[0], restarts = args_[1], version = args_[3], folder = base_ + "/job";
    fenced();
    require_not_stopped();
    at("job.lock");
    take_job_lock();
    std::string ranks;
    for (const auto& line : lines(fs_.text(base_ + "/" + version + "/ranks"))) ranks += " " + split(line).at(1);
    at("supervise");
    const bool fits = fs_.make_folder(folder) && fs_.write(folder + "/supervise", args_[4] + "\n");
    at("about beside");
    if (!fits || !fs_.write(folder + "/about.new", "number " + number + "\nallowed " + restarts + "\nversion " + version +
                                                       "\nranks" + ranks + "\n"))
      fail("the disk is full; remove something. Nothing was started");
    point(folder + "/state", "starting " + number, folder + "/state", "state");
    at("logs");
    if (fs_.has_file(folder + "/log")) fs_.rename(folder + "/log", folder + "/before.log");
    fs_.remove(folder + "/log.1");
    at("about");
    fs_.rename(folder + "/about.new", folder + "/about");
    echo("starts");
    at("supervisor");
    const auto pid = supervise(w_, h_, c_.from, name_, std::stol(number), version, std::stoi(restarts), job_lock_);
    point(base_ + "/owner", identity(pid), base_ + "/owner", "owner");
  }

  void bench() {
    fenced();
    require_not_stopped();
    at("job.lock");
    take_job_lock();
    at("bench");
    fs_.remove(base_ + "/bench");
    require(fs_.make_folder(base_ + "/bench"));
    point(base_ + "/owner", identity(w_.current()), base_ + "/owner", "owner");
    at("run");
    mutex_.reset();
    if (const int code = run_bench(w_, h_, c_.from, name_, args_[1]); code != 0) throw exit_status{code};
  }

  void stop() {
    bool hung = false;
    if (fs_.has_folder(base_)) {
      at("mutex");
      if (w_.wait([&] { return h_.mutex.is_free(); }, true)) mutex_ = h_.mutex.take();
      else hung = true;
      const auto holder = fs_.target(base_ + "/holder");
      point(base_ + "/stopped", holder.substr(0, holder.find(' ')), base_ + "/stopped", "stopped");
      mutex_.reset();
    }
    at("look");
    echo("found " + std::to_string(processes().size()));
    if (const auto owner = split(fs_.target(base_ + "/owner")); !owner.empty()) {
      at("signal");
      const auto p = h_.processes.find(std::stoi(owner[0]));
      if (p != h_.processes.end() && identity(p->first) == fs_.target(base_ + "/owner")) p->second.signal(SIGUSR1);
    }
    int killed = 0;
    const auto none = [&] { return h_.processes.empty() && !supervised(); };
    if (!w_.wait(none, true)) {
      killed = static_cast<int>(h_.processes.size());
      at("terminate");
      for (auto& [pid, p] : std::map(h_.processes)) p.signal(SIGTERM);
    }
    if (!w_.wait(none, true))
      for (int attempt = 0; attempt < 20 && !none(); ++attempt) {
        at("kill");
        for (auto& [pid, p] : std::map(h_.processes)) p.kill();
      }
    echo("killed " + std::to_string(killed));
    if (hung) fail("another change of " + name_ + " here does not end; try again");
    if (!none()) fail("these processes do not end");
    at("job.lock");
    if (supervised()) return;
    const auto nothing_begins = h_.job_lock.share();
    settle("stopped");
  }

  void output() { at("read"); }
};

}  // namespace

int run_script(world& w, host& h, call& c, const std::string& script, const words& arguments) {
  return shell(w, h, c, script, arguments).run();
}

}  // namespace simulated
