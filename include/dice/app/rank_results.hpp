// What leaves at a rank.
#pragma once

#include "dice/app/counted_results.hpp"
#include "dice/app/decode_options.hpp"
#include "dice/app/live_results.hpp"
#include "dice/app/output/decoded_results.hpp"
#include "dice/app/output/destination.hpp"
#include "dice/app/output/result_sinks.hpp"
#include "dice/app/rank_inputs.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/channels/transports.hpp"
#include "dice/decode/head.hpp"
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
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
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
      const auto* decoded = of_.options.decoder_of(l);
      const auto lacks =
          decoded ? labels_lack(of_.program.layers, *decoded, labels_) : labels_lack(of_.program.layers, l, labels_);
      if (!lacks.empty()) warnings += (warnings.empty() ? "" : "; ") + lacks;
    }
    return warnings;
  }

  /// A warning if the lines of this rank and of another one meet on the standard output of a launcher, or "".
  std::string lines_mix() const {
    const auto by = channels::launched();
    std::vector<int> ranks;
    for (const auto& to : of_.options.sinks)
      if (to.kind == result_sink::kinds::standard) ranks.push_back(of_.program.plan.owner[to.layer]);
    const auto other = std::find_if(ranks.begin(), ranks.end(), [&](int r) { return r != of_.rank; });
    if (by.size < 2 || other == ranks.end() || std::ranges::min(ranks) != of_.rank) return {};
    return "and rank " + std::to_string(*other) + " write results to the standard output, where " +
           std::string(by.by->started_by.name) + " may mix their lines; give each output a file or --sink";
  }

  /// Memory of the results that are kept until the end, if --frames says how many.
  std::int64_t bytes() const {
    std::int64_t out = 0;
    for (int l = 0; l < of_.layers() && !streams(); ++l)
      if (keeps(l)) out += of_.options.frames.value_or(0) * of_.layer(l).output.bytes();
    return out;
  }

  /// Reads the prior boxes of --priors. Throws std::runtime_error.
  void read_priors() {
    const auto& o = of_.options;
    for (const auto& d : o.decoders) {
      if (d.as != decode::head::ssd || o.priors.empty() || !of_.here(d.layers[0])) continue;
      const auto all = frames::read_frames(o.priors, dice::tensor::shape{1, 4}, "--priors");
      priors_.assign(all.data(), all.data() + all.size());
      auto how = decoding_of(of_.program.layers, o);
      how.priors = priors_;
      if (const auto wrong = decode::what_is_wrong(d.as, types_of(of_.program.layers, d), how); !wrong.empty())
        throw files::error("--priors '" + o.priors + "': " + wrong);
    }
  }

  /// Prepares for a run of `frames` frames, of which the files have `given`. Throws files::error.
  void begin(std::int64_t frames, std::int64_t given) {
    for (const auto& to : of_.options.sinks)
      if (of_.here(to.layer)) open(to);
    for (const auto& d : of_.options.decoders)
      if (of_.here(d.layers[0])) decode(d);
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
  /// `listens`, unless it is null, hears what is found.
  frames::sink& through(frames::sink& next, const given_frames& given, channels::endpoint& end,
                        decoded_results::listener listens) {
    frames::sink* to = &next;
    const auto pictures = [&given](std::int64_t frame) { return given.pictures_of(frame); };
    const auto wake = [&end] { end.wake(); };
    if (!sinks_.empty()) {
      sinks_.begin(*to, pictures, wake);
      to = &sinks_;
    }
    if (!decoded_.empty()) {
      decoded_.begin(*to, pictures, given.sizes, wake, std::move(listens));
      to = &decoded_;
    }
    return *to;
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
    then([&] { decoded_.finish(); });
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
    if (of_.options.decoder_of(to.layer)) return;  // decode() opens it
    const auto& about = of_.layer(to.layer);
    constexpr int some = 5;
    const auto longest = static_cast<int>(std::min<std::int64_t>(numbers_of_row(of_.program.layers, to.layer), some));
    const int wanted = of_.options.top_of(to.layer), k = wanted > 0 ? wanted : longest;
    sinks_.add(to.layer, to, {to.form, top_list_of(of_.program.layers, to.layer, k, labels_), about.output, about.number},
               static_cast<std::size_t>(of_.in_flight()));
  }

  /// Decodes results of this rank. Throws files::error, std::runtime_error.
  [[gnu::cold]] void decode(const decoded_outputs& of) {
    const auto& network = of_.program.layers;
    decoder d{of.as, of.layers, types_of(network, of), decoding_of(network, of_.options)};
    d.how.priors = priors_;
    const auto outputs = static_cast<std::size_t>(
        std::count_if(network.layers.begin(), network.layers.end(), [](const auto& l) { return l.is_output; }));
    if (outputs > of.layers.size())
      for (const int l : of.layers) d.name += (d.name.empty() ? "" : ",") + of_.name(l);
    d.labels = labels_;
    for (const auto& to : of_.options.sinks)
      if (to.layer == of.layers[0]) {
        d.form = to.form;
        d.to = std::make_unique<destination>(to, static_cast<std::size_t>(of_.in_flight()));
      }
    decoded_.add(std::move(d));
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
  std::vector<float> priors_;
  decoded_results decoded_;
};

}  // namespace dice::app
