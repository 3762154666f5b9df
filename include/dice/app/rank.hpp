// What every rank does from its start to its end, in stages; the same for processes and for threads.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/explanation.hpp"
#include "dice/app/agreed_options.hpp"
#include "dice/app/command_line.hpp"
#include "dice/app/conflict.hpp"
#include "dice/app/counted_results.hpp"
#include "dice/app/ctrl_c.hpp"
#include "dice/app/input/standard.hpp"
#include "dice/app/rank_drawing.hpp"
#include "dice/app/rank_inputs.hpp"
#include "dice/app/rank_results.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/app/stream_rules.hpp"
#include "dice/channels/channel.hpp"
#include "dice/files/error.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/writer.hpp"
#include "dice/job/clock_shift.hpp"
#include "dice/job/late_frame.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/record.hpp"
#include "dice/job/status_reporter.hpp"
#include "dice/job/to_first.hpp"
#include "dice/measure/measure.hpp"
#include "dice/measure/verify.hpp"
#include "dice/report/profile.hpp"
#include "dice/report/summary.hpp"
#include "dice/report/trace.hpp"
#include "dice/text/print.hpp"
#include "dice/this_host/core_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// One rank's part of a job.
class rank_job {
 public:
  /// `usage` is what is wrong with the command line here, or empty; unless it is empty, `o` is ignored. `by` is the
  /// transport of `ranks`. `f` may be null. If `page` is not empty, the job prints its text, once, and runs no frames. In
  /// rank 0, `reporter` says how the job is, unless it is null.
  rank_job(const runtime::program& p, const options& o, std::string usage, channels::communicator& ranks,
           const channels::transport_info& by, const advice::cluster_model* f, std::function<std::string()> page = {},
           job::status_reporter* reporter = nullptr)
      : program_(p),
        options_(o),
        usage_(std::move(usage)),
        ranks_(ranks),
        rank_(ranks.rank()),
        view_{p, o, ranks.rank()},
        me_(p, ranks, by),
        cluster_(f),
        page_(std::move(page)),
        reporter_(reporter) {}
  rank_job(const rank_job&) = delete;
  rank_job& operator=(const rank_job&) = delete;
  ~rank_job() {
    if (reporter_) reporter_->enter(job::phase::ending);  // the executor is about to go
  }

  /// Runs it; returns the exit code, the same in every rank.
  int run() {
    try {
      if (const int code = introduce()) return code;
      if (reporter_) reporter_->meet(me_.hosts());
      if (page_) {
        if (rank_ == 0) text::print(page_());
        ranks_.all_gather({});
        return 0;
      }
      if (!options_.measure.empty() || options_.verifies_only()) files::interrupts::end_at_once();  // no frames flow
      if (!options_.measure.empty()) {
        auto predicted = cluster_ && rank_ == 0 ? cluster_->plan(*cluster_, program_, true) : std::string();
        measure::measurement all(program_, {options_.measure, options_.weights, options_.packed}, std::move(predicted), me_,
                                 ranks_);
        const auto error = all.run();
        return error.empty() ? 0 : refuse(error, 1);
      }
      if (options_.verifies_only()) return prepare();
      for (auto stage : {&rank_job::prepare, &rank_job::allocate, &rank_job::compute, &rank_job::finish})
        if (const int code = (this->*stage)()) return code;
      return stopped_ ? files::interrupted_code : 0;
    } catch (const channels::stopped&) {
      return 1;
    } catch (const std::exception& e) {
      ranks_.stop("dice: error: " + me_.where_text() + ": " + job::cause(e));
      return 1;
    }
  }

 private:
  /// Prints `error` once, in rank 0, and makes all ranks wait for that: mpirun ends the others once one has exited.
  int refuse(const std::string& error, int code) {
    if (rank_ == 0) text::print_error("dice: error: " + error);
    ranks_.all_gather({});
    return code;
  }

  int agree(const std::string& error) {
    const auto first = me_.agree(error);
    return first.empty() ? 0 : refuse(first, 1);
  }
  template <class F> static std::string attempt(F f) { return job::attempt(f); }

  /// Checks that all ranks run the same program with the same options. Files may differ between hosts.
  int introduce() {
    std::string wanted;
    for (int l = 0; l < view_.layers(); ++l)
      if (view_.kept(l)) wanted += (wanted.empty() ? "" : ", ") + view_.name(l);
    const int fed = options_.standard_input();
    const auto usage =
        usage_.empty() && fed >= 0 && view_.here(fed) && !page_ ? no_standard_input(rank_, view_.name(fed)) : usage_;
    const auto [error, code] = me_.introduce(usage, agreed_options(options_, wanted), page_ != nullptr);
    return error.empty() ? 0 : refuse(error, code);
  }

  /// Threads, weights and files.
  [[gnu::cold]] int prepare() {
    std::string warning;
    if (const auto error = me_.check_memory(inputs_.bytes(options_.frames.value_or(1)) + results_.bytes(), warning);
        !error.empty())
      return refuse(error, 1);
    if (!warning.empty()) text::print_error("dice: warning: " + me_.where_text() + ": " + std::exchange(warning, {}));
    std::vector<files::use> used;
    const auto warn = [&](const std::string& more) { warning += (warning.empty() || more.empty() ? "" : "; ") + more; };
    const auto error = attempt([&] {
      const auto begin = runtime::now();
      warning = me_.equip({options_.weights, options_.packed, options_.verify}, view_.in_flight());
      if (options_.verify) {
        const auto line =
            measure::verified_text(me_.own().verified(), runtime::now() - begin, me_.weights_path(), me_.weights_digest());
        text::print_error("dice: " + me_.where_text() + ": " + line);
      }
      warn(inputs_.open());
      if (inputs_.scales_pictures()) warn(yolo_scaling(options_));
      results_.read_expected();
      used = uses_of(options_, rank_, me_.weights_path(), inputs_.files(), [&](int l) { return view_.holder(l); });
      for (const auto& u : used)
        if (u.writes) files::require_writable(u.path);
      warn(results_.read_names());
      warn(results_.lines_mix());
      results_.read_priors();
      drawing_.open();
      if (const auto file = drawing_.first_file(); !file.empty()) {
        files::require_writable(file);
        used.push_back(files::writes(file));
      }
    });
    job::record mine;
    mine.put(warning);
    mine.put(me_.host());
    mine.put(inputs_.counts());
    mine.put(uses_text(used));
    mine.put(inputs_.streams());
    mine.put(inputs_.sizes().text());
    std::vector<std::string> all;
    if (const auto first = me_.agree(error, mine.text(), all); !first.empty()) return refuse(first, 1);
    std::vector<std::pair<std::string, std::string>> uses;
    for (const auto& of_rank : all) {
      job::record in(of_rank);
      in.get();
      const auto host = in.get();
      in.get();
      uses.emplace_back(host, in.get());
      view_.streams = view_.streams || in.get_number() != 0;
    }
    const auto conflict = conflict_between(uses);
    return conflict.empty() ? count_frames(all) : refuse(conflict, 2);
  }

  /// Prints the warnings and finds the number of frames, from what all ranks report.
  [[gnu::cold]] int count_frames(const std::vector<std::string>& all) {
    for (std::size_t r = 0; r < all.size(); ++r) {
      job::record in(all[r]);
      const auto warning = in.get(), host = in.get(), counts = in.get();
      if (rank_ == 0 && !warning.empty())
        text::print_error("dice: warning: " + me_.where_text(static_cast<int>(r), host) + " " + warning);
      given_.add(counts);
      for (int skipped = 0; skipped < 2; ++skipped) in.get();
      given_.sizes.add(in.get());
    }
    frames_ = options_.frames.value_or(std::max<std::int64_t>(given_.frames, 1));
    if (const auto wrong = view_.streams ? stream_mistake(options_) : no_stream_mistake(options_); !wrong.empty())
      return refuse(wrong, 2);
    if (view_.streams) return 0;
    if (options_.picture != frames::picture_settings{} && given_.pictures.empty() && options_.drawing.empty())
      return refuse(
          "--mean, --std, --range, --layout, --channel-order, --fit and --border are for pictures, but no input has any", 2);
    return given_.mistake.empty() ? 0 : refuse(given_.mistake, 1);
  }

  /// Memory for the run, and the endpoint.
  [[gnu::cold]] int allocate() {
    clock_ = ask_clock();
    const auto frames_error = attempt([&] {
      inputs_.make_random(frames_);
      results_.begin(frames_, given_.frames);
    });
    if (const int code = agree(frames_error)) return code;
    std::string warning, error;
    if (options_.cuda_aware) error = me_.try_gpu_messages();
    if (error.empty()) error = me_.connect({view_.in_flight(), options_.cuda_aware, options_.check_numbers}, warning);
    if (!warning.empty()) text::print_error("dice: warning: " + me_.where_text() + ": " + warning);
    return error.empty() ? 0 : refuse(error, 1);
  }

  int compute() {
    const char* phase = "warm-up frame ";
    try {
      if (options_.warmup > 0) stream(inputs_.source(), nullptr, options_.warmup);
      phase = "frame ";
      const bool traces = !options_.trace.empty();
      if (traces || view_.profiles()) {
        recorder_.emplace(program_.plan.groups.size(), static_cast<std::size_t>(me_.own().threads()), traces,
                          view_.profiles(), options_.explain);
        me_.executor().record(&*recorder_);
        ranks_.all_gather({});  // a rank may take long to measure its kernels: no frame waits for that
      }
      const bool says = view_.streams || !options_.status().empty();
      me_.executor().stamp_frames(says || !options_.sinks.empty());
      me_.executor().health().turn(says);
      if (reporter_) reporter_->enter(job::phase::waiting, &me_.executor().health());
      const this_host::core_watch watch(me_.own().cores(), me_.own().threads(), me_.alone());
      if (view_.streams) {
        inputs_.live().start(options_.frames.value_or(runtime::executor::endless), me_.end());
        stream(pictured(inputs_.live()), &through(results_.live()), runtime::executor::endless);
        inputs_.live().stop();
        figures_.streams = inputs_.live().counts();
      } else {
        counted_results progress_sink(results_.kept(), frames_, shows_progress());
        stream(pictured(inputs_.source()), &through(progress_sink), frames_);
      }
      if (reporter_) reporter_->end(me_.executor().frames());
      figures_.cores = watch.used();
      me_.end().settle();
      wanted_ = view_.streams ? -1 : frames_;
      frames_ = me_.executor().frames();
      return after_stop();
    } catch (const channels::stopped&) {
      return 1;
    } catch (const runtime::late_frame& late) {
      ranks_.stop("dice: error: " + me_.where_text() + ": " +
                  job::late_text(program_, late, options_.frame_timeout, [&](int r) { return me_.where_text(r); }));
      return 1;
    } catch (const std::exception& e) {
      const int l = me_.executor().layer();
      const auto where =
          l < 0 ? ""
                : std::string(", ") + phase + std::to_string(me_.executor().frame()) + ", layer '" + view_.name(l) + "'";
      ranks_.stop("dice: error: " + me_.where_text() + where + ": " + job::cause(e));
      return 1;
    }
  }

  frames::source& pictured(frames::source& in) { return drawing_.through(in, me_.executor().notes(), me_.end()); }
  frames::sink& through(frames::sink& next) {
    return results_.through(next, given_, me_.end(), drawing_.listener(me_.executor().notes()));
  }
  /// Runs at most `most` frames, fewer if `in` ends or a signal asks to stop.
  void stream(frames::source& in, frames::sink* out, std::int64_t most) {
    try {
      if (!can_stop()) me_.executor().run(most, &in, out, figures_);
      else
        me_.executor().stream(
            &in, out, figures_, most, [] { return files::interrupts::stop_signal() != 0; },
            job::limit_of(program_, me_, options_.frame_timeout));
    } catch (...) {
      me_.end().quit();  // as executor::run does
      throw;
    }
  }
  /// Where nothing enters, nothing can be stopped.
  bool can_stop() const {
    return std::any_of(program_.layers.layers.begin(), program_.layers.layers.end(),
                       [](const auto& l) { return l.is_input; });
  }

  /// Whether a signal has stopped the run early; the same in every rank.
  [[gnu::cold]] int after_stop() {
    files::interrupts::let_finish();
    int signal = 0;
    for (const auto& text : ranks_.all_gather(std::to_string(files::interrupts::stop_signal())))
      if (signal == 0) signal = std::stoi(text);
    const bool early = wanted_ < 0 ? me_.executor().cut_short() : frames_ != wanted_;
    if (signal == 0 || !early) return 0;
    stopped_ = true;
    if (rank_ == 0)
      text::print_error(std::string("dice: ") + files::interrupts::text_of(signal) + " after " +
                        (wanted_ < 0 ? "" : std::to_string(frames_) + " of ") +
                        text::count_text(wanted_ < 0 ? frames_ : wanted_, "frame"));
    results_.keep_first(frames_);
    return 0;
  }

  /// Only the rank with the last graph output shows progress.
  bool shows_progress() const {
    int last = -1;
    for (int l = 0; l < view_.layers(); ++l)
      if (view_.layer(l).is_output) last = l;
    return last >= 0 && view_.here(last);
  }

  /// Sends, writes and prints results and figures.
  [[gnu::cold]] int finish() {
    const job::clock_shift clock(clock_, ask_clock());
    const auto parts = ranks_.all_gather(
        report::summary_part(me_.host(), figures_, clock, program_.plan.ranks[rank_].peak_bytes, me_.accelerator_memory()));
    results_.gather(ranks_, frames_);
    std::vector<std::string> all_profiles, traces, message_events;
    if (view_.profiles()) all_profiles = ranks_.all_gather(report::profile_part(*recorder_, me_.host()));
    if (options_.explain) message_events = job::to_first(ranks_, report::message_events_part(*recorder_, clock));
    if (!options_.trace.empty())
      traces = job::to_first(ranks_, report::trace_part(program_, rank_, me_.host(), *recorder_, clock));
    if (!options_.trace.empty() && recorder_->dropped_events() > 0)
      text::print_error("dice: warning: " + me_.where_text() + ": --trace has only the first " +
                        std::to_string(runtime::recorder::max_events) + " events, and not the " +
                        std::to_string(recorder_->dropped_events()) + " after them; give fewer frames");
    std::string error;
    const auto then = [&](auto f) {
      const auto e = attempt(f);
      if (error.empty()) error = e;
    };
    results_.write(then);
    then([&] {
      if (const auto warning = drawing_.finish(); !warning.empty())
        text::print_error("dice: warning: " + me_.where_text() + ": " + warning);
    });
    report::summary all;
    std::string page;
    const auto profile = report::merge_profiles(all_profiles);
    if (rank_ == 0)
      then([&] {
        all = report::merge(parts, frames_);
        auto figures = report::summary_json(all);
        if (options_.explain)
          page = explain(report::seen(program_, all, profile, message_events, view_.in_flight()), figures);
        if (!options_.json.empty()) files::write_text(options_.json, figures.json() + "\n");
      });
    if (rank_ == 0 && !options_.trace.empty()) then([&] { files::write_text(options_.trace, report::trace_text(traces)); });
    if (rank_ == 0 && !options_.profile.empty())
      then([&] { files::write_text(options_.profile, report::profile_json(program_, frames_, profile)); });
    // Print only when all ranks have written their files: the reader of the output may vanish. First the figures, then what
    // other ranks print.
    if (const int code = agree(error)) return code;
    if (rank_ == 0) then([&] { print_result(report::summary_table(all)); });
    if (const int code = agree(error)) return code;
    if (!options_.top.empty() && !view_.streams && frames_ > 0) then([&] { results_.list_top(frames_, given_); });
    for (const auto& f : options_.expected)
      if (view_.holds(f.layer) && frames_ > 0) then([&] { results_.compare(f, !stopped_, frames_, given_.frames); });
    if (rank_ == 0 && !options_.profile.empty()) then([&] { print_result(report::profile_table(program_, profile)); });
    if (!page.empty()) then([&] { print_result("\n" + page); });
    return agree(error);
  }

  /// The page about a run; the same is added to `figures`, the content of --json.
  [[gnu::cold]] std::string explain(const report::seen_run& run, text::json_object& figures) const {
    if (!(run.period > 0)) return "There is nothing to explain: the run took no time. Give more frames.\n";
    std::optional<advice::assessment> ahead;  // once for both: it may take long
    if (cluster_) ahead = cluster_->advise(*cluster_, program_, run);
    const auto* known = ahead ? &*ahead : nullptr;
    figures.add("explained", advice::explained_json(program_, run, known));
    return advice::explained_text(program_, run, known);
  }

  /// How rank 0's clock differs from this one now. Collective.
  job::clock_shift::sample ask_clock() {
    const auto offset = ranks_.clock_offset();
    return {runtime::now(), offset};
  }

  const runtime::program& program_;
  const options& options_;
  const std::string usage_;
  channels::communicator& ranks_;
  const int rank_;
  rank_view view_;
  job::rank_session me_;
  const advice::cluster_model* const cluster_;
  const std::function<std::string()> page_;
  job::status_reporter* const reporter_;  ///< in rank 0, or null
  rank_inputs inputs_{view_};
  rank_results results_{view_};
  rank_drawing drawing_{view_, inputs_};
  given_frames given_;
  std::int64_t frames_ = 0;
  std::int64_t wanted_ = -1;        ///< frames, unless the run was stopped; -1: as many as the stream has
  bool stopped_ = false;            ///< early, by a signal
  job::clock_shift::sample clock_;  ///< before the first frame
  runtime::figures figures_;
  std::optional<runtime::recorder> recorder_;
};

}  // namespace dice::app
