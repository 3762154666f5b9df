#include "world.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include "dice/files/sha256.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace simulated {

namespace {

const char* const path_before = "/packages/";  // of packages' folders; they exist only in memory

std::string digest(const std::string& text) {
  dice::files::sha256 hash;
  hash.add(text);
  return hash.text();
}

/// Does something when the last copy is destroyed: also if what has it never begins.
std::shared_ptr<const void> at_the_end(std::function<void()> work) {
  return {nullptr, [work = std::move(work)](const void*) { work(); }};
}

/// Keeps a script that locks a host.
class held final : public dice_run::held_script {
 public:
  held(world& w, std::shared_ptr<call> c) : w_(w), call_(std::move(c)) {}
  ~held() override { call_->input_is_closed = true; }
  // dice-run looks every five seconds: it may not know yet.
  bool is_lost() const override { return (call_->has_ended || call_->is_cut) && w_.below(2) != 0; }

 private:
  world& w_;
  std::shared_ptr<call> call_;
};

class simulated_remote final : public dice_run::remote {
 public:
  simulated_remote(world& w, std::shared_ptr<caller> c) : remote(settings{}), w_(w), caller_(std::move(c)) {}

  outcome stream(const std::string& host, const std::string& script, const words& arguments,
                 const dice_run::reader&) const override {
    const auto c = w_.connect(caller_, host, script, arguments);
    w_.wait([&] { return c->has_ended || c->is_cut; });
    return answer(*c);
  }

  std::unique_ptr<dice_run::held_script> hold(const std::string& host, const std::string& script, const words& arguments,
                                              std::string_view) const override {
    auto c = w_.connect(caller_, host, script, arguments);
    w_.wait([&] { return c->has_ended || c->is_cut || c->holds; });
    if (!c->holds || c->is_cut) throw dice_run::run_error(dice_run::failure_of(host, answer(*c)));
    caller_->locked[host] = w_.versions(w_.hosts.at(host));
    caller_->locked_at[host] = w_.now;
    return std::make_unique<held>(w_, std::move(c));
  }

  outcome send(const words& files, const std::string& from, const std::string& host, const std::string& to,
               const std::string&, const std::function<void(int)>&) const override {
    const auto c = w_.connect(caller_, host, "", {});
    const auto version = from.substr(std::string(path_before).size(), 12);
    const auto end = at_the_end([&c] { c->has_ended = true; });
    if (c->has_ended) return answer(*c);
    auto& h = w_.hosts.at(host);
    for (const auto& file : files) {
      w_.step();
      if (c->is_cut) return answer(*c);
      const auto& text = w_.packages.at(version).at(host).at(file);
      if (!h.files.has_folder(to)) return {.status = 11, .out = {}, .err = "rsync: no such folder", .failure = {}};
      h.files.write(to + "/" + file, text.substr(0, text.size() / 2));
      if (h.files.is_full) return {.status = 11, .out = {}, .err = "rsync: No space left on device", .failure = {}};
      w_.step();
      if (c->is_cut) return answer(*c);
      if (h.files.has_folder(to)) h.files.write(to + "/" + file, text);
    }
    return {};
  }

  outcome fetch(const std::string&, const std::string&, const std::string&) const override { return {}; }

  void at_once(std::size_t count, const std::function<void(std::size_t)>& work) const override {
    std::size_t left = count;
    std::exception_ptr first;
    for (std::size_t i = 0; i < count; ++i)
      w_.spawn(
          [&, i] {
            std::exception_ptr thrown;
            try {
              work(i);
            } catch (const killed&) {
              throw;
            } catch (...) {
              thrown = std::current_exception();
            }
            if (thrown && !first) first = thrown;
            --left;
          },
          "", caller_);
    w_.wait([&] { return left == 0; });
    if (first) std::rethrow_exception(first);
  }

  double seconds() const override { return seconds_; }
  void pause(double) const override {
    seconds_ += 1 + w_.below(10);
    w_.wait([] { return false; }, true);
  }

 private:
  world& w_;
  std::shared_ptr<caller> caller_;
  mutable double seconds_ = 0;

  outcome answer(const call& c) const {
    if (!c.is_cut) return c.result;
    outcome out = c.result;
    if (w_.below(2)) out.out = {};  // was on its way
    out.status = 255;
    out.failure = "the connection was cut; check its power and its cable, and try again";
    return out;
  }
};

}  // namespace

world::world(unsigned seed, chances likely) : random_(seed), likely_(likely) {
  dice_run::listener = [this](std::string_view text) { at(current_).of->said.emplace_back(text); };
}

world::~world() {
  dice_run::listener = nullptr;
  for (auto a = actors_.rbegin(); a != actors_.rend(); ++a) a->body->kill();
}

world::actor& world::at(int id) { return *std::ranges::find(actors_, id, &actor::id); }

int world::spawn(std::function<void()> body, const std::string& on_host, std::shared_ptr<caller> of) {
  const int id = next_++;
  actors_.push_back({id, on_host, std::move(of), std::make_unique<fiber>(std::move(body)), happens(likely_.slow)});
  return id;
}

void world::step() {
  wait([] { return true; });
}

bool world::wait(std::function<bool()> ready, bool may_time_out) {
  auto& me = at(current_);
  me.ready = std::move(ready);
  me.may_time_out = may_time_out;
  me.is_timed_out = false;
  fiber::stop();
  return !me.is_timed_out;
}

void world::run() {
  std::vector<actor*> able, patient;
  for (;;) {
    std::erase_if(actors_, [](const actor& a) { return a.body->ended(); });
    able.clear();
    patient.clear();
    for (auto& a : actors_) {
      if (a.of && a.of->is_stopped && a.host.empty()) continue;
      if (!a.ready || a.ready()) able.push_back(&a);
      else if (a.may_time_out) patient.push_back(&a);
    }
    // A time is over before something else happens: rarely.
    if (!patient.empty() && (able.empty() || happens(5))) {
      auto& a = *patient[below(static_cast<int>(patient.size()))];
      a.is_timed_out = true;
      able.assign(1, &a);
    }
    ++now;
    if (able.empty()) {
      if (!wake()) return;
      continue;
    }
    if (std::ranges::any_of(able, [](const actor* a) { return !a->is_slow; }) && !happens(10))
      std::erase_if(able, [](const actor* a) { return a->is_slow; });
    auto& a = *able[below(static_cast<int>(able.size()))];
    current_ = a.id;
    a.body->resume();
    current_ = 0;
    for (auto& [name, h] : hosts) {
      check_links(h);
      watch_job(h);
    }
    faults();
  }
}

void world::kill(int id) {
  if (id == current_) throw killed();
  const auto a = std::ranges::find(actors_, id, &actor::id);
  if (a != actors_.end()) a->body->kill();
}

bool world::wake() {
  bool out = false;
  for (auto& c : callers_)
    if (std::exchange(c->is_stopped, false)) out = true;
  return out;
}

void world::heal() {
  likely_ = {};
  for (auto& [name, h] : hosts) {
    h.is_on = h.is_reached = true;
    h.files.is_full = false;
  }
  wake();
}

void world::power_off(host& h) {
  h.is_on = false;
  ++h.boot;
  h.uptime = 0;
  cut(h.name);
  for (auto& a : actors_)
    if (a.host == h.name) a.body->kill();
}

void world::cut(const std::string& host) {
  for (auto& c : calls_)
    if (c->host == host && !c->has_ended) c->is_cut = true;
}

void world::kill(caller& c) {
  c.is_killed = true;
  for (auto a = actors_.rbegin(); a != actors_.rend(); ++a)  // those of at_once first: they use the stack of their caller
    if (a->of.get() == &c && a->host.empty()) a->body->kill();
  for (auto& one : calls_)
    if (one->from.get() == &c) one->is_cut = one->input_is_closed = true;
}

call* world::script_of(const caller& c) {
  for (auto& one : calls_)
    if (one->from.get() == &c && !one->has_ended && !one->holds && one->actor != 0) return one.get();
  return nullptr;
}

bool world::kill_script_of(const caller& c) {
  const auto* const one = script_of(c);
  if (one != nullptr) kill(one->actor);
  return one != nullptr;
}

bool world::cut_script_of(const caller& c) {
  auto* const one = script_of(c);
  if (one != nullptr) one->is_cut = true;
  return one != nullptr;
}

void world::faults() {
  if (fault_after == 0 ? fault() : fault_after > 0) --fault_after;
  std::erase_if(calls_, [](const auto& c) { return c->has_ended; });
  if (happens(likely_.cut) && !calls_.empty()) {
    auto c = calls_.begin();
    std::advance(c, below(static_cast<int>(calls_.size())));
    (*c)->is_cut = true;
  }
  if (!callers_.empty()) {
    auto& c = callers_[below(static_cast<int>(callers_.size()))];
    if (!c->has_ended && !c->is_killed && happens(likely_.kill)) kill(*c);
    if (happens(c->is_stopped ? 10 : likely_.stop)) c->is_stopped = !c->is_stopped;
  }
  if (happens(likely_.kill_script) && !calls_.empty()) {
    auto c = calls_.begin();
    std::advance(c, below(static_cast<int>(calls_.size())));
    for (auto& a : actors_)
      if (a.id == (*c)->actor) a.body->kill();
  }
  auto h = hosts.begin();
  if (h == hosts.end()) return;
  std::advance(h, below(static_cast<int>(hosts.size())));
  if (happens(h->second.is_reached ? likely_.leave : 20)) {
    h->second.is_reached = !h->second.is_reached;
    cut(h->first);
  }
  if (!h->second.is_on && happens(20)) h->second.is_on = true;
  else if (h->second.is_on && happens(likely_.power)) power_off(h->second);
  if (happens(h->second.files.is_full ? 20 : likely_.fill)) h->second.files.is_full = !h->second.files.is_full;
  if (happens(likely_.clock)) h->second.clock += below(2'000'000) - 1'000'000;
  ++h->second.clock;
  ++h->second.uptime;
}

void world::check(bool holds, const std::string& what) {
  if (!holds) wrong.push_back("step " + std::to_string(now) + ": " + what);
}

std::pair<std::string, std::string> world::versions(const host& h) const {
  const auto of = [&](const char* link) {
    const auto target = h.files.target(link);
    return target.substr(target.rfind('/') + 1);
  };
  return {of("n"), of(".dice-run/n/previous")};
}

bool world::is_complete(const host& h, const std::string& version) const {
  const auto v = packages.find(version);
  if (v == packages.end()) return false;
  const auto files = v->second.find(h.name);
  if (files == v->second.end()) return false;
  return std::ranges::all_of(files->second, [&](const auto& file) {
    return h.files.text(".dice-run/n/" + version + "/" + file.first) == file.second;
  });
}

void world::watch_job(host& h) {
  if (h.watched == h.files.changes && h.was_locked == h.job_lock.is_exclusive()) return;
  h.watched = h.files.changes;
  h.was_locked = h.job_lock.is_exclusive();
  std::istringstream state(h.files.target(".dice-run/n/job/state"));
  std::string phase, number;
  state >> phase >> number;
  const bool goes_on = phase == "starting" || phase == "running" || phase == "waiting";
  if (goes_on && !h.was_locked) phase = "lost";
  const auto now_it_is = number + " " + phase;
  if (h.job == now_it_is) return;
  if (h.job.starts_with(number + " ")) transitions.insert(h.job.substr(number.size() + 1) + " → " + phase);
  h.job = now_it_is;
}

void world::check_links(host& h) {
  if (h.checked == h.files.changes) return;
  h.checked = h.files.changes;
  for (const auto* const link : {"n", ".dice-run/n/previous"})
    if (const auto target = h.files.target(link); !target.empty())
      check(is_complete(h, target.substr(target.rfind('/') + 1)),
            h.name + ": a link leads to " + target + ", which is not complete");
}

void world::check_promises() {
  for (const auto& p : promises) {
    const auto& h = hosts.at(p.host);
    if (!h.files.target(".dice-run/n/holder").starts_with(p.token + " ")) continue;  // another's since
    const auto now_it_has = versions(h);
    check(now_it_has == p.versions, p.command + " has switched nothing, and " + p.host + " has '" + now_it_has.first +
                                        "' and '" + now_it_has.second + "'");
  }
}

void world::check_one_job(const job& j) {
  for (const auto& other : jobs) {
    if (&other == &j || !is_live(other)) continue;
    check(other.host != j.host, j.host + " has two jobs");
    check(!j.by->locked.contains(other.host) || !other.by->locked.contains(j.host),
          "a job begins on " + j.host + " while one runs on " + other.host + ", and both dice-runs had locked both");
  }
  for (const auto& s : stops)
    check(!s.hosts.contains(j.host) || j.by->locked_at.at(j.host) >= s.began,
          "a job begins on " + j.host + " after dice-run stop, and was being started before");
}

std::shared_ptr<caller> world::begin(const std::string& command, std::function<void(caller&)> body) {
  auto c = std::make_shared<caller>();
  c->token = "token" + std::to_string(callers_.size());
  c->command = command;
  c->began = now;
  callers_.push_back(c);
  spawn([c, body = std::move(body), at_the_end = at_the_end([this, c] {
                                      c->has_ended = true;
                                      c->ended = now;
                                    })] { body(*c); },
        "", c);
  return c;
}

std::string world::story() const {
  std::string out;
  for (const auto& c : callers_) {
    out += "\n" + std::to_string(c->began) + "–" + std::to_string(c->ended) + " " + c->token + " " + c->command;
    for (const auto& text : c->said) out += "\n    " + text;
  }
  return out;
}

std::shared_ptr<caller> world::shared(caller& c) const {
  return *std::ranges::find(callers_, &c, [](const auto& one) { return one.get(); });
}

std::shared_ptr<call> world::connect(std::shared_ptr<caller> from, const std::string& host, const std::string& script,
                                     const words& arguments) {
  auto c = std::make_shared<call>();
  c->from = std::move(from);
  c->host = host;
  step();
  auto& h = hosts.at(host);
  if (!h.is_on || !h.is_reached || c->from->is_killed) {
    c->result.status = 255;
    c->result.failure = "it does not answer; check its power and its cable";
    c->has_ended = true;
    return c;
  }
  calls_.push_back(c);
  if (script.empty()) return c;
  c->script = name_of_script(script);
  c->is_cut = happens(likely_.late);
  c->result.status = 137;  // as after SIGKILL
  c->actor = spawn(
      [this, &h, c, arguments, at_the_end = at_the_end([c] { c->has_ended = true; })] {
        if (c->is_cut) wait([] { return false; }, true);
        c->result.status = run_script(*this, h, *c, c->script, arguments);
      },
      host, c->from);
  return c;
}

std::unique_ptr<dice_run::remote> world::remote_of(std::shared_ptr<caller> c) {
  return std::make_unique<simulated_remote>(*this, std::move(c));
}

dice_run::deployment world::plan(const std::string& version) const {
  dice_run::deployment out;
  out.name = "n";
  out.version = version;
  int rank = 0;
  for (const auto& [host, files] : packages.at(version)) {
    dice_run::package one;
    one.host = host;
    one.ranks = {rank++};
    one.folder = path_before + version + "/" + host;
    for (const auto& [file, text] : files) one.files.push_back({file, static_cast<std::int64_t>(text.size()), digest(text)});
    out.hosts.push_back(host);
    out.host_of_rank.push_back(host);
    out.packages.push_back(std::move(one));
  }
  return out;
}

int world::spawn_process(host& h, process p, std::function<void()> body) {
  const int pid = next_;
  const auto shown = std::make_shared<process_guard>(h, pid);
  p.pid = pid;
  p.kill = [this, pid] { kill(pid); };
  h.processes[pid] = std::move(p);
  return spawn([shown, body = std::move(body)] { body(); }, h.name, nullptr);
}

std::unique_ptr<world::process_guard> world::show_process(host& h, process p) {
  const int pid = current_;
  p.pid = pid;
  p.kill = [this, pid] { kill(pid); };
  h.processes[pid] = std::move(p);
  return std::make_unique<process_guard>(h, pid);
}

namespace {

const std::map<std::string, const char*>& scripts() {
  namespace s = dice_run::scripts;
  static const std::map<std::string, const char*> all{
      {"lock", s::lock},         {"survey", s::survey},       {"prepare", s::prepare}, {"discard", s::discard},
      {"complete", s::complete}, {"switch_to", s::switch_to}, {"clean", s::clean},     {"remember", s::remember},
      {"announce", s::announce}, {"start", s::start},         {"stop", s::stop},       {"bench", s::bench},
      {"output", s::output},     {"facts", s::facts}};
  return all;
}

}  // namespace

std::string text_of_script(const std::string& name) { return scripts().at(name); }

std::string name_of_script(const std::string& text) {
  for (const auto& [name, script] : scripts())
    if (text == dice_run::scripts::prelude + std::string(script)) return name;
  throw std::logic_error("a script that has no model: " + text);
}

}  // namespace simulated
