#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace dice::meta {

/// Finds the word that a mistyped word was probably meant to be.
class nearest {
 public:
  explicit nearest(std::string_view wrong) : wrong_(wrong), least_(wrong.size() < 4 ? 2 : 3) {}

  void look_at(std::string_view word) {
    if (const auto d = distance(word); d < least_) {
      least_ = d;
      best_ = word;
    }
  }
  /// The word with the smallest distance, at most 2, or 1 if the mistyped word has fewer than 4 letters; "" if there is
  /// none.
  std::string_view best() const { return best_; }

 private:
  /// Number of letters to insert, remove or replace (Levenshtein); 3 if the lengths differ by more than 2.
  std::size_t distance(std::string_view word) {
    const auto longer = std::max(word.size(), wrong_.size()), shorter = std::min(word.size(), wrong_.size());
    if (longer - shorter > 2) return 3;
    row_.resize(word.size() + 1);
    for (std::size_t j = 0; j < row_.size(); ++j) row_[j] = j;
    for (std::size_t i = 0; i < wrong_.size(); ++i) {
      auto corner = row_[0];
      row_[0] = i + 1;
      for (std::size_t j = 0; j < word.size(); ++j) {
        const auto above = row_[j + 1];
        row_[j + 1] = std::min({above + 1, row_[j] + 1, corner + (wrong_[i] != word[j])});
        corner = above;
      }
    }
    return row_.back();
  }

  std::string_view wrong_, best_;
  std::size_t least_;
  std::vector<std::size_t> row_;
};

}  // namespace dice::meta
