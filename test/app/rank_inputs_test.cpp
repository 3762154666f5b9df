// What a stream is, as the command line and the network say.
#include "dice/app/rank_inputs.hpp"

#include "error_of.hpp"
#include "runtime/toy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace dice;
using frames::pixel_format;

namespace {

const auto unchanged = [](app::options&) {};

/// The input of a network that takes `one` of type `as`, where its frames are a command's, under options that `set` has
/// changed.
struct stream_input {
  std::vector<graph::layer_info> layers;
  runtime::program program;
  app::options options;
  app::rank_view view;
  app::rank_inputs inputs;
  std::string warnings;

  template <class Set>
  stream_input(const tensor::shape& one, tensor::number as, pixel_format format, Set set)
      : program(toy_program().view()), view{program, options, 0}, inputs(view) {
    const auto& all = program.layers.layers;
    layers.assign(all.begin(), all.end());
    layers[0].output = tensor::type(one);
    layers[0].number = as;
    program.layers.layers = layers;
    options.inputs = {{{0, "cat 9x9"}, app::named_input::kinds::command}};
    options.pixels = {{0, {format}}};
    set(options);
    warnings = inputs.open();
  }
  const app::live_settings& settings() { return *inputs.live().settings().at(0); }

  static const toy::program& toy_program() {
    static const toy::program p(toy::diamond(), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1);
    return p;
  }
};

}  // namespace

TEST(rank_inputs, of_a_stream_have_the_inputs_size_unless_another_is_given) {
  stream_input own({1, 3, 4, 8}, tensor::number::float32, pixel_format::rgb24, unchanged);
  EXPECT_EQ(std::pair(own.settings().pixels.width, own.settings().pixels.height), std::pair(8, 4));
  EXPECT_EQ(own.settings().frame_bytes(), 96);
  EXPECT_EQ(own.settings().late, app::late_rule::wait);
  EXPECT_EQ(own.settings().timeout, 0);
  EXPECT_TRUE(own.inputs.scales_pictures());
  EXPECT_NE(own.warnings.find("names pictures of 9x9 pixels"), std::string::npos);
  stream_input given({1, 3, 4, 8}, tensor::number::float32, pixel_format::gray8, [](app::options& o) {
    o.pixels[0].pixels = {pixel_format::gray8, 9, 9};
    o.source_timeout = 1.5;
    o.source_restarts = 3;
  });
  EXPECT_EQ(given.settings().frame_bytes(), 81);
  EXPECT_EQ(given.settings().timeout, 1'500'000'000);
  EXPECT_EQ(given.settings().restarts, 3);
  EXPECT_EQ(given.warnings, "");
}

TEST(rank_inputs, of_a_stream_fit_without_scaling_if_so_asked) {
  for (const auto& [width, height] : {std::pair(8, 5), std::pair(7, 4)})
    EXPECT_EQ(test::error_of([&, size = std::pair(width, height)] {
                stream_input({1, 3, 4, 8}, tensor::number::float32, pixel_format::rgb24, [&](app::options& o) {
                  o.picture.fit = frames::fit_mode::none;
                  o.pixels[0].pixels = {pixel_format::rgb24, size.first, size.second};
                });
              }),
              "input 'in.0' takes 8×4 pixels, but the stream's pictures have " + std::to_string(width) + "×" +
                  std::to_string(height) + "; scale them with --fit crop, stretch or letterbox");
}

/// Numbers that are a network's bytes stay as they are.
TEST(rank_inputs, of_a_stream_are_normalised_unless_they_are_bytes) {
  const auto range = [](app::options& o) { o.picture.range = 255; };
  EXPECT_TRUE(stream_input({1, 3, 4, 8}, tensor::number::float32, pixel_format::float32, range).settings().form);
  EXPECT_FALSE(stream_input({1, 3, 4, 8}, tensor::number::uint8, pixel_format::float32, range).settings().form);
  stream_input bytes({1, 3, 4, 8}, tensor::number::uint8, pixel_format::rgb24, unchanged);
  EXPECT_TRUE(bytes.settings().form);
  EXPECT_FALSE(bytes.inputs.scales_pictures());
  EXPECT_FALSE(stream_input({1, 3, 4, 8}, tensor::number::float32, pixel_format::float32, unchanged).settings().form);
}
