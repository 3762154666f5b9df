#include "fold/broadcast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace onnx2hpp {

std::size_t folded_size(const std::vector<std::int64_t>& dims, const char* what) {
  for (const auto d : dims)
    if (d < 0) node_context::refuse(fmt::format("{} with the extent {}", what, d));
  const auto n = element_count(dims);
  if (n < 0 || n > folding_limit) node_context::refuse(fmt::format("{} of more than {} elements", what, folding_limit));
  return static_cast<std::size_t>(n);
}

std::vector<std::int64_t> broadcast(std::initializer_list<std::vector<std::int64_t>> shapes) {
  std::vector<std::int64_t> out;
  for (const auto& s : shapes) {
    if (s.size() > out.size()) out.insert(out.begin(), s.size() - out.size(), 1);
    for (std::size_t i = 0; i < s.size(); ++i) {
      auto& extent = out[out.size() - s.size() + i];
      if (extent != s[i] && extent != 1 && s[i] != 1) {
        std::vector<std::string> all;
        for (const auto& shown : shapes) all.push_back(fmt::format("{{{}}}", fmt::join(shown, ", ")));
        node_context::refuse(
            fmt::format("the shapes {} of its constants cannot be broadcast together", fmt::join(all, ", ")));
      }
      if (extent == 1) extent = s[i];
    }
  }
  return out;
}

std::vector<std::size_t> broadcast_indices(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  const auto rank = to.size();
  std::vector<std::int64_t> steps(rank, 0), at(rank, 0);
  std::int64_t step = 1;
  for (std::size_t i = from.size(); i-- > 0; step *= from[i])
    if (from[i] != 1) steps[rank - from.size() + i] = step;
  std::vector<std::size_t> out(folded_size(to));
  std::int64_t index = 0;
  for (auto& o : out) {
    o = static_cast<std::size_t>(index);
    for (std::size_t a = rank; a-- > 0;) {
      index += steps[a];
      if (++at[a] < to[a]) break;
      index -= steps[a] * at[a];
      at[a] = 0;
    }
  }
  return out;
}

}  // namespace onnx2hpp
