// What the first frame may hold: numbers as networks take them, but not bytes or integers in their place.
#include "dice/app/input/frame_check.hpp"
#include "error_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dice;
using frame = std::vector<float>;

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t size = 3 * 40 * 40;

frame made(std::size_t n, const std::function<double(std::size_t)>& f) {
  frame out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(i));
  return out;
}
/// The float32 numbers that these elements are taken for.
template <class T> frame taken(std::size_t n, const std::function<double(std::size_t)>& f) {
  std::vector<T> from(n);
  for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<T>(f(i));
  frame out(n * sizeof(T) / sizeof(float));
  std::memcpy(out.data(), from.data(), out.size() * sizeof(float));
  return out;
}
std::string told(const std::vector<frame>& frames, const app::options& o = {}) {
  app::frame_check check(o);
  return test::error_of([&] {
    for (const auto& f : frames)
      if (!check.done()) check.look(f, "here");
  });
}
app::options with(bool app::options::*set) {
  app::options out;
  out.*set = true;
  return out;
}
const auto any = with(&app::options::any_numbers), checked = with(&app::options::check_numbers);
std::string told(const frame& only) { return told(std::vector<frame>{only}); }
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(frame_check, takes_what_networks_take) {
  std::mt19937 draw(1);
  std::normal_distribution<double> normal;
  const auto row = [](std::size_t i) { return static_cast<double>(i / 120) - 20; };
  const auto column = [](std::size_t i) { return static_cast<double>(i % 120) - 60; };
  const auto check = [](const char* what, const frame& f) { EXPECT_EQ(told(f), "none") << what; };
  check("normalised", made(size, [&](auto) { return normal(draw); }));
  check("pictures from 0 to 1", made(size, [&](auto) { return draw() % 256 / 255.0; }));
  check("pictures from 0 to 255", made(size, [&](auto) { return draw() % 256; }));
  check("a bell", made(size, [&](auto i) { return 255 * std::exp(-(row(i) * row(i) + column(i) * column(i)) / 50); }));
  check("a mask", made(size, [&](auto) { return draw() % 2 ? -3.4028234e38 : 0; }));
  check("a biased mask", made(size, [&](auto) { return draw() % 2 ? -1e9 : 0; }));
  check("powers of a spectrum", made(size, [&](auto) { return std::pow(10, 3 * normal(draw)); }));
  check("times in ns", made(size, [&](auto i) { return 1.7e18 + 1e12 * static_cast<double>(i); }));
  check("quiet sound", made(size, [&](auto) { return 1e-6 * normal(draw); }));
  check("one hot pixel", made(size, [&](auto i) { return i == 7 ? 1e30 : normal(draw); }));
  check("small numbers among zeros", made(size, [&](auto i) { return i % 50 ? 0 : 1e-8 * normal(draw); }));
  check("a few numbers of any size", {1e-30f, 1e30f, 1, 0});
  check("a scalar", {0.5f});
  check("nothing", frame(size));
}

TEST(frame_check, refuses_bytes_and_integers) {
  std::mt19937 draw(2);
  const auto check = [](const std::string& what, const frame& f) {
    EXPECT_TRUE(has(told(f), "taken for float32; frames are float32 numbers") || has(told(f), "NaN or infinite"))
        << what << ": " << told(f);
  };
  for (const int mean : {20, 45, 70, 100, 128, 160, 230})  // grey levels of pictures
    for (const int spread : {20, 35, 60}) {
      std::normal_distribution<double> grey(mean, spread);
      check(std::to_string(mean) + " ± " + std::to_string(spread),
            taken<std::uint8_t>(4 * size, [&](auto) { return std::clamp(grey(draw), 0.0, 255.0); }));
    }
  check("depths in mm", taken<std::uint16_t>(2 * size, [&](auto) { return 400 + draw() % 5000; }));
  check("sound", taken<std::int16_t>(2 * size, [&](auto) { return static_cast<double>(draw() % 2001) - 1000; }));
  check("labels", taken<std::int32_t>(size, [&](auto) { return draw() % 1000; }));
  check("long labels", taken<std::int64_t>(size, [&](auto) { return draw() % 1000; }));
  check("a few labels", taken<std::int32_t>(5, [](auto i) { return i; }));
  check("doubles", taken<double>(size, [&](auto) { return std::normal_distribution<double>{}(draw); }));
  // Nearly all at one end: pictures without contrast.
  EXPECT_TRUE(has(told(taken<std::uint8_t>(4 * size, [&](auto) { return 100 + draw() % 4; })),
                  "its numbers lie between 1.69e+22 and 1.09e+24 in size"));
  EXPECT_TRUE(has(told(taken<std::uint8_t>(4 * size, [&](auto) { return 16 + draw() % 4; })), "in size, as if bytes"));
}

TEST(frame_check, says_what_is_not_finite) {
  frame f(size, 1);
  f[17] = nan;
  f[90] = f[91] = f[92] = f[93] = -inf;
  EXPECT_EQ(
      told(f),
      "here, frame 0: 5 of its 4800 numbers are NaN or infinite, first number 17, nan; frames are float32 numbers as the "
      "model expects them, not bytes: convert pictures first (NumPy: x.astype(np.float32) / 255), or give --any-numbers "
      "if these numbers are right");
  f[17] = 1;  // too few for bytes
  EXPECT_EQ(told(f),
            "here, frame 0: 4 of its 4800 numbers are NaN or infinite, first number 90, -inf; correct the frame, or give "
            "--any-numbers if these numbers are right");
  f[91] = f[92] = f[93] = 1;
  EXPECT_TRUE(has(told(f), ": 1 of its 4800 numbers is NaN or infinite, first number 90, -inf; "));
  // Only in the first frame, whatever that tells.
  EXPECT_EQ(told({frame(size, 1), f}), "none");
  EXPECT_EQ(told(std::vector<frame>{f}, any), "none");
  EXPECT_EQ(told(std::vector<frame>{f}, checked), "none");  // which names them itself
}

TEST(frame_check, integers_are_whole_and_fit_their_type) {
  const auto of = [](tensor::number as, const frame& f) {
    return test::error_of([&] { app::frame_check({}, as).look(f, "here"); });
  };
  using tensor::number;
  frame bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<float>(i % 256);
  EXPECT_EQ(of(number::uint8, bytes), "none");
  EXPECT_EQ(
      of(number::boolean, bytes),
      "here, frame 0: its number 2, 2, is not 0 or 1; frames are float32 numbers with the values of bool: convert them "
      "without scaling (NumPy: x.astype(np.float32)), or give --any-numbers if these numbers are right");
  bytes[7] = 0.5F;
  EXPECT_TRUE(
      has(of(number::uint8, bytes), "here, frame 0: its number 7, 0.5, is not a whole number from 0 to 255; frames"));
  bytes[7] = 256;
  EXPECT_TRUE(has(of(number::uint8, bytes), "its number 7, 256, is not a whole number from 0 to 255; "));
  EXPECT_EQ(of(number::int32, bytes), "none");
  bytes[7] = -3;
  EXPECT_TRUE(has(of(number::uint8, bytes), "its number 7, -3, is not "));
  EXPECT_EQ(of(number::int64, bytes), "none");
  bytes[7] = 3e9F;
  EXPECT_TRUE(has(of(number::int32, bytes), "is not a whole number from -2147483648 to 2147483647; "));
  std::mt19937 draw(4);
  EXPECT_TRUE(has(of(number::uint8, taken<std::uint8_t>(4 * size, [&](auto) { return draw() % 256; })),
                  "; frames are float32 numbers with the values of uint8: convert them without scaling"));
}

TEST(frame_check, looks_on_while_all_numbers_are_equal) {
  std::mt19937 draw(3);
  const auto picture = taken<std::uint8_t>(4 * size, [&](auto) { return draw() % 256; });
  EXPECT_TRUE(has(told({frame(size), frame(size, 3), picture}), "here, frame 2: its numbers lie between "));
  auto other = frame(size);
  other.back() = 1;
  EXPECT_EQ(told({frame(size), other, picture}), "none");
  EXPECT_TRUE(has(told(std::vector<frame>{picture}, checked), "its numbers lie between "));
}

}  // namespace
