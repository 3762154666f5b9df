#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::job {

/// A sequence of fields as one text, for communicator::all_gather. Each is written with its length, so it may hold any
/// bytes.
class record {
 public:
  record() = default;
  explicit record(std::string text) : text_(std::move(text)) {}

  void put(std::string_view field) { text_ += std::to_string(field.size()) + ":" + std::string(field); }
  void put(std::int64_t number) { put(std::string_view(std::to_string(number))); }
  void put(const std::vector<std::int64_t>& numbers) {
    put(std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)));
  }
  const std::string& text() const { return text_; }
  bool more() const { return at_ < text_.size(); }

  /// The next field. Throws std::runtime_error if there is none: the other rank runs another version.
  std::string get() {
    std::size_t length = 0;
    const auto colon = text_.find(':', at_);
    if (colon == std::string::npos || colon - at_ > 18) wrong();
    for (; at_ < colon; ++at_) {
      if (text_[at_] < '0' || text_[at_] > '9') wrong();
      length = length * 10 + static_cast<std::size_t>(text_[at_] - '0');
    }
    if (length > text_.size() - colon - 1) wrong();
    at_ = colon + 1 + length;
    return text_.substr(colon + 1, length);
  }
  std::int64_t get_number() { return std::stoll(get()); }
  std::vector<std::int64_t> get_numbers() {
    const auto bytes = get();
    std::vector<std::int64_t> out(bytes.size() / sizeof(std::int64_t));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(std::int64_t));
    return out;
  }

 private:
  [[noreturn]] static void wrong() {
    throw std::runtime_error("ranks run different versions of this program; start the same on all hosts");
  }
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace dice::job
