// Cameras, URLs and video files, which ffmpeg decodes.
#pragma once

#include "dice/app/input/byte_stream.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/meta/clock.hpp"
#include "dice/text/foreign.hpp"
#include "dice/this_host/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace dice::app {

/// Whether --input names a camera or a URL: its frames come when they are ready, not when they are wanted.
inline bool is_live_video(std::string_view where) {
  constexpr std::array<std::string_view, 7> begins{"/dev/video", "rtsp://", "rtsps://", "rtmp://",
                                                   "udp://",     "http://", "https://"};
  return std::any_of(begins.begin(), begins.end(), [&](std::string_view b) { return where.substr(0, b.size()) == b; });
}
/// Whether --input names what ffmpeg decodes: such a stream, or a video file, by its ending.
inline bool is_video(std::string_view where) {
  constexpr std::array<std::string_view, 9> ends{".mp4", ".m4v", ".mkv", ".avi", ".mov", ".webm", ".mpg", ".mpeg", ".mjpeg"};
  std::string end(where.substr(std::min(where.rfind('.'), where.size())));
  for (auto& c : end) c |= c >= 'A' && c <= 'Z' ? 32 : 0;
  return is_live_video(where) || std::find(ends.begin(), ends.end(), end) != ends.end();
}

namespace detail {

/// A URL as messages may show it: without a password, and without what follows '?', which may hold one.
[[gnu::cold]] inline std::string without_password(std::string url) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return url;
  const auto colon = url.find(':', begin + 3), at = url.rfind('@');
  if (colon < at && at != std::string::npos && url.find('/', begin + 3) > colon) {
    const auto port = std::string_view(url).substr(colon + 1, url.find('/', colon) - colon - 1);  // or the password
    if (port.find_first_not_of("0123456789") != std::string_view::npos) url.replace(colon + 1, at - colon - 1, "…");
  }
  if (const auto query = url.find('?', begin); query != std::string::npos) url.replace(query + 1, std::string::npos, "…");
  return url;
}
/// A command that reads a URL, whose own messages then show it like without_password().
[[gnu::cold]] inline std::string silenced(const std::string& command) {
  // The exit status is the command's. Descriptor 3 is the standard output, 4 brings the status.
  return "exec 3>&1; exit $({ { " + command +
         R"( 2>&1 >&3 3>&- 4>&-; echo $? >&4; } | sed -u 's#://\([^ /:@]*\):[^ ]*@#://\1:…@#g; s#\(://[^ ?]*\)?[^ ]*#\1?…#g' >&2 3>&- 4>&-; } 4>&1))";
}

/// The options by which ffmpeg and ffprobe read it.
inline std::string video_options(const std::string& where) {
  if (where.rfind("/dev/video", 0) == 0) return "-f v4l2 ";
  return where.rfind("rtsp", 0) == 0 ? "-rtsp_transport tcp " : "";
}

/// What a command prints within 30 s.
[[gnu::cold]] inline std::pair<std::string, this_host::command_end> output_of(const std::string& text) {
  byte_stream from({stream_origin::kinds::command, text, {}});
  from.open();
  char out[256];
  std::size_t n = 0;
  from.read(out, sizeof out, n, meta::now() + 30'000'000'000, [] { return false; });
  return {std::string(out, n), *from.close(std::chrono::seconds(1))};
}

}  // namespace detail

/// The command that decodes `where`. Gives `pixels` the video's own size if it has none, and a format if it has none. Throws
/// files::error if ffmpeg is missing or cannot read it.
[[gnu::cold]] inline stream_origin video_origin(const std::string& where, frames::pixel_layout& pixels) {
  const auto shown = detail::without_password(where);
  const auto fail = [&](const std::string& what) { throw files::error("'" + shown + "' " + what); };
  const auto quiet = [&](const std::string& command) {
    return shown == where ? "exec " + command : detail::silenced(command);
  };
  for (const char* program : {"ffmpeg", "ffprobe"})
    if (!this_host::has_program(program))
      fail("is decoded by " + std::string(program) +
           ", which this host lacks; install it (Debian: ffmpeg), or give a command "
           "that writes frames: --source 'COMMAND' --frames-as rgb24:640x480");
  if (where.find("://") == std::string::npos && ::access(where.c_str(), R_OK) != 0)
    fail(std::string("cannot be opened: ") + std::strerror(errno));
  const auto from = detail::video_options(where) + text::shell_word(where[0] == '-' ? "./" + where : where);
  if (pixels.format == frames::pixel_format::float32) pixels.format = frames::pixel_format::rgb24;
  if (pixels.width == 0) {
    const auto [size, end] = detail::output_of(
        quiet("ffprobe -v error -select_streams v:0 -show_entries stream=width,height -of csv=p=0 " + from));
    const auto comma = size.find(',');
    const auto number = [&](std::string_view text, int& to) { std::from_chars(text.data(), text.data() + text.size(), to); };
    if (comma != std::string::npos) {
      number(std::string_view(size).substr(0, comma), pixels.width);
      number(std::string_view(size).substr(comma + 1), pixels.height);
    }
    if (pixels.width <= 0 || pixels.height <= 0)
      fail(end.late ? "gives ffprobe no answer within 30 s" : "holds no video that ffprobe can read (" + end.text() + ")");
  }
  const auto word =
      pixels.format == frames::pixel_format::gray8 ? "gray" : frames::pixel_words[static_cast<std::size_t>(pixels.format)];
  const auto size = std::to_string(pixels.width) + ":" + std::to_string(pixels.height);
  const auto input = detail::video_options(where) + "-i " + text::shell_word(where[0] == '-' ? "./" + where : where);
  return {stream_origin::kinds::command,
          quiet("ffmpeg -nostdin -loglevel error " + input + " -an -sn -dn -vf scale=" + size + " -f rawvideo -pix_fmt " +
                std::string(word) + " -"),
          shown};
}

}  // namespace dice::app
