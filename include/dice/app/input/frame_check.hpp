// Whether the first frame of an input has plausible numbers: a camera's bytes, taken for float32, do not.
#pragma once

#include "dice/app/options.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/numbers.hpp"
#include "dice/tensor/number.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace dice::app {

/// Looks at the frames of a graph input until two numbers of a frame differ: a black picture tells nothing.
class frame_check {
 public:
  /// Of frames in float32, which hold the numbers of type `as`.
  explicit frame_check(const options& o, dice::tensor::number as = {})
      : as_(as), finite_(!o.check_numbers), done_(o.any_numbers) {}

  /// Whether no more frames have to be looked at.
  bool done() const { return done_; }
  /// Looks at the next frame, of `from` ("the standard input"). Throws files::error if its numbers cannot be right.
  [[gnu::cold]] void look(std::span<const float> frame, const std::string& from) {
    const bool first = frames_ == 0;
    auto why = first && finite_ ? not_finite(frame) : std::string();
    if (why.empty()) why = like_bytes(frame);
    if (why.empty()) why = not_of_type(frame);
    if (!why.empty())
      throw files::error(from + ", frame " + std::to_string(frames_) + ": " + why + "; " +
                         (few_ ? "correct the frame" : "frames are float32 numbers " + remedy()) +
                         ", or give --any-numbers if these numbers are right");
    ++frames_;
    for (const float x : frame) done_ = done_ || x != frame[0];
  }

 private:
  std::string remedy() const {
    if (as_ == dice::tensor::number::float32)
      return "as the model expects them, not bytes: convert pictures first (NumPy: x.astype(np.float32) / 255)";
    return "with the values of " + frames::type_name(as_) + ": convert them without scaling (NumPy: x.astype(np.float32))";
  }

  static std::string number(float x) { return text::number_text(x, "%.3g"); }

  std::string not_finite(std::span<const float> frame) {
    std::size_t n = 0, first = 0;
    for (std::size_t i = frame.size(); i-- > 0;)
      if (!std::isfinite(frame[i])) {
        first = i;
        ++n;
      }
    if (n == 0) return {};
    // Of bytes that are read as float32, one in 256 is not finite.
    few_ = n * 1000 < frame.size() && like_bytes(frame).empty();
    return std::to_string(n) + " of its " + std::to_string(frame.size()) + " numbers " + (n == 1 ? "is" : "are") +
           " NaN or infinite, first number " + std::to_string(first) + ", " + number(frame[first]);
  }

  /// The first number that the type `as` does not hold.
  std::string not_of_type(std::span<const float> frame) const {
    return dice::tensor::with_type_of(as_, [&]<class T>(T) -> std::string {
      if constexpr (std::same_as<T, float>) return {};
      else {
        const auto wrong =
            std::ranges::find_if(frame, [](float x) { return static_cast<float>(frames::as_number<T>(x)) != x; });
        if (wrong == frame.end()) return {};
        return "its number " + std::to_string(wrong - frame.begin()) + ", " + number(*wrong) + ", is not " +
               (std::same_as<T, bool> ? "0 or 1"
                                      : "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                                            std::to_string(std::numeric_limits<T>::max()));
      }
    });
  }

  /// Numbers of a frame are of similar size, or zero. Bytes of pictures give numbers anywhere between 1e-38 and 1e38, or
  /// nearly all at one end, as integers do.
  static std::string like_bytes(std::span<const float> frame) {
    std::array<std::size_t, 256> at{};  // how many have each exponent
    std::size_t n = 0;
    std::uint32_t smallest = ~0u, largest = 0;  // bits of positive numbers have their order
    for (const float x : frame) {
      const auto size = std::bit_cast<std::uint32_t>(x) & 0x7fffffff;
      if (size == 0) continue;
      ++at[size >> 23], ++n;
      smallest = std::min(smallest, size);
      if (size >> 23 < 255) largest = std::max(largest, size);
    }
    if (largest == 0) return {};
    const auto exponent = [&](std::size_t below) {  // of the number with this many smaller ones
      std::size_t e = 0;
      for (auto sum = at[0]; sum <= below; sum += at[e]) ++e;
      return static_cast<int>(e) - 127;
    };
    constexpr int far = 64, apart = 40;  // 5e-20 and 2e19; a factor of 1e12
    constexpr float some = 1000;
    constexpr std::size_t enough = 64;
    const auto least = std::bit_cast<float>(smallest), most = std::bit_cast<float>(largest);
    const bool small = exponent(n - 1 - n / 100) < -far;
    const bool large = exponent(n / 100) >= far && smallest != largest;  // else what a mask has in place of -inf
    const bool scattered = n >= enough && most > some && exponent(n - 1 - n / 10) - exponent(n / 10) > apart;
    if (!small && !large && !scattered) return {};
    return "its numbers lie between " + number(least) + " and " + number(most) +
           " in size, as if bytes or integers were taken for float32";
  }

  const dice::tensor::number as_;
  const bool finite_;  ///< whether --check-numbers does not look for these numbers anyway
  bool done_;
  bool few_ = false;  ///< numbers of the first frame are not finite, and the others could be right
  std::int64_t frames_ = 0;
};

}  // namespace dice::app
