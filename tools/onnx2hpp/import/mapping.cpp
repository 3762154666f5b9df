#include "import/mapping.hpp"

#include "graph/names.hpp"
#include "read/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

namespace onnx2hpp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A line of the platform file. One that could not be read keeps these defaults, which allow anything.
struct host {
  int first = 0, last = 9;  ///< CPU cores
  bool gpu = true;
};

/// A key of the mapping, and the names in its list.
struct key_list {
  std::string key;
  std::vector<std::string> names;
};

/// A name in a list, and the layers that it fits.
struct entry {
  std::size_t rank;
  std::string name;
  const std::set<int>* layers;
};

std::string_view trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Takes the text before the first comma from `line`.
std::string_view next_field(std::string_view& line) {
  const auto comma = std::min(line.find(','), line.size());
  const auto out = trimmed(line.substr(0, comma));
  line.remove_prefix(std::min(comma + 1, line.size()));
  return out;
}

/// slots=FIRST-LAST
bool read_slots(std::string_view text, host& out) {
  if (!text.starts_with("slots=")) return false;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + 6, end, out.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  const auto last = std::from_chars(first.ptr + 1, end, out.last);
  return last.ec == std::errc() && last.ptr == end && 0 <= out.first && out.first <= out.last;
}

/// HOST_cpu123 and HOST_arm123: cores 1, 2 and 3; HOST_gpu.
bool read_key(const std::string& key, mapped_rank& out) {
  const auto bar = key.rfind('_');
  if (bar == key.npos || bar == 0) return false;
  out.host = key.substr(0, bar);
  const auto unit = std::string_view(key).substr(bar + 1);
  out.gpu = unit == "gpu";
  if (out.gpu) return true;
  if (!(unit.starts_with("cpu") || unit.starts_with("arm")) || unit.find_first_not_of("0123456789", 3) != unit.npos)
    return false;
  for (char c : unit.substr(3)) out.cores.push_back(c - '0');
  return !out.cores.empty();
}

/// The layers that each name fits: none if the node is not a layer.
std::map<std::string, std::set<int>> layers_by_name(const network& net) {
  std::map<std::string, std::set<int>> out;
  for (const auto& name : net.node_names) {
    out[name];
    out[with_underscores(name, "/")];
  }
  for (std::size_t id = 0; id < net.layers.size(); ++id) {
    const auto& l = net.layers[id];
    for (const auto& name : {l.identifier, l.onnx_name, l.output})
      for (const auto& form : {name, with_underscores(name, "/")}) out[form].insert(static_cast<int>(id));
  }
  out.erase("");
  return out;
}

template <class Map> std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> out;
  for (const auto& [key, value] : map) out.push_back(key);
  return out;
}

class mapping_reader {
 public:
  mapping_reader(const fs::path& mapping, const fs::path& platform, const network& net, std::vector<problem>& problems)
      : mapping_(quote(mapping.string())), platform_(quote(platform.string())), net_(net), problems_(problems) {}

  std::vector<mapped_rank> run(const fs::path& mapping, const fs::path& platform) {
    bool complete = true;
    const auto attempt = [&](auto read) {
      try {
        read();
      } catch (const file_error& e) {
        complete = false;
        problems_.push_back({.reason = e.what()});
      }
    };
    attempt([&] { read_platform(read_text(platform)); });
    attempt([&] { read_lists(mapping); });
    if (!complete || lists_.empty()) return {};
    check_keys();
    place_layers();
    return std::move(ranks_);
  }

 private:
  void tell(const std::string& where, std::string reason, std::string remedy) {
    problems_.push_back({.node = mapping_ + where, .reason = std::move(reason), .remedy = std::move(remedy)});
  }
  static std::string at(const std::string& key) { return ": key " + quote(key); }
  static std::string at(const std::string& key, const std::string& name) { return at(key) + ": layer " + quote(name); }

  void read_platform(const std::string& text) {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const auto tell_line = [&](std::string reason, std::string remedy) {
        problems_.push_back({.node = fmt::format("{}: line {}", platform_, number),
                             .reason = std::move(reason),
                             .remedy = std::move(remedy)});
      };
      std::string_view rest = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (rest.empty()) continue;
      const std::string name(next_field(rest));
      const auto architecture = next_field(rest), slots = next_field(rest), gpu = trimmed(rest);
      host h;
      if (name.empty() || architecture.empty() || !read_slots(slots, h) ||
          !(gpu.empty() || (gpu.starts_with("gpu=") && gpu.size() > 4))) {
        tell_line(fmt::format("it reads {}", quote(line)),
                  "write HOST, ARCHITECTURE, slots=FIRST-LAST and optionally gpu=NAME, separated by commas");
        h = {};
      } else {
        h.gpu = !gpu.empty();
      }
      if (!hosts_.emplace(name, h).second)
        tell_line(fmt::format("host {} is listed twice", quote(name)), "remove one of them");
    }
  }

  void read_lists(const fs::path& mapping) {
    // Part by part: if a key occurs twice, the whole would have only one of its lists.
    const json whole = read_json(mapping, [&](int depth, json::parse_event_t event, json& part) {
      if (depth == 1 && event == json::parse_event_t::key) lists_.push_back({part, {}});
      if (depth == 2 && event == json::parse_event_t::value && part.is_string() && !lists_.empty())
        lists_.back().names.push_back(part);
      return true;
    });
    if (!whole.is_object() || whole.empty())
      return tell("", fmt::format("it is {}", whole.is_object() ? "empty" : shown(whole)),
                  R"(write one object: {"HOST_cpu0": ["layer", …], "HOST_gpu": [ … ]})");
    for (const auto& [key, names] : whole.items()) {
      if (!names.is_array()) tell(at(key), fmt::format("its value is {}", shown(names)), "give it a list of layer names");
      else if (names.empty()) tell(at(key), "its list is empty", "give it a layer, or remove the key");
      else if (const auto odd = std::ranges::find_if(names, [](const json& n) { return !n.is_string(); });
               odd != names.end())
        tell(at(key), fmt::format("its list contains {}", shown(*odd)), "give it a list of layer names");
    }
  }

  void check_keys() {
    hints hosts(keys_of(hosts_));
    std::set<std::string> seen;
    for (const auto& l : lists_) {
      mapped_rank& r = ranks_.emplace_back();
      if (!seen.insert(l.key).second) tell(at(l.key), "it occurs twice", "put its layers in one list");
      else if (!read_key(l.key, r))
        tell(at(l.key), "it names no processor",
             "write HOST_cpu or HOST_arm and a digit for each core, or HOST_gpu, such as edge01_arm123");
      else if (const auto h = hosts_.find(r.host); h == hosts_.end())
        tell(at(l.key), fmt::format("{} has no host {}", platform_, quote(r.host)), hosts.for_name(r.host, "add it there"));
      else check_unit(l.key, r, h->second);
    }
  }

  void check_unit(const std::string& key, const mapped_rank& r, const host& h) {
    if (r.gpu && !h.gpu)
      tell(at(key), fmt::format("{} has no gpu= for host {}", platform_, quote(r.host)), "add it there, or use its CPU");
    for (int core = 0; core <= 9; ++core) {
      const auto count = std::ranges::count(r.cores, core);
      if (count > 1) tell(at(key), fmt::format("core {} is listed {} times", core, count), "name each core once");
      if (count > 0 && (core < h.first || core > h.last))
        tell(at(key), fmt::format("host {1} has no core {0}", core, quote(r.host)),
             fmt::format("it has slots={}-{} in {}", h.first, h.last, platform_));
    }
  }

  /// Of the names that fit a layer, the one that fits the fewest layers decides its list: so if a node became several
  /// layers, some can be listed separately. Among names that fit equally many, the identifier wins.
  void place_layers() {
    const auto known = layers_by_name(net_);
    const auto entries = find_names(known);
    std::vector<const entry*> chosen(net_.layers.size());
    for (const auto& e : entries)
      for (int id : *e.layers) {
        auto& best = chosen[id];
        const auto order = [&](const entry& x) { return std::pair(x.layers->size(), x.name != net_.layers[id].identifier); };
        if (!best || order(e) < order(*best)) best = &e;
      }
    const std::set<const entry*> used(chosen.begin(), chosen.end());
    for (const auto& e : entries)
      if (!e.layers->empty() && !used.contains(&e)) {
        const auto& other = *chosen[*e.layers->begin()];
        tell_twice(e.rank, e.name, other.rank, fmt::format(" as {}", quote(other.name)));
      }
    std::vector<int> owner(net_.layers.size(), -1);
    for (std::size_t id = 0; id < owner.size(); ++id) {
      const auto& l = net_.layers[id];
      if (chosen[id]) owner[id] = static_cast<int>(chosen[id]->rank);
      else if (!is_input(l) && !is_output(l))
        tell(fmt::format(": layer {}", quote(l.onnx_name)),
             l.onnx_name == l.identifier ? "it is in no list" : fmt::format("it ({}) is in no list", l.identifier),
             "add it to the list of a key");
    }
    place_ends(owner);
    for (std::size_t id = 0; id < owner.size(); ++id)
      if (owner[id] >= 0) ranks_[owner[id]].layers.push_back(static_cast<int>(id));
  }

  /// The names of all lists, without those that are wrong.
  std::vector<entry> find_names(const std::map<std::string, std::set<int>>& known) {
    hints names(keys_of(known));
    std::vector<entry> out;
    std::map<std::string, std::size_t> seen;
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      bool folded = !lists_[rank].names.empty();
      for (const auto& name : lists_[rank].names) {
        const auto found = known.find(name);
        folded = folded && found != known.end() && found->second.empty();
        const auto [first, is_first] = seen.emplace(name, rank);
        if (!is_first) tell_twice(rank, name, first->second, "");
        else if (found != known.end()) out.push_back({rank, name, &found->second});
        else
          tell(at(lists_[rank].key, name), "the model has no such layer",
               names.for_name(name, "onnx2hpp --list-layers prints the names"));
      }
      if (folded)
        tell(at(lists_[rank].key), "none of its names is still a layer: all were folded into others",
             "give it another layer, or remove the key");
    }
    return out;
  }

  void tell_twice(std::size_t rank, const std::string& name, std::size_t other, const std::string& as) {
    tell(at(lists_[rank].key, name), fmt::format("it is already in the list of {}{}", quote(lists_[other].key), as),
         "remove it from one of the lists; layers that several devices share are written in mappings of dice "
         "(docs/splits.md)");
  }

  /// An input that is in no list goes where its first reader is, an output where its producer is.
  void place_ends(std::vector<int>& owner) const {
    for (std::size_t id = 0; id < owner.size(); ++id)
      for (int k : net_.layers[id].operands)
        if (auto& input = owner[k]; input < 0) input = owner[id];
    for (std::size_t id = 0; id < owner.size(); ++id) {
      const auto& l = net_.layers[id];
      if (owner[id] < 0 && is_output(l)) owner[id] = owner[l.operands[0]];
      if (owner[id] < 0) owner[id] = 0;  // nobody reads it
    }
  }

  std::string mapping_, platform_;  ///< their names, for messages
  const network& net_;
  std::vector<problem>& problems_;
  std::map<std::string, host> hosts_;
  std::vector<key_list> lists_;
  std::vector<mapped_rank> ranks_;  ///< of each list
};

}  // namespace

std::vector<mapped_rank> read_mapping(const fs::path& mapping, const fs::path& platform, const network& net,
                                      std::vector<problem>& problems) {
  return mapping_reader(mapping, platform, net, problems).run(mapping, platform);
}

}  // namespace onnx2hpp
