// Where results go and in which form, from the options that say so.
#pragma once

#include "dice/app/options.hpp"
#include "dice/graph/network.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// Turns --output, --sink and --results into files of .npy (options::outputs) and sinks. Returns what is wrong, or "".
[[gnu::cold]] inline std::string place_results(const graph::network_view& network, options& o) {
  using kinds = result_sink::kinds;
  const auto form_of = [&](int layer) {
    auto out = result_form::automatic;
    for (const auto& f : o.forms)
      if (f.layer == layer || (f.layer < 0 && out == result_form::automatic)) out = f.form;
    return out;
  };
  std::vector<named_file> arrays;
  for (auto& f : o.outputs) {
    const auto form = form_of(f.layer);
    const bool standard = f.file == "-";
    if (!standard && (form == result_form::automatic || form == result_form::npy)) arrays.push_back(std::move(f));
    else o.sinks.push_back({f.layer, standard ? kinds::standard : kinds::file, f.file, form});
  }
  o.outputs = std::move(arrays);
  for (int l = 0; l < network.size(); ++l) {
    const auto is_of = [l](const auto& f) { return f.layer == l; };
    if (!network.layers[l].is_output || form_of(l) == result_form::automatic) continue;
    if (std::none_of(o.sinks.begin(), o.sinks.end(), is_of) && std::none_of(o.outputs.begin(), o.outputs.end(), is_of))
      o.sinks.push_back({l, kinds::standard, "-", form_of(l)});
  }
  int standard = 0;
  bool bytes = false;
  for (auto& s : o.sinks) {
    if (s.form == result_form::automatic)
      s.form = form_of(s.layer) == result_form::automatic ? result_form::json : form_of(s.layer);
    const bool raw = s.form == result_form::raw || s.form == result_form::npy;
    if (s.kind == kinds::standard) bytes = bytes || raw;
    standard += s.kind == kinds::standard;
  }
  if (bytes && standard > 1)
    return "several outputs cannot share the standard output as raw or npy; write json, or give each a file or --sink";
  if (!o.sinks.empty() && o.gather)
    return "--gather: these results are written as they come, by the rank that computes them; omit it";
  return {};
}

}  // namespace dice::app
