// Messages for mistakes in a mapping given as text, with the name and the remedy that the compiler prints.
#pragma once

#include "dice/meta/nearest.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/text/parse.hpp"
#include "dice/placement/text/write.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dice::placement {

/// A mistake's name in error.hpp, and its remedy with blanks instead of underscores.
struct mistake_words {
  std::string_view name, remedy;
};

/// Empty for mistakes that texts cannot have.
constexpr mistake_words words_of(mistake what) {
  switch (what) {
    case mistake::not_a_mapping:
      return {"not_a_mapping", "write mapping of dev and layers"};
    case mistake::other_split:
      return {"split_of_another_network", "split the network passed to main"};
    case mistake::misplaced_entry:
      return {"misplaced_entry", "write each dev followed by its layers"};
    case mistake::rank_twice:
      return {"rank_used_twice", "give each device a rank of its own"};
    case mistake::rank_missing:
      return {"rank_missing", "number the ranks from 0 without gaps"};
    case mistake::not_a_unit:
      return {"not_a_unit", "write cpu or cores or threads or gpu"};
    case mistake::core_twice:
      return {"core_listed_twice", "list each core once"};
    case mistake::core_negative:
      return {"core_number_negative", "list cores by numbers from 0 on"};
    case mistake::no_core:
      return {"no_core_listed", "list cores by numbers from 0 on"};
    case mistake::too_few_threads:
      return {"too_few_threads", "ask for at least one thread"};
    case mistake::too_many_threads:
      return {"too_many_threads", "ask for at most 1024 threads"};
    case mistake::gpu_negative:
      return {"gpu_number_negative", "write cpu or cores or threads or gpu"};
    case mistake::no_backend:
      return {"unit_without_backend", "link dice::cudnn or use a cpu unit"};
    case mistake::not_a_limit:
      return {"not_a_limit", "write memory or precision or on a host"};
    case mistake::precision:
      return {"precision_not_possible", "give it once and only to gpus"};
    case mistake::memory_not_positive:
      return {"memory_limit_not_positive", "give a positive number of bytes"};
    case mistake::in_flight:
      return {"too_few_frames_in_flight", "let at least one frame be in flight"};
    case mistake::foreign:
      return {"not_a_layer_of_the_network", "name layers of the network passed to main"};
    case mistake::backwards:
      return {"range_backwards", "swap first and last"};
    case mistake::empty_list:
      return {"empty_layer_list", "give the device at least one layer"};
    case mistake::point_outside:
      return {"split_point_out_of_range", "keep points between 0 and the number of layers"};
    case mistake::points_unordered:
      return {"split_points_unordered", "sort the points and use each once"};
    case mistake::points_count:
      return {"split_points_do_not_fit_devices", "give one point less than devices"};
    case mistake::two_devices:
      return {"layer_on_two_devices", "remove it from one of the layer lists"};
    case mistake::no_device:
      return {"layer_without_device", "add it to a layers list"};
    case mistake::memory_less_than_plan:
      return {"memory_limit_less_than_plan", "raise the limit or move layers to another device"};
    case mistake::no_kernel:
      return {"layer_without_kernel", "run it on a unit whose backend has this operator"};
    case mistake::none:
    case mistake::not_a_network:
    case mistake::damaged_header:
    case mistake::no_mapping:
      break;
  }
  return {};
}

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
  /// The same among `words`, for the last name before `<`.
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
      return count_devices(m_.values()) == 0 ? "there is no device" : "the last device has no layers after it";
    }
    const auto part = wrong(m_.entries[entry_]);
    switch (here().what) {
      case entry::kind::other:
        return part + " is not an entry" + guess(m_.entries[entry_], {"dev", "layers", "in_flight"});
      case entry::kind::layers:
        return part + (m_.is.is == form::split ? " stands in a split, whose points say which layers a device has"
                                               : " has no device before it");
      default:
        return part + " stands where the layers of the device before it are expected";
    }
  }
  std::string foreign() {
    const auto& of = here().lists[index_];
    const auto at = static_cast<std::size_t>(&of - m_.is.lists.data());
    const auto name = m_.lists[at][of.first < 0 ? 0 : 1];
    meta::nearest found(last_name(name));
    for (const auto& l : m_.net.layers) found.look_at(l.name);
    for (const std::string_view word : {"range", "from", "to", "all"}) found.look_at(word);
    return wrong(name) + " is not a layer of the network " + std::string(m_.network) + guess(found);
  }
  std::string backwards() {
    const auto& of = here().lists[index_];
    const auto at = static_cast<std::size_t>(&of - m_.is.lists.data());
    at_ = m_.lists[at][0];
    return layer(of.first) + " comes after " + layer(of.last);
  }
  std::string two_devices() {
    std::string ranks;
    int rank = 0, lists = 0;
    for (int i = 0; i < m_.is.entries.size() && lists < 2; ++i) {
      const auto& e = m_.is.entries[i];
      if (e.what == entry::kind::dev) rank = e.dev.rank;
      for (const auto& list : e.lists)
        if (list.first <= f_.number && f_.number <= list.last) {
          ranks += (lists++ ? " and " : "") + std::to_string(rank), at_ = m_.entries[i];
          break;
        }
    }
    return "layer " + layer(f_.number) + " is in the lists of ranks " + ranks +
           (f_.more ? "," + others(f_.more == 1 ? " is in two lists, too" : " are in two lists, too") : "");
  }

  std::string memory() {
    std::int64_t limit = 0;
    for (int i = 0; i < m_.is.entries.size(); ++i)
      if (const auto& e = m_.is.entries[i]; e.what == entry::kind::dev && e.dev.rank == f_.number)
        at_ = m_.entries[i], limit = platform::device_of(e.dev).memory_limit;
    return "rank " + number() + " needs at least " + std::to_string(f_.bytes) + " bytes, and may have " +
           std::to_string(limit);
  }

  std::string said() {
    const auto unit = [&] { return m_.units[entry_]; };
    const auto rank = "rank " + number();
    switch (f_.what) {
      case mistake::not_a_mapping:
        return wrong(m_.whole) + " is neither mapping<…> nor split<…>" + guess(m_.whole, {"mapping", "split"});
      case mistake::other_split:
        return wrong(m_.other_network) + " is not the network " + std::string(m_.network);
      case mistake::misplaced_entry:
        return misplaced();
      case mistake::rank_twice:
        at_ = m_.entries[entry_];
        return "two devices have " + rank;
      case mistake::rank_missing:
        return "no device has " + rank;
      case mistake::not_a_unit:
        return wrong(unit()) + " is not a unit" + guess_unit(unit());
      case mistake::core_twice:
        return wrong(unit()) + " has core " + number() + " twice";
      case mistake::core_negative:
        return wrong(unit()) + " has core " + number();
      case mistake::no_core:
        return wrong(unit()) + " lists no core for " + rank;
      case mistake::too_few_threads:
      case mistake::too_many_threads:
        return wrong(unit()) + " asks for " + number() + " threads";
      case mistake::gpu_negative:
        return wrong(unit()) + " is GPU " + number();
      case mistake::no_backend:
        return wrong(unit()) +
               " has no backend in this program, whose compiled mapping has no such unit: start one whose mapping has";
      case mistake::not_a_limit: {
        const auto part = m_.limits[static_cast<std::size_t>(here().dev.limits.begin() - m_.is.limits.data()) + index_];
        return wrong(part) + " is not a limit" + guess(part, {"memory", "precision", "on"});
      }
      case mistake::precision:
        at_ = m_.entries[entry_];
        return rank + " computes on a CPU, or has two precisions";
      case mistake::memory_not_positive:
        at_ = m_.entries[entry_];
        return "the limit of " + rank + " is not a positive number of bytes";
      case mistake::in_flight:
        return wrong(m_.entries[entry_]) + " lets no frame in";
      case mistake::foreign:
        return foreign();
      case mistake::backwards:
        return backwards();
      case mistake::empty_list:
        at_ = m_.entries[entry_];
        return rank + " has no layer in its list";
      case mistake::point_outside:
        at_ = m_.points[index_];
        return "point " + number() + " is not between 0 and " + std::to_string(m_.net.size()) + ", the number of layers";
      case mistake::points_unordered:
        at_ = m_.points[index_];
        return "point " + number() + " is not greater than the one before it";
      case mistake::points_count:
        return number() + (f_.number == 1 ? " point is" : " points are") + " given for " + std::to_string(f_.more) +
               (f_.more == 1 ? " device" : " devices");
      case mistake::two_devices:
        return two_devices();
      case mistake::no_device:
        return "layer " + layer(f_.number) + others("") + (f_.more ? " are" : " is") + " in no list";
      case mistake::memory_less_than_plan:
        return memory();
      case mistake::no_kernel:
        return "the unit of the rank of layer " + layer(f_.number) + " cannot compute " +
               std::string(m_.net.layers[f_.number].op);
      default:
        return "";
    }
  }

  const text_mapping& m_;
  const finding& f_;
  std::size_t entry_, index_;
  std::string_view at_;
};

}  // namespace detail

/// "line 1, column 9: rank_used_twice: two devices have rank 1; give each device a rank of its own": the message for a
/// finding in a mapping from text; without line and column if it has no place in the text.
[[gnu::cold]] inline std::string tell(const text_mapping& m, const finding& f) { return detail::teller(m, f).all(); }

}  // namespace dice::placement
