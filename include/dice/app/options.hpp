#pragma once

#include "dice/job/transport.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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
  job::transport by = job::transport::automatic;

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
