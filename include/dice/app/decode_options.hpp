// --decode and what belongs to it.
#pragma once

#include "dice/app/option_values.hpp"
#include "dice/app/options.hpp"
#include "dice/decode/head.hpp"
#include "dice/decode/mask.hpp"
#include "dice/graph/network.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/runtime/program.hpp"
#include "dice/tensor/type.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::app {

/// The words of --decode.
inline constexpr std::array<std::pair<std::string_view, decode::head>, 7> head_words{{{"classes", decode::head::classes},
                                                                                      {"mask", decode::head::mask},
                                                                                      {"yolov5", decode::head::yolov5},
                                                                                      {"yolov8", decode::head::yolov8},
                                                                                      {"yolo11", decode::head::yolov8},
                                                                                      {"yolov10", decode::head::yolov10},
                                                                                      {"ssd", decode::head::ssd}}};

/// The results of `of`, with the types in which they leave the network.
inline std::vector<tensor::type> types_of(const graph::network_view& network, const decoded_outputs& of) {
  std::vector<tensor::type> out;
  for (const int l : of.layers) out.emplace_back(network.layers[l].output, network.layers[l].number);
  return out;
}

/// The options of --decode for the results of `network`, whose input's size ssd needs.
[[gnu::cold]] inline decode::options decoding_of(const graph::network_view& network, const options& o) {
  auto out = o.decoding;
  for (const auto& l : network.layers) {
    const int first = l.output.rank - 3;
    if (!l.is_input || first < 0 || first > 1 || out.width > 0) continue;
    out.height = static_cast<int>(l.output[first + (o.picture.channels_last ? 0 : 1)]);
    out.width = static_cast<int>(l.output[first + (o.picture.channels_last ? 1 : 2)]);
  }
  return out;
}

/// A warning if pictures go to a YOLO network and nobody chose how their samples become numbers, or "".
[[gnu::cold]] inline std::string yolo_scaling(const options& o) {
  const bool yolo = std::any_of(o.decoders.begin(), o.decoders.end(), [](const decoded_outputs& d) {
    return d.as == decode::head::yolov5 || d.as == decode::head::yolov8 || d.as == decode::head::yolov10;
  });
  if (!yolo || o.picture.scales()) return {};
  return "gives the network pictures with ImageNet's mean and deviation, but YOLO networks usually take samples from "
         "0 to 1: --mean 0 --std 1; give --mean and --std to choose";
}

/// The graph input whose pictures are drawn: the first.
inline int drawn_input(const graph::network_view& network) {
  int l = 0;
  while (l < network.size() && !network.layers[l].is_input) ++l;
  return l < network.size() ? l : -1;
}

namespace detail {

/// [NAME=]HEAD, or [BOXES,SCORES=]HEAD of ssd and yolov10. Names may hold '=' and commas.
[[gnu::cold]] inline void add_decoder(const parsing& p, std::string_view text) {
  const auto at = text.rfind('=');
  const bool names = at != std::string_view::npos;
  const auto name = text.substr(0, names ? at : 0), word = text.substr(names ? at + 1 : 0);
  const auto found = std::find_if(head_words.begin(), head_words.end(), [&](const auto& h) { return h.first == word; });
  if (found == head_words.end())
    p.fail("'" + std::string(word) + "' is not classes, mask, yolov5, yolov8, yolo11, yolov10 or ssd");
  decoded_outputs out{{}, found->second};
  const auto outputs = p.ends(false);
  const bool ssd = out.as == decode::head::ssd, may_be_two = ssd || out.as == decode::head::yolov10;
  const auto two = "BOXES,SCORES=" + std::string(word);
  if (!names) {
    if (ssd && outputs.size() < 2) p.fail("ssd has two outputs, but the network only one: " + p.list(false));
    if (ssd && outputs.size() > 2)
      p.fail("ssd has two outputs; name them: " + two + "; the network's outputs are " + p.list(false));
    if (outputs.size() > (may_be_two ? 2 : 1))
      p.fail("'" + std::string(text) + "' must be NAME=" + std::string(word) + (may_be_two ? " or " + two : "") +
             ", since the network has several outputs: " + p.list(false));
    out.layers = outputs;
  } else if (const int one = ssd ? -1 : p.named(outputs, name); one >= 0) out.layers = {one};
  else if (may_be_two) {
    for (auto comma = name.find(','); comma != std::string_view::npos; comma = name.find(',', comma + 1))
      if (const int a = p.named(outputs, name.substr(0, comma)), b = p.named(outputs, name.substr(comma + 1));
          a >= 0 && b >= 0)
        out.layers = {a, b};
    if (out.layers.empty() && (ssd || name.find(',') != name.npos))
      p.fail("'" + std::string(text) + "' must be " + two + ", two of the network's outputs: " + p.list(false));
  }
  if (out.layers.empty()) p.fail_unknown(std::string(text), at, false);
  for (const int l : out.layers)
    if (p.out.decoder_of(l) || std::count(out.layers.begin(), out.layers.end(), l) > 1)
      p.fail("output " + std::string(p.program.layers.layers[l].onnx_name) + " is decoded twice; give it once");
  p.out.decoders.push_back(std::move(out));
}

/// The options of decoding.
inline std::span<const option> decode_table() {
  static const std::array table{
      option{"--decode", takes::value, "[NAME=]HEAD", true,
             "write what an output means in place of its numbers: its classes, mask, or boxes as yolov5, yolov8, yolo11, "
             "yolov10 or ssd give them (two outputs: BOXES,SCORES=ssd); as --results says, or else as text",
             [](parsing& p, std::string_view v) { add_decoder(p, v); }},
      option{
          "--score-threshold", takes::value, "X", false,
          "with --decode: only boxes with a higher score (default 0.25; ssd, and masks of two classes, 0.5)",
          [](parsing& p, std::string_view v) { p.out.decoding.score = p.number<float>(v, 0, 1, "a number from 0 to 1"); }},
      option{
          "--iou-threshold", takes::value, "X", false,
          "with --decode: of boxes that overlap more, only the best (default 0.7; yolov5, ssd 0.45)",
          [](parsing& p, std::string_view v) { p.out.decoding.overlap = p.number<float>(v, 0, 1, "a number from 0 to 1"); }},
      option{"--max-results", takes::value, "N", false,
             "with --decode: the most boxes or classes of a picture (default 300; yolov5 1000, ssd 200, classes 5)",
             [](parsing& p, std::string_view v) {
               p.out.decoding.most = p.number<int>(v, 1, 1'000'000, "a whole number from 1 to 1000000");
             }},
      option{"--across-classes", takes::nothing, "", false,
             "with --decode: boxes also take the place of those of other classes that they overlap",
             [](parsing& p, std::string_view) { p.out.decoding.across_classes = true; }},
      option{"--priors", takes::value, "FILE.npy", false,
             "with --decode ssd: the prior boxes, (N, 4): centre x and y, width, height, from 0 to 1",
             [](parsing& p, std::string_view v) { p.out.priors = v; }},
      option{
          "--picture", takes::value, "FILE", false,
          "with --decode: draw boxes or mask into each frame's picture, a .jpg or .png, in place of the one before; %d in "
          "its name is the frame's number",
          [](parsing& p, std::string_view v) { p.out.drawing = v; }},
      option{"--picture-every", takes::value, "N", false, "draw only every N-th frame (default 1)",
             [](parsing& p, std::string_view v) {
               p.out.drawing_every = p.number<std::int64_t>(v, 1, 1'000'000'000, "a whole number from 1 to 1000000000");
             }},
  };
  return table;
}

/// What is wrong with --picture, or "".
[[gnu::cold]] inline std::string drawing_mistake([[maybe_unused]] const runtime::program& program, const options& o) {
  if (o.drawing.empty()) return o.drawing_every == 1 ? "" : "--picture-every needs --picture FILE";
#ifndef DICE_WITH_PICTURES
  return "--picture: this program was built without dice::pictures; install libstb-dev where it is built";
#else
  const auto name = "--picture '" + o.drawing + "': ";
  std::string end = o.drawing.substr(std::min(o.drawing.rfind('.'), o.drawing.size()));
  for (auto& c : end) c |= c >= 'A' && c <= 'Z' ? 32 : 0;
  if (end != ".jpg" && end != ".jpeg" && end != ".png") return name + "the name must end in .jpg, .jpeg or .png";
  if (const auto percent = o.drawing.find('%'); percent != std::string::npos)
    if (o.drawing.find("%d") != percent || o.drawing.find('%', percent + 1) != std::string::npos)
      return name + "% stands only for the frame's number, as %d, once";
  const auto draws = [](const decoded_outputs& d) { return d.as != decode::head::classes; };
  const auto n = std::count_if(o.decoders.begin(), o.decoders.end(), draws);
  if (n != 1)
    return name + (n == 0 ? "nothing is to be drawn; give --decode with a mask or a detector"
                          : "several outputs have boxes or masks; decode only one of them");
  const auto& d = *std::find_if(o.decoders.begin(), o.decoders.end(), draws);
  const int in = drawn_input(program.layers);
  if (in < 0) return name + "the network has no input";
  const auto& taken = program.layers.layers[in].output;
  if (taken.rank == 4 && taken[0] != 1) return name + "the network takes batches, but only single pictures are drawn";
  const int from = program.plan.owner[d.layers[0]], to = program.plan.owner[in];
  if (to != runtime::stamping_rank(program.plan)) return name + "no rank reads the network's first input";
  if (d.as == decode::head::mask && from != to)
    return name + "a mask can be drawn only by the rank that has the picture, but input '" +
           std::string(program.layers.layers[in].onnx_name) + "' is in rank " + std::to_string(to) +
           " and the mask in rank " + std::to_string(from) +
           "; choose a mapping with both in one rank, or write the mask with --results json";
  return {};
#endif
}

}  // namespace detail

/// What is wrong with --decode and the options that belong to it, or "".
[[gnu::cold]] inline std::string decode_mistake(const runtime::program& program, const options& o) {
  const auto& layers = program.layers.layers;
  const char* needs = o.decoding.score            ? "--score-threshold"
                      : o.decoding.overlap        ? "--iou-threshold"
                      : o.decoding.most           ? "--max-results"
                      : o.decoding.across_classes ? "--across-classes"
                      : !o.priors.empty()         ? "--priors"
                      : !o.drawing.empty()        ? "--picture"
                                                  : nullptr;
  if (o.decoders.empty() && needs) return std::string(needs) + " needs --decode";
  bool ssd = false, all = true;  // all: every output is decoded
  for (int l = 0; l < program.layers.size(); ++l) all = all && (!layers[l].is_output || o.decoder_of(l));
  for (const auto& d : o.decoders) {
    ssd = ssd || d.as == decode::head::ssd;
    for (const auto& t : o.top)
      if (d.has(t.layer) || (t.layer < 0 && all))
        return "--top lists the numbers of an output, but --decode says what they mean; omit --top, or give --max-results";
    if (const auto wrong = decode::what_is_wrong(d.as, types_of(program.layers, d), decoding_of(program.layers, o));
        !wrong.empty())
      return "--decode: " + wrong;
    for (const int l : d.layers)
      if (const int one = program.plan.owner[d.layers[0]], other = program.plan.owner[l]; one != other)
        return "--decode: one rank must have both outputs, but '" + std::string(layers[d.layers[0]].onnx_name) +
               "' is in rank " + std::to_string(one) + " and '" + std::string(layers[l].onnx_name) + "' in rank " +
               std::to_string(other) + "; choose a mapping with both in one rank";
  }
  if (!o.priors.empty() && !ssd) return "--priors needs --decode ssd";
  return detail::drawing_mistake(program, o);
}

/// The classes that outputs `of` tell apart; 0: their shapes do not say.
inline std::int64_t classes_of(const graph::network_view& network, const decoded_outputs& of) {
  const auto types = types_of(network, of);
  const auto& t = types[0];
  switch (of.as) {
    case decode::head::classes:
      return t.rank == 1 ? t[0] : t[1];
    case decode::head::mask:
      return t.element == tensor::number::float32 ? std::max<std::int64_t>(t[1], 2) : 0;
    case decode::head::yolov5:
      return t[2] - 5;
    case decode::head::yolov8:
      return std::min(t[1], t[2]) - 4;
    case decode::head::yolov10:
      return types.size() == 2 ? types[types[0][2] == 4 ? 1 : 0][2] : 0;
    case decode::head::ssd:
      break;
  }
  return types[types[0][2] == 4 ? 1 : 0][2] - 1;
}

/// What is wrong if there are fewer labels than classes, or "".
[[gnu::cold]] inline std::string labels_lack(const graph::network_view& network, const decoded_outputs& of,
                                             const std::vector<std::string>& labels) {
  const auto n = classes_of(network, of), has = static_cast<std::int64_t>(labels.size());
  if (has >= n) return {};
  return "has " + text::count_text(has, "label") + " for the " + std::to_string(n) + " classes of output '" +
         std::string(network.layers[of.layers[0]].onnx_name) + "'";
}

}  // namespace dice::app
