// Compares and lists results.
#pragma once

#include "dice/files/place.hpp"
#include "dice/frames/difference.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/graph/network.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace dice::app {

/// max |a - b| / max |b| (max |a - b| if b is all zeros); NaN if a number or a difference is NaN. Of other types than
/// float32, the share of unequal numbers. If `found` has more frames than `expected`, those repeat cyclically.
inline double error_of(const frames::tensor& found, const frames::tensor& expected, tensor::number type = {}) {
  frames::difference out;
  const auto n = found.size(), m = expected.size();
  ::dice::tensor::with_type_of(type, [&]<class T>(T) {
    const auto number = [](float x) { return static_cast<double>(frames::as_number<T>(x)); };
    for (std::size_t i = 0; i < n; ++i) out.add(number(found.data()[i]), number(expected.data()[i % m]));
  });
  return out.of(type);
}

/// The lines of a regular file of labels, of at most 16 MiB. Throws std::runtime_error.
[[gnu::cold]] inline std::vector<std::string> read_labels(const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(
        "labels file '" + path + "' " + what +
        "; give --labels a file with one name per line, on this host (FILES of dice_add_deployment brings it there)");
  };
  if (files::is_special(path)) fail("is a folder, a pipe or a device");
  std::ifstream in(path);
  if (!in) fail(std::string("cannot be opened: ") + std::strerror(errno));
  std::error_code unknown;
  if (const auto bytes = std::filesystem::file_size(path, unknown); !unknown && bytes > 16 << 20)
    fail("has more than 16 MiB");
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out.push_back(line);
  }
  if (in.bad() || out.empty()) fail("has no readable lines");
  return out;
}

/// The rows of a result of output `l`, each of which --top lists by itself: if the network takes batches of N pictures, a
/// result of (N, …) has one for each of them. Other results are one row.
inline std::int64_t rows_of(const graph::network_view& network, int l) {
  const auto& result = network.layers[l].output;
  bool batch = false;
  for (const auto& in : network.layers)
    if (in.is_input) {
      batch = result.rank > 1 && in.output.rank > 1 && in.output[0] == result[0];
      if (!batch) break;
    }
  return batch ? result[0] : 1;
}
inline std::int64_t numbers_of_row(const graph::network_view& network, int l) {
  return network.layers[l].output.elements() / rows_of(network, l);
}

/// The indices of the `k` largest of the `elements` numbers at `x`; equal ones by index, NaN last.
[[gnu::cold]] inline std::vector<std::size_t> largest(const float* x, std::size_t elements, int k) {
  const auto most = std::min(static_cast<std::size_t>(k), elements);
  std::vector<std::size_t> order(elements);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const bool na = std::isnan(x[a]), nb = std::isnan(x[b]);
                      if (na != nb) return nb;
                      if (!na && x[a] != x[b]) return x[a] > x[b];
                      return a < b;
                    });
  order.resize(most);
  return order;
}

/// They, with indices and labels: " 7 seven 9.81, 1 one 3.20".
[[gnu::cold]] inline std::string largest_text(const float* x, std::size_t elements, int k,
                                              const std::vector<std::string>& labels) {
  const auto order = largest(x, elements, k);
  std::string out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    out += (i ? ", " : " ") + std::to_string(order[i]) +
           (order[i] < labels.size() ? " " + text::shown(labels[order[i]]) : "") +
           text::number_text(static_cast<double>(x[order[i]]), " %.4g");
  }
  return out;
}

/// The `k` most frequent of the `elements` integers at `x`, and how many there are of each; equally frequent ones by size.
[[gnu::cold]] inline std::vector<std::pair<std::int64_t, std::int64_t>> most_frequent(const float* x, std::size_t elements,
                                                                                      int k) {
  std::map<std::int64_t, std::int64_t> counts;
  for (std::size_t i = 0; i < elements; ++i) ++counts[frames::as_number<std::int64_t>(x[i])];
  std::vector<std::pair<std::int64_t, std::int64_t>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, std::greater<>(), &decltype(order)::value_type::second);
  order.resize(std::min(order.size(), static_cast<std::size_t>(k)));
  return order;
}

/// They, with labels: " 0 background 51234, 15 person 3102".
[[gnu::cold]] inline std::string most_frequent_text(const float* x, std::size_t elements, int k,
                                                    const std::vector<std::string>& labels) {
  std::string out;
  for (const auto& [n, count] : most_frequent(x, elements, k)) {
    const bool named = n >= 0 && n < static_cast<std::int64_t>(labels.size());
    out += (out.empty() ? " " : ", ") + std::to_string(n) + (named ? " " + text::shown(labels[n]) : "") + " " +
           std::to_string(count);
  }
  return out;
}

/// How a line about row `r` of the `rows` of frame `frame` begins, whose pictures are `pictures`, if any: "frame 0:", or
/// "frame 0 (cat.jpg) scores:" for an output of this name; of a batch, "frame 0 [1] (dog.jpg):" for its second row.
[[gnu::cold]] inline std::string line_start(std::int64_t frame, std::size_t r, std::size_t rows,
                                            std::span<const std::string> pictures, const std::string& name) {
  std::string of;
  for (std::size_t p = 0; p < pictures.size(); ++p)
    if (!pictures[p].empty() && (rows == 1 || p == r)) of += (of.empty() ? "" : ", ") + pictures[p];
  return "frame " + std::to_string(frame) + (rows > 1 ? " [" + std::to_string(r) + "]" : "") +
         (of.empty() ? "" : " (" + text::shown(of) + ")") + (name.empty() ? "" : " " + text::shown(name)) + ":";
}

/// How --top lists an output.
struct top_list {
  std::string name;  ///< of the output, or "" if it is the only one
  int k = 1;
  std::size_t rows = 1;  ///< of a result: rows_of
  std::vector<std::string> labels{};
  bool counts = false;  ///< of integers, it lists the most frequent

  /// The lines of frame `frame`, whose `elements` numbers are at `x` and whose pictures are `pictures`, if any: "frame 0: 7
  /// seven 9.81".
  [[gnu::cold]] std::string lines(std::int64_t frame, const float* x, std::size_t elements,
                                  std::span<const std::string> pictures = {}) const {
    std::string out;
    for (std::size_t r = 0; r < rows; ++r)
      out += line_start(frame, r, rows, pictures, name) +
             (counts ? most_frequent_text : largest_text)(x + r * (elements / rows), elements / rows, k, labels) + "\n";
    return out;
  }
  /// The numbers of a row as JSON: [{"index": 7, "label": "seven", "value": 9.81}], or of integers [{"value": 15, "label":
  /// "person", "count": 3102}].
  [[gnu::cold]] std::string json(const float* x, std::size_t elements) const {
    text::json_array out;
    const auto add = [&](const char* key, std::int64_t n, auto more) {
      auto one = text::json_object().add(key, n);
      if (n >= 0 && n < static_cast<std::int64_t>(labels.size())) one.add("label", labels[static_cast<std::size_t>(n)]);
      more(one);
      out.add(text::json_text{one.json()});
    };
    if (counts) {
      for (const auto& [n, count] : most_frequent(x, elements, k))
        add("value", n, [count = count](text::json_object& one) { one.add("count", count); });
    } else {
      for (const auto i : largest(x, elements, k))
        add("index", static_cast<std::int64_t>(i), [&](text::json_object& one) { one.add("value", x[i]); });
    }
    return out.json();
  }
  /// The lines of each of `frames` frames, which have `per_frame` of `pictures`; pictures repeat cyclically.
  [[gnu::cold]] std::string text(const frames::tensor& all, std::int64_t frames, std::span<const std::string> pictures = {},
                                 std::size_t per_frame = 1) const {
    std::string out;
    const auto elements = all.size() / static_cast<std::size_t>(frames);
    for (std::size_t f = 0; f < static_cast<std::size_t>(frames); ++f)
      out += lines(static_cast<std::int64_t>(f), all.data() + f * elements, elements,
                   pictures.empty() ? pictures : pictures.subspan(f * per_frame % pictures.size(), per_frame));
    return out;
  }
};

inline top_list top_list_of(const graph::network_view& network, int l, int k, const std::vector<std::string>& labels) {
  const auto outputs =
      std::count_if(network.layers.begin(), network.layers.end(), [](const auto& other) { return other.is_output; });
  return {outputs > 1 ? std::string(network.layers[l].onnx_name) : "", k, static_cast<std::size_t>(rows_of(network, l)),
          labels, network.layers[l].number != tensor::number::float32};
}

/// What is wrong if there are fewer labels than numbers for output `l`, or "". Integers are themselves indices of labels.
[[gnu::cold]] inline std::string labels_lack(const graph::network_view& network, int l,
                                             const std::vector<std::string>& labels) {
  const auto n = numbers_of_row(network, l), has = static_cast<std::int64_t>(labels.size());
  if (has >= n || network.layers[l].number != tensor::number::float32) return {};
  return "has " + text::count_text(has, "label") + " for the " + text::count_text(n, "number") +
         (rows_of(network, l) > 1 ? " of a row" : "") + " of output '" + std::string(network.layers[l].onnx_name) + "'";
}

}  // namespace dice::app
