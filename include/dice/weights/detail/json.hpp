// As much of JSON as the header of a safetensors file needs. Input is untrusted.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace dice::weights::detail {

/// Walks over JSON text; every function returns false if the text is not JSON.
class json_walker {
 public:
  explicit json_walker(std::string_view text) : text_(text) {}

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Whether the next character is `c`.
  bool at(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool at_end() {
    blanks();
    return at_ == text_.size();
  }
  /// A string; its escapes are kept as written, except \" \\ and \/.
  bool string(std::string& out) {
    out.clear();
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) return false;
      const char escaped = text_[at_++];
      if (escaped != '"' && escaped != '\\' && escaped != '/') out += '\\';
      out += escaped;
    }
    return false;
  }
  /// A whole number of at least 0.
  bool number(std::int64_t& out) {
    blanks();
    const auto rest = text_.substr(at_);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out);
    at_ += static_cast<std::size_t>(end - rest.data());
    return error == std::errc() && out >= 0;
  }
  /// Any value, of any depth, without recursion.
  bool skip() {
    std::string closers, ignored;
    do {
      blanks();
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        ++at_;
        closers += c == '{' ? '}' : ']';
        if (take(closers.back())) closers.pop_back();
        else {
          if (c == '{' && !(string(ignored) && take(':'))) return false;
          continue;
        }
      } else if (c == '"') {
        if (!string(ignored)) return false;
      } else {
        const auto from = at_;
        while (at_ < text_.size() &&
               std::string_view("+-.0123456789abcdefghijklmnopqrstuvwxyzE").find(text_[at_]) != std::string_view::npos)
          ++at_;
        if (at_ == from) return false;
      }
      // After a value: close what ends here, or go on to the next member.
      while (!closers.empty()) {
        if (take(closers.back())) {
          closers.pop_back();
        } else if (take(',')) {
          if (closers.back() == '}' && !(string(ignored) && take(':'))) return false;
          break;
        } else {
          return false;
        }
      }
    } while (!closers.empty());
    return true;
  }
  /// Calls f(key) for each member of an object; f walks over the value and returns false on an error.
  template <class F> bool object(F f) {
    if (!take('{')) return false;
    if (take('}')) return true;
    std::string key;
    do {
      if (!string(key) || !take(':') || !f(key)) return false;
    } while (take(','));
    return take('}');
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// What the header of a safetensors file says: the strings in `__metadata__`, and where each tensor begins and ends.
struct safetensors_header {
  std::map<std::string, std::string> metadata;
  struct tensor {
    std::string name;
    std::int64_t begin = 0, end = 0;
  };
  std::vector<tensor> tensors;
};

/// Nothing if `text` is not such a header.
inline std::optional<safetensors_header> read_header(std::string_view text) {
  safetensors_header out;
  json_walker walk(text);
  const bool good = walk.object([&](const std::string& name) {
    if (name == "__metadata__") return walk.object([&](const std::string& key) { return walk.string(out.metadata[key]); });
    if (!walk.at('{')) return walk.skip();
    auto& tensor = out.tensors.emplace_back(safetensors_header::tensor{name});
    return walk.object([&](const std::string& key) {
      if (key != "data_offsets") return walk.skip();
      return walk.take('[') && walk.number(tensor.begin) && walk.take(',') && walk.number(tensor.end) && walk.take(']');
    });
  });
  if (!good || !walk.at_end()) return std::nullopt;
  return out;
}

}  // namespace dice::weights::detail
