// Messages for mistakes in a mapping given as text, with the name and the remedy that the compiler prints.
#pragma once

#include "dice/meta/nearest.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/text/mistake_words.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/placement/text/write.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dice::placement {

namespace detail {

class teller {
 public:
  teller(const text_mapping& m, const finding& f)
      : m_(m), f_(f), entry_(static_cast<std::size_t>(f.position)), index_(static_cast<std::size_t>(f.index)) {}

  std::string all() {
    const auto what = said();
    const auto words = words_of(f_.what);
    const auto begin = at_.empty() ? std::string() : place_text(text(), offset(at_)) + ": ";
    return begin + std::string(words.name) + ": " + what + "; " + std::string(words.remedy);
  }

 private:
  std::string_view text() const { return {m_.text.data(), m_.text.size()}; }
  std::size_t offset(std::string_view part) const { return static_cast<std::size_t>(part.data() - m_.text.data()); }
  std::string layer(int l) const { return "'" + std::string(m_.net.layers[l].name) + "'"; }
  const entry& here() const { return m_.is.entries[f_.position]; }
  std::string number() const { return std::to_string(f_.number); }
  /// Quotes the wrong part and makes the message state its line and column.
  std::string wrong(std::string_view part) {
    at_ = part;
    return quoted(part);
  }

  /// " (did you mean 'cpu'?)", or "".
  std::string guess(meta::nearest& found) const {
    return found.best().empty() ? "" : " (did you mean '" + std::string(found.best()) + "'?)";
  }
  /// The same for the last name before `<`, among `words`.
  std::string guess(std::string_view part, std::initializer_list<std::string_view> words) const {
    meta::nearest found(last_name(part));
    for (const auto w : words) found.look_at(w);
    return guess(found);
  }
  std::string guess_unit(std::string_view part) const {
    meta::nearest found(last_name(part));
    for (const auto& w : platform::unit_words) found.look_at(w.word);
    return guess(found);
  }
  std::string guess_entry() const {
    meta::nearest found(last_name(m_.entries[entry_]));
    for (const std::string_view w : {"dev", "ranks", "in_flight"}) found.look_at(w);
    for (const auto& w : work_words) found.look_at(w.word);
    return guess(found);
  }
  std::string guess_limit(std::string_view part) const {
    const auto word = last_name(part);
    if (word == "precision") return ": the precisions are tf32, fp16 and bf16";
    if (word == "tf32" || word == "fp16" || word == "bf16") return " (did you mean 'precision<" + std::string(word) + ">'?)";
    return guess(part, {"memory", "precision", "direct_convolutions", "on"});
  }
  static std::string_view last_name(std::string_view part) {
    part = part.substr(0, part.find('<'));
    const auto colons = part.rfind("::");
    part.remove_prefix(colons == std::string_view::npos ? 0 : colons + 2);
    const auto begin = std::min(part.find_first_not_of(" \t\r\n"), part.size());
    return part.substr(begin, part.find_last_not_of(" \t\r\n") + 1 - begin);
  }
  std::string others(const char* after) const {
    return f_.more == 0 ? "" : " and " + std::to_string(f_.more) + (f_.more == 1 ? " other" : " others") + after;
  }

  std::string misplaced() {
    if (f_.position >= m_.is.entries.size()) {
      at_ = m_.whole.substr(m_.whole.size() - 1);
      return count_devices(m_.values()) == 0 ? "there is no device" : "the last device has no work after it";
    }
    const auto part = wrong(m_.entries[entry_]);
    switch (here().what) {
      case entry::kind::other:
        return part + " is not an entry" + guess_entry();
      case entry::kind::work:
        return part + (m_.is.is == form::split ? " is not allowed in split<…>: points already assign the layers"
                                               : " has no device before it");
      case entry::kind::ranks:
        return part + (m_.is.is == form::split ? " is in a split, in which each device is declared where it is named"
                                               : " names no rank");
      default:
        return part + " is where the work of the devices before it is expected";
    }
  }
  std::string foreign() {
    const auto& of = here().work.lists[index_];
    const auto at = static_cast<std::size_t>(&of - m_.is.lists.data());
    const auto name = m_.lists[at][of.first < 0 ? 0 : 1];
    meta::nearest found(last_name(name));
    for (const auto& l : m_.net.layers) found.look_at(l.name);
    for (const std::string_view word : {"range", "from", "to", "all"}) found.look_at(word);
    for (const auto& o : option_words)
      if (here().work.splits() && !o.word.empty()) found.look_at(o.word);
    return wrong(name) + " is not a layer of the network " + std::string(m_.network) + guess(found);
  }
  std::string backwards() {
    const auto& of = here().work.lists[index_];
    const auto at = static_cast<std::size_t>(&of - m_.is.lists.data());
    at_ = m_.lists[at][0];
    return layer(of.first) + " comes after " + layer(of.last);
  }
  std::string two_devices() {
    std::string ranks, run, first;
    int of_run = 0, lists = 0;
    for (int i = 0; i < m_.is.entries.size() && lists < 2; ++i) {
      const auto& e = m_.is.entries[i];
      for (const int rank : ranks_in(e)) run += (of_run++ ? ", " : "") + std::to_string(rank);
      if (e.what != entry::kind::work) continue;
      if (of_run > 1) run = "(" + run + ")";
      for (const auto& list : e.work.lists)
        if (list.first <= f_.number && f_.number <= list.last) {
          ranks += (lists++ ? " and " : "") + run;
          at_ = m_.entries[i];
          break;
        }
      run.clear();
      of_run = 0;
    }
    return "layer " + layer(f_.number) + " is in the lists of ranks " + ranks +
           (f_.more ? "," + others(f_.more == 1 ? " is in two lists, too" : " are in two lists, too") : "");
  }

  /// "tiles<…> has the option exchange_every<…>"
  static std::string options_of(const work_word& w) {
    std::string all;
    int n = 0, at = 0;
    for (const auto& o : option_words)
      if (w.options & (1u << at++)) all += (n++ ? w.has(option::first_free) ? " or " : " and " : "") + std::string(o.text);
    return std::string(w.word) + "<…> has the option" + (n > 1 ? "s " : " ") + all;
  }

  /// The mistakes of runs and of layers in parts.
  std::string said_of_parts() {
    const auto whole = wrong(m_.entries[entry_]);
    const auto counted = [](int n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
    switch (f_.what) {
      case mistake::rank_not_declared:
        return whole + " names rank " + number() + ", which no device has";
      case mistake::rank_twice_in_run:
        return whole + " adds rank " + number() + " to its run a second time";
      case mistake::layers_on_several_devices:
        return whole + " is after several devices, first those of ranks " + number() + " and " + std::to_string(f_.more);
      case mistake::split_on_one_rank:
        return whole + " is after one device only, that of rank " + number();
      case mistake::not_a_split_option:
        return wrong(m_.wrong_options[entry_]) +
               (here().work.is().options == 0
                    ? " is in " + std::string(here().work.is().word) + "<…>, which has no options"
                    : " does not belong here: " + options_of(here().work.is()));
      case mistake::tile_grid_not_positive:
        return whole + " has a grid of " + number() + " × " + std::to_string(f_.more) + " tiles";
      case mistake::tiles_fewer_than_ranks:
        return whole + " has " + counted(f_.number, "tile") + " for " + counted(f_.more, "rank");
      case mistake::share_not_positive:
        return whole + " has the share " + number();
      case mistake::shares_do_not_fit_ranks:
        return whole + " has " + counted(f_.number, "share") + " for " + counted(f_.more, "rank");
      case mistake::exchange_every_not_positive:
        return whole + " exchanges after " + counted(f_.number, "layer");
      case mistake::input_or_output_not_splittable:
        return "layer " + layer(f_.number) + " is a graph " + (m_.net.layers[f_.number].is_input ? "input" : "output") +
               ", which one rank has whole";
      case mistake::first_free_after_replicas:
        return "layer " + layer(f_.number) + " reads what other replicas compute, so that no rank knows all of its frames";
      case mistake::layer_not_splittable:
        return "layer " + layer(f_.number) + " (" + std::string(m_.net.layers[f_.number].op) + ") cannot be cut by " +
               std::string(about(here().work.is().cut).axes_text);
      default:
        return "layer " + layer(f_.number) + " can be cut into at most " + counted(static_cast<int>(f_.units), "part") +
               " by " +
               (f_.what == mistake::too_few_rows      ? "rows"
                : f_.what == mistake::too_few_columns ? "columns"
                : about(here().work.is().cut).sums && m_.net.layers[f_.number].depth_step > 0
                    ? "input and output channels in blocks of 16"
                    : "channels in blocks of 16") +
               ", not into " + std::to_string(f_.more);
    }
  }

  std::string memory() {
    std::int64_t limit = 0;
    for (int i = 0; i < m_.is.entries.size(); ++i)
      if (const auto& e = m_.is.entries[i]; e.what == entry::kind::dev && e.dev.rank == f_.number) {
        at_ = m_.entries[i];
        limit = platform::device_of(e.dev).memory_limit;
      }
    return "rank " + number() + " needs at least " + std::to_string(f_.bytes) + " bytes, and may have " +
           std::to_string(limit);
  }

  std::string said() {
    const auto unit = [&] { return m_.units[entry_]; };
    const auto limit = [&] {
      return m_.limits[static_cast<std::size_t>(here().dev.limits.begin() - m_.is.limits.data()) + index_];
    };
    const auto rank = "rank " + number();
    switch (f_.what) {
      case mistake::not_a_mapping:
        return wrong(m_.whole) + " is neither mapping<…> nor split<…>" + guess(m_.whole, {"mapping", "split"});
      case mistake::split_of_another_network:
        return wrong(m_.other_network) + " is not the network " + std::string(m_.network);
      case mistake::misplaced_entry:
        return misplaced();
      case mistake::rank_used_twice:
        at_ = m_.entries[entry_];
        return "two devices have " + rank;
      case mistake::rank_missing:
        return "no device has " + rank;
      case mistake::not_a_unit:
        return wrong(unit()) + " is not a unit" + guess_unit(unit());
      case mistake::core_listed_twice:
        return wrong(unit()) + " has core " + number() + " twice";
      case mistake::core_number_negative:
        return wrong(unit()) + " has core " + number();
      case mistake::no_core_listed:
        return wrong(unit()) + " lists no core for " + rank;
      case mistake::too_few_threads:
      case mistake::too_many_threads:
        return wrong(unit()) + " asks for " + number() + " threads";
      case mistake::gpu_number_negative:
        return wrong(unit()) + " is GPU " + number();
      case mistake::unit_without_backend:
        return wrong(unit()) +
               " has no backend in this program, whose compiled mapping has no such unit: start one whose mapping has";
      case mistake::not_a_limit:
        return wrong(limit()) + " is not a limit" + guess_limit(limit());
      case mistake::precision_not_possible:
        at_ = m_.entries[entry_];
        return rank + " computes on a CPU, or has two precisions";
      case mistake::memory_limit_not_positive:
        at_ = m_.entries[entry_];
        return "the limit of " + rank + " is not a positive number of bytes";
      case mistake::memory_limit_too_large:
        return wrong(limit()) + " of " + rank + " is more than any memory";
      case mistake::empty_host_name:
        return wrong(limit()) + " of " + rank + " names no host";
      case mistake::rank_on_two_hosts:
        return wrong(limit()) + " is the second host of " + rank;
      case mistake::too_few_frames_in_flight:
        return wrong(m_.entries[entry_]) + " lets no frame in";
      case mistake::too_many_frames_in_flight:
        return wrong(m_.entries[entry_]) + " lets too many frames in";
      case mistake::in_flight_twice:
        return wrong(m_.entries[entry_]) + " says a second time how many frames may be in flight, after in_flight<" +
               number() + ">";
      case mistake::not_a_layer_of_the_network:
        return foreign();
      case mistake::range_backwards:
        return backwards();
      case mistake::empty_layer_list:
        return wrong(m_.entries[entry_]) + " has no layer";
      case mistake::split_point_out_of_range:
        at_ = m_.points[index_];
        return "point " + number() + " is not between 0 and " + std::to_string(m_.net.size()) + ", the number of layers";
      case mistake::split_points_unordered:
        at_ = m_.points[index_];
        return "point " + number() + " is not greater than the one before it";
      case mistake::split_points_do_not_fit_devices:
        return number() + (f_.number == 1 ? " point is" : " points are") + " given for " + std::to_string(f_.more) +
               (f_.more == 1 ? " device" : " devices");
      case mistake::layer_in_two_lists:
        return two_devices();
      case mistake::layer_without_device:
        return "layer " + layer(f_.number) + others("") + (f_.more ? " are" : " is") + " in no list";
      case mistake::memory_limit_less_than_plan:
        return memory();
      case mistake::layer_without_kernel:
        return "the unit of the rank of layer " + layer(f_.number) + " cannot compute " +
               std::string(m_.net.layers[f_.number].op);
      default:
        return said_of_parts();
    }
  }

  const text_mapping& m_;
  const finding& f_;
  std::size_t entry_, index_;
  std::string_view at_;
};

}  // namespace detail

/// "line 1, column 9: rank_used_twice: two devices have rank 1; give each device a rank of its own or name it again with
/// ranks": the message for a finding in a mapping from text; without line and column if it has no place in the text.
[[gnu::cold]] inline std::string tell(const text_mapping& m, const finding& f) { return detail::teller(m, f).all(); }

}  // namespace dice::placement
