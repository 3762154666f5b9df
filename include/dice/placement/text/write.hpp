// A mapping as C++.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/view.hpp"
#include "dice/placement/assign.hpp"
#include "dice/placement/text/owned.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dice::placement {

/// "cpu", "cores<0, 1>", "threads<4>", "gpu", "gpu_at<1>", with `dice` before it.
[[gnu::cold]] inline std::string unit_text(const platform::unit& on, std::span<const int> cores, std::string_view dice) {
  using argument = platform::unit_word::argument;
  const bool numbered = on.index != 0;
  for (const auto& w : platform::unit_words) {
    if (w.what != on.what || (w.takes == argument::none && numbered)) continue;
    std::string list;
    if (w.takes == argument::count) list = std::to_string(on.count);
    if (w.takes == argument::index) list = std::to_string(on.index);
    if (w.takes == argument::cores)
      for (const int core : cores) list += (list.empty() ? "" : ", ") + std::to_string(core);
    return std::string(dice) + std::string(w.word) + (w.takes == argument::none ? "" : "<" + list + ">");
  }
  return {};
}

/// "tf32", "fp16", "bf16"; "" for float32.
constexpr std::string_view precision_text(platform::numbers n) {
  switch (n) {
    case platform::numbers::tf32:
      return "tf32";
    case platform::numbers::fp16:
      return "fp16";
    case platform::numbers::bf16:
      return "bf16";
    case platform::numbers::float32:
      break;
  }
  return "";
}

namespace detail {

[[gnu::cold]] inline std::string device_text(const platform::written_dev& d) {
  std::string out = "dice::dev<" + std::to_string(d.rank) + ", " + unit_text(d.unit, d.cores, "dice::");
  for (const auto& l : d.limits) {
    if (l.what == platform::limit::kind::memory) out += ", dice::memory<" + std::to_string(l.bytes) + ">";
    if (l.what == platform::limit::kind::host) {
      out += ", dice::on<\"";
      for (const char c : l.host) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
      out += "\">";
    }
    if (l.what == platform::limit::kind::direct) out += ", dice::direct_convolutions";
    if (l.what == platform::limit::kind::precision)
      out += ", dice::precision<dice::" + std::string(precision_text(l.precision)) + ">";
  }
  return out + ">";
}

[[gnu::cold]] inline std::string numbers_text(meta::view<int> numbers) {
  std::string out;
  for (const int n : numbers) out += (out.empty() ? "" : ", ") + std::to_string(n);
  return out;
}

/// `layer` makes a layer's name from its id.
template <class Layer> [[gnu::cold]] inline std::string work_text(const written_work& w, const Layer& layer) {
  std::string list;
  const auto add = [&](const std::string& part) { list += (list.empty() ? "" : ", ") + part; };
  if (w.is().cut == geometry::grid) add(std::to_string(w.down)), add(std::to_string(w.across));
  for (const auto& l : w.lists)
    add(l.first == l.last ? layer(l.first) : "dice::range<" + layer(l.first) + ", " + layer(l.last) + ">");
  if (w.has(option::shares)) add("dice::shares<" + numbers_text(w.shares) + ">");
  if (w.has(option::first_free)) add("dice::first_free");
  if (w.has(option::exchange_every)) add("dice::exchange_every<" + std::to_string(w.exchange_every) + ">");
  return "dice::" + std::string(w.is().word) + "<" + list + ">";
}

}  // namespace detail

/// A mapping without mistakes as C++, from its first word to its last `>`. `network` is the namespace of its layers.
[[gnu::cold]] inline std::string write(const written_mapping& m, std::string_view network, const graph::network_view& net) {
  const auto layer = [&](int l) { return std::string(network) + "::" + std::string(net.layers[l].name); };
  std::string out = "dice::mapping<\n    ";
  if (m.is == form::split) {
    out = "dice::split<" + std::string(network) + "::network, dice::points<";
    for (std::size_t i = 0; i < m.points.size(); ++i) out += (i ? ", " : "") + std::to_string(m.points[i]);
    out += ">,\n    ";
  }
  bool begins = true, in_run = false;  // whether the entry is the first one, and whether it belongs to the line before it
  for (const auto& e : m.entries) {
    if (!begins) out += in_run ? ", " : ",\n    ";
    begins = false;
    in_run = m.is == form::mapping && (e.what == entry::kind::dev || e.what == entry::kind::ranks);
    if (e.what == entry::kind::dev) out += detail::device_text(e.dev);
    if (e.what == entry::kind::ranks) out += "dice::ranks<" + detail::numbers_text(e.ranks) + ">";
    if (e.what == entry::kind::in_flight) out += "dice::in_flight<" + std::to_string(e.frames) + ">";
    if (e.what == entry::kind::work) out += detail::work_text(e.work, layer);
  }
  return out + ">";
}

/// The mapping of a placement, given as the rank of each layer and the devices in order of rank. Its hosts refer to those of
/// `devices`, which must outlive it.
[[gnu::cold]] inline owned_mapping mapping_of(std::span<const int> owner, std::span<const platform::device> devices,
                                              int in_flight) {
  using limit = platform::limit;
  owned_mapping out;
  for (const auto& d : devices) {
    entry dev{.what = entry::kind::dev, .dev{.rank = d.rank, .unit = d.unit}};
    const auto add = [&](const limit& l) { out.limits.push_back(l), ++dev.dev.limits.count; };
    if (d.memory_limit >= 0) add({.what = limit::kind::memory, .bytes = d.memory_limit});
    if (d.unit.precision != platform::numbers::float32) add({.what = limit::kind::precision, .precision = d.unit.precision});
    if (d.unit.direct) add({.what = limit::kind::direct});
    if (!d.host.empty()) add({.what = limit::kind::host, .host = d.host});
    dev.dev.unit.precision = platform::numbers::float32, dev.dev.unit.direct = false;
    for (const int core : d.cores) out.cores.push_back(core);
    out.entries.push_back(dev);
    entry list{.what = entry::kind::work};
    const int layers = static_cast<int>(owner.size());
    for (int l = 0; l < layers; ++l) {
      if (owner[l] != d.rank) continue;
      const int from = l;
      while (l + 1 < layers && owner[static_cast<std::size_t>(l) + 1] == d.rank) ++l;
      out.lists.push_back({from, l}), ++list.work.lists.count;
    }
    out.entries.push_back(list);
  }
  if (in_flight != default_in_flight(static_cast<int>(devices.size())))
    out.entries.push_back({.what = entry::kind::in_flight, .frames = in_flight});
  out.settle();
  return out;
}

}  // namespace dice::placement
