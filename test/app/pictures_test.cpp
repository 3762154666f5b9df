// Pictures as frames: compared with Pillow's results (pictures/make.py), and pictures that are refused.
#include "dice/app/input/pictures.hpp"
#include "dice/app/input/files.hpp"

#include <gtest/gtest.h>
#include <stb/stb_image_write.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace dice;
namespace fs = std::filesystem;

namespace {

const std::string folder = DICE_TEST_PICTURES "/";

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// An empty folder for the duration of a test.
struct scratch {
  fs::path path = fs::temp_directory_path() / ("dice_pictures_" + std::to_string(::getpid()));
  scratch() {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~scratch() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& bytes) const {
    fs::remove(path / name);  // replacing a file makes some file systems wait for the disk
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
};

frames::picture_form form(tensor::shape one, frames::picture_settings o = {}) {
  return frames::form_of(one, "input 'x'", o);
}

std::vector<float> picture(const std::string& path, const frames::picture_form& f) {
  std::vector<float> out(static_cast<std::size_t>(f.elements()), -1000);
  app::read_picture(path, f, out.data());
  return out;
}

/// What reading the picture throws, or "".
std::string error_of(const std::string& path, const frames::picture_form& f) {
  try {
    picture(path, f);
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

#define EXPECT_TELLS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace

TEST(pictures, are_as_pillow_makes_them) {
  struct {
    const char *file, *reference;
    tensor::shape one;
    frames::fit_mode fit;
    double tolerance;  // for samples from 0 to 255: Pillow rounds to integers twice, other JPEG decoders round differently
  } const cases[] = {
      {"colour.png", "as_it_is", {1, 3, 36, 46}, frames::fit_mode::none, 0.001},
      {"interlaced.png", "as_it_is", {1, 3, 36, 46}, frames::fit_mode::crop, 0.001},
      {"transparent.png", "as_it_is", {1, 3, 36, 46}, frames::fit_mode::letterbox, 0.001},
      {"deep.png", "as_it_is", {1, 3, 36, 46}, frames::fit_mode::crop, 1},
      {"colour.jpg", "jpeg", {1, 3, 36, 46}, frames::fit_mode::crop, 2.01},
      {"progressive.jpg", "progressive", {1, 3, 36, 46}, frames::fit_mode::crop, 2.01},
      {"colour.png", "crop", {1, 3, 16, 16}, frames::fit_mode::crop, 1.01},
      {"deep.png", "crop", {1, 3, 16, 16}, frames::fit_mode::crop, 2.01},
      {"palette.png", "palette", {1, 3, 16, 16}, frames::fit_mode::crop, 1.01},
      {"colour.png", "grow", {1, 3, 48, 48}, frames::fit_mode::crop, 1.01},
      {"colour.png", "stretch", {1, 3, 16, 16}, frames::fit_mode::stretch, 1.01},
      {"colour.png", "to_grey", {1, 1, 16, 16}, frames::fit_mode::crop, 2.01},
      {"deep.png", "to_grey", {1, 1, 16, 16}, frames::fit_mode::crop, 2.01},
      {"grey.png", "to_grey", {1, 1, 16, 16}, frames::fit_mode::crop, 1.01},
      {"grey.png", "to_colour", {1, 3, 16, 16}, frames::fit_mode::crop, 1.01},
  };
  for (const auto& c : cases) {
    frames::picture_settings o;
    o.fit = c.fit;
    const auto f = form(c.one, o);
    const auto found = picture(folder + c.file, f);
    const auto expected = frames::read_frames(folder + c.reference + ".npy", c.one, "reference");
    ASSERT_EQ(found.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto deviation = f.deviation[i / (found.size() / f.deviation.size())];
      worst = std::max(worst, std::abs(double{found[i]} - double{expected.data()[i]}) * double{deviation} * 255);
    }
    EXPECT_LE(worst, c.tolerance) << c.file << " as " << c.reference;
  }
}

TEST(pictures, layouts_and_numbers) {
  frames::picture_settings o;
  o.mean = {0.5f, 0.25f, 0.125f};
  o.deviation = {0.5f};
  const auto first = picture(folder + "colour.png", form({1, 3, 16, 12}, o));
  o.channels_last = true;
  const auto last = picture(folder + "colour.png", form({16, 12, 3}, o));
  o.mean = {0};
  o.deviation = {1};
  const auto plain = picture(folder + "colour.png", form({1, 16, 12, 3}, o));
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < 16 * 12; ++i) {
      ASSERT_EQ(first[c * 16 * 12 + i], last[3 * i + c]);
      const float mean[] = {0.5f, 0.25f, 0.125f};
      ASSERT_EQ(last[3 * i + c], (plain[3 * i + c] - mean[c]) / 0.5f);
      ASSERT_TRUE(plain[3 * i + c] >= 0 && plain[3 * i + c] <= 1);
    }
}

TEST(pictures, sizes) {
  const auto placed = [](int width, int height, int to_width, int to_height, frames::fit_mode m) {
    frames::picture_form f;
    f.width = to_width;
    f.height = to_height;
    f.fit = m;
    const auto [x, y] = frames::axes_of(width, height, f);
    return std::array{x.scaled, x.skipped(), x.margin(), y.scaled, y.skipped(), y.margin()};
  };
  using enum frames::fit_mode;
  using a = std::array<int, 6>;
  EXPECT_EQ(placed(500, 375, 224, 224, crop),
            (a{341, 58, 0, 256, 16, 0}));  // as torchvision: int(256 · 500 / 375), round(58.5)
  EXPECT_EQ(placed(375, 500, 224, 224, crop), (a{256, 16, 0, 341, 58, 0}));
  EXPECT_EQ(placed(224, 224, 224, 224, crop), (a{224, 0, 0, 224, 0, 0}));  // unchanged
  EXPECT_EQ(placed(448, 100, 320, 160, crop), (a{819, 250, 0, 183, 12, 0}));
  EXPECT_EQ(placed(500, 375, 224, 100, stretch), (a{224, 0, 0, 100, 0, 0}));
  EXPECT_EQ(placed(500, 375, 224, 224, letterbox), (a{224, 0, 0, 168, 0, 28}));
  EXPECT_EQ(placed(65535, 1, 224, 224, letterbox), (a{224, 0, 0, 1, 0, 111}));
  EXPECT_EQ(placed(1, 65535, 224, 224, crop)[3], 256 * 65535);
}

TEST(pictures, letterbox_has_black_borders) {
  frames::picture_settings o;
  o.fit = frames::fit_mode::letterbox;
  o.mean = {0};
  o.deviation = {1};
  const auto f = form({1, 3, 64, 32}, o);  // 46×36 becomes 32×25
  const auto found = picture(folder + "transparent.png", f);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 64; ++y) {
      float sum = 0;
      for (int x = 0; x < 32; ++x) sum += found[f.index(c, y, x)];
      ASSERT_EQ(sum > 0, y >= 19 && y < 44) << y;
    }
}

TEST(pictures, of_grey_with_transparency) {
  const scratch files;
  std::string png;
  const auto append = [](void* to, void* bytes, int n) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(n));
  };
  const unsigned char samples[] = {51, 255, 0, 7};  // of two pixels
  ASSERT_TRUE(::stbi_write_png_to_func(append, &png, 2, 1, 2, samples, 0));
  EXPECT_EQ(picture(files.write("grey.png", png), form({1, 1, 1, 2})), (std::vector<float>{0.2f, 0}));
}

/// Pictures of a single colour keep it at all ratios of sizes, even when they are very long.
TEST(pictures, resizing_keeps_what_is_plain) {
  std::mt19937 random(7);
  const auto side = [&](int most) {
    return static_cast<int>(std::exp(std::uniform_real_distribution<>(0, std::log(most))(random)));
  };
  for (int i = 0; i < 200; ++i) {
    const int width = side(65535), height = side(std::min(65535, 300'000 / width + 1));
    frames::picture_form f;
    f.channels = 1;
    f.width = side(100);
    f.height = side(100);
    f.fit = i % 2 ? frames::fit_mode::crop : frames::fit_mode::stretch;
    const std::vector<std::uint16_t> plain(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 13107);
    std::vector<float> to(static_cast<std::size_t>(f.elements()), -1);
    frames::picture_scaler(width, height, f).write(plain.data(), 1.0f / 65535, to.data());
    for (float x : to) ASSERT_NEAR(x, 0.2f, 1e-5f) << width << "×" << height << " to " << f.width << "×" << f.height;
  }
}

TEST(pictures, that_fit_no_input) {
  const auto refusal = [](tensor::shape one, const frames::picture_settings& o) {
    try {
      form(one, o);
      return std::string();
    } catch (const files::error& e) {
      return std::string(e.what());
    }
  };
  frames::picture_settings o;
  EXPECT_TELLS(refusal({1, 10}, o), "input 'x', float32 (1, 10): they need channels, height and width");
  EXPECT_TELLS(refusal({1, 224, 224, 3}, o),
               "it has 224 channels, but pictures give 1 or 3; if channels come last, use --layout nhwc");
  EXPECT_TELLS(refusal({1, 4, 8, 8}, o), "4 channels");
  o.mean = {1, 2, 3};
  EXPECT_TELLS(refusal({1, 1, 8, 8}, o), "--mean gives 3 numbers");
  EXPECT_EQ(refusal({3, 8, 8}, o), "");
  o.fit = frames::fit_mode::none;
  const auto text = error_of(folder + "colour.png", form({1, 3, 8, 8}, o));
  EXPECT_TELLS(text, "colour.png' has 46×36 pixels, but the input has 8×8");
  EXPECT_TELLS(text, "--fit crop, stretch or letterbox");
}

TEST(pictures, that_are_damaged) {
  const scratch files;
  const auto f = form({1, 3, 16, 16});
  for (const char* name : {"colour.png", "interlaced.png", "colour.jpg", "progressive.jpg"}) {
    const auto whole = content(folder + name);
    for (std::size_t n = 0; n < whole.size(); n += n + 10 < whole.size() ? 1 + n / 20 : 1) {
      const auto path = files.write(name, whole.substr(0, n));
      const auto text = error_of(path, f);
      EXPECT_TELLS(text, "'" + path + "' is ");
      if (std::string(name).ends_with(".jpg") && n > whole.size() / 2) {  // behind the header
        EXPECT_TRUE(text.ends_with("' is cut short")) << text;
      }
    }
    EXPECT_EQ(error_of(files.write(name, whole), f), "");
    EXPECT_EQ(error_of(files.write(name, whole + "more"), f), "");
  }
  std::mt19937 random(1);
  for (const char* name : {"deep.png", "palette.png", "colour.jpg", "progressive.jpg"}) {
    auto bytes = content(folder + name);
    for (int i = 0; i < 300; ++i) {
      auto& byte = bytes[8 + random() % (bytes.size() - 8)];
      const auto before = byte;
      byte = static_cast<char>(byte ^ 1 << random() % 8);
      const auto text = error_of(files.write(name, bytes), f);  // a JPEG may still be valid, with other content
      if (std::string(name).ends_with(".png")) {
        EXPECT_NE(text, "") << name;
      }
      byte = before;
    }
  }
  EXPECT_TELLS(error_of(files.write("bomb.png", content(folder + "bomb.png")), f), "its data do not fit 10×10 pixels");
  EXPECT_TELLS(error_of(files.write("gif", "GIF89a" + std::string(100, 'x')), f),
               "is damaged or an unsupported kind of picture");
  EXPECT_TELLS(error_of((files.path / "none.png").string(), f), "none.png' cannot be read: No such file");
}

/// Marks of restarts are part of the data, and the end may follow one.
TEST(pictures, of_jpeg_with_restarts) {
  const std::string begin("\xff\xd8\xff\xda\0\4xy12\xff\0", 12), end("\xff\xd9", 2);
  for (const auto* mark : {"\xff\xd0", "\xff\xd7"})
    EXPECT_NO_THROW(app::detail::check_jpeg({.path = "a.jpg", .bytes = begin + mark + "\x7f\x7f" + end})) << mark;
  EXPECT_THROW(app::detail::check_jpeg({.path = "a.jpg", .bytes = begin + "\xff\xd0\x7f"}), files::error);
}

TEST(pictures, that_are_too_large) {
  const scratch files;
  auto png = content(folder + "colour.png");
  for (const auto& [width, height] : {std::pair{20000u, 5001u}, {70000u, 10u}, {10u, 70000u}}) {
    for (std::size_t i = 0; i < 4; ++i)
      png[16 + i] = static_cast<char>(width >> (24 - 8 * i)), png[20 + i] = static_cast<char>(height >> (24 - 8 * i));
    const auto path = files.write("large.png", png);
    const auto size = std::to_string(width) + "×" + std::to_string(height);
    EXPECT_TELLS(error_of(path, form({1, 3, 16, 16})), "large.png' has " + size + " pixels; the limit is 100 million");
    EXPECT_THROW(app::check_picture(path, form({1, 3, 16, 16})), files::error);
  }
}

TEST(input_files, of_a_folder) {
  const scratch files;
  files.write("b.png", content(folder + "grey.png"));
  files.write("a.JPG", content(folder + "colour.jpg"));
  files.write("c", content(folder + "crop.npy"));
  files.write("d.png", content(folder + "grow.npy").substr(0, 4) + "no picture");
  files.write(".e.png", "hidden");
  files.write("f.txt", "text");
  fs::create_directory(files.path / "g");
  const app::options o;
  const auto at = files.path.string();
  {
    app::input_files all({1, 3, 16, 16}, "input 'x'", o);
    try {
      all.add(at);
      FAIL();
    } catch (const files::error& e) {
      EXPECT_TELLS(std::string(e.what()), at + "/d.png' is neither a .npy file nor a JPEG or PNG picture");
    }
  }
  fs::remove(files.path / "d.png");
  app::input_files all({1, 3, 16, 16}, "input 'x'", o);
  all.add(at);
  all.add(folder + "crop.npy");
  all.add(folder + "colour.png");
  EXPECT_EQ(all.frames(), 5);
  EXPECT_EQ(all.warning(), "skips files in the folder '" + at + "' that are not .npy, JPEG or PNG: 'f.txt', 'g'");
  EXPECT_EQ(all.pictures(), (std::vector<std::string>{at + "/a.JPG", at + "/b.png", "", "", folder + "colour.png"}));
  const auto given = frames::read_frames(folder + "crop.npy", {1, 3, 16, 16}, "reference");
  std::vector<std::vector<float>> read(5, std::vector<float>(given.size()));
  for (std::size_t i = 0; i < 5; ++i) all.read(static_cast<std::int64_t>(i), read[i].data());
  EXPECT_EQ(read[0], picture(at + "/a.JPG", form({1, 3, 16, 16})));
  EXPECT_EQ(read[1], picture(at + "/b.png", form({1, 3, 16, 16})));
  EXPECT_TRUE(std::equal(read[2].begin(), read[2].end(), given.data()));
  EXPECT_EQ(read[2], read[3]);
  fs::remove(files.path / "b.png");  // its samples are kept for repeated frames
  std::vector<float> again(given.size());
  all.read(1, again.data());
  EXPECT_EQ(again, read[1]);
}

// A network that takes bytes gets them from pictures and from files of uint8.
TEST(input_files, of_bytes) {
  using tensor::number;
  const scratch files;
  const app::options o;
  const auto npy = files.path / "bytes.npy";
  frames::tensor given = xt::zeros<float>({1, 3, 16, 16});
  given(0, 2, 15, 15) = 200;
  frames::write_npy(npy.string(), given, number::uint8);
  app::input_files all({1, 3, 16, 16}, "input 'x'", o, number::uint8);
  all.add(npy.string());
  all.add(folder + "colour.png");
  std::vector<float> read(given.size()), bytes(read);
  all.read(0, read.data());
  EXPECT_TRUE(std::equal(read.begin(), read.end(), given.data()));
  all.read(1, bytes.data());
  EXPECT_GT(std::ranges::max(bytes), 100);
  app::options plain;
  plain.picture.mean = {0};
  plain.picture.deviation = {1};
  app::input_files samples({1, 3, 16, 16}, "input 'x'", plain, number::uint8);  // as the options say
  samples.add(folder + "colour.png");
  samples.read(0, read.data());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], std::nearbyint(bytes[i]));
    EXPECT_NEAR(bytes[i], 255 * read[i], 0.51f);
  }
}

TEST(input_files, of_folders_without_pictures) {
  const scratch files;
  const app::options o;
  for (int round = 0; round < 2; ++round) {
    app::input_files all({1, 3, 16, 16}, "input 'x'", o);
    try {
      all.add(files.path.string() + "/");
      FAIL();
    } catch (const files::error& e) {
      EXPECT_TELLS(std::string(e.what()), "the folder '" + files.path.string() + "/' holds no .npy, JPEG or PNG file");
    }
    files.write("notes.txt", "text");
  }
}

TEST(input_files, of_several_pictures_a_frame) {
  const app::options o;
  app::input_files all({2, 3, 16, 16}, "input 'x'", o);
  for (const char* name : {"colour.png", "grey.png", "colour.jpg"}) all.add(folder + name);
  EXPECT_THROW(all.frames(), files::error);
  all.add(folder + "deep.png");
  EXPECT_EQ(all.frames(), 2);
  EXPECT_EQ(all.pictures(), (std::vector<std::string>{folder + "colour.png", folder + "grey.png", folder + "colour.jpg",
                                                      folder + "deep.png"}));
  std::vector<float> frame(2 * 3 * 16 * 16);
  all.read(1, frame.data());
  auto expected = picture(folder + "colour.jpg", form({1, 3, 16, 16}));
  const auto second = picture(folder + "deep.png", form({1, 3, 16, 16}));
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(frame, expected);
}

TEST(input_files, of_several_folders) {
  const scratch files;
  for (const char* name : {"a", "b", "c"}) fs::create_directory(files.path / name);
  const auto at = [&](const char* name) { return (files.path / name).string(); };
  files.write("a/picture", content(folder + "colour.png"));  // known by its content
  files.write("a/notes", "text");
  files.write("b/more", "text");
  files.write("b/grey.png", content(folder + "grey.png"));
  files.write("c/other", "text");
  const app::options o;
  app::input_files all({1, 3, 16, 16}, "input 'x'", o);
  all.add(at("a/"));
  all.add(at("b"));
  EXPECT_EQ(all.pictures(), (std::vector<std::string>{at("a/picture"), at("b/grey.png")}));
  EXPECT_EQ(all.warning(), "skips files in the folder '" + at("a/") +
                               "' that are not .npy, JPEG or PNG: 'notes'; skips files in the folder '" + at("b") +
                               "' that are not .npy, JPEG or PNG: 'more'");
  const auto refusal = [&](const std::string& path) {
    try {
      all.add(path);
      return std::string();
    } catch (const files::error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_TELLS(refusal(at("c")), "/c' holds no .npy, JPEG or PNG file");
  files.write("c/X.PNG", "no picture");  // known by its name
  EXPECT_TELLS(refusal(at("c")), "/c/X.PNG' is neither a .npy file nor a JPEG or PNG picture");
}
