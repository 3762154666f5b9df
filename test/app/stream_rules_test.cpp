#include "dice/app/stream_rules.hpp"

#include "dice/app/options.hpp"
#include "dice/frames/pixels.hpp"

#include <gtest/gtest.h>

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

}  // namespace
