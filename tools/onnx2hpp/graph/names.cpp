#include "graph/names.hpp"

#include "graph/reserved_names.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace onnx2hpp {

namespace {

using word_set = std::unordered_set<std::string>;

word_set words(const char* list) {
  std::istringstream in(list);
  word_set out;
  for (std::string w; in >> w;) out.insert(w);
  return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return name.starts_with(p); });
}

bool is_keyword(const std::string& name) {
  static const word_set known = words(keywords);
  return known.contains(name);
}

/// Macros of the headers that a program with dice may include; long families by their prefix.
bool is_macro(const std::string& name) {
  static const word_set known = words(macros);
  return known.contains(name) ||
         starts_with_any(name,
                         {"DICE_",    "MPI_", "MPIO_",  "PMPI_", "MPICH_", "OMPI_", "ompi_fortran_", "OPAL_",  "BOOST_",
                          "XTENSOR_", "XTL_", "XSIMD_", "SYS_",  "PRId",   "PRIi",  "PRIo",          "PRIu",   "PRIx",
                          "PRIX",     "SCNd", "SCNi",   "SCNo",  "SCNu",   "SCNx",  "CUDA",          "CUDNN_", "CUBLAS_"});
}

/// CUDA's vector types: float4, uchar2 …
bool is_vector_type(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  if (name.starts_with('u')) name.remove_prefix(1);
  static constexpr std::string_view types[] = {"char", "short", "int", "long", "longlong", "float", "double"};
  return std::ranges::count(types, name) > 0;
}

/// Functions, variables and types at global scope.
bool is_global(const std::string& name) {
  static const word_set known = words(globals);
  return known.contains(name) || name == "dim3" || is_vector_type(name) ||
         starts_with_any(name, {"ompi_", "opal_", "mca_", "omp_", "GOMP_", "cudaE", "cudaS", "cudnn", "cublas"});
}

/// Namespaces of the libraries behind dice.
bool is_foreign_namespace(const std::string& name) {
  static const word_set known = words("std dice boost xt xtl xsimd posix mpl_ MPI cuda nlohmann fmt testing");
  return known.contains(name);
}

/// Words of the generated header, which a layer's name would hide or clash with.
bool is_header_word(const std::string& name) {
  static const word_set known = words(
      "id op name onnx_name operands parameters result network layer layer_at mapped type size weights Id std dice boost xt "
      "main");
  return known.contains(name);
}

constexpr std::size_t longest_name = 100;

/// `text` with each run of other characters as one underscore, none at the ends; may be empty or begin with a digit.
std::string simplified(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (is_letter(c) || is_digit(c)) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
    if (out.size() == longest_name) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

}  // namespace

std::string identifiers::make(const std::string& text, const std::string& kind) {
  std::string base = simplified(text);
  if (base.empty()) base = kind;
  else if (is_digit(base[0])) base = kind + "_" + base;
  if (is_keyword(base) || is_macro(base) || is_header_word(base)) base += '_';
  std::string out = base;
  // C++ reserves names with two underscores in a row.
  for (int& k = next_[base]; !taken_.insert(out).second;)
    out = base + (base.back() == '_' ? "" : "_") + std::to_string(++k + 1);
  return out;
}

void name_layers(network& net) {
  identifiers names;
  const auto name = [&](layer& l) { l.identifier = names.make(l.onnx_name, l.op.struct_name()); };
  for (auto& l : net.layers)
    if (is_input(l) || is_output(l)) name(l);
  for (auto& l : net.layers)
    if (l.identifier.empty()) name(l);
}

std::string with_underscores(std::string name, std::string_view characters) {
  std::ranges::replace_if(
      name, [&](char c) { return characters.find(c) != characters.npos; }, '_');
  return name;
}

std::string why_no_namespace(const std::string& name) {
  if (name.empty()) return "it is empty";
  if (!is_letter(name[0]) || !std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; }))
    return "it is not a C++ identifier of ASCII letters, digits and underscores that begins with a letter";
  if (name.find("__") != std::string::npos) return "C++ reserves names with two underscores in a row";
  if (name.size() > longest_name) return "it is longer than " + std::to_string(longest_name) + " characters";
  if (is_keyword(name)) return "it is a C++ keyword";
  if (is_macro(name)) return "it is a macro";
  if (is_foreign_namespace(name)) return "it is the namespace of a library";
  if (is_global(name)) return "it is a function, variable or type of the C library or of a header that dice includes";
  return "";
}

std::string namespace_for(const std::string& stem) {
  std::string out = simplified(stem);
  // The prefix must not make it too long.
  if (out.size() > longest_name - 8) out.resize(longest_name - 8);
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) out = "model";
  else if (is_digit(out[0])) out = "model_" + out;
  return why_no_namespace(out).empty() ? out : out + "_";
}

}  // namespace onnx2hpp
