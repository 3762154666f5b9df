// Reads the subset of the DOT language that dice writes, strictly: anything else throws. Labels are returned as shown.
#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test {

using attributes = std::map<std::string, std::string>;

struct dot_node {
  std::string cluster;
  attributes has;
};
struct dot_edge {
  std::string from, to;
  attributes has;
};
struct dot_graph {
  std::map<std::string, attributes> clusters;  ///< "" is the graph itself
  std::map<std::string, dot_node> nodes;
  std::vector<dot_edge> edges;
};

class dot_reader {
 public:
  explicit dot_reader(std::string_view text) : text_(text) {
    expect("digraph");
    expect("plan");
    expect("{");
    statements("");
    if (!next().empty()) throw std::runtime_error("text behind the graph");
  }
  dot_graph result;

 private:
  /// The next word, quoted string (with its quotes) or punctuation; "" at the end.
  std::string next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ == text_.size()) return "";
    const auto begin = at_;
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    if (text_[at_] == '"') {
      while (text_.at(++at_) != '"')
        if (text_[at_] == '\\') ++at_;
      ++at_;
    } else if (word(text_[at_])) {
      while (at_ < text_.size() && word(text_[at_])) ++at_;
    } else {
      at_ += text_.substr(at_, 2) == "->" ? 2 : 1;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string peek() {
    const auto before = at_;
    auto out = next();
    at_ = before;
    return out;
  }
  void expect(const std::string& wanted) {
    if (const auto got = next(); got != wanted) throw std::runtime_error("'" + got + "' where '" + wanted + "' should be");
  }

  /// A value as Graphviz shows it.
  static std::string shown(const std::string& value) {
    if (value.front() != '"') return value;
    std::string out;
    for (std::size_t i = 1; i + 1 < value.size(); ++i) {
      if (value[i] == '\n') throw std::runtime_error("a line break in a string");
      if (value[i] == '\\') {
        ++i;
        if (value[i] == 'n') out += '\n';
        else if (value[i] == '"' || value[i] == '\\') out += value[i];
        else throw std::runtime_error("an escape with a meaning");
      } else if (value[i] == '&') {
        if (value.compare(i, 5, "&amp;") != 0) throw std::runtime_error("an entity");
        out += '&';
        i += 4;
      } else {
        out += value[i];
      }
    }
    return out;
  }

  attributes list() {
    attributes out;
    if (peek() != "[") return out;
    next();
    for (;;) {
      const auto name = next();
      expect("=");
      if (!out.emplace(name, shown(next())).second) throw std::runtime_error(name + " is given twice");
      if (const auto sign = next(); sign == "]") return out;
      else if (sign != ",") throw std::runtime_error("'" + sign + "' in a list");
    }
  }

  void statements(const std::string& cluster) {
    for (auto word = next(); word != "}"; word = next()) {
      if (word.empty()) throw std::runtime_error("the graph does not end");
      if (word == "subgraph") {
        const auto name = next();
        if (!cluster.empty() || name.substr(0, 8) != "cluster_") throw std::runtime_error("no cluster: " + name);
        expect("{");
        statements(name);
        continue;
      }
      if (peek() == "->") {
        next();
        const auto to = next();
        result.edges.push_back({word, to, list()});
      } else if (word == "graph") {
        if (!result.clusters.emplace(cluster, list()).second) throw std::runtime_error("two lists of a cluster");
      } else if (word == "node" || word == "edge") {
        list();
      } else if (!result.nodes.emplace(word, dot_node{cluster, list()}).second) {
        throw std::runtime_error("two nodes " + word);
      }
      expect(";");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace test
