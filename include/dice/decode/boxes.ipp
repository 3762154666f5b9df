#pragma once

#include "dice/decode/boxes.hpp"
#include "dice/decode/detail/extremes.hpp"
#include "dice/decode/detail/orders.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::decode {

namespace detail {

/// Adds a box to what may be kept, or drops it.
inline void add(found_boxes& to, const box& b) {
  const bool is_box = std::isfinite(b.x) && std::isfinite(b.y) && std::isfinite(b.width) && std::isfinite(b.height) &&
                      std::isfinite(b.score) && b.width >= 0 && b.height >= 0;
  if (is_box) to.boxes.push_back(b);
  else ++to.dropped;
}

/// A box from its centre and size, four numbers at `at`, `stride` apart.
inline box around_centre(const float* at, std::ptrdiff_t stride, float score, std::ptrdiff_t class_index) {
  const float width = at[2 * stride], height = at[3 * stride];
  return {at[0] - width / 2, at[stride] - height / 2, width, height, score, static_cast<int>(class_index)};
}

inline found_boxes yolov5(const float* rows, std::int64_t n, std::int64_t classes, float least) {
  found_boxes out;
  for (const float* row = rows; n > 0; --n, row += 5 + classes) {
    const float objectness = row[4];
    if (std::isfinite(objectness) && objectness <= least) continue;
    const auto e = extremes_of(row + 5, classes);
    const float score = objectness * e.most;
    if (!e.finite || !std::isfinite(objectness)) ++out.dropped;
    else if (score > least)
      add(out, around_centre(
                   row, 1, score,
                   std::find_if(row + 5, row + 5 + classes, [&](float x) { return objectness * x == score; }) - row - 5));
  }
  return out;
}

inline found_boxes yolov8_rows(const float* rows, std::int64_t n, std::int64_t classes, float least) {
  found_boxes out;
  for (const float* row = rows; n > 0; --n, row += 4 + classes) {
    const auto e = extremes_of(row + 4, classes);
    if (!e.finite) ++out.dropped;
    else if (e.most > least)
      add(out, around_centre(row, 1, e.most, std::find(row + 4, row + 4 + classes, e.most) - row - 4));
  }
  return out;
}

/// The scores of a class are neighbours, so many boxes are looked at together.
inline found_boxes yolov8_planes(const float* planes, std::int64_t n, std::int64_t classes, float least) {
  constexpr std::int64_t block = 2048;  // both arrays stay in a CPU's first cache
  found_boxes out;
  float most[block], zero[block];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const auto size = std::min(block, n - begin);
    std::fill_n(most, size, -std::numeric_limits<float>::infinity());
    std::fill_n(zero, size, 0.0f);
    for (std::int64_t c = 0; c < classes; ++c) {
      const float* const scores = planes + (4 + c) * n + begin;
      for (std::int64_t i = 0; i < size; ++i) {
        most[i] = scores[i] > most[i] ? scores[i] : most[i];
        zero[i] += scores[i] - scores[i];
      }
    }
    for (std::int64_t i = 0; i < size; ++i) {
      if (zero[i] != 0) ++out.dropped;
      else if (most[i] > least) {
        const float* const at = planes + begin + i;
        std::int64_t c = 0;
        while (at[(4 + c) * n] != most[i]) ++c;
        add(out, around_centre(at, n, most[i], c));
      }
    }
  }
  return out;
}

inline found_boxes yolov10(const float* rows, std::int64_t n, float least) {
  found_boxes out;
  for (const float* row = rows; n > 0; --n, row += 6) {
    const float score = row[4], c = row[5];
    if (score > least && c >= 0 && c < 1 << 24)
      add(out, {row[0], row[1], row[2] - row[0], row[3] - row[1], score, static_cast<int>(c)});
    else out.dropped += score > least || !std::isfinite(score);
  }
  return out;
}

/// The same of corners and scores in results of their own. A box can be of several classes.
inline found_boxes yolov10(const float* corners, const float* scores, std::int64_t n, std::int64_t classes, float least) {
  found_boxes out;
  for (; n > 0; --n, corners += 4, scores += classes) {
    const auto e = extremes_of(scores, classes);
    if (!e.finite) ++out.dropped;
    else if (e.most > least)
      for (std::int64_t c = 0; c < classes; ++c)
        if (scores[c] > least)
          add(out,
              {corners[0], corners[1], corners[2] - corners[0], corners[3] - corners[1], scores[c], static_cast<int>(c)});
  }
  return out;
}

/// The rectangle of box `n` of ssd, without score and class.
inline box ssd_box(const float* at, std::size_t n, const options& o) {
  const auto width = static_cast<float>(o.width), height = static_cast<float>(o.height);
  at += 4 * n;
  if (o.priors.empty()) return {at[0] * width, at[1] * height, (at[2] - at[0]) * width, (at[3] - at[1]) * height};
  const float* const prior = o.priors.data() + 4 * n;
  const float w = prior[2] * std::exp(0.2f * at[2]), h = prior[3] * std::exp(0.2f * at[3]),
              x = prior[0] + 0.1f * at[0] * prior[2], y = prior[1] + 0.1f * at[1] * prior[3];
  return {(x - w / 2) * width, (y - h / 2) * height, w * width, h * height};
}

/// A box can be of several classes. Few are worth a softmax: a class whose probability is higher than `least` has a logit
/// that is higher than the background's by log(least / (1 - least)).
inline found_boxes ssd(const float* corners, const float* scores, std::span<const extremes> rows, std::int64_t classes,
                       bool logits, const options& o) {
  found_boxes out;
  const float least = *o.score, margin = std::log(least / (1 - least)) - 0.001f;
  for (std::size_t n = 0; n < rows.size(); ++n, scores += classes) {
    const auto& e = rows[n];  // of the classes without the background
    if (!e.finite || !std::isfinite(scores[0])) {
      ++out.dropped;
      continue;
    }
    if (!(logits ? e.most - scores[0] > margin : e.most > least)) continue;
    const auto power = [&, top = std::max(e.most, scores[0])](std::int64_t c) {
      return std::exp(static_cast<double>(scores[c]) - static_cast<double>(top));
    };
    double sum = 0;
    if (logits)
      for (std::int64_t c = 0; c < classes; ++c) sum += power(c);
    for (std::int64_t c = 1; c < classes; ++c) {
      auto found = ssd_box(corners, n, o);
      found.score = logits ? static_cast<float>(power(c) / sum) : scores[c];
      found.class_index = static_cast<int>(c - 1);
      if (found.score > least) add(out, found);
    }
  }
  return out;
}

/// Of ssd, for each picture.
inline std::vector<found_boxes> all_ssd(std::span<const result> results, const options& o) {
  const tensor::type types[]{results[0].type, results[1].type};
  const auto first = corners_of(types);
  const auto &corners = results[first], &scores = results[1 - first];
  const auto pictures = scores.type[0], n = scores.type[1], classes = scores.type[2];
  std::vector<extremes> rows(static_cast<std::size_t>(pictures * n));
  bool logits = o.scores == scale::logits;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* const row = scores.numbers + i * static_cast<std::size_t>(classes);
    rows[i] = extremes_of(row + 1, classes - 1);
    if (o.scores == scale::automatic && rows[i].finite)
      logits |= is_logit(rows[i].least) || is_logit(rows[i].most) || is_logit(row[0]);
  }
  std::vector<found_boxes> out;
  for (std::int64_t p = 0; p < pictures; ++p)
    out.push_back(ssd(corners.numbers + p * n * 4, scores.numbers + p * n * classes,
                      std::span(rows).subspan(static_cast<std::size_t>(p * n), static_cast<std::size_t>(n)), classes, logits,
                      o));
  return out;
}

}  // namespace detail

DICE_API std::vector<found_boxes> boxes(head as, std::span<const result> results, const options& given) {
  std::vector<tensor::type> types;
  for (const auto& r : results) types.push_back(r.type);
  if (const auto why = what_is_wrong(as, types, given); !why.empty()) throw std::invalid_argument(why);
  if (as == head::classes || as == head::mask) throw std::invalid_argument("heads classes and mask have no boxes");
  const auto o = with_defaults(as, given);
  std::vector<found_boxes> out;
  if (as == head::ssd) out = detail::all_ssd(results, o);
  else if (results.size() == 2) {
    const auto first = detail::corners_of(types);
    const auto &corners = results[first], &scores = results[1 - first];
    const auto pictures = scores.type[0], n = scores.type[1], classes = scores.type[2];
    for (std::int64_t p = 0; p < pictures; ++p)
      out.push_back(detail::yolov10(corners.numbers + p * n * 4, scores.numbers + p * n * classes, n, classes, *o.score));
  } else
    for (std::int64_t p = 0; p < types[0][0]; ++p) {
      const auto a = types[0][1], b = types[0][2];
      const float* const numbers = results[0].numbers + p * a * b;
      out.push_back(as == head::yolov5                      ? detail::yolov5(numbers, a, b - 5, *o.score)
                    : as == head::yolov10                   ? detail::yolov10(numbers, a, *o.score)
                    : detail::has_rows(types[0], o.classes) ? detail::yolov8_rows(numbers, a, b - 4, *o.score)
                                                            : detail::yolov8_planes(numbers, b, a - 4, *o.score));
    }
  for (auto& picture : out)
    picture.boxes = as == head::yolov10
                        ? best(std::move(picture.boxes), *o.most)
                        : non_maximum_suppression(std::move(picture.boxes), *o.overlap, *o.most, o.across_classes);
  return out;
}

}  // namespace dice::decode
