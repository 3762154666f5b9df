#pragma once

#include "dice/channels/transport.hpp"
#include "dice/decode/head.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/job/status_reporter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

/// A file for a graph input or output, by its layer's id.
struct named_file {
  int layer = -1;
  std::string file;
};

/// Where frames of a graph input come from.
struct named_input : named_file {
  /// file: also a folder or a named pipe. video: what ffmpeg decodes; the file is a camera's device, a URL or a video file.
  enum class kinds : unsigned char { file, standard, command, video };
  kinds kind = kinds::file;
  bool streams() const { return kind != kinds::file; }
};

/// What a stream's frames are, for a graph input.
struct named_pixels {
  int layer = -1;
  frames::pixel_layout pixels{};  ///< width 0: the input's size
};

/// What happens to the frames of a stream for which the network has no room.
enum class late_rule : unsigned char { automatic, wait, drop_oldest, drop_newest };
/// Their words, in this order; automatic has none.
inline constexpr std::array<std::string_view, 4> late_words{"-", "wait", "drop-oldest", "drop-newest"};

/// How results are written as they leave.
enum class result_form : unsigned char { automatic, top, json, raw, npy };
/// Their words, in this order; automatic has none.
inline constexpr std::array<std::string_view, 5> result_words{"-", "top", "json", "raw", "npy"};
/// The form of an output's results; layer -1: of all outputs.
struct named_form {
  int layer = -1;
  result_form form = result_form::automatic;
};
/// Where records of an output's results go.
struct result_sink {
  int layer = -1;
  enum class kinds : unsigned char { standard, command, file };
  kinds kind = kinds::standard;
  std::string what{};  ///< the command or the file
  result_form form = result_form::automatic;
};

/// Outputs whose results are decoded: one, or two of head::ssd and head::yolov10.
struct decoded_outputs {
  std::vector<int> layers{};
  decode::head as = decode::head::classes;
  bool has(int layer) const { return std::find(layers.begin(), layers.end(), layer) != layers.end(); }
};

/// The K of --top for a graph output; layer -1: for all that have none of their own.
struct output_top {
  int layer = -1, k = 0;
};

/// What --plan prints.
enum class plan_form : unsigned char { none, text, json, steps, dot, svg };
/// What follows `--plan=`, in the order of plan_form; none and text have no word.
inline constexpr std::array<std::string_view, 6> plan_words{"-", "", "json", "steps", "dot", "svg"};

/// What the command line says.
struct options {
  bool help = false, version = false, gather = false, verify = false, cuda_aware = false, explain = false,
       check_numbers = false, any_numbers = false;
  plan_form plan = plan_form::none;
  std::string mapping, weights, packed, labels, json, trace, profile, tune, measure, pack, search, metrics;
  std::vector<named_input> inputs;
  std::vector<named_pixels> pixels;
  std::vector<named_file> outputs, expected;  ///< outputs: .npy files of all frames
  std::vector<named_form> forms;
  std::vector<result_sink> sinks;
  std::vector<decoded_outputs> decoders;
  decode::options decoding{};      ///< of all of them, without priors
  std::string priors;              ///< their .npy file
  std::string drawing;             ///< where pictures with boxes go; with %d: the number of the frame
  std::int64_t drawing_every = 1;  ///< of so many frames, one gets a picture
  std::vector<int> ranks;          ///< whose weights --pack writes; empty: all
  std::optional<std::uint64_t> random;
  std::optional<std::int64_t> frames;
  std::int64_t warmup = 0;
  std::optional<int> in_flight;
  std::optional<double> tolerance;
  int stop_timeout = 5;      ///< seconds
  double frame_timeout = 0;  ///< seconds; 0: none
  std::vector<output_top> top;
  frames::picture_settings picture{};
  late_rule late = late_rule::automatic;
  int source_restarts = 0;
  double source_timeout = 0;  ///< seconds; 0: none
  channels::transport by = channels::transport::automatic;

  /// Where it says how the job is while it runs.
  job::status_targets status() const {
    auto out = job::status_targets::from_environment();
    out.metrics = metrics;
    out.minutes = out.minutes || streams();
    return out;
  }
  /// Whether it only prints something about the program.
  bool prints() const { return help || version || plan != plan_form::none || !search.empty(); }
  /// The option that prints, as it can be given.
  std::string printing() const {
    if (help || version) return help ? "--help" : "--version";
    const auto word = plan_words[static_cast<std::size_t>(plan)];
    return plan == plan_form::none ? "--search=" + search : word.empty() ? "--plan" : "--plan=" + std::string(word);
  }
  /// --verify without frames.
  bool verifies_only() const { return verify && inputs.empty() && !random && !explain; }
  /// The files that it writes.
  std::vector<std::string> written() const {
    std::vector<std::string> out;
    for (const auto& file : {json, trace, profile, tune, measure, pack, drawing})
      if (!file.empty()) out.push_back(file);
    if (!metrics.empty() && !job::status_reporter::port_of(metrics)) out.push_back(metrics);
    for (const auto& f : outputs) out.push_back(f.file);
    for (const auto& s : sinks)
      if (s.kind == result_sink::kinds::file) out.push_back(s.what);
    return out;
  }
  /// Whether --input gives frames for graph input `layer`.
  bool has_input(int layer) const {
    return std::any_of(inputs.begin(), inputs.end(), [&](const named_file& f) { return f.layer == layer; });
  }
  /// Whether the command line says that frames come as a stream, whose number is known at its end; a named pipe gives one,
  /// too.
  bool streams() const {
    return std::any_of(inputs.begin(), inputs.end(), [](const named_input& f) { return f.streams(); });
  }
  /// Whether results go to the standard output, and so all else that is printed to the standard error.
  bool prints_results() const {
    return std::any_of(sinks.begin(), sinks.end(), [](const auto& s) { return s.kind == result_sink::kinds::standard; });
  }
  /// Whether records of the results of output `layer` are written as they leave.
  bool has_sink(int layer) const {
    return std::any_of(sinks.begin(), sinks.end(), [layer](const auto& s) { return s.layer == layer; });
  }
  /// What is decoded from graph output `layer`, perhaps with another one; null: nothing.
  const decoded_outputs* decoder_of(int layer) const {
    const auto at = std::find_if(decoders.begin(), decoders.end(), [layer](const auto& d) { return d.has(layer); });
    return at == decoders.end() ? nullptr : &*at;
  }
  /// The file of frame `frame`'s picture.
  std::string drawing_of(std::int64_t frame) const {
    const auto at = drawing.find("%d");
    return at == std::string::npos ? drawing : drawing.substr(0, at) + std::to_string(frame) + drawing.substr(at + 2);
  }
  /// How many numbers of graph output `layer` --top lists; 0: none.
  int top_of(int layer) const {
    int out = 0;
    for (const auto& t : top)
      if (t.layer == layer || (t.layer < 0 && out == 0)) out = t.k;
    return out;
  }
  /// The graph input that the standard input feeds (`--input -`), or -1.
  int standard_input() const {
    for (const auto& f : inputs)
      if (f.kind == named_input::kinds::standard) return f.layer;
    return -1;
  }
};

}  // namespace dice::app
