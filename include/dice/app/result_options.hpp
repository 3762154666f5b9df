// Where results go and in which form, from the options that say so.
#pragma once

#include "dice/app/options.hpp"
#include "dice/graph/network.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// Turns --output, --sink, --results and --decode into files of .npy (options::outputs) and sinks. Two outputs that are
/// decoded together have one sink, that of the first. Returns what is wrong, or "".
[[gnu::cold]] inline std::string place_results(const graph::network_view& network, options& o) {
  using kinds = result_sink::kinds;
  const auto form_of = [&](int layer) {
    auto out = result_form::automatic;
    for (const auto& f : o.forms)
      if (f.layer == layer || (f.layer < 0 && out == result_form::automatic)) out = f.form;
    return out;
  };
  const auto first_of = [&](int layer) {
    const auto* d = o.decoder_of(layer);
    return d ? d->layers[0] : layer;
  };
  std::vector<named_file> arrays;
  for (auto& f : o.outputs) {
    const auto form = form_of(f.layer);
    const bool standard = f.file == "-";
    if (!standard && (form == result_form::automatic || form == result_form::npy)) arrays.push_back(std::move(f));
    else o.sinks.push_back({f.layer, standard ? kinds::standard : kinds::file, f.file, form});
  }
  o.outputs = std::move(arrays);
  for (auto& s : o.sinks) s.layer = first_of(s.layer);
  for (auto& f : o.forms) f.layer = f.layer < 0 ? -1 : first_of(f.layer);
  for (int l = 0; l < network.size(); ++l) {
    const auto is_of = [l](const auto& f) { return f.layer == l; };
    const bool decoded = o.decoder_of(l) != nullptr;
    if (!network.layers[l].is_output || first_of(l) != l || (form_of(l) == result_form::automatic && !decoded)) continue;
    if (std::any_of(o.sinks.begin(), o.sinks.end(), is_of)) continue;
    if (form_of(l) == result_form::automatic) o.sinks.push_back({l, kinds::standard, "-", result_form::top});
    else if (std::none_of(o.outputs.begin(), o.outputs.end(), is_of))
      o.sinks.push_back({l, kinds::standard, "-", form_of(l)});
  }
  std::vector<int> seen;
  int standard = 0;
  bool bytes = false;
  for (auto& s : o.sinks) {
    if (std::find(seen.begin(), seen.end(), s.layer) != seen.end())
      return "the outputs that --decode ssd puts together have two places to go; give one --output or --sink";
    seen.push_back(s.layer);
    if (s.form == result_form::automatic)
      s.form = form_of(s.layer) == result_form::automatic ? result_form::json : form_of(s.layer);
    const bool raw = s.form == result_form::raw || s.form == result_form::npy;
    if (const auto* d = o.decoder_of(s.layer); d && raw && (s.form == result_form::npy || d->as != decode::head::mask))
      return "--results " + std::string(result_words[static_cast<std::size_t>(s.form)]) +
             ": what --decode finds in output '" + std::string(network.layers[s.layer].onnx_name) +
             "' has no such form; choose json or top, or omit --decode for the numbers of the network";
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
