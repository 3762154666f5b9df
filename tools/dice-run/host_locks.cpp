#include "host_locks.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"
#include "site.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <chrono>
#include <condition_variable>
#include <exception>

namespace dice_run {

void host_locks::lock(const site& s, std::size_t host) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const auto me = fmt::format("process {} on {}", ::getpid(), name);
  auto holder = s.hosts.start(s.plan.hosts[host], site::with_prelude(scripts::lock), s.with_place({me}));
  if (const auto why = s.hosts.obstacle(s.plan.hosts[host], holder, "locked"); !why.empty())
    throw run_error(fmt::format("{}: {}", s.plan.hosts[host], why));
  const std::lock_guard one(guard_);
  holders_.push_back(std::move(holder));
}

host_locks::host_locks(const site& s) {
  lock(s, 0);  // of two that begin at once, the one that gets the first host goes on
  std::vector<std::string> failed;
  for_all(s.plan.hosts.size() - 1, [&](std::size_t i) {
    try {
      lock(s, i + 1);
    } catch (const run_error& e) {
      const std::lock_guard one(guard_);
      failed.emplace_back(e.what());
    }
  });
  if (!failed.empty()) {
    failed.emplace_back("nothing was changed on any host");
    throw run_error(std::move(failed));
  }
  heart_ = std::jthread([this](const std::stop_token& stop) {
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      std::unique_lock one(guard_);
      for (auto& holder : holders_) holder.write(".");
      never.wait_for(one, stop, std::chrono::seconds(5), [] { return false; });
    }
  });
}

}  // namespace dice_run
