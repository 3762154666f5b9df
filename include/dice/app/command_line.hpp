// The command line of a program made with dice: one table of options, from which it is parsed and --help is printed.
#pragma once

#include "dice/app/conflict.hpp"
#include "dice/app/decode_options.hpp"
#include "dice/app/option_values.hpp"
#include "dice/app/options.hpp"
#include "dice/app/result_options.hpp"
#include "dice/app/results.hpp"
#include "dice/app/stream_rules.hpp"
#include "dice/app/transport_words.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/job/status_reporter.hpp"
#include "dice/meta/nearest.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/usage_error.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/number_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

namespace detail {

inline std::span<const option> option_table() {
  constexpr std::int64_t most = 1'000'000'000;
  using info = channels::transport_info;
  static const std::array table{
      option{"--mapping", takes::value, "MAPPING", false,
             "run the network under this mapping instead of the program's own: mapping<…> or split<…> as in C++, or a file "
             "that contains it, such as the output of --search",
             [](parsing& p, std::string_view v) { p.out.mapping = v; }},
      option{
          "--input", takes::value, "[NAME=]FILE", true,
          "frames for a graph input: a .npy file of float32 (N times the input's leading dimension is N frames), a JPEG "
          "or PNG picture, or a folder of these; several are read one after the other. Or a stream, until it ends: - "
          "(standard input), a named pipe; and, decoded by ffmpeg, a camera (/dev/video0), a URL (rtsp://…), a video file",
          [](parsing& p, std::string_view v) { p.out.inputs.push_back(p.input(v, false)); }},
      option{
          "--source", takes::value, "[NAME=]COMMAND", true,
          "frames for a graph input from the standard output of a shell command, until it ends; it runs where the input is",
          [](parsing& p, std::string_view v) { p.out.inputs.push_back(p.input(v, true)); }},
      option{
          "--frames-as", takes::value, "[NAME=]FORMAT[:WxH]", true,
          "what a stream's frames are: float32 as the network takes them (default), or pictures: rgb24, bgr24, gray8, nv12, "
          "yuv420p or yuyv422, of width W and height H (default: the input's size)",
          [](parsing& p, std::string_view v) {
            const auto f = p.pixels(v);
            for (const auto& other : p.out.pixels)
              if (other.layer == f.layer)
                p.fail("input " + std::string(p.program.layers.layers[f.layer].onnx_name) + " has two formats; give one");
            p.out.pixels.push_back(f);
          }},
      option{
          "--when-late", takes::value, "wait|drop-oldest|drop-newest", false,
          "when a stream's frames come faster than the network takes them: let the source wait, or drop the oldest or the "
          "newest frame that waits (default: drop-oldest for cameras and URLs, else wait)",
          [](parsing& p, std::string_view v) {
            const auto found = std::find(late_words.begin() + 1, late_words.end(), v);
            if (found == late_words.end()) p.fail("'" + std::string(v) + "' is not wait, drop-oldest or drop-newest");
            p.out.late = static_cast<late_rule>(found - late_words.begin());
          }},
      option{"--restart-source", takes::value, "N", false,
             "start a stream's source again when it ends or fails, N times in all, after 1, 2, 4, … 60 s (default 0)",
             [](parsing& p, std::string_view v) {
               p.out.source_restarts = p.number<int>(v, 0, 1'000'000'000, "a whole number from 0 to 1000000000");
             }},
      option{"--source-timeout", takes::value, "SECONDS", false,
             "a stream that gives no frame for so long counts as ended (default: no limit)",
             [](parsing& p, std::string_view v) {
               p.out.source_timeout = p.number<double>(v, 0.001, 1e6, "a number from 0.001 to 1000000");
             }},
      option{
          "--mean", takes::value, "X[,X,X]", false,
          "mean of pictures, whose samples from 0 to 1 become (sample - mean) / std; one number, or one per channel of the "
          "input (default: ImageNet's for 3 channels, 0 for 1)",
          [](parsing& p, std::string_view v) {
            p.out.picture.mean = p.numbers(v, -std::numeric_limits<float>::max(),
                                           "a number from -3.4e38 to 3.4e38, or three with commas between them");
          }},
      option{"--std", takes::value, "X[,X,X]", false,
             "standard deviation of pictures, likewise (default: ImageNet's for 3 channels, 1 for 1)",
             [](parsing& p, std::string_view v) {
               p.out.picture.deviation = p.numbers(v, std::numeric_limits<float>::min(),
                                                   "a number from 1.18e-38 to 3.4e38, or three with commas between them");
             }},
      option{"--layout", takes::value, "nchw|nhwc", false,
             "the position of the channels in the input that gets the pictures (default nchw)",
             [](parsing& p, std::string_view v) {
               if (v != "nchw" && v != "nhwc") p.fail("'" + std::string(v) + "' is neither nchw nor nhwc");
               p.out.picture.channels_last = v == "nhwc";
             }},
      option{"--range", takes::value, "1|255", false, "scale samples to 0 … 1 (default) or 0 … 255 before mean and std",
             [](parsing& p, std::string_view v) {
               if (v != "1" && v != "255") p.fail("'" + std::string(v) + "' is neither 1 nor 255");
               p.out.picture.range = v == "1" ? 1 : 255;
             }},
      option{"--channel-order", takes::value, "rgb|bgr", false,
             "the order of colours in the input that gets the pictures (default rgb)",
             [](parsing& p, std::string_view v) {
               if (v != "rgb" && v != "bgr") p.fail("'" + std::string(v) + "' is neither rgb nor bgr");
               p.out.picture.bgr = v == "bgr";
             }},
      option{"--fit", takes::value, "crop|stretch|letterbox|none", false,
             "what to do with pictures of another size than the input's: scale the shorter side to 256/224 of the input's "
             "and crop the centre (default), stretch, scale to fit with borders, or refuse them",
             [](parsing& p, std::string_view v) {
               constexpr auto& modes = frames::fit_words;
               const auto found = std::find(modes.begin(), modes.end(), v);
               if (found == modes.end()) p.fail("'" + std::string(v) + "' is not crop, stretch, letterbox or none");
               p.out.picture.fit = static_cast<frames::fit_mode>(found - modes.begin());
             }},
      option{"--border", takes::value, "N", false,
             "the samples of letterbox's borders, from 0 to 255 (default 0; YOLO's is 114)",
             [](parsing& p, std::string_view v) {
               p.out.picture.border = p.number<int>(v, 0, 255, "a whole number from 0 to 255");
             }},
      option{"--random", takes::value, "SEED", false,
             "random frames for the inputs without a file (1, or as many as --frames says)",
             [](parsing& p, std::string_view v) {
               p.out.random = p.number<std::uint64_t>(v, 0, std::numeric_limits<std::uint64_t>::max(),
                                                      "a whole number from 0 to 18446744073709551615");
             }},
      option{
          "--output", takes::value, "[NAME=]FILE", true,
          "write a graph output as .npy, frames joined along the leading dimension, or as --results says; - is the standard "
          "output",
          [](parsing& p, std::string_view v) { p.add_once(p.out.outputs, v); }},
      option{"--sink", takes::value, "[NAME=]COMMAND", true,
             "write a graph output's results to the standard input of a shell command as they come; it runs where the "
             "output is",
             [](parsing& p, std::string_view v) { p.add_sink(v); }},
      option{"--results", takes::value, "[NAME=]top|json|raw|npy", true,
             "how results are written as they come, to the standard output, --output or --sink: lines of text or of JSON "
             "(default), numbers, or a .npy file for each frame",
             [](parsing& p, std::string_view v) { p.add_form(v); }},
      option{"--gather", takes::nothing, "", false, "send results to rank 0, which writes and prints them",
             [](parsing& p, std::string_view) { p.out.gather = true; }},
      option{"--frames", takes::value, "N", false, "the total number of frames; given frames repeat cyclically",
             [](parsing& p, std::string_view v) {
               p.out.frames = p.number<std::int64_t>(v, 1, most, "a whole number from 1 to 1000000000");
             }},
      option{"--warmup", takes::value, "N", false, "frames to run before those, left out of figures and outputs",
             [](parsing& p, std::string_view v) {
               p.out.warmup = p.number<std::int64_t>(v, 0, most, "a whole number from 0 to 1000000000");
             }},
      option{"--in-flight", takes::value, "N", false, "the maximum number of frames in flight, no more than the plan allows",
             [](parsing& p, std::string_view v) {
               const int n = p.number<int>(v, 1, std::numeric_limits<int>::max(), "a whole number from 1 to 2147483647");
               if (const int allowed = p.program.plan.in_flight; n > allowed)
                 p.fail(std::to_string(n) + " is more than the plan of this program allows, " + std::to_string(allowed) +
                        "; lower it, or add dice::in_flight<" + std::to_string(n) + "> to the mapping");
               p.out.in_flight = n;
             }},
      option{"--frame-timeout", takes::value, "SECONDS", false,
             "fail if a frame takes longer, with the rank, host and connection where it is (default: no limit)",
             [](parsing& p, std::string_view v) {
               p.out.frame_timeout = p.number<double>(v, 0.001, 1e6, "a number from 0.001 to 1000000");
               const auto& layers = p.program.layers.layers;
               if (std::none_of(layers.begin(), layers.end(), [](const auto& l) { return l.is_input; }))
                 p.fail("frames of a network without inputs have no beginning; omit it");
             }},
      option{"--stop-timeout", takes::value, "SECONDS", false,
             "after SIGINT or SIGTERM no more frames enter, and those in flight may take this long (default 5)",
             [](parsing& p, std::string_view v) {
               p.out.stop_timeout = p.number<int>(v, 1, 86400, "a whole number from 1 to 86400");
             }},
      option{"--weights", takes::value, "FILE", false,
             "the .safetensors file (default: beside the program, then the working directory, then where the build made it)",
             [](parsing& p, std::string_view v) { p.out.weights = v; }},
      option{"--packed", takes::value, "FILE", false,
             "weights that --pack wrote, in place of --weights (default without either: the program's name with .packed)",
             [](parsing& p, std::string_view v) { p.out.packed = v; }},
      option{
          "--verify", takes::nothing, "", false,
          "compare the weights with the digests that onnx2hpp or --pack wrote into their file; without frames, that is all",
          [](parsing& p, std::string_view) { p.out.verify = true; }},
      option{"--expect", takes::value, "[NAME=]FILE", true,
             "compare a graph output with a .npy file: print max |a-b| / max |b| (of integers, the share that differs), "
             "fail beyond --tolerance",
             [](parsing& p, std::string_view v) { p.add_once(p.out.expected, v); }},
      option{"--tolerance", takes::value, "X", false, "for --expect (default 1e-4; 0 for integers)",
             [](parsing& p, std::string_view v) {
               p.out.tolerance = p.number<double>(v, 0, std::numeric_limits<double>::max(), "a number from 0 to 1.79e308");
             }},
      option{"--top", takes::value, "[NAME=]K", true,
             "print the K largest numbers of each output, or of one (of integers, the most frequent), for each frame (of a "
             "batch: for each of its pictures)",
             [](parsing& p, std::string_view v) { p.add_top(v); }},
      option{"--labels", takes::value, "FILE", false, "names for --top and --decode, one per line",
             [](parsing& p, std::string_view v) { p.out.labels = v; }},
      option{"--json", takes::value, "FILE", false, "write speed, latency and the ranks' figures",
             [](parsing& p, std::string_view v) { p.out.json = v; }},
      option{
          "--metrics", takes::value, "FILE|PORT", false,
          "say each second how the job is, in Prometheus's text format: in a file, or at http://127.0.0.1:PORT/metrics; on "
          "the host of rank 0",
          [](parsing& p, std::string_view v) {
            if (v.find_first_not_of("0123456789") == std::string_view::npos && !job::status_reporter::port_of(v))
              p.fail("'" + std::string(v) + "' is not a port from 1 to 65535; for a file of this name write ./" +
                     std::string(v));
            p.out.metrics = v;
          }},
      option{"--trace", takes::value, "FILE", false, "write what every rank did when, for chrome://tracing or Perfetto",
             [](parsing& p, std::string_view v) { p.out.trace = v; }},
      option{"--profile", takes::value, "FILE", false, "print the time of every layer, and write it as JSON",
             [](parsing& p, std::string_view v) { p.out.profile = v; }},
      option{"--explain", takes::nothing, "", false,
             "explain the speed: the measured and predicted time of every stage and link, the bottleneck, and which mapping "
             "would be faster (50 random frames, unless other options say otherwise)",
             [](parsing& p, std::string_view) { p.out.explain = true; }},
      option{"--check-numbers", takes::nothing, "", false,
             "check every frame and every layer's result, and fail at the first number that is NaN or infinite: it names "
             "rank, frame, layer and index (slower, above all on GPUs)",
             [](parsing& p, std::string_view) { p.out.check_numbers = true; }},
      option{"--any-numbers", takes::nothing, "", false,
             "take all float32 numbers as frames; without it, the first frame of an input may not hold NaN, infinities, "
             "numbers as bytes give them, or values that an input of integers cannot have",
             [](parsing& p, std::string_view) { p.out.any_numbers = true; }},
      option{"--tune", takes::value, "FILE", false,
             "run no frames: measure the ways to compute each convolution, write the fastest for the next build (TUNED in "
             "CMake)",
             [](parsing& p, std::string_view v) { p.out.tune = v; }},
      option{"--measure", takes::value, "FILE", false,
             "run no frames: measure all CPU ranks' layers on each of these ranks, each GPU rank's layers on its GPU, and "
             "messages between hosts; write a profile for onnx2hpp --profile, which has all layers of a kind of unit only "
             "if its ranks compute the whole network",
             [](parsing& p, std::string_view v) { p.out.measure = v; }},
      option{"--pack", takes::value, "FILE", false,
             "run no frames: write the weights of all ranks as their kernels read them, so that later starts need not pack "
             "them",
             [](parsing& p, std::string_view v) { p.out.pack = v; }},
      option{"--ranks", takes::value, "LIST", false,
             "with --pack: only the weights of these ranks, such as 0,2 or 0-3, for the hosts that run them",
             [](parsing& p, std::string_view v) {
               const int last = p.program.ranks() - 1;
               p.out.ranks = text::read_number_list(v, last);
               if (p.out.ranks.empty())
                 p.fail("'" + std::string(v) + "' is not a list of ranks from 0 to " + std::to_string(last) +
                        ", ascending, such as 0,2 or 0-3");
             }},
      option{"--transport", takes::value, transport_words<&info::word, "", "|", "|">::view, false,
             transport_words<&info::ranks, "ranks as ", ", as ", ", or as ">::view,
             [](parsing& p, std::string_view v) {
               constexpr auto& all = channels::transports;
               const auto found = std::find_if(all.begin(), all.end(), [v](const info* t) { return t->word == v; });
               if (found == all.end())
                 p.fail("'" + std::string(v) + "' is " +
                        std::string(transport_words<&info::word, "neither ", " nor ", " nor ">::view));
               p.out.by = (*found)->id;
             }},
      option{"--cuda-aware", takes::nothing, "", false,
             "pass GPU memory to MPI, instead of copies in host memory; for an MPI that was built with CUDA",
             [](parsing& p, std::string_view) { p.out.cuda_aware = true; }},
      option{
          "--plan", takes::perhaps, "json|steps|dot|svg", false,
          "print what each rank does, and run nothing: a table, JSON, all steps and buffers, a drawing (Graphviz DOT, SVG)",
          [](parsing& p, std::string_view v) {
            const auto found = std::find(plan_words.begin() + 1, plan_words.end(), v);
            if (found == plan_words.end())
              p.fail("'" + std::string(v) +
                     "' is not a form of a plan; write --plan, or --plan= with json, steps, dot or svg");
            p.out.plan = static_cast<plan_form>(found - plan_words.begin());
          }},
      option{
          "--search", takes::perhaps, "OBJECTIVE,LIMIT,…", false,
          "print the best mapping for this program's cluster as C++, and run nothing: throughput (default), latency, "
          "energy or peak_memory; at_least_fps=N, at_most_latency=MS, memory_limit=MIB; in_order; input_at=HOST, "
          "output_at=HOST, fewest_devices=PERCENT; kinds=KIND+KIND, no_split_of=LAYER+LAYER, whole_layers, repeats; "
          "effort=1 to 3; measured=N runs the N best on their hosts (mpirun, with MPIRUN_OPTIONS) and takes the best one; "
          "json: as JSON",
          [](parsing& p, std::string_view v) { p.out.search = v.empty() ? "throughput" : v; }},
      option{"--help", takes::nothing, "", false, "print this", [](parsing& p, std::string_view) { p.out.help = true; }},
      option{"--version", takes::nothing, "", false, "print the version of dice",
             [](parsing& p, std::string_view) { p.out.version = true; }},
  };
  static const auto all = [] {
    std::vector<option> out(table.begin(), table.end());
    out.insert(std::find_if(out.begin(), out.end(), [](const option& o) { return o.name == "--gather"; }),
               decode_table().begin(), decode_table().end());
    return out;
  }();
  return all;
}

/// The option's name nearest to a mistyped one, or "".
inline std::string_view nearest_option(std::string_view wrong) {
  meta::nearest found(wrong);
  for (const auto& o : option_table()) found.look_at(o.name);
  return found.best();
}

/// Refuses a file that is written and also read, or written twice. Throws runtime::usage_error.
[[gnu::cold]] inline void require_different_files(const options& o) {
  std::vector<std::string> reads{o.mapping, o.weights, o.packed, o.labels, o.priors};
  for (const auto& f : o.expected) reads.push_back(f.file);
  std::vector<files::use> uses;
  for (const auto& f : o.inputs) uses.push_back(input_use(f));
  for (const auto& file : reads)
    if (!file.empty()) uses.push_back(files::reads(file));
  for (const auto& file : o.written()) {
    if (file == "-") throw runtime::usage_error("only results can go to '-'; name a file (./- for a file of that name)");
    uses.push_back(files::writes(file));
  }
  for (const auto& f : o.outputs)
    if (o.streams()) uses.push_back(files::partial_use(f.file));
  for (const auto& s : o.sinks)
    if (s.kind == result_sink::kinds::file) uses.push_back(files::partial_use(s.what));
  if (const auto wrong = files::conflict(uses); !wrong.empty()) throw runtime::usage_error(wrong);
}

}  // namespace detail

/// The value of --mapping, or "" unless it is given exactly once. Mistakes in the command line are left to parse().
[[gnu::cold]] inline std::string_view mapping_argument(std::span<const char* const> arguments) {
  const auto table = detail::option_table();
  std::string_view out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const auto name = word.substr(0, word.find('='));
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& o) { return o.name == name; });
    if (found == table.end()) continue;
    auto value = word.substr(std::min(name.size() + 1, word.size()));
    if (name.size() == word.size() && found->how == detail::takes::value && i + 1 < arguments.size()) value = arguments[++i];
    if (name != "--mapping") continue;
    if (!out.empty()) return {};
    out = value;
  }
  return out;
}

/// Parses the command line. Throws runtime::usage_error.
[[gnu::cold]] inline options parse(const runtime::program& program, std::span<const char* const> arguments) {
  options out;
  std::vector<std::string_view> seen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view given_word = arguments[i], word = given_word == "-h" ? "--help" : given_word;
    const auto equals = word.substr(0, 2) == "--" ? word.find('=') : std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto table = detail::option_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& o) { return o.name == name; });
    if (found == table.end()) {
      const bool dashed = word.substr(0, 1) == "-";
      std::string guess(detail::nearest_option(name));
      for (const auto& o : table)
        if (!dashed && i > 0 && o.how == detail::takes::perhaps && o.name == arguments[i - 1])
          guess = std::string(o.name) + "=" + std::string(word);
      throw runtime::usage_error((dashed ? "unknown option '" : "unexpected argument '") + std::string(word) + "'; " +
                                 (guess.empty() ? "--help lists the options" : "did you mean " + guess + "?"));
    }
    detail::parsing p{program, out, found->name};
    if (!found->repeatable && std::find(seen.begin(), seen.end(), found->name) != seen.end())
      p.fail("given twice; give it once");
    seen.push_back(found->name);
    const auto missing = [&] {
      p.fail("the value is missing: write " + std::string(found->name) + (found->how == detail::takes::perhaps ? "=" : " ") +
             std::string(found->value));
    };
    std::string_view value;
    if (equals != std::string_view::npos) {
      if (found->how == detail::takes::nothing) p.fail("takes no value");
      value = word.substr(equals + 1);
      if (value.empty()) missing();
    } else if (found->how == detail::takes::value) {
      if (i + 1 == arguments.size()) missing();
      value = arguments[++i];
      if (value.empty()) p.fail("the value is empty");
    }
    found->apply(p, value);
  }
  if (out.prints()) return out;
  if (const auto wrong = decode_mistake(program, out); !wrong.empty()) throw runtime::usage_error(wrong);
  if (const auto wrong = place_results(program.layers, out); !wrong.empty()) throw runtime::usage_error(wrong);

  const auto given = [&](std::string_view name) { return std::find(seen.begin(), seen.end(), name) != seen.end(); };
  if (!out.pack.empty()) {
    for (const auto& name : seen)
      if (name != "--pack" && name != "--ranks" && name != "--mapping" && name != "--weights" && name != "--transport")
        throw runtime::usage_error("--pack writes weights and runs no frames; omit " + std::string(name));
    detail::require_different_files(out);
    return out;
  }
  if (given("--ranks")) throw runtime::usage_error("--ranks needs --pack FILE");
  if (given("--packed") && given("--weights")) throw runtime::usage_error("--packed holds all weights; omit --weights");
  if (!out.tune.empty()) {
    for (const auto& name : seen)
      if (name != "--tune" && name != "--mapping" && name != "--json" && name != "--transport")
        throw runtime::usage_error("--tune measures kernels and runs no frames; omit " + std::string(name));
    const auto& units = program.units;
    if (!program.threads.start ||
        std::none_of(units.begin(), units.end(), [](const platform::unit& u) { return !u.is_accelerator(); }))
      throw runtime::usage_error("--tune: no rank of this program computes with OpenMP, so there is nothing to tune");
    detail::require_different_files(out);
    return out;
  }
  if (!out.measure.empty()) {
    for (const auto& name : seen)
      if (name != "--measure" && name != "--mapping" && name != "--weights" && name != "--packed" && name != "--transport")
        throw runtime::usage_error("--measure runs no frames; omit " + std::string(name));
    detail::require_different_files(out);
    return out;
  }
  if (out.verifies_only()) {
    for (const auto& name : seen)
      if (name != "--verify" && name != "--mapping" && name != "--weights" && name != "--packed" && name != "--transport")
        throw runtime::usage_error("--verify without frames only reads weights; omit " + std::string(name) +
                                   ", or give frames with --input FILE.npy or --random SEED");
    return out;
  }
  if (given("--tolerance") && out.expected.empty()) throw runtime::usage_error("--tolerance needs --expect FILE");
  if (given("--labels") && out.top.empty() && out.sinks.empty())
    throw runtime::usage_error("--labels needs --top K, --results or --decode");
  if (const auto wrong = out.streams() ? stream_mistake(out) : ""; !wrong.empty()) throw runtime::usage_error(wrong);
  detail::require_different_files(out);
  if (out.explain) {
    if (!given("--warmup")) out.warmup = 5;
    if (out.inputs.empty() && !given("--frames")) out.frames = 50;
    if (out.inputs.empty() && !out.random) out.random = 0;
  }
  int lacking = 0;  // frames
  while (lacking < program.layers.size() && (!program.layers.layers[lacking].is_input || out.has_input(lacking))) ++lacking;
  const bool none = out.inputs.empty(), all = lacking == program.layers.size();
  if (out.random && all && !none)
    throw runtime::usage_error("--random makes frames for inputs without a file, but every input has one; omit it");
  if (!out.random && !all) {
    const std::string name(program.layers.layers[lacking].onnx_name);
    throw runtime::usage_error((none ? "no frames given" : "no frames given for input " + name) +
                               "; give them with --input " + text::shell_word((none ? "" : name + "=") + "FILE.npy") +
                               ", or make random ones with --random SEED");
  }
  if (out.cuda_aware && (program.ranks() == 1 || !channels::chosen(out.by).gpu_messages))
    throw runtime::usage_error("--cuda-aware: this run sends no messages by MPI; omit the option");
  if (out.cuda_aware && !program.has_accelerators())
    throw runtime::usage_error("--cuda-aware: no rank of this plan computes on a GPU; omit the option");
  if (out.by != channels::transport::automatic)
    if (const auto& by = channels::info_of(out.by); !by.available())
      throw runtime::usage_error("--transport " + std::string(by.word) + ": this program was built without " +
                                 std::string(by.library) + "; " + std::string(by.remedy) + ", or use --transport " +
                                 std::string(channels::in_process::about.word));
  return out;
}

}  // namespace dice::app
