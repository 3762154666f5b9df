#pragma once

#include "dice/channels/transport.hpp"

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

/// How a picture is brought to the input's size: see docs/running.md.
enum class resize_mode : unsigned char { crop, stretch, fit, none };
/// What --plan prints.
enum class plan_form : unsigned char { none, text, json, steps, dot, svg };
/// What follows `--plan=`, in the order of plan_form; none and text have no word.
inline constexpr std::array<std::string_view, 6> plan_words{"-", "", "json", "steps", "dot", "svg"};

/// What the command line says.
struct options {
  bool help = false, version = false, gather = false, verify = false, cuda_aware = false, explain = false,
       check_numbers = false, any_numbers = false;
  plan_form plan = plan_form::none;
  std::string mapping, weights, packed, labels, json, trace, profile, tune, measure, pack, search;
  std::vector<named_file> inputs, outputs, expected;
  std::vector<int> ranks;  ///< whose weights --pack writes; empty: all
  std::optional<std::uint64_t> random;
  std::optional<std::int64_t> frames;
  std::int64_t warmup = 0;
  std::optional<int> in_flight;
  std::optional<double> tolerance;
  int stop_timeout = 5;      ///< seconds
  double frame_timeout = 0;  ///< seconds; 0: none
  int top = 0;
  std::vector<float> mean, deviation;  ///< of pictures: one number, or one per channel; empty: not given
  bool channels_last = false;
  resize_mode resize = resize_mode::crop;
  channels::transport by = channels::transport::automatic;

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
    for (const auto& file : {json, trace, profile, tune, measure, pack})
      if (!file.empty()) out.push_back(file);
    for (const auto& f : outputs) out.push_back(f.file);
    return out;
  }
  /// Whether --input gives frames for graph input `layer`.
  bool has_input(int layer) const {
    return std::any_of(inputs.begin(), inputs.end(), [&](const named_file& f) { return f.layer == layer; });
  }
  /// The graph input that the standard input feeds (`--input -`), or -1.
  int streamed() const {
    for (const auto& f : inputs)
      if (f.file == "-") return f.layer;
    return -1;
  }
};

}  // namespace dice::app
