#include "host_locks.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>

namespace dice_run {

namespace {

void stop_if(std::vector<std::string> failures) {
  if (failures.empty()) return;
  failures.emplace_back("nothing was changed on any host");
  throw run_error(std::move(failures));
}

}  // namespace

void host_locks::lock(const site& s, const words& hosts) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const auto me = fmt::format("process {} on {}", ::getpid(), name);
  std::vector<std::string> failed;
  s.hosts->at_once(hosts.size(), [&](std::size_t i) {
    try {
      auto one = s.hosts->hold(hosts[i], site::with_prelude(scripts::lock), s.with_place({me}), "locked");
      const std::lock_guard one_at_a_time(guard_);
      held_[hosts[i]] = std::move(one);
    } catch (const run_error& e) {
      const std::lock_guard one_at_a_time(guard_);
      failed.emplace_back(e.what());
    }
  });
  stop_if(std::move(failed));
}

host_locks::host_locks(const site& s, const words& left_out) {
  lock(s, {s.plan.hosts[0]});  // if two begin at once, the one that gets the first host goes on
  lock(s, {s.plan.hosts.begin() + 1, s.plan.hosts.end()});
  for (;;) {
    states = s.survey(left_out);
    words more;
    std::vector<std::string> lost;
    for (const auto& h : states)
      if (h.failure.empty() && !held_.contains(h.host)) more.push_back(h.host);
      else if (!h.failure.empty() && held_.contains(h.host)) lost.push_back(h.failure);
    stop_if(std::move(lost));
    if (more.empty()) return;
    lock(s, more);
  }
}

words host_locks::locked() const {
  words out;
  for (const auto& h : states)
    if (held_.contains(h.host)) out.push_back(h.host);
  return out;
}

void host_locks::require() const {
  std::vector<std::string> lost;
  for (const auto& [host, script] : held_)
    if (script->is_lost()) lost.push_back(fmt::format("{}: the connection that keeps its lock was lost; try again", host));
  if (lost.empty()) return;
  lost.emplace_back("nothing was switched on any host");
  throw run_error(std::move(lost));
}

}  // namespace dice_run
