// Compares and lists results.
#pragma once

#include "dice/files/place.hpp"
#include "dice/runtime/tensor.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace dice::app {

/// max |a - b| / max |b| (max |a - b| if b is all zeros); NaN if a number or a difference is NaN. If `found` has more frames
/// than `expected`, those repeat in turn.
inline double relative_error(const runtime::tensor& found, const runtime::tensor& expected) {
  double difference = 0, largest = 0;
  const auto n = found.size(), m = expected.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double a = found.data()[i], b = expected.data()[i % m];
    if (std::isnan(a) || std::isnan(b) || std::isnan(a - b)) return std::nan("");
    difference = std::max(difference, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  return largest > 0 ? difference / largest : difference;
}

/// The lines of a regular file of labels, of at most 16 MiB. Throws std::runtime_error.
[[gnu::cold]] inline std::vector<std::string> read_labels(const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error("labels file '" + path + "' " + what + "; give --labels a file with one name per line");
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

/// The `k` largest of the `elements` numbers at `x`, which are frame `frame` of output `name`, in a line: "frame 0: 7
/// seven 9.81, 1 one 3.20", or "frame 0 (cat.jpg) scores: …"; equal ones by index, NaN last. `name` and `picture` may be
/// empty.
[[gnu::cold]] inline std::string top_line(std::int64_t frame, const std::string& name, const std::string& picture,
                                          const float* x, std::size_t elements, int k,
                                          const std::vector<std::string>& labels) {
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
  std::string out = "frame " + std::to_string(frame) + (picture.empty() ? "" : " (" + text::shown(picture) + ")") +
                    (name.empty() ? "" : " " + text::shown(name)) + ":";
  for (std::size_t i = 0; i < most; ++i) {
    out += (i ? ", " : " ") + std::to_string(order[i]) +
           (order[i] < labels.size() ? " " + text::shown(labels[order[i]]) : "") +
           text::number_text(static_cast<double>(x[order[i]]), " %.4g");
  }
  return out + "\n";
}

/// The same for each of `frames` frames; frame f is of the picture pictures[f]; pictures repeat in turn.
[[gnu::cold]] inline std::string top_text(const std::string& name, const runtime::tensor& all, std::int64_t frames, int k,
                                          const std::vector<std::string>& labels,
                                          const std::vector<std::string>& pictures = {}) {
  std::string out;
  const auto elements = all.size() / static_cast<std::size_t>(frames);
  for (std::size_t f = 0; f < static_cast<std::size_t>(frames); ++f)
    out += top_line(static_cast<std::int64_t>(f), name, pictures.empty() ? "" : pictures[f % pictures.size()],
                    all.data() + f * elements, elements, k, labels);
  return out;
}

}  // namespace dice::app
