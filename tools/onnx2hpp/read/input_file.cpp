#include "read/input_file.hpp"

#include "read/file_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace onnx2hpp {

namespace {

using nlohmann::json;

constexpr std::size_t max_bytes = std::size_t{64} << 20;
constexpr int deepest = 16;

/// Number of characters to insert, remove or replace to turn a into b (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = corner + (a[i] != b[j]);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, corner + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  const file_map map(file);
  const auto bytes = map.bytes();
  if (bytes.size() > max_bytes)
    throw file_error(fmt::format("{}: it has {} bytes, more than 64 MiB; give the right file, or split it",
                                 quote(file.string()), bytes.size()));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json read_json(const std::filesystem::path& file, const json::parser_callback_t& see) {
  const std::string text = read_text(file);
  std::string last;  // text before a number that is too large, whose position the parser does not report
  try {
    return json::parse(text, [&](int depth, json::parse_event_t event, json& part) {
      if (depth > deepest)
        throw file_error(fmt::format("{}: it is nested too deeply; write it again", quote(file.string())));
      if (event == json::parse_event_t::key) last += ": " + part.get<std::string>();
      else if (part.is_string()) last = part;
      if (last.size() > 200) last.erase(0, last.size() - 200);
      return see ? see(depth, event, part) : true;
    });
  } catch (const json::parse_error& e) {
    const auto before = std::string_view(text).substr(0, e.byte ? e.byte - 1 : 0);
    const auto line = std::ranges::count(before, '\n') + 1;
    throw file_error(fmt::format("{}: it is not JSON: error at line {}, column {}; correct it, or write it again",
                                 quote(file.string()), line, before.size() - (before.rfind('\n') + 1) + 1));
  } catch (const json::out_of_range&) {
    throw file_error(fmt::format("{}: a number after {} is not finite; correct it, or write the file again",
                                 quote(file.string()), quote(last)));
  }
}

std::string shown(const json& value) {
  if (value.is_string()) return quote(value.get<std::string>());
  return value.is_structured() ? value.type_name() : value.dump();
}

std::string hints::for_name(const std::string& name, const std::string& otherwise) {
  const std::string* best = nullptr;
  std::size_t least = name.size() / 2 + 1;
  for (const auto& k : known_) {
    const bool alike = std::max(k.size(), name.size()) - std::min(k.size(), name.size()) < least;
    const std::size_t steps = alike ? (k.size() + 1) * (name.size() + 1) : 1;
    if (steps > steps_left_) break;
    steps_left_ -= steps;
    if (const auto d = alike ? distance(name, k) : least; d < least) {
      least = d;
      best = &k;
    }
  }
  return best ? fmt::format("did you mean {}?", quote(*best)) : otherwise;
}

}  // namespace onnx2hpp
