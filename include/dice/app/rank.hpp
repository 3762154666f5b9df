// What every rank does from its start to its end; the same for processes and for threads.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/explanation.hpp"
#include "dice/app/agreed_options.hpp"
#include "dice/app/command_line.hpp"
#include "dice/app/conflict.hpp"
#include "dice/app/counted_results.hpp"
#include "dice/app/ctrl_c.hpp"
#include "dice/app/input/files.hpp"
#include "dice/app/input/standard.hpp"
#include "dice/app/live_results.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/files/error.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/sink.hpp"
#include "dice/frames/source.hpp"
#include "dice/job/clock_shift.hpp"
#include "dice/job/late_frame.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/record.hpp"
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
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// One rank's part of a job.
class rank_job {
 public:
  /// `usage` is what is wrong with the command line here, or empty; unless it is empty, `o` is ignored. `by` is the
  /// transport of `ranks`. `f` may be null. If `page` is not empty, the job prints its text, once, and runs no frames.
  rank_job(const runtime::program& p, const options& o, std::string usage, channels::communicator& ranks,
           const channels::transport_info& by, const advice::cluster_model* f, std::function<std::string()> page = {})
      : program_(p),
        options_(o),
        usage_(std::move(usage)),
        ranks_(ranks),
        rank_(ranks.rank()),
        me_(p, ranks, by),
        cluster_(f),
        page_(std::move(page)) {}

  /// Runs it; returns the exit code, the same in every rank.
  int run() {
    try {
      if (const int code = introduce()) return code;
      if (page_) {
        if (rank_ == 0) text::print(page_());
        ranks_.all_gather({});
        return 0;
      }
      if (!options_.measure.empty() || options_.verifies_only()) files::interrupts::end_at_once();  // no frames flow
      if (!options_.measure.empty()) {
        const auto error =
            measure::measurement(program_, {options_.measure, options_.weights, options_.packed}, me_, ranks_).run();
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
  const graph::layer_info& layer(int l) const { return program_.layers.layers[l]; }
  std::string name(int l) const { return std::string(layer(l).onnx_name); }
  bool here(int l) const { return program_.plan.owner[l] == rank_; }
  /// The rank that has the results of output `l` at the end.
  int holder(int l) const { return options_.gather ? 0 : program_.plan.owner[l]; }
  /// Whether the results of output `l` are used.
  bool kept(int l) const {
    const auto names = [&](const std::vector<named_file>& files) {
      return std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.layer == l; });
    };
    return layer(l).is_output && (options_.top > 0 || names(options_.outputs) || names(options_.expected));
  }

  int in_flight() const { return options_.in_flight.value_or(program_.plan.in_flight); }

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
    for (int l = 0; l < program_.layers.size(); ++l)
      if (kept(l)) wanted += (wanted.empty() ? "" : ", ") + name(l);
    const int streamed = options_.streamed();
    const bool streams = streamed >= 0 && here(streamed) && !page_;
    const auto usage = usage_.empty() && streams ? no_standard_input(rank_, name(streamed)) : usage_;
    const auto [error, code] = me_.introduce(usage, agreed_options(options_, wanted), page_ != nullptr);
    return error.empty() ? 0 : refuse(error, code);
  }

  /// Threads, weights and files.
  [[gnu::cold]] int prepare() {
    std::string warning;
    if (const auto error = me_.check_memory(bytes_of_frames(), warning); !error.empty()) return refuse(error, 1);
    if (!warning.empty()) text::print_error("dice: warning: " + me_.where_text() + ": " + std::exchange(warning, {}));
    job::record counts;
    std::vector<files::use> used;
    const auto error = attempt([&] {
      const auto begin = runtime::now();
      warning = me_.equip({options_.weights, options_.packed, options_.verify}, in_flight());
      if (options_.verify) {
        const auto line =
            measure::verified_text(me_.own().verified(), runtime::now() - begin, me_.weights_path(), me_.weights_digest());
        text::print_error("dice: " + me_.where_text() + ": " + line);
      }
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (!layer(l).is_input || !here(l)) continue;
        const auto what = "input '" + name(l) + "'";
        if (l == options_.streamed()) {
          if (asks_for_form(options_)) form_ = form_of(layer(l).output, what, options_, layer(l).number);
          if (form_ && form_->mean.empty()) form_.reset();  // bytes come as they are
          continue;
        }
        auto& files = files_.try_emplace(l, layer(l).output, what, options_, layer(l).number).first->second;
        for (const auto& f : options_.inputs)
          if (f.layer == l) files.add(f.file);
        if (files.frames() == 0) continue;
        source_.add(l, files.frames(), [&files](std::int64_t frame, float* to) { files.read(frame, to); });
        warning += (warning.empty() || files.warning().empty() ? "" : "; ") + files.warning();
        job::record pictures;
        for (const auto& picture : files.pictures()) pictures.put(picture);
        counts.put(name(l));
        counts.put(files.frames());
        counts.put(pictures.text());
      }
      for (const auto& f : options_.expected)
        if (holder(f.layer) == rank_)
          expected_[f.layer] =
              frames::read_results(f.file, layer(f.layer).output, "output '" + name(f.layer) + "'", layer(f.layer).number);
      std::vector<std::string> read;
      if (const int l = options_.streamed(); l >= 0 && here(l)) read.emplace_back("-");
      for (const auto& [l, input] : files_) read.insert(read.end(), input.files().begin(), input.files().end());
      used = uses_of(options_, rank_, me_.weights_path(), read, [&](int l) { return holder(l); });
      for (const auto& u : used)
        if (u.writes) files::require_writable(u.path);
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (options_.labels.empty() || !layer(l).is_output || holder(l) != rank_) continue;
        if (labels_.empty()) labels_ = read_labels(options_.labels);
        if (const auto lacks = labels_lack(program_.layers, l, labels_); !lacks.empty())
          warning += (warning.empty() ? "" : "; ") + lacks;
      }
    });
    job::record mine;
    mine.put(warning);
    mine.put(me_.host());
    mine.put(counts.text());
    mine.put(uses_text(used));
    std::vector<std::string> all;
    if (const auto first = me_.agree(error, mine.text(), all); !first.empty()) return refuse(first, 1);
    std::vector<std::pair<std::string, std::string>> uses;
    for (const auto& of_rank : all) {
      job::record in(of_rank);
      in.get();
      const auto host = in.get();
      in.get();
      uses.emplace_back(host, in.get());
    }
    const auto conflict = conflict_between(uses);
    return conflict.empty() ? count_frames(all) : refuse(conflict, 2);
  }

  /// Prints the warnings and finds the number of frames, from what all ranks report.
  [[gnu::cold]] int count_frames(const std::vector<std::string>& all) {
    std::string first, difference;
    for (std::size_t r = 0; r < all.size(); ++r) {
      job::record in(all[r]);
      const auto warning = in.get(), host = in.get(), counts = in.get();
      if (rank_ == 0 && !warning.empty())
        text::print_error("dice: warning: " + me_.where_text(static_cast<int>(r), host) + " " + warning);
      for (job::record c(counts); c.more();) {
        const auto input = c.get();
        const auto n = c.get_number();
        if (given_ == 0) given_ = n, first = input;
        if (n != given_ && difference.empty())
          difference = "input '" + first + "' has " + text::count_text(given_, "frame") + ", input '" + input + "' has " +
                       std::to_string(n) + "; give the same number for each";
        std::vector<std::string> pictures;
        for (job::record p(c.get()); p.more();) pictures.push_back(p.get());
        if (pictures_.empty() && !pictures.empty())
          pictures_ = pictures, pictures_per_frame_ = pictures.size() / static_cast<std::size_t>(n);
      }
    }
    if (asks_for_form(options_) && pictures_.empty() && options_.streamed() < 0)
      return refuse("--mean, --std, --layout and --resize are for pictures, but no input has any", 2);
    frames_ = options_.frames.value_or(std::max<std::int64_t>(given_, 1));
    return difference.empty() ? 0 : refuse(difference, 1);
  }

  /// What this rank keeps of results until the end, if --frames says how many, and of random frames.
  std::int64_t bytes_of_frames() const {
    std::int64_t out = 0;
    for (int l = 0; l < program_.layers.size(); ++l)
      if (is_random(l)) out += made_ahead(l, options_.frames.value_or(1)) * layer(l).output.bytes();
    for (int l = 0; l < program_.layers.size() && options_.streamed() < 0; ++l)
      if (kept(l) && (here(l) || holder(l) == rank_)) out += options_.frames.value_or(0) * layer(l).output.bytes();
    return out;
  }

  /// Whether random frames enter at graph input `l` of this rank.
  bool is_random(int l) const { return layer(l).is_input && here(l) && !options_.has_input(l); }
  /// How many of them are made before the first of `frames` enters.
  std::int64_t made_ahead(int l, std::int64_t frames) const {
    return frames::made_ahead(layer(l).output, std::max(frames, options_.warmup));
  }

  /// Memory for the run, and the endpoint.
  [[gnu::cold]] int allocate() {
    clock_ = ask_clock();
    const auto frames_error = attempt([&] {
      int ordinal = 0;
      for (int l = 0; l < program_.layers.size(); ++l) {
        const auto& about = layer(l);
        if (is_random(l)) source_.add_random(l, about.output, ordinal, options_.random.value_or(0), made_ahead(l, frames_));
        ordinal += about.is_input;
        if (options_.streamed() >= 0) {
          if (kept(l) && here(l)) follow(l);
          continue;
        }
        if (kept(l) && (here(l) || holder(l) == rank_)) sink_.add(l, about.output, frames_);
        if (const auto at = expected_.find(l); at != expected_.end()) check_expected(l, at->second);
      }
    });
    if (const int code = agree(frames_error)) return code;
    std::string warning, error;
    if (options_.cuda_aware) error = me_.try_gpu_messages();
    if (error.empty()) error = me_.connect({in_flight(), options_.cuda_aware, options_.check_numbers}, warning);
    if (!warning.empty()) text::print_error("dice: warning: " + me_.where_text() + ": " + warning);
    return error.empty() ? 0 : refuse(error, 1);
  }

  /// Prepares what `live_` does with the results of output `l` of a stream.
  void follow(int l) {
    if (options_.top > 0) live_.list(l, top_list_of(program_.layers, l, options_.top, labels_));
    for (const auto& f : options_.outputs)
      if (f.layer == l) live_.write(l, f.file, layer(l).output, layer(l).number);
    if (const auto at = expected_.find(l); at != expected_.end())
      live_.keep(l, layer(l).output, frames::frames_in(at->second.shape(), layer(l).output));
  }

  /// Throws unless --expect has as many frames as the run, or as were given.
  void check_expected(int l, const frames::tensor& t) const {
    const auto n = frames::frames_in(t.shape(), layer(l).output);
    if (n == frames_ || n == given_) return;
    throw files::error("--expect for output '" + name(l) + "' holds " + text::count_text(n, "frame") + ", but the run has " +
                       std::to_string(frames_));
  }

  int compute() {
    const char* phase = "warm-up frame ";
    try {
      if (options_.warmup > 0) stream(source_, nullptr, options_.warmup);
      phase = "frame ";
      const bool traces = !options_.trace.empty();
      if (traces || profiles()) {
        recorder_.emplace(program_.plan.groups.size(), static_cast<std::size_t>(me_.own().threads()), traces, profiles(),
                          options_.explain);
        me_.executor().record(&*recorder_);
        ranks_.all_gather({});  // a rank may have measured its kernels for long: no frame waits for that
      }
      const this_host::core_watch watch(me_.own().cores(), me_.own().threads(), me_.alone());
      if (options_.streamed() >= 0) {
        const int l = options_.streamed();
        standard_input in(options_, layer(l).number);
        if (here(l)) in.start(layer(l).output, options_.frames.value_or(INT64_MAX), form_ ? &*form_ : nullptr, me_.end());
        stream(in, &live_, runtime::executor::endless);
      } else {
        counted_results progress_sink(sink_, frames_, shows_progress());
        stream(source_, &progress_sink, frames_);
      }
      figures_.cores = watch.used();
      me_.end().settle();
      wanted_ = options_.streamed() < 0 ? frames_ : -1;
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
          l < 0 ? "" : std::string(", ") + phase + std::to_string(me_.executor().frame()) + ", layer '" + name(l) + "'";
      ranks_.stop("dice: error: " + me_.where_text() + where + ": " + job::cause(e));
      return 1;
    }
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
    for (int l = 0; l < program_.layers.size(); ++l)
      if (sink_.has(l)) sink_.keep_first(l, layer(l).output, frames_);
    return 0;
  }

  /// Only the rank with the last graph output does.
  bool shows_progress() const {
    int last = -1;
    for (int l = 0; l < program_.layers.size(); ++l)
      if (layer(l).is_output) last = l;
    return last >= 0 && here(last);
  }

  /// Sends, writes and prints results and figures.
  [[gnu::cold]] int finish() {
    const job::clock_shift clock(clock_, ask_clock());
    const auto parts = ranks_.all_gather(
        report::summary_part(me_.host(), figures_, clock, program_.plan.ranks[rank_].peak_bytes, me_.accelerator_memory()));
    for (int l = 0; l < program_.layers.size(); ++l) {
      if (!kept(l) || holder(l) == program_.plan.owner[l]) continue;
      if (here(l)) ranks_.send_block(holder(l), sink_.result(l).data(), frames_ * layer(l).output.bytes());
      if (holder(l) == rank_)
        ranks_.receive_block(program_.plan.owner[l], sink_.result(l).data(), frames_ * layer(l).output.bytes());
    }
    std::vector<std::string> all_profiles, traces, message_events;
    if (profiles()) all_profiles = ranks_.all_gather(report::profile_part(*recorder_, me_.host()));
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
    if (options_.streamed() >= 0) then([&] { live_.finish(); });
    else
      for (const auto& f : options_.outputs)
        if (holder(f.layer) == rank_) then([&] { frames::write_npy(f.file, sink_.result(f.layer), layer(f.layer).number); });
    report::summary all;
    std::string page;
    const auto profile = report::merge_profiles(all_profiles);
    if (rank_ == 0)
      then([&] {
        all = report::merge(parts, frames_);
        auto figures = report::summary_json(all);
        if (options_.explain) page = explain(report::seen(program_, all, profile, message_events, in_flight()), figures);
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
    if (options_.top > 0 && options_.streamed() < 0 && frames_ > 0) then([&] { list_top(); });
    for (const auto& f : options_.expected)
      if (holder(f.layer) == rank_ && frames_ > 0) then([&] { compare(f); });
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

  bool profiles() const { return !options_.profile.empty() || options_.explain; }

  void list_top() {
    for (int l = 0; l < program_.layers.size(); ++l)
      if (layer(l).is_output && holder(l) == rank_)
        print_result(top_list_of(program_.layers, l, options_.top, labels_)
                         .text(sink_.result(l), frames_, pictures_, pictures_per_frame_));
  }

  void compare(const named_file& f) {
    if (options_.streamed() >= 0 && !stopped_) check_expected(f.layer, expected_.at(f.layer));
    const auto type = layer(f.layer).number;
    const double error = error_of(sink_.result(f.layer), expected_.at(f.layer), type),
                 tolerance = frames::tolerance_of(type, options_.tolerance);
    char text[96];
    std::snprintf(text, sizeof text, ": error %.3g (%s), tolerance %.3g", error, frames::error_words(type), tolerance);
    print_result(text::shown(name(f.layer)) + text + "\n");
    if (!(error <= tolerance))
      throw std::runtime_error("output '" + name(f.layer) + "' differs from '" + f.file + "'" + text);
  }

  const runtime::program& program_;
  const options& options_;
  const std::string usage_;
  channels::communicator& ranks_;
  const int rank_;
  job::rank_session me_;
  const advice::cluster_model* const cluster_;
  const std::function<std::string()> page_;
  std::map<int, input_files> files_;   ///< of the graph inputs here
  std::vector<std::string> pictures_;  ///< of the input that has them, whichever rank it is in
  std::size_t pictures_per_frame_ = 1;
  std::optional<picture_form> form_;  ///< of a stream's frames, if they are to be normalised
  frames::tensor_source source_;
  frames::tensor_sink sink_;
  std::map<int, frames::tensor> expected_;
  std::vector<std::string> labels_;
  std::int64_t given_ = 0, frames_ = 0;
  std::int64_t wanted_ = -1;        ///< frames, unless the run was stopped; -1: as many as the stream has
  bool stopped_ = false;            ///< early, by a signal
  job::clock_shift::sample clock_;  ///< before the first frame
  runtime::figures figures_;
  std::optional<runtime::recorder> recorder_;
  live_results live_{sink_};
};

}  // namespace dice::app
