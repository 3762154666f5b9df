// What --picture needs.
#include "dice/app/decode_options.hpp"

#include "runtime/toy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace dice;

#ifdef DICE_WITH_PICTURES

TEST(drawing_mistake, names_what_is_wrong) {
  static const toy::program toy_program(toy::two_by_two(), {0, 0, 0, 0, 0, 0, 0, 0}, 1);
  auto program = toy_program.view();
  std::vector<graph::layer_info> layers(program.layers.layers.begin(), program.layers.layers.end());
  program.layers.layers = layers;
  app::options o;
  o.decoders = {{{5}, decode::head::yolov8}};
  const auto told = [&](const std::string& file) {
    o.drawing = file;
    return app::detail::drawing_mistake(program, o);
  };
  layers[0].output = tensor::type{1, 3, 4, 8};
  for (const char* name : {"a.jpg", "a.jpeg", "a.png", "A.JPEG", "a%d.PNG", "%d/a.png"}) EXPECT_EQ(told(name), "");
  for (const char* name : {"a.gif", "a", "png", "a.png/b"})
    EXPECT_EQ(told(name), "--picture '" + std::string(name) + "': the name must end in .jpg, .jpeg or .png");
  for (const char* name : {"a%s.png", "%d%d.png", "%%d.png", "a%.png"})
    EXPECT_EQ(told(name), "--picture '" + std::string(name) + "': % stands only for the frame's number, as %d, once");
  layers[0].output = tensor::type{2, 3, 4, 8};
  EXPECT_EQ(told("a.png"), "--picture 'a.png': the network takes batches, but only single pictures are drawn");
  layers[0].output = tensor::type{3, 4, 8};
  EXPECT_EQ(told("a.png"), "");
}

#endif
