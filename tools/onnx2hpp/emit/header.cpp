#include "emit/emit.hpp"

#include "graph/initialiser.hpp"

#include "dice/files/sha256.hpp"
#include "dice/version.hpp"

#include <fmt/format.h>

#include <iterator>

namespace onnx2hpp {

namespace {

void emit_layer(fmt::memory_buffer& out, const layer& l, std::size_t id, const std::vector<std::int64_t>& offsets) {
  const auto put = std::back_inserter(out);
  std::string operands, parameters;
  for (int k : l.operands) operands += (operands.empty() ? "" : ", ") + std::to_string(k);
  for (std::size_t i = 0; i < l.parameters.size(); ++i)
    parameters += fmt::format("{}{{{}, {}}}", i ? ", " : "", literal(offsets[i]), literal(l.parameters[i].extents));
  if (!parameters.empty()) parameters = "{" + parameters + "}";
  fmt::format_to(put, "struct {} final {{\n  static constexpr int id = {};\n", l.identifier, id);
  fmt::format_to(put, "  static constexpr ::std::string_view name = {}, onnx_name = {};\n", literal(l.identifier),
                 literal(l.onnx_name));
  fmt::format_to(put, "  static constexpr ::dice::ops::{} op{};\n", l.op.struct_name(), l.op.attributes());
  fmt::format_to(put, "  static constexpr ::std::array<int, {}> operands{{{}}};\n", l.operands.size(), operands);
  fmt::format_to(put, "  static constexpr ::std::array<::dice::graph::parameter, {}> parameters{{{}}};\n",
                 l.parameters.size(), parameters);
  fmt::format_to(put, "  static constexpr ::dice::tensor::shape result{};\n}};\n", literal(l.result));
  fmt::format_to(put, "template <> struct layer_at<{}> {{ using type = {}; }};\n\n", id, l.identifier);
}

std::string emit_layers(const network& net, const weights_layout& layout) {
  fmt::memory_buffer out;
  for (std::size_t id = 0; id < net.layers.size(); ++id) emit_layer(out, net.layers[id], id, layout.offsets[id]);
  return fmt::to_string(out);
}

}  // namespace

std::string notice(const std::string& model_digest) {
  return fmt::format(
      "// Made by onnx2hpp {} from a model with the SHA-256\n// {}.\n// Do not edit: convert the model again.\n"
      "#pragma once\n\n",
      dice::version, model_digest);
}

std::string structure_digest(const network& net, const weights_layout& layout) {
  dice::files::sha256 out;  // of the version too: another onnx2hpp may order the numbers of a tensor differently
  out.add(fmt::format("{}\n{}\n{}", dice::version, layout.bytes, emit_layers(net, layout)));
  return out.text();
}

std::string emit_header(const network& net, const weights_layout& layout, const std::string& name,
                        const std::string& model_digest, const std::string& pinned) {
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  const auto weights = [&](const char* member, const std::string& value, const char* end) {
    fmt::format_to(put, "{:55}.{} = {}{}\n", "", member, value, end);
  };
  fmt::format_to(put, "{}", notice(model_digest));
  fmt::format_to(put, "#include <dice/graph/graph.hpp>\n\n#include <array>\n#include <limits>\n#include <string_view>\n\n");
  fmt::format_to(put, "namespace {} {{\n\ntemplate <int Id> struct layer_at;\n\n", name);
  fmt::format_to(put, "{}struct network final {{\n  static constexpr int size = {};\n", emit_layers(net, layout),
                 net.layers.size());
  fmt::format_to(put, "  static constexpr ::std::string_view name = {};\n", literal(name));
  fmt::format_to(put, "  static constexpr ::dice::graph::weights_file weights{{.file = {},\n",
                 literal(name + ".safetensors"));
  weights("structure", literal(structure_digest(net, layout)), ",");
  weights("bytes", literal(layout.bytes), pinned.empty() ? "};" : ",");
  if (!pinned.empty()) weights("pinned", literal(pinned), "};");
  fmt::format_to(put, "  template <int Id> using layer = typename layer_at<Id>::type;\n}};\n\n}}  // namespace {}\n", name);
  return fmt::to_string(out);
}

}  // namespace onnx2hpp
