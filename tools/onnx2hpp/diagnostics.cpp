#include "diagnostics.hpp"

#include "dice/text/print.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace {

void print(const char* kind, const std::string& text) {
  dice::text::print_error(fmt::format("onnx2hpp: {}: {}", kind, text));
}

}  // namespace

void messages::error(const std::string& text) const { print("error", text); }

void messages::error(const problem& p) const {
  std::string text;
  if (!p.node.empty()) text += p.node;
  if (!p.operator_name.empty()) {
    text += text.empty() ? "" : " ";
    text += p.opset ? fmt::format("({}, opset {})", p.operator_name, p.opset) : fmt::format("({})", p.operator_name);
  }
  text += text.empty() ? p.reason : ": " + p.reason;
  if (!p.remedy.empty()) text += "; " + p.remedy;
  print("error", text);
}

void messages::warning(const std::string& text) const {
  if (level_ != verbosity::quiet) print("warning", text);
}

void messages::note(const std::string& text) const {
  if (level_ != verbosity::quiet) print("note", text);
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
