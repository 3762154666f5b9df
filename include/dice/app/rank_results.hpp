// What leaves at a rank.
#pragma once

#include "dice/app/counted_results.hpp"
#include "dice/app/live_results.hpp"
#include "dice/app/output/result_sinks.hpp"
#include "dice/app/rank_inputs.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/sink.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::app {

/// The results of a rank's graph outputs, and of those that it holds for others: to be written, listed and compared.
class rank_results {
 public:
  explicit rank_results(const rank_view& of) : of_(of) {}
  rank_results(const rank_results&) = delete;
  rank_results& operator=(const rank_results&) = delete;

  /// Reads what the results are expected to be. Throws files::error.
  void read_expected() {
    for (const auto& f : of_.options.expected)
      if (of_.holds(f.layer))
        expected_[f.layer] = frames::read_results(f.file, of_.layer(f.layer).output, "output '" + of_.name(f.layer) + "'",
                                                  of_.layer(f.layer).number);
  }
  /// Reads the names of results. Returns warnings, or "". Throws std::runtime_error.
  std::string read_names() {
    std::string warnings;
    for (int l = 0; l < of_.layers(); ++l) {
      if (of_.options.labels.empty() || !(of_.lists(l) || of_.options.has_sink(l)) || !of_.holds(l)) continue;
      if (labels_.empty()) labels_ = read_labels(of_.options.labels);
      if (const auto lacks = labels_lack(of_.program.layers, l, labels_); !lacks.empty())
        warnings += (warnings.empty() ? "" : "; ") + lacks;
    }
    return warnings;
  }

  /// Memory of the results that are kept until the end, if --frames says how many.
  std::int64_t bytes() const {
    std::int64_t out = 0;
    for (int l = 0; l < of_.layers() && !streams(); ++l)
      if (keeps(l)) out += of_.options.frames.value_or(0) * of_.layer(l).output.bytes();
    return out;
  }

  /// Prepares for a run of `frames` frames, of which the files have `given`. Throws files::error.
  void begin(std::int64_t frames, std::int64_t given) {
    for (const auto& to : of_.options.sinks)
      if (of_.here(to.layer)) open(to);
    for (int l = 0; l < of_.layers(); ++l) {
      if (streams()) {
        if (of_.collects(l) && of_.here(l)) follow(l);
        continue;
      }
      if (keeps(l)) sink_.add(l, of_.layer(l).output, frames);
      if (expected_.contains(l)) check_expected(l, frames, given);
    }
  }

  frames::tensor_sink& kept() { return sink_; }
  /// Where results go that are then for `next`: through the sinks, if there are any. `end` is waken when they have room.
  frames::sink& through(frames::sink& next, const given_frames& given, channels::endpoint& end) {
    if (sinks_.empty()) return next;
    sinks_.begin(
        next, [&given](std::int64_t frame) { return given.pictures_of(frame); }, [&end] { end.wake(); });
    return sinks_;
  }
  /// Takes each result of a stream as it comes.
  frames::sink& live() { return live_; }

  /// Keeps only the first `frames` results.
  void keep_first(std::int64_t frames) {
    for (int l = 0; l < of_.layers(); ++l)
      if (sink_.has(l)) sink_.keep_first(l, of_.layer(l).output, frames);
  }
  /// Brings the results of `frames` frames to the ranks that hold them. Collective.
  void gather(channels::communicator& ranks, std::int64_t frames) {
    for (int l = 0; l < of_.layers(); ++l) {
      const int owner = of_.program.plan.owner[l];
      if (!of_.collects(l) || of_.holder(l) == owner) continue;
      const auto bytes = frames * of_.layer(l).output.bytes();
      if (of_.here(l)) ranks.send_block(of_.holder(l), sink_.result(l).data(), bytes);
      if (of_.holds(l)) ranks.receive_block(owner, sink_.result(l).data(), bytes);
    }
  }
  /// Calls then(f) with functions that write files; each may throw files::error.
  template <class Then> void write(Then then) {
    then([&] { sinks_.finish(); });
    if (streams()) return then([&] { live_.finish(); });
    for (const auto& f : of_.options.outputs)
      if (of_.holds(f.layer)) then([&] { frames::write_npy(f.file, sink_.result(f.layer), of_.layer(f.layer).number); });
  }
  /// Prints the largest numbers of each result.
  void list_top(std::int64_t frames, const given_frames& given) {
    for (int l = 0; l < of_.layers(); ++l)
      if (of_.lists(l) && of_.holds(l))
        print_result(top_list_of(of_.program.layers, l, of_.options.top_of(l), labels_)
                         .text(sink_.result(l), frames, given.pictures, given.pictures_per_frame));
  }
  /// Compares an output with what --expect says, after `frames` frames; `all`: the run was not stopped early. Throws
  /// std::runtime_error if it differs.
  void compare(const named_file& f, bool all, std::int64_t frames, std::int64_t given) {
    if (streams() && all) check_expected(f.layer, frames, given);
    const auto type = of_.layer(f.layer).number;
    const double error = error_of(sink_.result(f.layer), expected_.at(f.layer), type),
                 tolerance = frames::tolerance_of(type, of_.options.tolerance);
    char text[96];
    std::snprintf(text, sizeof text, ": error %.3g (%s), tolerance %.3g", error, frames::error_words(type), tolerance);
    print_result(text::shown(of_.name(f.layer)) + text + "\n");
    if (!(error <= tolerance))
      throw std::runtime_error("output '" + of_.name(f.layer) + "' differs from '" + f.file + "'" + text);
  }

 private:
  /// Opens a sink of a rank's output. Throws files::error, std::runtime_error.
  [[gnu::cold]] void open(const result_sink& to) {
    if (to.kind == result_sink::kinds::standard && (to.form == result_form::raw || to.form == result_form::npy)) {
      const char* const is = ::isatty(STDOUT_FILENO)                ? "a terminal"
                             : std::getenv("DICE_TIMESTAMP_OUTPUT") ? "the job's log"
                                                                    : nullptr;
      if (is)
        throw files::error("the standard output is " + std::string(is) + ", and takes no numbers in " +
                           std::string(result_words[static_cast<std::size_t>(to.form)]) +
                           "; write them to --output FILE or --sink 'COMMAND', or choose --results json");
    }
    const auto& about = of_.layer(to.layer);
    constexpr int some = 5;
    const auto longest = static_cast<int>(std::min<std::int64_t>(numbers_of_row(of_.program.layers, to.layer), some));
    const int wanted = of_.options.top_of(to.layer), k = wanted > 0 ? wanted : longest;
    sinks_.add(to.layer, to, {to.form, top_list_of(of_.program.layers, to.layer, k, labels_), about.output, about.number},
               static_cast<std::size_t>(of_.in_flight()));
  }

  bool streams() const { return of_.streams; }
  bool keeps(int l) const { return of_.collects(l) && (of_.here(l) || of_.holds(l)); }

  /// Prepares what `live_` does with the results of output `l` of a stream.
  void follow(int l) {
    const auto& about = of_.layer(l);
    if (of_.lists(l)) live_.list(l, top_list_of(of_.program.layers, l, of_.options.top_of(l), labels_));
    for (const auto& f : of_.options.outputs)
      if (f.layer == l) live_.write(l, f.file, about.output, about.number);
    if (const auto at = expected_.find(l); at != expected_.end())
      live_.keep(l, about.output, frames::frames_in(at->second.shape(), about.output));
  }

  /// Throws unless --expect has as many frames as the run, or as the input files.
  void check_expected(int l, std::int64_t frames, std::int64_t given) const {
    const auto n = frames::frames_in(expected_.at(l).shape(), of_.layer(l).output);
    if (n == frames || n == given) return;
    throw files::error("--expect for output '" + of_.name(l) + "' holds " + text::count_text(n, "frame") +
                       ", but the run has " + std::to_string(frames));
  }

  const rank_view& of_;
  std::map<int, frames::tensor> expected_;
  std::vector<std::string> labels_;
  frames::tensor_sink sink_;
  live_results live_{sink_};
  result_sinks sinks_;
};

}  // namespace dice::app
