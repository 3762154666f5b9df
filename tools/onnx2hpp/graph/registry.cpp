#include "graph/registry.hpp"

#include <sstream>
#include <stdexcept>

namespace onnx2hpp {

namespace {

known_operator& declare(const char* name, opsets exists, const char* attributes, const char* notes) {
  auto& o = operators()[name];
  if (o.exists.first > 0) throw std::logic_error(std::string(name) + " is declared twice");
  o.exists = exists;
  o.notes = notes;
  std::istringstream words(attributes);
  for (std::string word; words >> word;) {
    opsets has = exists;
    const auto sign = word.find_first_of("<>");
    if (sign != word.npos && word[sign] == '<') has.last = std::stoi(word.substr(sign + 1)) - 1;
    if (sign != word.npos && word[sign] == '>') has.first = std::stoi(word.substr(sign + 2));
    o.attributes.emplace(word.substr(0, sign), has);
  }
  return o;
}

}  // namespace

std::map<std::string, known_operator>& operators() {
  static std::map<std::string, known_operator> table;
  return table;
}

importer::importer(const char* name, handler run, opsets exists, const char* attributes, const char* notes) {
  declare(name, exists, attributes, notes).import = run;
}

folder::folder(const char* name, handler run, opsets exists, const char* attributes, const char* notes) {
  declare(name, exists, attributes, notes).fold = run;
}

shape_folder::shape_folder(const char* name, handler run, opsets exists, const char* attributes, const char* notes) {
  auto& o = declare(name, exists, attributes, notes);
  o.fold = run;
  o.folds_shapes = true;
}

graph_importer::graph_importer(const char* name, handler run, opsets exists, const char* attributes, const char* notes) {
  auto& o = declare(name, exists, attributes, notes);
  o.import = o.fold = run;
  o.folds_shapes = true;
}

}  // namespace onnx2hpp
