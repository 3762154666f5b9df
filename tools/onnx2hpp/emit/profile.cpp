#include "emit/emit.hpp"

#include "graph/initialiser.hpp"
#include "graph/names.hpp"

#include <fmt/format.h>

#include <iterator>

namespace onnx2hpp {

namespace {

void emit_unit(fmt::memory_buffer& out, const measured_unit& u, const std::string& name) {
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "struct {} final {{\n", name);
  for (const auto& [member, text] : {std::pair{"network", &u.network},
                                     {"digest", &u.digest},
                                     {"host", &u.host},
                                     {"unit", &u.unit},
                                     {"processor", &u.processor}})
    fmt::format_to(put, "  static constexpr ::std::string_view {} = {};\n", member, literal(*text));
  fmt::format_to(put, "  static constexpr int threads = {};\n", u.threads);
  if (u.busy_watts > 0)
    fmt::format_to(put, "  using watts = ::dice::watts<{}, {}>;\n", literal(u.busy_watts), literal(u.idle_watts));
  if (u.memory_gbytes_per_s > 0)
    fmt::format_to(put, "  using memory = ::dice::gbytes_per_s<{}>;\n", literal(u.memory_gbytes_per_s));
  for (const auto& [word, m] : {std::pair{"sending", u.sending}, {"receiving", u.receiving}})
    if (m.gbytes_per_s > 0)
      fmt::format_to(put, "  using {0} = ::dice::{0}<::dice::us<{1}>, ::dice::gbytes_per_s<{2}>>;\n", word, literal(m.us),
                     literal(m.gbytes_per_s));
  fmt::format_to(put, "  static constexpr ::std::array<double, {}> ms{{", u.ms.size());
  for (std::size_t id = 0; id < u.ms.size(); ++id)
    fmt::format_to(put, "{}{}", id == 0 ? "" : id % 10 == 0 ? ",\n      " : ", ", literal(u.ms[id]));
  fmt::format_to(put, "}};\n}};\n\n");
}

}  // namespace

std::string emit_profile(const profile& measured, const std::string& name, const std::string& model_digest) {
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "{}#include <dice/platform/board.hpp>\n\n#include <array>\n#include <string_view>\n\n",
                 notice(model_digest));
  // C++ reserves names with two underscores in a row.
  const std::string space = name + (name.back() == '_' ? "profile" : "_profile");
  fmt::format_to(put, "namespace {} {{\n\n", space);
  // A struct cannot have the name of one of its members.
  identifiers names(
      {"network", "digest", "host", "unit", "processor", "threads", "watts", "memory", "sending", "receiving", "ms"});
  for (const auto& u : measured.units) emit_unit(out, u, names.make(u.name, "unit"));
  for (const auto& c : measured.connections) {
    const bool within = c.from == c.to;  // of one host
    const auto alias = names.make(within ? "within_" + c.from : c.from + "_" + c.to, "connection");
    const auto hosts = within ? "" : fmt::format("::dice::between<{}, {}>, ", literal(c.from), literal(c.to));
    fmt::format_to(put, "// Measured: {} us per message, {} Mbit/s.\n", c.us, c.mbit_per_s);
    fmt::format_to(put, "using {} = ::dice::connection<{}::dice::mbit_per_s<{}>, ::dice::us<{}>>;\n\n", alias, hosts,
                   literal(c.mbit_per_s), literal(c.us));
  }
  fmt::format_to(put, "}}  // namespace {}\n", space);
  return fmt::to_string(out);
}

}  // namespace onnx2hpp
