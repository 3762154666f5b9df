// A mapping from text in the words of the DSL.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/enum_name.hpp"
#include "dice/placement/owned.hpp"
#include "dice/placement/text/reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace dice::placement {

/// A text that exceeds these limits is rejected.
inline constexpr std::size_t max_text = 1 << 20;
inline constexpr int max_entries = 4096, max_cores = 1024, max_layer_entries = 65536, max_numbers = 65536;

/// A mapping that was given as text, right or wrong, and where its parts are in the text. Can be moved, not copied.
struct text_mapping {
  std::vector<char> text;
  std::list<std::string> hosts;  ///< of on<…>
  std::string_view network;      ///< its name, the namespace of its layers
  graph::network_view net;
  owned_mapping is;
  // Parts of the text, by entry, and by element of is.lists, is.limits and is.points.
  std::string_view whole, other_network;  ///< without name and `;`; the network of a split
  std::vector<std::string_view> entries, units, limits, points;
  std::vector<std::string_view> wrong_options;  ///< by entry: of its layers and options, the one in the wrong position; or empty
  std::vector<std::array<std::string_view, 2>> lists;  ///< names of the first and the last layer

  text_mapping() = default;
  text_mapping(text_mapping&&) = default;
  text_mapping& operator=(text_mapping&&) = default;

  written_mapping values() const { return is.values(); }
};

namespace detail {

class parser {
 public:
  parser(text_mapping& to) : to_(to), in_({to.text.data(), to.text.size()}) {
    for (int l = 0; l < to.net.size(); ++l) by_name_.push_back(l);
    std::sort(by_name_.begin(), by_name_.end(), [&](int a, int b) { return name_of(a) < name_of(b); });
  }

  void parse() {
    skip_name();
    const auto begin = in_.at();
    const auto what = in_.read_path("mapping<…> or split<…>");
    if (what.word() == "mapping") {
      to_.is.is = form::mapping;
      in_.require('<', "after mapping");
      if (!in_.take('>')) entries();
    } else if (what.word() == "split") {
      to_.is.is = form::split;
      in_.require('<', "after split");
      points();
      if (!in_.take('>')) {
        in_.require(',', "or '>' after points<…>");
        entries();
      }
    } else {
      to_.is.is = form::none;
      in_.pass_arguments();
    }
    to_.whole = in_.since(begin);
    in_.take(';');
    if (!in_.ended()) in_.expect("the end of the text after the mapping");
    to_.is.settle();
  }

  /// Whether it begins as a mapping or split does.
  bool begins_as_mapping() {
    skip_name();
    if (!in_.names()) return false;
    const auto word = in_.read_path("").word();
    return (word == "mapping" || word == "split") && in_.take('<');
  }

 private:
  /// `using NAME =`, if it is there.
  void skip_name() {
    const auto begin = in_;
    if (!in_.names() || in_.read_path("mapping<…> or split<…>").all != "using") return void(in_ = begin);
    in_.name("the mapping's name after using");
    in_.require('=', "after the mapping's name");
  }

  void entries() {
    do {
      if (to_.is.entries.size() == max_entries)
        in_.fail(in_.at(), "a mapping has at most " + std::to_string(max_entries) + " entries");
      const auto begin = in_.at();
      const auto word = in_.read_path("dev<…>, ranks<…>, in_flight<…>, or a work such as layers<…>").word();
      to_.units.emplace_back();
      to_.wrong_options.emplace_back();
      entry e;
      if (word == "dev") e = device();
      else if (word == "ranks") e = ranks();
      else if (const int number = word_number(word); number >= 0) e = work(number);
      else if (word == "in_flight") e = in_flight();
      else in_.pass_arguments();
      to_.is.entries.push_back(e);
      to_.entries.push_back(in_.since(begin));
    } while (in_.take(','));
    in_.require('>', "or ',' after an entry");
  }

  entry device() {
    entry out{.what = entry::kind::dev};
    in_.require('<', "after dev");
    out.dev.rank = in_.small_number("a rank (a whole number)");
    if (in_.take(',')) {
      unit(out.dev);
      while (in_.take(',')) {
        limit();
        ++out.dev.limits.count;
      }
    }
    in_.require('>', "or ',' after a part of dev<…>");
    return out;
  }

  void unit(platform::written_dev& d) {
    using argument = platform::unit_word::argument;
    std::string expected;  // "a unit: cpu, cores<…>, threads<N>, gpu or gpu_at<N>"
    for (const auto& w : platform::unit_words)
      expected += (expected.empty()                           ? "a unit: "
                   : &w == std::end(platform::unit_words) - 1 ? " or "
                                                              : ", ") +
                  std::string(w.word) +
                  (w.takes == argument::none    ? ""
                   : w.takes == argument::cores ? "<…>"
                                                : "<N>");
    const auto begin = in_.at();
    const auto word = in_.read_path(expected).word();
    const auto* found = std::begin(platform::unit_words);
    while (found != std::end(platform::unit_words) && found->word != word) ++found;
    d.is_unit = found != std::end(platform::unit_words);
    if (!d.is_unit) {
      in_.pass_arguments();
    } else {
      d.unit = {.what = found->what};
      if (found->takes == argument::cores) d.unit.count = cores();
      if (found->takes == argument::count) d.unit.count = only_number(*found);
      if (found->takes == argument::index) d.unit.index = only_number(*found);
    }
    to_.units.back() = in_.since(begin);
  }
  int only_number(const platform::unit_word& w) {
    in_.require('<', "after " + std::string(w.word));
    const int out = in_.small_number(std::string(w.number) + " (a whole number)");
    in_.require('>', "after a number");
    return out;
  }
  int cores() {
    int n = 0;
    in_.require('<', "after cores");
    if (in_.take('>')) return 0;
    do {
      if (n++ == max_cores) in_.fail(in_.at(), "a device has at most " + std::to_string(max_cores) + " cores");
      to_.is.cores.push_back(in_.small_number("the number of a core"));
    } while (in_.take(','));
    in_.require('>', "or ',' after the number of a core");
    return n;
  }

  void limit() {
    using what = platform::limit::kind;
    const auto begin = in_.at();
    const auto word = in_.read_path("a limit: memory<…>, precision<…>, direct_convolutions or on<\"…\">").word();
    platform::limit out;
    if (word == "memory") {
      in_.require('<', "after memory");
      out = {.what = what::memory, .bytes = in_.bytes()};
      in_.require('>', "after a number of bytes");
    } else if (word == "on") {
      in_.require('<', "after on");
      out = {.what = what::host, .host = to_.hosts.emplace_back(in_.string("a host's name in quotes"))};
      in_.require('>', "after a host's name");
    } else if (word == "precision") {
      in_.require('<', "after precision");
      const auto in = in_.read_path("tf32, fp16 or bf16").word();
      const auto numbers = meta::enum_value<platform::numbers>(in);
      if (numbers && *numbers != platform::numbers::float32) out = {.what = what::precision, .precision = *numbers};
      else in_.pass_arguments();
      in_.require('>', "after the numbers of precision");
    } else if (word == "direct_convolutions" && !in_.next_is('<')) {
      out = {.what = what::direct};
    } else {
      in_.pass_arguments();
    }
    to_.is.limits.push_back(out);
    to_.limits.push_back(in_.since(begin));
  }

  entry in_flight() {
    in_.require('<', "after in_flight");
    const int frames = in_.small_number("a number of frames (a whole number)");
    in_.require('>', "after a number");
    return {.what = entry::kind::in_flight, .frames = frames};
  }

  entry ranks() {
    entry out{.what = entry::kind::ranks};
    out.ranks.count = numbers("ranks", "a rank (a whole number)", to_.is.ranks);
    return out;
  }
  /// <1, 2, …>, perhaps empty, after `word`. Returns how many.
  std::size_t numbers(const std::string& word, const char* what, meta::array<int>& to) {
    std::size_t n = 0;
    in_.require('<', "after " + word);
    if (in_.take('>')) return 0;
    do {
      if (to.size() == max_numbers)
        in_.fail(in_.at(), "a mapping has at most " + std::to_string(max_numbers) + " numbers in " + word + "<…>");
      to.push_back(in_.small_number(what));
      ++n;
    } while (in_.take(','));
    in_.require('>', "or ',' after a number");
    return n;
  }

  entry work(int word) {
    entry out{.what = entry::kind::work, .work{.word = word}};
    auto& w = out.work;
    const auto& is = w.is();
    in_.require('<', "after " + std::string(is.word));
    if (is.cut == geometry::grid) {
      w.down = in_.small_number("the number of rows of tiles");
      in_.require(',', "after the number of rows of tiles");
      w.across = in_.small_number("the number of columns of tiles");
      if (in_.take('>')) return out;
      in_.require(',', "or '>' after the number of columns of tiles");
    } else if (in_.take('>')) {
      return out;
    }
    int at = 0;
    do argument(w, at++);
    while (in_.take(','));
    in_.require('>', "or ',' after a layer");
    return out;
  }
  /// Layers or an option of a work.
  void argument(written_work& w, int at) {
    const auto begin = in_.at();
    const auto what = in_.read_path("a layer, range<…>, from<…>, to<…> or all");
    const auto word = what.word();
    const auto o = word == "first_free"       ? option::first_free
                   : !in_.next_is('<')        ? option::none
                   : word == "shares"         ? option::shares
                   : word == "exchange_every" ? option::exchange_every
                                              : option::none;
    const bool right = w.take(o, at);
    meta::array<int> ignored;
    if (o == option::shares) {
      const auto n = numbers("shares", "a share (a whole number)", right ? to_.is.shares : ignored);
      if (right) w.shares.count = n;
    } else if (o == option::exchange_every) {
      in_.require('<', "after exchange_every");
      const int every = in_.small_number("a number of layers (a whole number)");
      if (right) w.exchange_every = every;
      in_.require('>', "after a number");
    } else if (o == option::first_free) {
    } else if (right) {
      if (to_.is.lists.size() == max_layer_entries)
        in_.fail(begin, "the lists of a mapping have at most " + std::to_string(max_layer_entries) + " entries");
      list(what);
      ++w.lists.count;
    } else {
      in_.pass_arguments();
    }
    if (!right && to_.wrong_options.back().empty()) to_.wrong_options.back() = in_.since(begin);
  }

  void list(const path& what) {
    const int last = to_.net.size() - 1;
    const auto word = what.word();
    const auto add = [&](int a, int b, std::string_view first, std::string_view end) {
      to_.is.lists.push_back({a, b});
      to_.lists.push_back({first, end});
    };
    if (word == "all") return add(0, last, what.all, what.all);
    if ((word == "range" || word == "from" || word == "to") && in_.take('<')) {
      const auto a = layer();
      if (word == "range") {
        in_.require(',', "after the first layer of a range");
        const auto b = layer();
        add(a.id, b.id, a.name, b.name);
      } else if (word == "from") {
        add(a.id, last, a.name, a.name);
      } else {
        add(0, a.id, a.name, a.name);
      }
      return in_.require('>', "after a layer");
    }
    const auto only = layer(what);
    add(only.id, only.id, only.name, only.name);
  }

  struct named {
    int id;
    std::string_view name;
  };
  named layer() { return layer(in_.read_path("a layer")); }
  named layer(const path& p) {
    // No layer is a template.
    if (in_.pass_arguments()) {
      const auto whole = in_.since(static_cast<std::size_t>(p.all.data() - to_.text.data()));
      return {-1, id_of(p) < 0 ? p.all : whole};
    }
    return {id_of(p), p.all};
  }
  int id_of(const path& p) const {
    if (p.count == 1) return id_of(p.names[0]);
    return p.count == 2 && p.names[0] == to_.network ? id_of(p.names[1]) : -1;
  }

  /// Its network and points<…>.
  void points() {
    const auto of = in_.read_path("the network's name");
    to_.is.of_this_network = (of.count == 1 && of.names[0] == "network") ||
                             (of.count == 2 && of.names[0] == to_.network && of.names[1] == "network");
    to_.other_network = of.all;
    in_.require(',', "after the network");
    if (const auto begin = in_.at(); in_.read_path("points<…>").word() != "points") in_.fail(begin, "expected points<…>");
    in_.require('<', "after points");
    if (in_.take('>')) return;
    do {
      if (to_.is.points.size() == max_entries)
        in_.fail(in_.at(), "a split has at most " + std::to_string(max_entries) + " points");
      const auto begin = in_.at();
      to_.is.points.push_back(in_.names() ? point() : in_.small_number("a layer's id"));
      to_.points.push_back(in_.since(begin));
    } while (in_.take(','));
    in_.require('>', "or ',' after a point");
  }
  /// conv3::id
  int point() {
    const auto begin = in_.at();
    const auto p = in_.read_path("a layer's id");
    const auto last = std::min(p.count, path::most) - 1;
    if (p.count < 2 || p.count > path::most || p.names[last] != "id")
      in_.fail(begin,
               "expected a layer's id, such as 3 or " + std::string(to_.network) + "::conv3::id, found " + quoted(p.all));
    if (!to_.is.of_this_network) return 0;  // that is the mistake
    const int id = p.count == 2 || p.names[0] == to_.network ? id_of(p.names[last - 1]) : -1;
    if (id < 0) in_.fail(begin, quoted(p.all) + " is not a layer's id in the network " + std::string(to_.network));
    return id;
  }

  std::string_view name_of(int l) const { return to_.net.layers[l].name; }
  int id_of(std::string_view name) const {
    const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                        [&](int l, std::string_view wanted) { return name_of(l) < wanted; });
    return found != by_name_.end() && name_of(*found) == name ? *found : -1;
  }

  text_mapping& to_;
  reader in_;
  std::vector<int> by_name_;
};

/// A text without the byte order mark that some editors write first.
[[gnu::cold]] inline std::string_view without_mark(std::string_view text) {
  return text.substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
}

}  // namespace detail

/// Parses `text` as a mapping for network `net`, named `network`: `mapping<…>` or `split<…>` in the words of docs/dsl.md,
/// with `dice::` and the network's name before its layers or without; between `using NAME =` and `;`, if these are there,
/// and with comments. Checks nothing beyond that: check() finds mistakes. Throws mapping_error. `network` and `net` must
/// outlive the result.
[[gnu::cold]] inline text_mapping parse(std::string_view text, std::string_view network, const graph::network_view& net) {
  if (text.size() > max_text)
    throw mapping_error("the text has " + std::to_string(text.size()) + " bytes; a mapping has at most " +
                        std::to_string(max_text));
  text = detail::without_mark(text);
  text_mapping out;
  out.text.assign(text.begin(), text.end());
  out.network = network;
  out.net = net;
  detail::parser(out).parse();
  return out;
}

/// Whether a text begins as a mapping or split does, and is not the name of a file.
[[gnu::cold]] inline bool is_mapping_text(std::string_view text) {
  try {
    text = detail::without_mark(text);
    text_mapping nothing;
    nothing.text.assign(text.begin(), text.end());
    return detail::parser(nothing).begins_as_mapping();
  } catch (const mapping_error&) {
    return false;
  }
}

}  // namespace dice::placement
