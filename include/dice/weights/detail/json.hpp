// As much of JSON as the header of a safetensors file needs: find one string in the metadata. Input is untrusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

/// The string `key` in `__metadata__` of a safetensors header: nothing if the header is not a JSON object, "" if it has no
/// such string.
inline std::optional<std::string> metadata(std::string_view header, std::string_view key) {
  std::string found;
  json_walker walk(header);
  const bool good = walk.object([&](const std::string& name) {
    if (name != "__metadata__") return walk.skip();
    return walk.object([&](const std::string& inner) {
      if (inner != key) return walk.skip();
      return walk.string(found);
    });
  });
  if (!good || !walk.at_end()) return std::nullopt;
  return found;
}

}  // namespace dice::weights::detail
