#include "dice/app/stream_rules.hpp"

#include "dice/app/options.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

using namespace dice;

namespace {

/// What is said of a command whose pictures are read as 640×480 pixels.
std::string said_of(const std::string& command, frames::pixel_format format = frames::pixel_format::gray8) {
  app::named_input source;
  source.file = command;
  source.kind = app::named_input::kinds::command;
  return app::size_unnamed(source, {format, 640, 480});
}

TEST(stream_rules, a_source_names_the_size_that_is_read) {
  for (const auto* command :
       {"v4l2-ctl --stream-mmap --stream-to=-", "ffmpeg -f v4l2 -video_size 640x480 -i /dev/video0 -",
        "ffmpeg -video_size 1280x720 -i /dev/video0 -vf scale=640:480 -",
        "gst-launch-1.0 v4l2src ! width=640,height=480 ! fdsink", "rpicam-vid --width 640 --height 480 -o -",
        "./camera --base 0x12 --port 80:81", "ffmpeg -vf scale=-1:320 -"})
    EXPECT_EQ(said_of(command), "") << command;
}

TEST(stream_rules, a_source_names_other_sizes) {
  for (const auto* command :
       {"ffmpeg -video_size 1280x720 -i /dev/video0 -vf scale=320:240 -", "320x240",
        "gst-launch-1.0 v4l2src ! video/x-raw,width=320,height=240 ! fdsink", "rpicam-vid --width 320 --height 240 -o -"})
    EXPECT_NE(said_of(command).find("names pictures of 320x240 pixels"), std::string::npos) << command;
  EXPECT_EQ(
      said_of("cat 1280x720 320x240"),
      "has a --source that names pictures of 320x240 pixels, but reads pictures of 640x480; if they are of another size, "
      "say so: --frames-as gray8:320x240");
  EXPECT_EQ(said_of("cat 320x240", frames::pixel_format::float32), "");
}

/// The first mistake of a run whose frames are a command's, under options that `set` has changed.
template <class Set> std::string mistake(Set set) {
  app::options o;
  o.inputs = {{{0, "cat"}, app::named_input::kinds::command}};
  set(o);
  return app::stream_mistake(o);
}

TEST(stream_rules, float32_frames_have_the_inputs_form) {
  const std::string wrong =
      "float32 frames already have the input's form; --fit, --border, --channel-order and --layout are ";
  const auto told = [&](auto set) { return mistake([&](app::options& o) { set(o.picture); }).substr(0, wrong.size()); };
  EXPECT_EQ(told([](auto&) {}), "");
  EXPECT_EQ(told([](auto& p) { p.mean = {0}; }), "");
  EXPECT_EQ(told([](auto& p) { p.fit = frames::fit_mode::stretch; }), wrong);
  EXPECT_EQ(told([](auto& p) { p.border = 1; }), wrong);
  EXPECT_EQ(told([](auto& p) { p.bgr = true; }), wrong);
  EXPECT_EQ(told([](auto& p) { p.channels_last = true; }), wrong);
  EXPECT_EQ(told([](auto& p) { p.channels_last = true, p.mean = {0}; }), "") << "it says where each channel's mean goes";
  EXPECT_EQ(mistake([](app::options& o) {
              o.picture.border = 1;
              o.pixels = {{0, {frames::pixel_format::gray8}}};
            }),
            "");
  EXPECT_EQ(mistake([](app::options& o) {
              o.picture.border = 1;
              o.inputs[0].kind = app::named_input::kinds::video;
            }),
            "");
}

TEST(stream_rules, frames_come_once) {
  EXPECT_NE(mistake([](app::options& o) { o.warmup = 1; }), "");
  EXPECT_NE(mistake([](app::options& o) { o.gather = true; }), "");
  EXPECT_NE(mistake([](app::options& o) { o.explain = true; }), "");
  EXPECT_EQ(mistake([](app::options& o) { o.source_restarts = 1; }), "");
  for (const int inputs : {1, 2})
    EXPECT_EQ(mistake([&](app::options& o) {
                o.inputs.assign(static_cast<std::size_t>(inputs), {{0, "-"}, app::named_input::kinds::standard});
                o.source_restarts = inputs == 1;
              }),
              inputs == 1
                  ? "--restart-source: the standard input cannot be started again; use --source 'COMMAND' or a named pipe"
                  : "--input -: the standard input can feed only one input; use --source or pipes for the others");
}

}  // namespace
