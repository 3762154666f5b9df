// What every rank does from its start to its end; the same for processes and for threads.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/advice/cluster_model.hpp"
#include "dice/advice/explanation.hpp"
#include "dice/app/command_line.hpp"
#include "dice/app/input/files.hpp"
#include "dice/app/input/standard.hpp"
#include "dice/app/live_results.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/job/clock_shift.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/record.hpp"
#include "dice/measure/measure.hpp"
#include "dice/report/profile.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/report/summary.hpp"
#include "dice/report/trace.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/sink.hpp"
#include "dice/runtime/source.hpp"
#include "dice/text/print.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// One rank's part of a job.
class rank_job {
 public:
  /// `usage` is what is wrong with the command line here, or empty; unless it is empty, `o` is ignored. `f` may be null.
  rank_job(const runtime::program& p, const options& o, std::string usage, channels::communicator& ranks, bool processes,
           const advice::cluster_model* f)
      : program_(p),
        options_(o),
        usage_(std::move(usage)),
        ranks_(ranks),
        rank_(ranks.rank()),
        me_(p, ranks, processes),
        cluster_(f) {}

  /// Runs it; returns the exit code, the same in every rank.
  int run() {
    try {
      if (const int code = introduce()) return code;
      if (!options_.measure.empty()) {
        const auto error =
            measure::measurement(program_, {options_.measure, options_.weights, options_.packed}, me_, ranks_).run();
        return error.empty() ? 0 : refuse(error, 1);
      }
      for (auto stage : {&rank_job::prepare, &rank_job::allocate, &rank_job::compute, &rank_job::finish})
        if (const int code = (this->*stage)()) return code;
      return 0;
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
    if (rank_ == 0) {
      std::fprintf(stderr, "dice: error: %s\n", error.c_str());
      std::fflush(stderr);
    }
    ranks_.all_gather({});
    return code;
  }

  int agree(const std::string& error) {
    const auto first = me_.agree(error);
    return first.empty() ? 0 : refuse(first, 1);
  }
  template <class F> static std::string attempt(F f) { return job::rank_session::attempt(f); }

  /// Checks that all ranks run the same program with the same options. Files may differ between hosts.
  int introduce() {
    const auto number = [](const auto& n) { return n ? std::to_string(*n) : std::string("(none)"); };
    std::string wanted;
    for (int l = 0; l < program_.layers.size(); ++l)
      if (kept(l)) wanted += (wanted.empty() ? "" : ", ") + name(l);
    const int streamed = options_.streamed();
    const auto usage = usage_.empty() && streamed >= 0 && here(streamed) ? no_standard_input(rank_, name(streamed)) : usage_;
    const auto [error, code] = me_.introduce(usage, {{"with --frames ", number(options_.frames)},
                                                     {"with --warmup ", std::to_string(options_.warmup)},
                                                     {"with --in-flight ", number(options_.in_flight)},
                                                     {"with --input - ", streamed < 0 ? "(no)" : "(yes)"},
                                                     {"with --cuda-aware ", options_.cuda_aware ? "(yes)" : "(no)"},
                                                     {"with --gather ", options_.gather ? "(yes)" : "(no)"},
                                                     {"with --trace ", options_.trace.empty() ? "(no)" : "(yes)"},
                                                     {"with --profile ", options_.profile.empty() ? "(no)" : "(yes)"},
                                                     {"with --explain ", options_.explain ? "(yes)" : "(no)"},
                                                     {"with --measure ", options_.measure.empty() ? "(no)" : "(yes)"},
                                                     {"for the results of ", wanted.empty() ? "(none)" : wanted}});
    return error.empty() ? 0 : refuse(error, code);
  }

  /// Threads, weights and files.
  [[gnu::cold]] int prepare() {
    std::string warning;
    job::record counts;
    const auto error = attempt([&] {
      warning = me_.equip(options_.weights, options_.packed, in_flight());
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (!layer(l).is_input || !here(l)) continue;
        const auto what = "input '" + name(l) + "'";
        if (l == options_.streamed()) {
          if (asks_for_form(options_)) form_ = form_of(layer(l).output, what, options_);
          continue;
        }
        auto& files = files_.try_emplace(l, layer(l).output, what, options_).first->second;
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
          expected_[f.layer] = runtime::read_frames(f.file, layer(f.layer).output, "output '" + name(f.layer) + "'");
      const auto require_writable = [&](const std::string& file) {
        runtime::require_writable(file);
        if (runtime::is_same_file(file, me_.weights_path()))
          throw runtime::file_error("'" + file + "' is a weights file and would be overwritten; name another file");
      };
      for (const auto& f : options_.outputs)
        if (holder(f.layer) == rank_) require_writable(f.file);
      for (const auto* file : {&options_.json, &options_.trace, &options_.profile})
        if (rank_ == 0 && !file->empty()) require_writable(*file);
      for (int l = 0; l < program_.layers.size(); ++l) {
        if (options_.labels.empty() || !layer(l).is_output || holder(l) != rank_) continue;
        if (labels_.empty()) labels_ = read_labels(options_.labels);
        if (const auto n = layer(l).output.elements(); static_cast<std::int64_t>(labels_.size()) < n)
          warning += (warning.empty() ? "" : "; ") + ("has " + std::to_string(labels_.size())) + " labels for the " +
                     std::to_string(n) + " numbers of output '" + name(l) + "'";
      }
    });
    job::record mine;
    mine.put(warning);
    mine.put(me_.host());
    mine.put(counts.text());
    std::vector<std::string> all;
    const auto first = me_.agree(error, mine.text(), all);
    return first.empty() ? count_frames(all) : refuse(first, 1);
  }

  /// Prints the warnings and finds the number of frames, from what all ranks report.
  [[gnu::cold]] int count_frames(const std::vector<std::string>& all) {
    std::string first, difference;
    for (std::size_t r = 0; r < all.size(); ++r) {
      job::record in(all[r]);
      const auto warning = in.get(), host = in.get(), counts = in.get();
      if (rank_ == 0 && !warning.empty())
        std::fprintf(stderr, "dice: warning: %s %s\n", me_.where_text(static_cast<int>(r), host).c_str(), warning.c_str());
      for (job::record c(counts); c.more();) {
        const auto input = c.get();
        const auto n = c.get_number();
        if (given_ == 0) given_ = n, first = input;
        if (n != given_ && difference.empty())
          difference = "input '" + first + "' has " + std::to_string(given_) + " frames, input '" + input + "' has " +
                       std::to_string(n) + "; give the same number for each";
        std::vector<std::string> pictures;
        for (job::record p(c.get()); p.more();) pictures.push_back(p.get());
        if (pictures_.empty()) pictures_ = pictures;
      }
    }
    if (asks_for_form(options_) && pictures_.empty() && options_.streamed() < 0)
      return refuse("--mean, --std, --layout and --resize are for pictures, but no input has any", 2);
    frames_ = options_.frames.value_or(std::max<std::int64_t>(given_, 1));
    return difference.empty() ? 0 : refuse(difference, 1);
  }

  /// Memory for the run, and the endpoint.
  [[gnu::cold]] int allocate() {
    clock_ = ask_clock();
    const auto frames_error = attempt([&] {
      int ordinal = 0;
      for (int l = 0; l < program_.layers.size(); ++l) {
        const auto& about = layer(l);
        const bool file =
            std::any_of(options_.inputs.begin(), options_.inputs.end(), [&](const auto& f) { return f.layer == l; });
        if (about.is_input && here(l) && !file) {
          constexpr std::int64_t made_ahead = std::int64_t{256} << 20;  // bytes; later frames are made as they enter
          const auto ahead =
              std::min({std::max(frames_, options_.warmup), made_ahead / std::max<std::int64_t>(about.output.bytes(), 1)});
          source_.add_random(l, about.output, ordinal, options_.random.value_or(0), std::max<std::int64_t>(ahead, 1));
        }
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
    if (error.empty()) error = me_.connect(in_flight(), options_.cuda_aware, warning);
    if (!warning.empty()) std::fprintf(stderr, "dice: warning: %s: %s\n", me_.where_text().c_str(), warning.c_str());
    return error.empty() ? 0 : refuse(error, 1);
  }

  /// Prepares what `live_` does with the results of output `l` of a stream.
  void follow(int l) {
    if (options_.top > 0) live_.list(l, listed_name(l), options_.top, labels_);
    for (const auto& f : options_.outputs)
      if (f.layer == l) live_.write(l, f.file, layer(l).output);
    if (const auto at = expected_.find(l); at != expected_.end())
      live_.keep(l, layer(l).output, runtime::frames_in(at->second.shape(), layer(l).output));
  }

  /// Throws unless --expect has as many frames as the run, or as were given.
  void check_expected(int l, const runtime::tensor& t) const {
    const auto n = runtime::frames_in(t.shape(), layer(l).output);
    if (n == frames_ || n == given_) return;
    throw runtime::file_error("--expect for output '" + name(l) + "' holds " + std::to_string(n) +
                              " frames, but the run has " + std::to_string(frames_));
  }

  int compute() {
    const char* phase = "warm-up frame ";
    try {
      if (options_.warmup > 0) me_.executor().run(options_.warmup, &source_, nullptr, figures_);
      phase = "frame ";
      const bool traces = !options_.trace.empty();
      if (traces || profiles()) {
        recorder_.emplace(program_.plan.groups.size(), static_cast<std::size_t>(me_.threads()), traces, profiles(),
                          options_.explain);
        me_.executor().record(&*recorder_);
      }
      if (options_.streamed() >= 0) return stream(), 0;
      progress progress_sink(sink_, frames_, shows_progress());
      me_.executor().run(frames_, &source_, &progress_sink, figures_);
      return 0;
    } catch (const channels::stopped&) {
      return 1;
    } catch (const std::exception& e) {
      const int l = me_.executor().layer();
      const auto where =
          l < 0 ? "" : std::string(", ") + phase + std::to_string(me_.executor().frame()) + ", layer '" + name(l) + "'";
      ranks_.stop("dice: error: " + me_.where_text() + where + ": " + job::cause(e));
      return 1;
    }
  }

  /// Runs the frames of the standard input as they come.
  void stream() {
    standard_input in(figures_);
    const int l = options_.streamed();
    try {
      if (here(l)) in.start(layer(l).output, options_.frames.value_or(INT64_MAX), form_ ? &*form_ : nullptr, me_.end());
      me_.executor().stream(&in, &live_, figures_);
    } catch (...) {
      me_.end().quit();  // as executor::run does
      throw;
    }
    me_.end().settle();
    frames_ = 0;
    for (const auto& n : ranks_.all_gather(std::to_string(figures_.entered.size())))
      frames_ = std::max<std::int64_t>(frames_, std::stoll(n));
  }

  /// Counts frames on a terminal before handing them on.
  class progress final : public runtime::sink {
   public:
    progress(runtime::sink& next, std::int64_t frames, bool shows)
        : next_(next), frames_(frames), line_(shows ? stderr : nullptr) {}
    void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) override {
      next_.take(layer, frame, from, elements);
      line_.show([&] { return "frame " + std::to_string(frame + 1) + " of " + std::to_string(frames_); });
    }

   private:
    runtime::sink& next_;
    std::int64_t frames_;
    report::progress_line line_;
  };

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
    if (options_.explain) message_events = to_first(report::message_events_part(*recorder_, clock));
    if (!options_.trace.empty()) traces = to_first(report::trace_part(program_, rank_, me_.host(), *recorder_, clock));
    if (!options_.trace.empty() && recorder_->dropped_events() > 0)
      std::fprintf(stderr,
                   "dice: warning: %s: --trace has only the first %zu events, and not the %lld after them; give fewer "
                   "frames\n",
                   me_.where_text().c_str(), runtime::recorder::max_events,
                   static_cast<long long>(recorder_->dropped_events()));
    std::string error;
    const auto then = [&](auto f) {
      const auto e = attempt(f);
      if (error.empty()) error = e;
    };
    if (options_.streamed() >= 0) then([&] { live_.finish(); });
    else
      for (const auto& f : options_.outputs)
        if (holder(f.layer) == rank_) then([&] { runtime::write_npy(f.file, sink_.result(f.layer)); });
    report::summary all;
    std::string page;
    const auto profile = report::merge_profiles(all_profiles);
    if (rank_ == 0)
      then([&] {
        all = report::merge(parts, frames_);
        auto figures = report::summary_json(all);
        if (options_.explain) page = explain(report::seen(program_, all, profile, message_events, in_flight()), figures);
        if (!options_.json.empty()) runtime::write_text(options_.json, figures.json() + "\n");
      });
    if (rank_ == 0 && !options_.trace.empty())
      then([&] { runtime::write_text(options_.trace, report::trace_text(traces)); });
    if (rank_ == 0 && !options_.profile.empty())
      then([&] { runtime::write_text(options_.profile, report::profile_json(program_, frames_, profile)); });
    // Print only when all ranks have written their files: the reader of the output may vanish. First the figures, then what
    // other ranks print.
    if (const int code = agree(error)) return code;
    if (rank_ == 0) then([&] { text::print(report::summary_table(all)); });
    if (const int code = agree(error)) return code;
    if (options_.top > 0 && options_.streamed() < 0) then([&] { list_top(); });
    for (const auto& f : options_.expected)
      if (holder(f.layer) == rank_) then([&] { compare(f); });
    if (rank_ == 0 && !options_.profile.empty()) then([&] { text::print(report::profile_table(program_, profile)); });
    if (!page.empty()) then([&] { text::print("\n" + page); });
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

  /// Gathers all ranks' texts in rank 0; for long texts. Collective.
  std::vector<std::string> to_first(std::string text) {
    const auto sizes = ranks_.all_gather(std::to_string(text.size()));
    std::vector<std::string> out(sizes.size());
    for (int r = 1; r < ranks_.size(); ++r) {
      auto& theirs = out[r];
      if (rank_ == r) ranks_.send_block(0, text.data(), static_cast<std::int64_t>(text.size()));
      if (rank_ != 0) continue;
      theirs.resize(std::stoull(sizes[r]));
      ranks_.receive_block(r, theirs.data(), static_cast<std::int64_t>(theirs.size()));
    }
    out[0] = std::move(text);
    return out;
  }

  void list_top() {
    for (int l = 0; l < program_.layers.size(); ++l)
      if (layer(l).is_output && holder(l) == rank_)
        text::print(top_text(listed_name(l), sink_.result(l), frames_, options_.top, labels_, pictures_));
  }
  /// The name of output `l` in the lines of --top: empty if it is the only output.
  std::string listed_name(int l) const {
    int outputs = 0;
    for (const auto& other : program_.layers.layers) outputs += other.is_output;
    return outputs > 1 ? name(l) : "";
  }

  void compare(const named_file& f) {
    if (options_.streamed() >= 0) check_expected(f.layer, expected_.at(f.layer));
    const double error = relative_error(sink_.result(f.layer), expected_.at(f.layer));
    char text[96];
    std::snprintf(text, sizeof text, ": error %.3g (max |a-b| / max |b|), tolerance %.3g", error, options_.tolerance);
    text::print(name(f.layer) + text + "\n");
    if (!(error <= options_.tolerance))
      throw std::runtime_error("output '" + name(f.layer) + "' differs from '" + f.file + "'" + text);
  }

  const runtime::program& program_;
  const options& options_;
  const std::string usage_;
  channels::communicator& ranks_;
  const int rank_;
  job::rank_session me_;
  const advice::cluster_model* const cluster_;
  std::map<int, input_files> files_;   ///< of the graph inputs here
  std::vector<std::string> pictures_;  ///< by frame, of all ranks
  std::optional<picture_form> form_;   ///< of a stream's frames, if they are to be normalised
  runtime::tensor_source source_;
  runtime::tensor_sink sink_;
  std::map<int, runtime::tensor> expected_;
  std::vector<std::string> labels_;
  std::int64_t given_ = 0, frames_ = 0;
  job::clock_shift::sample clock_;  ///< before the first frame
  runtime::figures figures_;
  std::optional<runtime::recorder> recorder_;
  live_results live_{figures_, sink_};
};

}  // namespace dice::app
