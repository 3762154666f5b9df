#pragma once

#include "dice/channels/transports.hpp"
#include "dice/frames/stream.hpp"
#include "dice/job/mapping_choice.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/status_reporter.hpp"
#include "dice/job/stream_job.hpp"
#include "dice/kernels/cpu_level.hpp"
#include "dice/text/print.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dice::job {

/// The ranks of this process.
class stream_job::ranks {
 public:
  /// The ranks of `job`. Throws engine_error.
  ranks(const runtime::program& own, mapping_choice m, const engine_options& o, channels::membership job)
      : by_(job.by), kept_(std::move(job.kept)), chosen_(std::move(m)), program_(chosen_.of(own)), options_(o) {
    for (auto& rank : job.ranks) add(std::move(rank));
    start();
  }
  ranks(const ranks&) = delete;
  ranks& operator=(const ranks&) = delete;
  ~ranks() {
    close();
    const results_unbounded all(*this);  // nobody takes results any more
    join();
  }

  const runtime::program& program() const { return program_; }
  bool holds(int layer) const { return worker_of(layer) != nullptr; }
  int rank() const { return workers_.front()->rank; }

  bool push(int layer, const maker& make, frames::deadline until) {
    const bool stuck = until == frames::never && is_inside();
    if (at(layer).in.push(layer, make, stuck ? frames::at_once : until)) return true;
    if (stuck) refuse("push");
    return false;
  }
  bool take(int layer, frames::tensor& into, frames::deadline until) {
    const bool stuck = until == frames::never && is_inside();
    if (at(layer).out.take(layer, into, stuck ? frames::at_once : until)) return true;
    if (stuck) refuse("take");
    return false;
  }
  void listen(int layer, frames::result_sink::listener f) {
    auto& w = at(layer);
    const bool waits = !inside::of(*this);
    const inside now(*this);
    try {
      w.out.listen(layer, std::move(f), waits);
    } catch (...) {
      w.in.stop(std::current_exception());
      throw;
    }
  }

  void close() {
    for (auto& w : workers_) w->in.close();
  }
  void stop() {
    for (auto& w : workers_) w->in.stop();
  }
  void drain() {
    if (is_inside()) refuse("drain");
    const results_unbounded all(*this);  // else frames would wait for the program, which waits here
    for (auto& w : workers_) w->in.drain();
  }
  bool ended() const { return running_ == 0; }
  void wait() {
    if (is_inside()) refuse("wait");
    const results_unbounded all(*this);
    join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct worker {
    worker(std::unique_ptr<channels::communicator> c, std::size_t queue)
        : ranks(std::move(c)), rank(ranks->rank()), in(queue), out(queue) {}
    std::unique_ptr<channels::communicator> ranks;  ///< until its thread has ended
    const int rank;
    frames::push_source in;
    frames::result_sink out;
    std::promise<void> started;
    std::jthread thread;  // last, like workers_: whatever fails, it is joined before what it uses is destroyed
  };

  /// While it lives, the calling thread runs functions of the program for this engine.
  class inside {
   public:
    explicit inside(const ranks& engine) : engine_(engine), outer_(std::exchange(innermost_, this)) {}
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    ~inside() { innermost_ = outer_; }
    static bool of(const ranks& engine) {
      const auto* at = innermost_;
      while (at && &at->engine_ != &engine) at = at->outer_;
      return at;
    }

   private:
    static inline thread_local const inside* innermost_ = nullptr;
    const ranks& engine_;
    const inside* const outer_;  ///< a function of one engine may call another engine
  };
  bool is_inside() const { return inside::of(*this) && !ended(); }
  [[noreturn]] static void refuse(const std::string& call) {
    throw std::logic_error("a function given to push or on_result calls its engine's " + call +
                           ", which would wait for that function; call " + call + " in another thread");
  }

  /// While it lives, all outputs have room for any number of results.
  class results_unbounded {
   public:
    explicit results_unbounded(ranks& job) : job_(job) { set(true); }
    results_unbounded(const results_unbounded&) = delete;
    results_unbounded& operator=(const results_unbounded&) = delete;
    ~results_unbounded() { set(false); }

   private:
    void set(bool yes) {
      for (auto& w : job_.workers_) w->out.unbounded(yes);
    }
    ranks& job_;
  };

  const graph::layer_info& layer(int l) const { return program_.layers.layers[l]; }
  int in_flight() const { return options_.in_flight > 0 ? options_.in_flight : program_.plan.in_flight; }

  void add(std::unique_ptr<channels::communicator> ranks) {
    const int queue = options_.queue > 0 ? options_.queue : in_flight();
    workers_.push_back(std::make_unique<worker>(std::move(ranks), static_cast<std::size_t>(queue)));
  }

  void start() {
    running_ = static_cast<int>(workers_.size());
    std::size_t begun = 0;
    try {
      for (; begun < workers_.size(); ++begun)
        workers_[begun]->thread = std::jthread([this, &w = *workers_[begun]] { work(w); });
    } catch (const std::exception& e) {
      if (!by_.processes) workers_.front()->ranks->stop({});
      no_thread_ = "no thread" + (by_.processes ? std::string() : " for rank " + std::to_string(begun)) + ": " + e.what();
      if (by_.processes) work(*workers_[begun++]);  // so that the other processes learn of it
    }
    std::exception_ptr error;
    for (std::size_t i = 0; i < begun; ++i) {
      try {
        workers_[i]->started.get_future().get();
      } catch (...) {
        error = std::current_exception();  // all ranks have the same
      }
    }
    if (!error && no_thread_.empty()) return;
    join();
    if (!by_.processes && !no_thread_.empty()) fail(no_thread_);
    std::rethrow_exception(error);
  }

  /// What a rank's thread does from its start to its end.
  void work(worker& w) {
    const inside now(*this);
    rank_session me(program_, *w.ranks, by_, true);
    bool started = false;
    std::exception_ptr error;
    std::optional<status_reporter> reporter;
    try {
      const auto to = status_targets::from_environment();
      if (w.rank == 0 && !to.empty()) reporter.emplace(to, program_.network);
      prepare(me);
      if (reporter) reporter->meet(me.hosts());
      me.executor().stamp_frames(!to.empty());
      me.executor().health().turn(!to.empty());
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (program_.plan.owner[l] != me.rank()) continue;
        if (layer(l).is_input) w.in.add(l);
        if (layer(l).is_output) w.out.add(l, layer(l).output);
      }
      w.in.on_change([&end = me.end()] { end.wake(); });
      w.out.on_change([&end = me.end()] { end.wake(); });
      w.started.set_value();
      started = true;
      if (reporter) reporter->enter(phase::waiting, &me.executor().health());
      stream(w, me);
    } catch (...) {
      error = std::current_exception();
    }
    reporter.reset();    // the executor is about to go
    w.in.on_change({});  // the endpoint is about to go
    w.out.on_change({});
    if (!started) return w.started.set_exception(error);
    w.in.end(error);
    w.out.end(error);
    if (error) {
      const std::lock_guard lock(mutex_);
      error_ = error;
    }
    --running_;
  }

  /// Throws engine_error with the error of the start, unless it is empty.
  static void fail(const std::string& error) {
    if (!error.empty()) throw engine_error("dice: " + error, -1, {}, -1, {}, error);
  }

  /// The stages before frames flow: each fails in all ranks or in none.
  void prepare(rank_session& me) {
    auto usage = by_.processes && !no_thread_.empty() ? no_thread_ : chosen_.mistake;  // ranks as threads read it too early
    for (const auto& [name, number] : {std::pair("in_flight", options_.in_flight), std::pair("queue", options_.queue)})
      if (usage.empty() && number < 0)
        usage = std::string(name) + " = " + std::to_string(number) +
                " is negative; give a number of frames, or 0 for the default";
    if (usage.empty() && options_.in_flight > program_.plan.in_flight)
      usage = "in_flight = " + std::to_string(options_.in_flight) + " is more than the plan allows, " +
              std::to_string(program_.plan.in_flight) + "; lower it, or add dice::in_flight<" +
              std::to_string(options_.in_flight) + "> to the mapping";
    if (usage.empty() && !options_.packed.empty() && !options_.weights.empty())
      usage = "both packed and weights name a file; give only one, since packed holds all weights";
    const char* checks = options_.check_numbers ? "true" : "false";
    fail(me.introduce(usage, {{"with in_flight = ", std::to_string(in_flight())},
                              {"with check_numbers = ", checks},
                              {status_targets::from_environment().empty() ? "without " : "with ", "DICE_STATUS"}})
             .error);
    std::string warning;
    std::vector<std::string> warnings;
    std::string memory;
    fail(me.check_memory(0, memory));
    const auto error = attempt([&] {
      warning = me.equip({options_.weights, options_.packed, options_.verify}, in_flight());
    });
    if (!memory.empty()) warning += (warning.empty() ? "has little memory: " : "; has little memory: ") + memory;
    fail(me.agree(error, warning.empty() ? warning : me.where_text() + " " + warning, warnings));
    auto mistake = attempt([&] {
      for (const auto& text : warnings)
        if (me.rank() == 0) warn(text);
    });
    std::string late;
    fail(me.connect({in_flight(), false, options_.check_numbers}, late));
    if (mistake.empty() && !late.empty()) mistake = attempt([&] { warn(me.where_text() + ": " + late); });
    fail(me.agree(mistake.empty() ? mistake : "engine_options::warn threw: " + mistake));
  }
  void warn(const std::string& warning) {
    if (warning.empty()) return;
    const std::lock_guard lock(mutex_);  // one call at a time
    if (options_.warn) options_.warn(warning);
    else text::print_error("dice: warning: " + warning);
  }

  /// Runs the frames, then agrees with all ranks on how the stream ended. Throws engine_error.
  void stream(worker& w, rank_session& me) {
    runtime::figures figures;
    std::string why, where;
    std::int64_t frame = -1;
    try {
      me.executor().stream(&w.in, &w.out, figures);
    } catch (const channels::stopped&) {
    } catch (const std::exception& e) {
      why = cause(e);
    } catch (...) {
      why = not_an_exception;
    }
    if (!why.empty()) {
      if (const int l = me.executor().layer(); l >= 0) {
        where = std::string(layer(l).onnx_name);
        frame = me.executor().frame();
      }
      me.executor().give_up();
    }
    me.end().settle();
    record mine;
    mine.put(why);
    mine.put(me.host());
    mine.put(where);
    mine.put(frame);
    const auto answers = w.ranks->all_gather(mine.text());
    for (std::size_t r = 0; r < answers.size(); ++r) {
      record in(answers[r]);
      const auto text = in.get(), host = in.get(), name = in.get();
      const auto number = in.get_number();
      if (text.empty()) continue;
      const auto rank_text = me.where_text(static_cast<int>(r), host) +
                             (number < 0 ? "" : ", frame " + std::to_string(number)) +
                             (name.empty() ? "" : ", layer '" + name + "'");
      throw engine_error("dice: " + rank_text + ": " + text, static_cast<int>(r), host, number, name, text);
    }
  }

  void join() {
    const std::lock_guard lock(joining_);
    for (auto& w : workers_)
      if (w->thread.joinable()) {
        w->thread.join();
        w->ranks.reset();
      }
    kept_.reset();  // so that MPI ends if the program now calls exit() without destroying this engine
  }

  worker* worker_of(int layer) const {
    const int owner = program_.plan.owner[layer];
    if (!by_.processes) return workers_[owner].get();
    return workers_.front()->rank == owner ? workers_.front().get() : nullptr;
  }
  worker& at(int l) const {
    if (auto* w = worker_of(l)) return *w;
    throw std::logic_error("rank " + std::to_string(rank()) + " does not hold '" + std::string(layer(l).onnx_name) +
                           "', rank " + std::to_string(program_.plan.owner[l]) + " does; use the engine there");
  }

  const channels::transport_info& by_;
  std::shared_ptr<const void> kept_;  ///< what its ranks use, such as MPI
  const mapping_choice chosen_;
  const runtime::program& program_;
  const engine_options options_;
  std::mutex mutex_, joining_;
  std::exception_ptr error_;
  std::string no_thread_;  ///< why one could not be started
  std::atomic<int> running_{0};
  std::vector<std::unique_ptr<worker>> workers_;
};

namespace detail {

/// The mapping to run, or what is wrong here, which all ranks are told.
[[gnu::cold]] inline mapping_choice mapping_for(const runtime::program& p, const engine_options& o) {
  auto out = choose_mapping(p, o.mapping, "engine_options::mapping");
  try {
    kernels::cpu_level_here();
  } catch (const std::exception& e) {
    if (out.mistake.empty()) out.mistake = e.what();
  }
  return out;
}

}  // namespace detail

DICE_API stream_job::stream_job(const runtime::program& p, const engine_options& o) {
  auto mapping = detail::mapping_for(p, o);
  const int n = mapping.of(p).ranks();
  // Other processes may have been given a mapping of several ranks, and then wait for this one.
  const bool several = n > 1 || (!o.mapping.empty() && channels::launched().size > 1);
  const auto& by = several ? channels::chosen(o.by) : channels::in_process::about;
  ranks_ = std::make_unique<ranks>(p, std::move(mapping), o, by.join(n, true));
}
DICE_API stream_job::stream_job(const runtime::program& p, const engine_options& o, const channels::processes& processes)
    : ranks_(std::make_unique<ranks>(p, detail::mapping_for(p, o), o, processes.join())) {}
DICE_API stream_job::~stream_job() = default;

DICE_API bool stream_job::holds(int layer) const { return ranks_->holds(ranks_->program().planned(layer)); }
DICE_API int stream_job::rank() const { return ranks_->rank(); }
DICE_API bool stream_job::push(int layer, const maker& make, frames::deadline until) {
  return ranks_->push(ranks_->program().planned(layer), make, until);
}
DICE_API bool stream_job::take(int layer, frames::tensor& into, frames::deadline until) {
  return ranks_->take(ranks_->program().planned(layer), into, until);
}
DICE_API void stream_job::listen(int layer, listener f) { ranks_->listen(ranks_->program().planned(layer), std::move(f)); }
DICE_API void stream_job::close() { ranks_->close(); }
DICE_API void stream_job::stop() { ranks_->stop(); }
DICE_API void stream_job::drain() { ranks_->drain(); }
DICE_API bool stream_job::ended() const { return ranks_->ended(); }
DICE_API void stream_job::wait() { ranks_->wait(); }

}  // namespace dice::job
