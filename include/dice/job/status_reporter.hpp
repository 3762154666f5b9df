#pragma once

#include "dice/files/error.hpp"
#include "dice/files/writer.hpp"
#include "dice/job/metrics_server.hpp"
#include "dice/job/status.hpp"
#include "dice/meta/clock.hpp"
#include "dice/runtime/control/health.hpp"
#include "dice/text/print.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace dice::job {

/// Where rank 0 says how the job is.
struct status_targets {
  std::string file{};     ///< JSON, each second; removed at the end; "": none
  std::string metrics{};  ///< Prometheus's text format: a file, once the ranks are ready, or a port of 127.0.0.1; "": none
  bool minutes = false;   ///< a line on the standard error each minute
  std::int64_t minute = 60'000'000'000;  ///< in nanoseconds; tests have shorter ones

  /// Those that the environment asks for: DICE_STATUS names the file, as dice-run does.
  static status_targets from_environment() {
    const char* const file = std::getenv("DICE_STATUS");
    return {.file = file ? file : "", .metrics = {}, .minutes = file != nullptr};
  }
  bool empty() const { return file.empty() && metrics.empty() && !minutes; }
};

/// Says each second how the job is, in a thread of its own, so that a rank that hangs does not keep it from doing so.
class status_reporter {
 public:
  /// Throws files::error if the port cannot be had.
  status_reporter(status_targets to, std::string_view network) : to_(std::move(to)), network_(network), began_(meta::now()) {
    if (const auto port = port_of(to_.metrics)) server_.emplace(*port);
    thread_ = std::jthread([this](const std::stop_token& ends) { work(ends); });
  }
  status_reporter(const status_reporter&) = delete;
  status_reporter& operator=(const status_reporter&) = delete;
  ~status_reporter() {
    thread_.request_stop();
    thread_.join();
    if (!to_.file.empty()) ::unlink(to_.file.c_str());
  }

  /// The ranks have met, on these hosts.
  void meet(std::vector<std::string> hosts) {
    const std::lock_guard lock(mutex_);
    maker_ = status_maker(std::move(hosts));
    phase_ = phase::preparing;
  }
  /// From now on. `of` is what the ranks say, until this is called again; if it is null, what they have said last counts.
  void enter(job::phase p, const runtime::health* of = nullptr) {
    const std::lock_guard lock(mutex_);
    if (of_) said_ = of_->ranks();
    phase_ = p;
    known_ = known_ || p == phase::waiting;
    of_ = of;
    changed_ = true;
    wake_.notify_all();
  }

  /// So many frames have entered and come out, and there are no more. The ranks have last said so up to a second ago.
  void end(std::int64_t frames) {
    {
      const std::lock_guard lock(mutex_);
      frames_ = frames;
    }
    enter(phase::ending);
  }

  /// The port that `text` is, if it is one.
  static std::optional<std::uint16_t> port_of(std::string_view text) {
    if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
    const int port = std::atoi(std::string(text).c_str());
    return port >= 1 && port <= 65535 ? std::optional(static_cast<std::uint16_t>(port)) : std::nullopt;
  }

 private:
  void work(const std::stop_token& ends) {
    auto minute = meta::now() + to_.minute;
    for (;;) {
      const bool last = ends.stop_requested();
      std::unique_lock lock(mutex_);
      changed_ = false;
      const auto said = of_ ? of_->ranks() : said_;
      const auto now = meta::now();
      auto status = maker_.make(phase_, said, began_, now);
      if (frames_ >= 0) status.entered = status.answered = frames_;
      if (frames_ > 0) status.last_frame_s = std::max(0.0, status.last_frame_s);
      const bool known = known_;
      lock.unlock();
      report(status, known);
      if (to_.minutes && now >= minute) {
        minute = now + to_.minute;
        text::print_error("dice: " + status_line(status));
      }
      if (last) return;
      lock.lock();
      wake_.wait_for(lock, ends, std::chrono::seconds(1), [&] { return changed_; });
    }
  }
  /// `known`: whether the ranks have found that none of them reads the file of the metrics.
  [[gnu::cold]] void report(const job_status& s, bool known) {
    timespec up{};
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    write(to_.file, [&] {
      return status_json(s, ::getpid(), static_cast<double>(up.tv_sec) + 1e-9 * static_cast<double>(up.tv_nsec));
    });
    if (server_) server_->show(status_metrics(s, network_));
    else if (known) write(to_.metrics, [&] { return status_metrics(s, network_); });
  }
  /// A disk that is full, or a folder that is gone, must not end the job: it is said once.
  template <class Text> void write(const std::string& path, const Text& text) {
    if (path.empty()) return;
    try {
      files::writer out(path);
      out.write(text());
      out.replace();
    } catch (const files::error& e) {
      if (!std::exchange(complained_, true))
        text::print_error(std::string("dice: warning: the job's status is not written: ") + e.what());
    }
  }

  const status_targets to_;
  const std::string network_;
  status_maker maker_{{}};
  const std::int64_t began_;
  std::optional<metrics_server> server_;
  bool complained_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  job::phase phase_ = phase::joining;
  const runtime::health* of_ = nullptr;
  std::vector<runtime::rank_health> said_;  ///< last, if of_ is null
  std::int64_t frames_ = -1;                ///< of the run that has ended; -1: it has not
  bool changed_ = false, known_ = false;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace dice::job
