#pragma once

#include "dice/app/options.hpp"
#include "dice/meta/enum_name.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The options that all ranks of a job must be given alike, in words that follow "rank 1 runs": "without --gather", "with
/// --frames 9". Files may differ between hosts. `results`: the graph outputs whose results are used, or "".
[[gnu::cold]] inline std::vector<std::pair<const char*, std::string>> agreed_options(const options& o,
                                                                                     const std::string& results) {
  std::vector<std::pair<const char*, std::string>> out;
  const auto add = [&](const std::string& text) { out.emplace_back("", text); };
  const auto given = [&](bool yes, const std::string& option) { add((yes ? "with " : "without ") + option); };
  const auto number = [&](bool yes, const std::string& option, const std::string& value) {
    given(yes, yes ? option + " " + value : option);
  };
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.9g", o.frame_timeout);
  add(o.prints()          ? "with " + o.printing() + ", which runs no frames"
      : o.verifies_only() ? "with --verify and without frames"
                          : "to compute frames");
  given(!o.measure.empty(), "--measure");
  number(o.frames.has_value(), "--frames", std::to_string(o.frames.value_or(0)));
  number(o.warmup > 0, "--warmup", std::to_string(o.warmup));
  number(o.in_flight.has_value(), "--in-flight", std::to_string(o.in_flight.value_or(0)));
  number(o.frame_timeout > 0, "--frame-timeout", seconds);
  given(o.streams(), "a stream of frames (--input -, --source)");
  given(!o.sinks.empty(), "--results or --sink");
  given(!o.status().empty(), "--metrics, a stream or DICE_STATUS in the environment");
  std::string decoded;
  for (const auto& d : o.decoders) {
    decoded += (decoded.empty() ? "" : " ") + std::string(meta::enum_name(d.as));
    for (const int l : d.layers) decoded += " " + std::to_string(l);
  }
  number(!decoded.empty(), "--decode", "of output layers " + decoded);
  number(!o.drawing.empty(), "--picture", "and --picture-every " + std::to_string(o.drawing_every));
  given(o.cuda_aware, "--cuda-aware");
  given(o.verify, "--verify");
  given(o.check_numbers, "--check-numbers");
  given(o.gather, "--gather");
  given(!o.trace.empty(), "--trace");
  given(!o.profile.empty(), "--profile");
  given(o.explain, "--explain");
  add(results.empty() ? "for no results" : "for the results of " + results);
  return out;
}

}  // namespace dice::app
