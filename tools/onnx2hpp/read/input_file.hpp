// Files that go with a model: texts and JSON, not trusted.
#pragma once

#include "diagnostics.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace onnx2hpp {

/// The text of a file of at most 64 MiB. Throws file_error.
std::string read_text(const std::filesystem::path& file);

/// A JSON file of at most 64 MiB; `see` is called with its parts in order, as nlohmann::json::parse does. Throws file_error.
nlohmann::json read_json(const std::filesystem::path& file, const nlohmann::json::parser_callback_t& see = {});

/// What a JSON value is, for messages.
std::string shown(const nlohmann::json& value);

/// Suggests which of `known` an unknown name may have meant.
class hints {
 public:
  explicit hints(std::vector<std::string> known) : known_(std::move(known)) {}
  /// "did you mean …?" with the known name that is most like `name`; `otherwise` if none is.
  std::string for_name(const std::string& name, const std::string& otherwise);

 private:
  std::vector<std::string> known_;
  std::size_t steps_left_ = 300'000'000;  ///< a long file of wrong names must not take hours
};

}  // namespace onnx2hpp
