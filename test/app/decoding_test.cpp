// What --decode makes of results, without running anything.
#include "dice/app/output/decoded_results.hpp"

#include "error_of.hpp"

#include "dice/app/decode_options.hpp"
#include "dice/app/options.hpp"
#include "dice/app/output/result_sinks.hpp"
#include "dice/app/picture_boxes.hpp"
#include "dice/app/picture_sizes.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/clock.hpp"
#include "dice/pixels.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace dice;
using decode::box;
using decode::head;

namespace {

constexpr frames::picture_form square{.channels = 3, .height = 100, .width = 100, .fit = frames::fit_mode::letterbox};

/// Where results go after they are decoded; counts them.
struct counting final : frames::sink {
  int taken = 0;
  void take(int, std::int64_t, const std::byte*, const tensor::type&) override { ++taken; }
};

/// Decoded results whose records go to a file.
struct decoded {
  static inline int made = 0;
  std::string path = (std::filesystem::path(testing::TempDir()) /
                      ("dice_decoded_" + std::to_string(::getpid()) + "_" + std::to_string(made++)))
                         .string();
  app::decoded_results results;
  counting next;
  std::vector<std::pair<std::int64_t, std::vector<app::finding>>> heard;

  decoded(head as, std::vector<int> layers, std::vector<tensor::type> types, const app::picture_sizes& sizes,
          app::result_form form = app::result_form::top, decode::options how = {}) {
    app::decoder d{as, std::move(layers), std::move(types), std::move(how)};
    d.labels = {"cat", "dog"};
    d.form = form;
    d.to = std::make_unique<app::destination>(app::result_sink{0, app::result_sink::kinds::file, path, form}, 99);
    results.add(std::move(d));
    results.begin(
        next, [](std::int64_t) { return std::span<const std::string>(); }, sizes, [] {},
        [this](std::int64_t frame, std::vector<app::finding> found) { heard.emplace_back(frame, std::move(found)); });
  }
  decoded(const decoded&) = delete;
  ~decoded() { std::filesystem::remove(path); }

  void take(int layer, std::int64_t frame, const std::vector<float>& numbers, const tensor::type& as) {
    results.stamp(frame, {.time = 0, .steady = meta::now(), .number = frame});
    results.take(layer, frame, reinterpret_cast<const std::byte*>(numbers.data()), as);
  }
  std::string text() {
    results.finish();
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
};

}  // namespace

TEST(picture_boxes, end_at_the_edges_of_the_picture) {
  const auto clip = [](box b) { return app::clipped({b}, 20, 10); };
  EXPECT_EQ(clip({1, 2, 3, 4, 1, 7}), (std::vector<box>{{1, 2, 3, 4, 1, 7}}));
  EXPECT_EQ(clip({-1, -2, 3, 4, 1, 0}), (std::vector<box>{{0, 0, 2, 2, 1, 0}}));
  EXPECT_EQ(clip({18, 9, 3, 4, 1, 0}), (std::vector<box>{{18, 9, 2, 1, 1, 0}}));
  EXPECT_EQ(clip({-5, -5, 100, 100, 1, 0}), (std::vector<box>{{0, 0, 20, 10, 1, 0}}));
  EXPECT_EQ(clip({5, 5, 0, 0, 1, 0}).size(), 1u);
  for (const box outside : {box{-3, 2, 3, 4, 1, 0}, {20, 2, 3, 4, 1, 0}, {2, -4, 3, 4, 1, 0}, {2, 10, 3, 4, 1, 0}})
    EXPECT_TRUE(clip(outside).empty());
}

TEST(picture_sizes, of_the_first_input_that_has_pictures) {
  app::picture_sizes all;
  EXPECT_FALSE(all.axes(0));
  all.add(all.text());
  EXPECT_EQ(all.layer, -1);
  all.add(app::picture_sizes{.layer = 5, .form = square, .sizes = {10, 20}}.text());
  all.add(app::picture_sizes{.layer = 2, .form = square, .per_frame = 2, .sizes = {200, 100, 0, 0, 50, 100, 30, 30}}.text());
  all.add(app::picture_sizes{.layer = 3, .form = square, .sizes = {7, 7}}.text());
  EXPECT_EQ(all.layer, 2);
  EXPECT_EQ(all.axes(0, 0)->first.from, 200);
  EXPECT_EQ(all.axes(0, 0)->second.margin(), 25);
  EXPECT_FALSE(all.axes(0, 1)) << "numbers";
  EXPECT_EQ(all.axes(1, 0)->second.from, 100);
  EXPECT_EQ(all.axes(3, 1)->first.from, 30) << "they repeat";
  app::picture_sizes wide;
  wide.add(
      app::picture_sizes{.layer = 0, .form = {.height = 20, .width = 40, .fit = frames::fit_mode::stretch}, .sizes = {8, 8}}
          .text());
  EXPECT_EQ(std::pair(wide.axes(0)->first.scaled, wide.axes(0)->second.scaled), std::pair(40, 20));
}

TEST(decoding_of, knows_the_size_of_the_input) {
  const auto size = [](const tensor::shape& input, bool channels_last) {
    std::vector<graph::layer_info> layers(1);
    layers[0].output = tensor::type(input);
    layers[0].is_input = true;
    app::options o;
    o.picture.channels_last = channels_last;
    const auto how = app::decoding_of({layers, {}}, o);
    return std::pair(how.width, how.height);
  };
  const std::pair expected(40, 20);
  EXPECT_EQ(size({1, 3, 20, 40}, false), expected);
  EXPECT_EQ(size({3, 20, 40}, false), expected);
  EXPECT_EQ(size({1, 20, 40, 3}, true), expected);
  EXPECT_EQ(size({1, 20}, false), std::pair(0, 0));
  std::vector<graph::layer_info> two(2);
  for (auto& layer : two) layer.is_input = true;
  two[0].output = tensor::type{1, 3, 20, 40};
  two[1].output = tensor::type{1, 3, 8, 8};
  EXPECT_EQ(app::decoding_of({two, {}}, {}).width, 40) << "the first counts";
}

TEST(classes_of, are_those_that_labels_name) {
  const auto classes = [](head as, const tensor::shape& output) {
    std::vector<graph::layer_info> layers(1);
    layers[0].output = tensor::type(output);
    return app::classes_of({layers, {}}, {{0}, as});
  };
  EXPECT_EQ(classes(head::mask, {1, 21, 4, 4}), 21);
  EXPECT_EQ(classes(head::mask, {1, 1, 4, 4}), 2) << "one number tells two classes";
  EXPECT_EQ(classes(head::classes, {2, 10}), 10);
  EXPECT_EQ(classes(head::classes, {10}), 10);
  EXPECT_EQ(classes(head::yolov5, {1, 40, 8}), 3);
  EXPECT_EQ(classes(head::yolov8, {1, 7, 60}), 3);
  EXPECT_EQ(classes(head::yolov8, {1, 60, 7}), 3);
  EXPECT_EQ(classes(head::yolov10, {1, 300, 6}), 0) << "it does not say";
  std::vector<graph::layer_info> two(2);
  for (const std::size_t boxes : {0u, 1u}) {
    two[boxes].output = tensor::type{1, 30, 4};
    two[1 - boxes].output = tensor::type{1, 30, 9};
    EXPECT_EQ(app::classes_of({two, {}}, {{0, 1}, head::ssd}), 8) << "without the background";
    EXPECT_EQ(app::classes_of({two, {}}, {{0, 1}, head::yolov10}), 9);
  }
}

TEST(finding, has_bytes_of_classes_and_counts_what_is_dropped) {
  app::finding f{.mask = decode::mask{.classes = {0, 3, 254, 255, 256, 257, decode::mask::no_class}}};
  EXPECT_EQ(f.bytes(), std::string("\0\3\xfe\xff\xff\xff\xff", 7));
  const float scores[] = {0, std::numeric_limits<float>::quiet_NaN(), 1};
  const decode::result of{scores, tensor::type{1, 3}};
  const auto found = app::findings_of(head::classes, {&of, 1}, {}, 0, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].dropped, 1);
  EXPECT_EQ(found[0].text({}), "class 2 1.00, class 0 0.00");
}

TEST(decoded_results, of_batches) {
  // Of two pictures, 200×100 pixels and unknown; corners, score, class.
  const app::picture_sizes sizes{.layer = 0, .form = square, .per_frame = 2, .sizes = {200, 100, 0, 0}};
  const tensor::type type{2, 2, 6};
  decoded d(head::yolov10, {3}, {type}, sizes);
  const std::vector<float> x{60, 35, 90, 40, 0.5f, 1, 0, 0, 9, 9, 0.1f, 0, 10, 35, 30, 40, 0.7f, 0, -0.4f, 2, 3, 4, 0.6f, 2};
  d.take(3, 7, x, type);
  d.take(8, 7, x, type);  // another output
  EXPECT_EQ(d.next.taken, 2);
  ASSERT_EQ(d.heard.size(), 1u);
  EXPECT_EQ(d.heard[0].second[0].boxes, (std::vector<box>{{120, 20, 60, 10, 0.5f, 1}}));
  EXPECT_EQ(d.text(),
            "frame 7 [0]: dog 0.50 at 120, 20, 60×10\n"
            "frame 7 [1]: cat 0.70 at 10, 35, 20×5; class 2 0.60 at 0, 2, 3×2\n");
}

TEST(decoded_results, say_how_many_boxes_are_no_boxes) {
  const tensor::type type{1, 2, 6};
  decoded d(head::yolov10, {3}, {type}, {}, app::result_form::json);
  d.take(3, 0, {1, 2, 3, 4, 0.5f, 1, std::numeric_limits<float>::quiet_NaN(), 0, 9, 9, 0.7f, 0}, type);
  const auto line = d.text();
  EXPECT_NE(line.find(R"("width": 2, "height": 2}], "dropped": 1})"), line.npos) << line;
}

/// A network's other outputs are written as they are, with the same times.
TEST(decoded_results, hand_on_when_frames_came) {
  struct last final : frames::sink {
    frames::frame_stamp when;
    void take(int, std::int64_t, const std::byte*, const tensor::type&) override {}
    void stamp(std::int64_t, const frames::frame_stamp& w) override { when = w; }
  } end;
  const auto none = [](std::int64_t) { return std::span<const std::string>(); };
  app::result_sinks sinks;
  sinks.begin(end, none, [] {});
  app::decoded_results results;
  const app::picture_sizes sizes;
  results.begin(
      sinks, none, sizes, [] {}, nullptr);
  results.stamp(4, {.time = 5, .steady = 6, .number = 7});
  EXPECT_EQ(end.when.time, 5);
  EXPECT_EQ(end.when.number, 7);
}

/// A reader that takes nothing holds up the frames of its output, and no others.
TEST(decoded_results, wait_for_a_slow_reader) {
  app::decoder d{head::mask, {3}, {tensor::type(tensor::shape{1, 300, 300}, tensor::number::int64)}};
  d.form = app::result_form::raw;  // 90000 bytes, more than a pipe holds
  d.to = std::make_unique<app::destination>(app::result_sink{3, app::result_sink::kinds::command, "exec sleep 1000"}, 1);
  counting next;
  const app::picture_sizes sizes;
  app::decoded_results results;
  results.add(std::move(d));
  results.begin(
      next, [](std::int64_t) { return std::span<const std::string>(); }, sizes, [] {}, nullptr);
  EXPECT_TRUE(results.ready(3, 0));
  const std::vector<float> x(90000);
  for (int frame = 0; frame < 2; ++frame)
    results.take(3, frame, reinterpret_cast<const std::byte*>(x.data()), tensor::type{1, 300, 300});
  EXPECT_FALSE(results.ready(3, 2));
  EXPECT_TRUE(results.ready(4, 2));
}

TEST(decoded_results, of_classes_are_not_drawn) {
  const tensor::type type{1, 2};
  decoded d(head::classes, {3}, {type}, {});
  d.take(3, 0, {0, 1}, type);
  EXPECT_EQ(d.text(), "frame 0: dog 1.00, cat 0.00\n");
  EXPECT_TRUE(d.heard.empty()) << "the picture waits for the boxes of another output";
}

TEST(decoded_results, of_two_outputs_whose_frames_come_apart) {
  const tensor::type corners{1, 1, 4}, scores{1, 1, 2};
  decoded d(head::ssd, {3, 4}, {corners, scores}, {}, app::result_form::top, {.width = 10, .height = 10});
  d.take(3, 0, {0.1f, 0.1f, 0.2f, 0.3f}, corners);
  d.take(3, 1, {0.4f, 0.4f, 0.5f, 0.5f}, corners);
  EXPECT_TRUE(d.heard.empty());
  d.take(4, 0, {0.1f, 0.9f}, scores);
  d.take(4, 1, {0.4f, 0.6f}, scores);
  d.take(4, 2, {0.4f, 0.6f}, scores);
  d.take(3, 2, {0, 0, 1, 1}, corners);
  d.take(3, 0, {0, 0, 1, 1}, corners);
  EXPECT_EQ(d.heard.size(), 3u) << "nothing is left of frame 0";
  EXPECT_EQ(d.text(), "frame 0: cat 0.90 at 1, 1, 1×2\nframe 1: cat 0.60 at 4, 4, 1×1\nframe 2: cat 0.60 at 0, 0, 10×10\n");
}

TEST(decoded_results, of_masks) {
  const tensor::type type(tensor::shape{1, 2, 3}, tensor::number::int64);
  const std::vector<float> x{0, 0, 1, 1, 300, -5};
  decoded raw(head::mask, {0}, {type}, {}, app::result_form::raw), text(head::mask, {0}, {type}, {});
  raw.take(0, 0, x, {1, 2, 3});
  EXPECT_EQ(raw.text(), std::string("\0\0\1\1\xff\xff", 6)) << "255: none, or no byte";
  text.take(0, 0, x, {1, 2, 3});
  EXPECT_EQ(text.text(), "frame 0: cat 33.3 %, dog 33.3 %, class 300 16.7 %\n");
  decoded json(head::mask, {0}, {type}, {}, app::result_form::json);
  json.take(0, 0, x, {1, 2, 3});
  const auto line = json.text();
  EXPECT_NE(line.find(R"("mask": {"width": 3, "height": 2, "classes": [{"class": 0, "label": "cat", "pixels": 2}, )"
                      R"({"class": 1, "label": "dog", "pixels": 2}, {"class": 300, "pixels": 1}], )"
                      R"("runs": [[0, 2], [1, 2], [300, 1], [-1, 1]]}, "dropped": 1})"),
            line.npos)
      << line;
}

namespace {

/// As generated headers have it.
struct camera_input {
  static constexpr std::string_view onnx_name = "camera";
  static constexpr tensor::shape result{1, 3, 4, 4};
  static constexpr struct { tensor::number number; } op{tensor::number::float32};
};

}  // namespace

TEST(pixels, of_a_camera_become_frames_and_boxes_go_back) {
  auto camera =
      converter_for<camera_input>({pixel_format::rgb24, 8, 4}, {.mean = {0}, .deviation = {1}, .fit = fit_mode::letterbox});
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(camera.layout().bytes()), 255);
  std::vector<float> frame(48, -1);
  camera.convert(bytes.data(), frame.data());
  EXPECT_EQ(frame[0], 0) << "the border";
  EXPECT_EQ(frame[5], 1);
  // 8×4 pixels become 4×2, below a row of border.
  EXPECT_EQ(in_picture({{1, 2, 1, 1, 1, 5}, {2, 2, 9, 9, 1, 6}, {0, 0, 4, 1, 1, 7}}, camera),
            (std::vector<box>{{2, 2, 2, 2, 1, 5}, {4, 2, 4, 2, 1, 6}}));
  EXPECT_EQ(test::error_of([] {
              converter_for<camera_input>({pixel_format::nv12, 7, 4});
            }),
            "input 'camera': nv12 needs an even width, not 7");
}
