#include "diagnostics.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace onnx2hpp {

namespace {

/// Appends c, escaped if it is a control character.
void append_printable(std::string& out, char c) {
  const auto code = static_cast<unsigned char>(c);
  if (c == '\n') out += "\\n";
  else if (code < 0x20 || code == 0x7f) out += fmt::format("\\{:03o}", code);
  else out += c;
}

void print(const char* kind, const std::string& text) {
  std::string line;
  for (char c : text) append_printable(line, c);
  std::fputs(fmt::format("onnx2hpp: {}: {}\n", kind, line).c_str(), stderr);  // fmt::print would throw if stderr is closed
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
  constexpr std::size_t limit = 200;
  std::string out = "\"";
  for (char c : text.substr(0, limit)) {
    if (c == '"' || c == '\\') out += '\\';
    append_printable(out, c);
  }
  return out + (text.size() > limit ? "\"…" : "\"");
}

}  // namespace onnx2hpp
