// What --search asks for, from the command line.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/placement/words.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/usage_error.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace dice::advice {

/// What --search asks for.
struct search_request {
  partition::request wanted;
  std::vector<char> whole_only;  ///< layers that must not be split, by layer; may be empty
  int effort = 1;                ///< 1 … 3
  int measured = 0;              ///< how many mappings are run
  bool json = false;             ///< whether the answer is JSON
};

namespace detail {

inline constexpr std::array<std::string_view, 4> objective_names{"throughput", "latency", "energy", "peak_memory"};

/// The parts of `text` between separators that are not within <…>.
[[gnu::cold]] inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) depth += (text[at] == '<') - (text[at] == '>');
    if (at < text.size() && (text[at] != separator || depth > 0)) continue;
    out.push_back(text.substr(from, at - from));
    from = at + 1;
  }
  return out;
}

/// Reads one request.
class request_reader {
 public:
  request_reader(std::string_view text, const platform::cluster_view& cluster, std::string_view network,
                 const graph::network_view& net)
      : text_(text), cluster_(cluster), network_(network), net_(net) {}

  search_request read() {
    for (const auto word : parts_of(text_, ',')) take(word);
    if (out_.wanted.whole && (out_.wanted.words != ~0u || !out_.whole_only.empty()))
      fail("'" + std::string(text_) + "': whole_layers leaves nothing for kinds or no_split_of to choose; leave one out");
    if (out_.wanted.whole && given("effort"))
      fail("'" + std::string(text_) + "': effort is for mixes; leave out effort or whole_layers");
    if (out_.wanted.aim.in_order && out_.wanted.aim.repeats)
      fail("'" + std::string(text_) +
           "': in_order and repeats do not go together: in order, no device comes twice; leave one out");
    if (out_.measured > 0 && out_.wanted.whole)
      fail("'" + std::string(text_) + "': measured is for mixes; leave out whole_layers");
    const auto best = out_.wanted.aim.best;
    if (out_.measured > 0 && best != partition::objective::throughput && best != partition::objective::latency)
      fail("'" + std::string(text_) + "': only throughput and latency can be measured");
    return out_;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw runtime::usage_error("--search: " + what); }
  bool given(std::string_view word) const { return std::find(seen_.begin(), seen_.end(), word) != seen_.end(); }
  std::string_view value() const { return word_.substr(std::min(name_.size() + 1, word_.size())); }

  double number(double least = 1e-12, double most = 1e12) const {
    double out = 0;
    const auto digits = value();
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (error != std::errc() || last != digits.data() + digits.size() || !(out >= least && out <= most))
      fail("'" + std::string(word_) + "': write " + std::string(name_) + "=N with a number from " +
           text::number_text(least, "%g") + " to " + (most < 1e12 ? text::number_text(most, "%g") : "1e12"));
    return out;
  }
  int count(int least, int most) const {
    const double n = number(least, most);
    if (n != static_cast<int>(n))
      fail("'" + std::string(word_) + "': write " + std::string(name_) + "=N with a whole number");
    return static_cast<int>(n);
  }
  int host() const {
    const int found = partition::detail::host_named(cluster_.hosts, value());
    if (found >= 0) return found;
    std::string known;
    for (const auto& h : cluster_.hosts) known += (known.empty() ? "" : ", ") + std::string(h.name);
    fail("'" + std::string(word_) + "': write " + std::string(name_) + "=HOST with a host of the cluster: " + known);
  }
  unsigned kinds() const {
    unsigned out = 0;
    for (const auto kind : parts_of(value(), '+')) {
      const auto found =
          std::find(partition::kind_words.begin(), partition::kind_words.end(), kind == "tiles" ? "grid" : kind);
      if (found == partition::kind_words.end())
        fail((kind.empty() ? "'" + std::string(word_) + "': a kind of split is missing"
                           : "'" + std::string(kind) + "' is not a kind of split") +
             "; write kinds= with some of " + kind_list() + ", separated by +");
      out |= partition::bit_of_kind(*found);
    }
    return out;
  }
  static std::string kind_list() {
    std::string out;
    for (const auto kind : partition::kind_words) out += (out.empty() ? "" : ", ") + std::string(kind);
    return out;
  }
  /// Layers as in layers<…>, separated by +.
  std::vector<char> layers() const {
    std::string list(value());
    int depth = 0;
    for (auto& c : list) {
      depth += (c == '<') - (c == '>');
      if (c == '+' && depth == 0) c = ',';
    }
    std::vector<char> out(static_cast<std::size_t>(net_.size()));
    const auto wrong = [&](const std::string& why) {
      fail("'" + std::string(word_) + "': " + why +
           "; write no_split_of= with layers of the network as in a mapping, separated by +, such as conv1+range<conv3, "
           "fc2>");
    };
    try {
      const auto m = placement::parse("mapping<dev<0, cpu>, layers<" + list + ">>", network_, net_);
      const auto values = m.values();
      if (values.entries.size() != 2 || values.entries[1].work.lists.empty()) wrong("no layer is named");
      for (const auto& l : values.entries[1].work.lists) {
        if (l.first < 0 || l.last < l.first) wrong("a layer is not in the network, or a range ends before it begins");
        for (int at = l.first; at <= l.last; ++at) out[static_cast<std::size_t>(at)] = 1;
      }
    } catch (const placement::mapping_error&) {
      wrong("it cannot be read");
    }
    return out;
  }

  void take(std::string_view word) {
    word_ = word;
    name_ = word.substr(0, word.find('='));
    auto& out = out_.wanted;
    const auto objective = std::find(objective_names.begin(), objective_names.end(), word);
    const bool aims = objective != objective_names.end();
    const std::string_view what = aims ? "an objective" : name_;
    if (given(what)) fail("'" + std::string(text_) + "': " + std::string(what) + " is given twice; give it once");
    seen_.push_back(what);
    if (aims) out.aim.best = static_cast<partition::objective>(objective - objective_names.begin());
    else if (word == "in_order") out.aim.in_order = true;
    else if (word == "repeats") out.aim.repeats = true;
    else if (word == "whole_layers") out.whole = true;
    else if (word == "json") out_.json = true;
    else if (name_ == "kinds") out.words = kinds();
    else if (name_ == "no_split_of") out_.whole_only = layers();
    else if (name_ == "effort") out_.effort = count(1, 3);
    else if (name_ == "measured") out_.measured = count(1, 64);
    else if (name_ == "at_least_fps") {
      out.fps = number();
      out.aim.max_period = 1 / out.fps;
    } else if (name_ == "at_most_latency") out.aim.max_latency = number() * 1e-3;
    else if (name_ == "memory_limit") out.memory = static_cast<std::int64_t>(number(1e-6) * (1 << 20));
    else if (name_ == "input_at") out.aim.input_at = host();
    else if (name_ == "output_at") out.aim.output_at = host();
    else if (name_ == "fewest_devices") out.percent = number(0, 100);
    else
      fail("'" + std::string(word) +
           "' is not an objective or limit; write throughput, latency, energy or peak_memory, and after it, separated by "
           "commas, at_least_fps=N, at_most_latency=MS, memory_limit=MIB, in_order, input_at=HOST, output_at=HOST, "
           "fewest_devices=PERCENT, kinds=KIND+KIND, no_split_of=LAYER+LAYER, effort=1 to 3, measured=N, whole_layers, "
           "repeats, json");
  }

  std::string_view text_;
  const platform::cluster_view& cluster_;
  std::string_view network_;
  const graph::network_view& net_;
  std::string_view word_, name_;
  std::vector<std::string_view> seen_;
  search_request out_;
};

/// "energy,at_least_fps=25,at_most_latency=40,memory_limit=512,in_order,input_at=HOST,output_at=HOST,fewest_devices=5,
/// kinds=rows+replicas,no_split_of=conv1,effort=2" (ms, MiB, %). Throws runtime::usage_error.
[[gnu::cold]] inline search_request request_of_text(std::string_view text, const platform::cluster_view& cluster,
                                                    const runtime::program& p) {
  return request_reader(text, cluster, p.network, p.network_layers()).read();
}

}  // namespace detail
}  // namespace dice::advice
