#include "import/profile.hpp"

#include "read/input_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace onnx2hpp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class profile_reader {
 public:
  profile_reader(const network& net, const std::string& digest, std::vector<problem>& problems)
      : net_(net), digest_(digest), problems_(problems), names_(identifiers_of(net)) {
    for (std::size_t id = 0; id < net.layers.size(); ++id) ids_.emplace(net.layers[id].identifier, id);
  }

  void read(const fs::path& path) {
    const std::string file = quote(path.string());
    const json root = read_json(path);
    const json* units = find(root, "units");
    const json* digest = find(root, "digest");
    const json* network = find(root, "network");
    if (!units || !units->is_array() || !digest || !digest->is_string() || !network || !network->is_string())
      return tell(file, "it was not written by --measure: network, digest or units is missing",
                  "give a file that a program wrote with --measure");
    if (*digest != digest_)
      return tell(file,
                  fmt::format("it was measured with another network: {} with the digest {}; this one has {}",
                              shown(*network), shown(*digest), digest_),
                  "measure this network");
    if (units->empty()) return tell(file, "it has no units", "measure at least one");
    if ((out.units.size() + units->size()) * net_.layers.size() > max_times)
      return tell(file, fmt::format("{} units are too many", units->size()), "split it");
    int k = 0;
    for (const auto& u : *units) read_unit(file, k++, u, *network);
    k = 0;
    if (const json* connections = find(root, "connections"))
      for (const auto& c : elements(*connections, file, "connections")) {
        const std::string where = fmt::format("{}: connection {}", file, k++);
        out.connections.push_back({text(c, "from", where), text(c, "to", where), number(c, "us", where, true),
                                   number(c, "mbit_per_s", where, false)});
      }
  }

  profile out;

 private:
  static constexpr std::size_t max_times = 10'000'000;  ///< units times layers: limits what is written
  static constexpr double most = 1e12;                  ///< no time, speed or power is larger

  static std::vector<std::string> identifiers_of(const network& net) {
    std::vector<std::string> out;
    for (const auto& l : net.layers) out.push_back(l.identifier);
    return out;
  }

  void tell(const std::string& where, std::string reason, std::string remedy = "correct it, or measure again") {
    problems_.push_back({.node = where, .reason = std::move(reason), .remedy = std::move(remedy)});
  }

  static const json* find(const json& in, const char* member) {
    const auto found = in.is_object() ? in.find(member) : in.end();
    return found == in.end() ? nullptr : &*found;
  }

  /// `value` if it is a list, else an empty one.
  const json& elements(const json& value, const std::string& where, const char* member) {
    static const json none = json::array();
    if (value.is_array()) return value;
    tell(where, fmt::format("{} must be a list, but is {}", member, shown(value)));
    return none;
  }

  std::string text(const json& in, const char* member, const std::string& where) {
    const json* value = find(in, member);
    if (value && value->is_string()) return *value;
    tell(where, fmt::format("{} must be text, but is {}", member, value ? shown(*value) : "missing"));
    return "";
  }

  double number(const json& in, const char* member, const std::string& where, bool may_be_zero) {
    const json* value = find(in, member);
    if (value && value->is_number())
      if (const double v = *value; v < most && (v > 0 || (may_be_zero && v == 0))) return v == 0 ? 0 : v;  // 0 for -0
    tell(where, fmt::format("{0} must be a number {2} 0 and below 1e12, but is {1}", member,
                            value ? shown(*value) : "missing", may_be_zero ? "of at least" : "above"));
    return 0;
  }

  int threads(const json& unit, const std::string& where) {
    const json* value = find(unit, "threads");
    if (value && value->is_number_integer())
      if (const double n = *value; n >= 0 && n <= std::numeric_limits<int>::max()) return static_cast<int>(n);
    tell(where, fmt::format("threads must be a whole number of at least 0, but is {}", value ? shown(*value) : "missing"));
    return 0;
  }

  void read_unit(const std::string& file, int position, const json& unit, const std::string& network) {
    const std::string name = text(unit, "name", fmt::format("{}: unit {}", file, position));
    const std::string where = fmt::format("{}: unit {}", file, quote(name));
    measured_unit u{.name = name,
                    .network = network,
                    .digest = digest_,
                    .host = text(unit, "host", where),
                    .unit = text(unit, "unit", where),
                    .processor = text(unit, "processor", where),
                    .threads = threads(unit, where),
                    .ms = std::vector<double>(net_.layers.size(), 0)};
    if (find(unit, "busy_watts")) u.busy_watts = number(unit, "busy_watts", where, true);
    if (find(unit, "idle_watts")) u.idle_watts = number(unit, "idle_watts", where, true);
    if (find(unit, "memory_gbytes_per_s")) u.memory_gbytes_per_s = number(unit, "memory_gbytes_per_s", where, false);
    for (const auto& [word, m] : {std::pair{"sending", &u.sending}, {"receiving", &u.receiving}})
      if (const json* value = find(unit, word)) {
        const std::string there = fmt::format("{}: {}", where, word);
        *m = {number(*value, "us", there, true), number(*value, "gbytes_per_s", there, false)};
      }
    std::vector<bool> given(net_.layers.size());
    const json* layers = find(unit, "layers");
    if (!layers) tell(where, "it has no layers");  // an empty list is valid for a network of views
    else
      for (const auto& l : elements(*layers, where, "layers")) {
        const std::string layer = text(l, "layer", where), there = fmt::format("{}: layer {}", where, quote(layer));
        const double ms = number(l, "ms", there, true);
        const auto id = id_of(layer, there);
        if (!id) continue;
        if (given[*id]) tell(there, "it occurs twice");
        given[*id] = true;
        u.ms[*id] = ms;
      }
    if (const json* missing = find(unit, "missing")) {
      for (const auto& l : elements(*missing, where, "missing")) {
        if (!l.is_string()) tell(where, fmt::format("missing must contain text, but has {}", shown(l)));
        else if (const auto id = id_of(l, fmt::format("{}: layer {}", where, shown(l))); id && !given[*id]) u.ms[*id] = -1;
      }
    }
    out.units.push_back(std::move(u));
  }

  std::optional<std::size_t> id_of(const std::string& layer, const std::string& where) {
    if (const auto found = ids_.find(layer); found != ids_.end()) return found->second;
    tell(where, "the network has no such layer", names_.for_name(layer, "measure again"));
    return {};
  }

  const network& net_;
  const std::string& digest_;
  std::vector<problem>& problems_;
  hints names_;
  std::map<std::string, std::size_t> ids_;
};

}  // namespace

profile read_profiles(const std::vector<fs::path>& files, const network& net, const std::string& digest,
                      std::vector<problem>& problems) {
  profile_reader reader(net, digest, problems);
  for (const auto& file : files) {
    try {
      reader.read(file);
    } catch (const file_error& e) {
      problems.push_back({.reason = e.what()});
    }
  }
  return std::move(reader.out);
}

}  // namespace onnx2hpp
