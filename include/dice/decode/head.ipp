#pragma once

#include "dice/decode/detail/orders.hpp"
#include "dice/decode/head.hpp"
#include "dice/meta/enum_name.hpp"
#include "dice/tensor/number.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dice::decode {

namespace detail {

/// "float32 (1, 84, 8400)".
[[gnu::cold]] inline std::string type_text(const tensor::type& t) {
  std::string out(meta::enum_name(t.element));
  out += " (";
  for (int a = 0; a < t.rank; ++a) out += (a ? ", " : "") + std::to_string(t[a]);
  return out + (t.rank == 1 ? ",)" : ")");
}

/// The shapes that a head takes, for messages.
inline const char* shapes_of(head as) {
  switch (as) {
    case head::classes:
      return "one result of shape (pictures, classes)";
    case head::mask:
      return "one result of shape (pictures, classes, height, width), or integers of shape (pictures, height, width)";
    case head::yolov5:
      return "one result of shape (pictures, boxes, 5 + classes)";
    case head::yolov8:
      return "one result of shape (pictures, 4 + classes, boxes) or (pictures, boxes, 4 + classes)";
    case head::yolov10:
      return "one result of shape (pictures, boxes, 6), or two of shapes (pictures, boxes, 4) and (pictures, boxes, "
             "classes)";
    case head::ssd:
      break;
  }
  return "two results of shapes (pictures, boxes, 4) and (pictures, boxes, classes with background)";
}

/// Whether C may be `found`, where the user says `wanted`.
inline bool may_be(std::int64_t found, int wanted) { return wanted > 0 ? found == wanted : found > 0; }

[[gnu::cold]] inline bool fits(head as, std::span<const tensor::type> results, int classes) {
  for (const auto& t : results)
    if (t.elements() <= 0) return false;
  const bool two = results.size() == 2 && (as == head::ssd || as == head::yolov10);
  if (!two && (results.size() != 1 || as == head::ssd)) return false;
  const auto& t = results[0];
  const bool real = t.element == tensor::number::float32;
  switch (as) {
    case head::classes:
      if (!real || t.rank < 1) return false;
      for (int a = 2; a < t.rank; ++a)
        if (t[a] != 1) return false;
      return may_be(t.rank == 1 ? t[0] : t[1], classes);
    case head::mask:
      if (real) return t.rank == 4 && (t[1] == 1 ? classes <= 2 : may_be(t[1], classes));  // one number tells two classes
      return t.rank == 3 || (t.rank == 4 && t[1] == 1);
    case head::yolov5:
      return real && t.rank == 3 && may_be(t[2] - 5, classes) && (classes > 0 || t[2] <= t[1]);
    case head::yolov8:
      return real && t.rank == 3 && may_be(t[has_rows(t, classes) ? 2 : 1] - 4, classes);
    case head::yolov10:
      if (two) break;
      return real && t.rank == 3 && t[2] == 6;
    case head::ssd:
      break;
  }
  if (!real || results[1].element != t.element || t.rank != 3 || results[1].rank != 3) return false;
  const auto corners = corners_of(results);
  const auto &boxes = results[corners], &scores = results[1 - corners];
  return boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[1] &&
         may_be(scores[2] - (as == head::ssd ? 1 : 0), classes);
}

/// Whether a number was given that does not lie between 0 and 1.
inline bool outside(const std::optional<float>& x) { return x && !(*x >= 0 && *x <= 1); }

}  // namespace detail

[[gnu::cold]] DICE_API std::string what_is_wrong(head as, std::span<const tensor::type> results, const options& o) {
  const auto name = "head " + std::string(meta::enum_name(as));
  if (detail::outside(o.score) || detail::outside(o.overlap)) return name + ": score and overlap must lie between 0 and 1";
  if (o.most && *o.most < 1)
    return name + ": the most to be given is " + std::to_string(*o.most) + "; it must be at least 1";
  if (!detail::fits(as, results, o.classes)) {
    std::string found, others;
    for (const auto& t : results) found += (found.empty() ? "" : " and ") + detail::type_text(t);
    for (std::size_t h = 0; h < meta::value_count<head>; ++h)
      if (const auto other = static_cast<head>(h); detail::fits(other, results, o.classes))
        others += (others.empty() ? "" : ", ") + std::string(meta::enum_name(other));
    return name + " takes " + detail::shapes_of(as) +
           (o.classes > 0 ? ", with " + std::to_string(o.classes) + (o.classes > 1 ? " classes" : " class")
            : as == head::yolov5
                ? std::string(", with at least as many boxes as numbers for each unless the classes are known")
                : "") +
           ", but the network gives " + (found.empty() ? "none" : found) + "; " +
           (others.empty() ? "export the network in another form" : "heads that take this: " + others);
  }
  if (as != head::ssd) return {};
  if (o.width < 1 || o.height < 1) return name + " needs the width and height of the network's input";
  const auto boxes = results[0][1];
  if (!o.priors.empty() && static_cast<std::int64_t>(o.priors.size()) != 4 * boxes)
    return name + " needs 4 numbers for each prior, " + std::to_string(4 * boxes) + " for its " + std::to_string(boxes) +
           " boxes, but was given " + std::to_string(o.priors.size());
  return {};
}

DICE_API options with_defaults(head as, options o) {
  const bool is_ssd = as == head::ssd, is_v5 = as == head::yolov5;
  if (!o.score) o.score = is_ssd || as == head::mask ? 0.5f : 0.25f;
  if (!o.overlap) o.overlap = is_ssd || is_v5 ? 0.45f : 0.7f;
  if (!o.most) o.most = as == head::classes ? 5 : is_v5 ? 1000 : is_ssd ? 200 : 300;
  return o;
}

}  // namespace dice::decode
