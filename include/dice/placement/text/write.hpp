// A mapping as C++.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/enum_name.hpp"
#include "dice/meta/view.hpp"
#include "dice/placement/written.hpp"

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
  return n == platform::numbers::float32 ? "" : meta::enum_name(n);
}

namespace detail {

[[gnu::cold]] inline std::string limit_text(const platform::limit& l) {
  using enum platform::limit::kind;
  if (l.what == memory) return "dice::memory<" + std::to_string(l.bytes) + ">";
  if (l.what == direct) return "dice::direct_convolutions";
  if (l.what == precision) return "dice::precision<dice::" + std::string(precision_text(l.precision)) + ">";
  std::string out = "dice::on<\"";
  for (const char c : l.host) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\">";
}

[[gnu::cold]] inline std::string device_text(const platform::written_dev& d) {
  std::string out = "dice::dev<" + std::to_string(d.rank) + ", " + unit_text(d.unit, d.cores, "dice::");
  for (const auto& l : d.limits) out += ", " + limit_text(l);
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
  if (w.is().cut == geometry::grid) {
    add(std::to_string(w.down));
    add(std::to_string(w.across));
  }
  for (const auto& l : w.lists)
    add(l.first == l.last ? layer(l.first) : "dice::range<" + layer(l.first) + ", " + layer(l.last) + ">");
  if (w.has(option::shares)) add("dice::shares<" + numbers_text(w.shares) + ">");
  if (w.has(option::first_free)) add("dice::first_free");
  if (w.has(option::exchange_every)) add("dice::exchange_every<" + std::to_string(w.exchange_every) + ">");
  return "dice::" + std::string(w.is().word) + "<" + list + ">";
}

/// A mapping up to its first entry: "dice::mapping<", or "dice::split<digits::network, dice::points<4>, ".
[[gnu::cold]] inline std::string begin_text(const written_mapping& m, std::string_view network) {
  if (m.is != form::split) return "dice::mapping<";
  std::string out = "dice::split<" + std::string(network) + "::network, dice::points<";
  for (std::size_t i = 0; i < m.points.size(); ++i) out += (i ? ", " : "") + std::to_string(m.points[i]);
  return out + ">, ";
}

[[gnu::cold]] inline std::string entry_text(const entry& e, std::string_view network, const graph::network_view& net) {
  const auto layer = [&](int l) { return std::string(network) + "::" + std::string(net.layers[l].name); };
  if (e.what == entry::kind::dev) return device_text(e.dev);
  if (e.what == entry::kind::ranks) return "dice::ranks<" + numbers_text(e.ranks) + ">";
  if (e.what == entry::kind::in_flight) return "dice::in_flight<" + std::to_string(e.frames) + ">";
  return work_text(e.work, layer);
}

}  // namespace detail

/// A mapping without mistakes as C++, from its first word to its last `>`. `network` is the namespace of its layers.
[[gnu::cold]] inline std::string write(const written_mapping& m, std::string_view network, const graph::network_view& net) {
  auto out = detail::begin_text(m, network);
  if (out.back() == ' ') out.pop_back();
  out += "\n    ";
  bool begins = true, in_run = false;  // whether the entry is the first one, and whether it belongs to the line before it
  for (const auto& e : m.entries) {
    if (!begins) out += in_run ? ", " : ",\n    ";
    begins = false;
    in_run = m.is == form::mapping && (e.what == entry::kind::dev || e.what == entry::kind::ranks);
    out += detail::entry_text(e, network, net);
  }
  return out + ">";
}

}  // namespace dice::placement
