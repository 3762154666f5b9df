// Cameras, URLs and video files: what counts as one, and how ffmpeg is asked. Stand-ins for it are on the PATH.
#include "dice/app/input/video.hpp"

#include "dice/frames/pixels.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace dice;
namespace fs = std::filesystem;

namespace {

/// A folder with an ffmpeg and an ffprobe, which says `said`; the first one on the PATH, and the working folder, for the
/// duration of a test.
struct stand_ins {
  fs::path before = fs::current_path(), path = fs::temp_directory_path() / ("dice_video_" + std::to_string(::getpid()));
  std::string old_path = std::getenv("PATH");

  explicit stand_ins(const std::string& said) {
    fs::remove_all(path);
    fs::create_directory(path);
    for (const auto& [name, does] : {std::pair<std::string, std::string>{"ffmpeg", "exit 1"}, {"ffprobe", "echo " + said}}) {
      std::ofstream(path / name) << "#!/bin/sh\n" << does << "\n";
      fs::permissions(path / name, fs::perms::owner_all);
    }
    fs::current_path(path);
    ::setenv("PATH", (path.string() + ":" + old_path).c_str(), 1);
  }
  ~stand_ins() {
    ::setenv("PATH", old_path.c_str(), 1);
    fs::current_path(before);
    fs::remove_all(path);
  }
};

}  // namespace

TEST(video, is_known_by_its_name) {
  for (const char* name : {"/dev/video0", "rtsp://a", "rtsps://a", "rtmp://a", "udp://a", "http://a", "https://a"}) {
    EXPECT_TRUE(app::is_live_video(name)) << name;
    EXPECT_TRUE(app::is_video(name)) << name;
  }
  for (const char* name : {"a.mp4", "a.m4v", "a.mkv", "a.avi", "a.mov", "a.webm", "a.mpg", "a.mpeg", "a.mjpeg", "A.b.MP4"}) {
    EXPECT_FALSE(app::is_live_video(name)) << name;
    EXPECT_TRUE(app::is_video(name)) << name;
  }
  for (const char* name : {"", "mp4", "a.npy", "a.jpeg", "video0", "a/dev/video0", "file://a", "a.mp4/b.png"})
    EXPECT_FALSE(app::is_video(name)) << name;
}

TEST(video, is_asked_for_in_the_size_and_format_that_is_read) {
  const stand_ins here("64,48");
  std::ofstream("a b.mp4") << "video";
  std::ofstream("-v.mp4") << "video";
  frames::pixel_layout own;
  const auto from = app::video_origin("a b.mp4", own);
  EXPECT_EQ(own.format, frames::pixel_format::rgb24);
  EXPECT_EQ(std::pair(own.width, own.height), std::pair(64, 48));
  EXPECT_EQ(from.what,
            "exec ffmpeg -nostdin -loglevel error -i 'a b.mp4' -an -sn -dn -vf scale=64:48 -f rawvideo -pix_fmt rgb24 -");
  EXPECT_EQ(from.name(), "the source 'a b.mp4'");
  frames::pixel_layout given{frames::pixel_format::gray8, 32, 16};
  const auto option = app::video_origin("-v.mp4", given).what;  // a file, and no option of ffmpeg
  EXPECT_NE(option.find(" -i ./-v.mp4 -an -sn -dn -vf scale=32:16 -f rawvideo -pix_fmt gray -"), option.npos) << option;
  const auto camera = app::video_origin("rtsp://user:word@camera/1", given);
  EXPECT_NE(camera.what.find("-rtsp_transport tcp -i "), camera.what.npos);
  EXPECT_EQ(camera.name(), "the source 'rtsp://user:…@camera/1'");
}
