// A frame's result as the text or bytes that leave.
#pragma once

#include "dice/app/options.hpp"
#include "dice/app/results.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/meta/clock.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"
#include "dice/text/json.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

namespace dice::app {

/// "2026-05-04T10:08:43.217Z", from nanoseconds since 1970.
inline std::string time_text(std::int64_t since_1970) {
  constexpr std::int64_t second = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(since_1970 / second);
  std::tm utc{};
  char text[40];
  const auto n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", ::gmtime_r(&seconds, &utc));
  std::snprintf(text + n, sizeof text - n, ".%03dZ", static_cast<int>(since_1970 % second / 1'000'000));
  return text;
}

/// How a line of JSON about row `r` of the `rows` of frame `frame` begins, which came as `when` says, and is of `pictures`,
/// if it has any. `name`: of the output, or "" if it is the only one.
[[gnu::cold]] inline text::json_object json_start(std::int64_t frame, const frames::frame_stamp& when, std::size_t r,
                                                  std::size_t rows, std::span<const std::string> pictures,
                                                  const std::string& name) {
  text::json_object line;
  line.add("frame", frame).add("source_frame", when.number).add("time", time_text(when.time));
  line.add("latency_ms", static_cast<double>(meta::now() - when.steady) * 1e-6);
  if (!name.empty()) line.add("output", name);
  if (rows > 1) line.add("picture", r);
  const auto file = pictures.size() == rows ? pictures[r] : pictures.size() == 1 ? pictures[0] : std::string();
  if (!file.empty()) line.add("file", file);
  return line;
}

/// How an output's results become records.
struct record_form {
  result_form form = result_form::json;
  top_list top{};             ///< of `top` and `json`
  dice::tensor::shape one{};  ///< of a result
  dice::tensor::number as{};  ///< the type in which numbers leave

  /// The record of frame `frame`, which came as `when` says, and whose numbers are at `x`; of `pictures`, if it has any.
  [[gnu::cold]] std::string record(std::int64_t frame, const frames::frame_stamp& when, const float* x,
                                   std::span<const std::string> pictures) const {
    const auto elements = static_cast<std::size_t>(one.elements());
    if (form == result_form::top) return top.lines(frame, x, elements, pictures);
    if (form == result_form::json) return json_lines(frame, when, x, elements, pictures);
    std::string out;
    if (form == result_form::npy) out = frames::detail::npy_start(frames::stacked(one, 1), as);
    frames::write_as(as, {x, elements}, [&](std::span<const std::byte> bytes) {
      out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return out;
  }

 private:
  /// A line for each row of the result: for each picture, if frames are batches.
  std::string json_lines(std::int64_t frame, const frames::frame_stamp& when, const float* x, std::size_t elements,
                         std::span<const std::string> pictures) const {
    std::string out;
    for (std::size_t r = 0; r < top.rows; ++r) {
      auto line = json_start(frame, when, r, top.rows, pictures, top.name);
      const auto row = elements / top.rows;
      line.add("top", text::json_text{top.json(x + r * row, row)});
      out += line.json() + "\n";
    }
    return out;
  }
};

}  // namespace dice::app
