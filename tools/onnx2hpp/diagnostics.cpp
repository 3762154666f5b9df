#include "diagnostics.hpp"

#include "dice/text/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

namespace onnx2hpp {

namespace {

void print(const char* kind, const std::string& text) {
  dice::text::print_error(fmt::format("onnx2hpp: {}: {}", kind, text));
}

/// One message about problems that are alike. In a list of nodes, unnamed ones are called after their outputs.
std::string text_of_alike(std::span<const problem* const> alike) {
  constexpr std::size_t shown = 8;
  const problem& p = *alike[0];
  std::string text = p.node;
  if (alike.size() > 1) {
    text = "nodes ";
    for (std::size_t k = 0; k < std::min(shown, alike.size()); ++k) {
      const auto& name = alike[k]->node;
      text += (k > 0 ? ", " : "") + name.substr(std::min(name.find('"'), name.size()));
    }
    if (alike.size() > shown) text += fmt::format(" and {} more", alike.size() - shown);
  }
  if (!p.operator_name.empty()) {
    text += text.empty() ? "" : " ";
    text += p.opset ? fmt::format("({}, opset {})", p.operator_name, p.opset) : fmt::format("({})", p.operator_name);
  }
  text += text.empty() ? p.reason : ": " + p.reason;
  if (!p.remedy.empty()) text += "; " + p.remedy;
  return text;
}

/// The part that similar problems have in common: everything but names and shapes.
std::string kind_of(const problem& p) {
  std::string out = fmt::format("{} {} ", p.operator_name, p.opset);
  char end = 0;  // of the name or shape that is left out here
  for (const char c : p.reason + ";" + p.remedy)
    if (end == 0) {
      out += c;
      end = c == '"' ? '"' : c == '{' ? '}' : '\0';
    } else if (c == end) end = 0;
  return out;
}

}  // namespace

void messages::error(const std::string& text) const { print("error", text); }

void messages::error(const conversion_error& e, const std::string& about) const {
  constexpr std::size_t most = 10;
  std::vector<std::vector<const problem*>> alike;
  std::map<std::string, std::size_t> kinds;  // of problems of nodes: where in `alike` they are
  std::size_t left = 0;
  for (const auto& p : e.problems) {
    const bool each = p.operator_name.empty() || level_ == verbosity::verbose;
    const auto known = each ? kinds.end() : kinds.find(kind_of(p));
    if (known != kinds.end()) {
      alike[known->second].push_back(&p);
    } else if (each || kinds.size() < most) {
      if (!each) kinds.emplace(kind_of(p), alike.size());
      alike.push_back({&p});
    } else {
      ++left;
    }
  }
  for (const auto& a : alike) print("error", text_of_alike(a));
  print("error", fmt::format("{} {} ({} {}{})", about, e.what(), e.problems.size(),
                             e.problems.size() == 1 ? "problem" : "problems", left > 0 ? "; -v prints all" : ""));
  if (!e.remedy.empty()) remedy(e.remedy);
}

void messages::remedy(const std::string& text) const { print("remedy", text); }

void messages::warning(const std::string& text) const {
  if (level_ != verbosity::silent) print("warning", text);
}

void messages::note(const std::string& text) const {
  if (level_ >= verbosity::normal) print("note", text);
}

void messages::detail(const std::string& text) const {
  if (level_ == verbosity::verbose) print("note", text);
}

std::string quote(const std::string& text) {
  std::size_t end = std::min<std::size_t>(text.size(), 200);
  while (end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // not within a character
  std::string out = "\"";
  for (char c : text.substr(0, end)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return dice::text::shown(out) + (end < text.size() ? "\"…" : "\"");
}

}  // namespace onnx2hpp
