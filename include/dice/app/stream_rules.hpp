// What goes together with frames that come as a stream.
#pragma once

#include "dice/app/options.hpp"
#include "dice/frames/pixels.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace dice::app {

/// The first mistake in the options of a run whose frames come as a stream, or "".
[[gnu::cold]] inline std::string stream_mistake(const options& o) {
  using kinds = named_input::kinds;
  const std::string stream = "frames come as a stream, ";
  if (o.warmup > 0) return stream + "each only once, so none can be for warm-up; omit --warmup";
  if (o.gather) return stream + "and results are written as they come, by the rank that computes them; omit --gather";
  if (o.explain) return stream + "but --explain needs a fixed number of frames; give files, or --random SEED";
  const auto standard =
      std::count_if(o.inputs.begin(), o.inputs.end(), [](const auto& in) { return in.kind == kinds::standard; });
  if (standard > 1) return "--input -: the standard input can feed only one input; use --source or pipes for the others";
  if (standard > 0 && o.source_restarts > 0)
    return "--restart-source: the standard input cannot be started again; use --source 'COMMAND' or a named pipe";
  const bool pictures =
      std::any_of(o.pixels.begin(), o.pixels.end(),
                  [](const named_pixels& p) { return p.pixels.format != frames::pixel_format::float32; }) ||
      std::any_of(o.inputs.begin(), o.inputs.end(), [](const auto& in) { return in.kind == kinds::video; });
  const auto& f = o.picture;
  if (!pictures && (f.bgr || f.fit != frames::fit_mode::crop || f.border > 0 || (f.channels_last && !f.scales())))
    return "float32 frames already have the input's form; --fit, --border, --channel-order and --layout are for pictures: "
           "name their format with --frames-as";
  return {};
}

/// A warning if a source leaves the format of its pixels to ffmpeg, which takes that of the video, or "".
[[gnu::cold]] inline std::string pixels_unnamed(const named_input& from) {
  const auto has = [&](const char* text) { return from.file.find(text) != std::string::npos; };
  if (from.kind != named_input::kinds::command || !has("ffmpeg") || !has("rawvideo") || has("pix_fmt") || has("format="))
    return {};
  return "has a --source whose ffmpeg writes the pixels as the video has them; give ffmpeg the format of --frames-as, "
         "such as -pix_fmt rgb24, before its output";
}

/// A warning if a source's command names sizes of pictures, as in 640x480, scale=640:480, width=640,height=480 or
/// --width 640 --height 480, but not the size that is read, or "".
[[gnu::cold]] inline std::string size_unnamed(const named_input& from, const frames::pixel_layout& read) {
  if (from.kind != named_input::kinds::command || read.format == frames::pixel_format::float32) return {};
  constexpr std::string_view digits = "0123456789";
  const auto expected = std::to_string(read.width) + "x" + std::to_string(read.height);
  std::string_view text = from.file, before, number;  // a number, and what stands before it since the last one
  std::string named;
  for (std::size_t at = 0; (at = text.find_first_of(digits)) != text.npos;) {
    const auto wide = std::exchange(number, text.substr(at, text.find_first_not_of(digits, at) - at));
    const auto lead = std::exchange(before, text.substr(0, at));
    text.remove_prefix(at + number.size());
    const bool sizes = before == "x"   ? wide != "0"  // not of 0x1f
                       : before == ":" ? lead.ends_with("scale=")
                                       : (lead.ends_with("width=") && before.ends_with("height=")) ||
                                             (lead.ends_with("width ") && before.ends_with("height "));
    if (!sizes) continue;
    named = std::string(wide) + "x" + std::string(number);
    if (named == expected) return {};
  }
  if (named.empty()) return {};
  return "has a --source that names pictures of " + named + " pixels, but reads pictures of " + expected +
         "; if they are of another size, say so: --frames-as " +
         std::string(frames::pixel_words[static_cast<std::size_t>(read.format)]) + ":" + named;
}

/// The first mistake in the options of a run without streams, or "".
[[gnu::cold]] inline std::string no_stream_mistake(const options& o) {
  const char* option = !o.pixels.empty()                ? "--frames-as"
                       : o.late != late_rule::automatic ? "--when-late"
                       : o.source_restarts > 0          ? "--restart-source"
                       : o.source_timeout > 0           ? "--source-timeout"
                                                        : nullptr;
  return option ? std::string(option) + " is for streams (--source, --input - or a named pipe), but no input is one" : "";
}

}  // namespace dice::app
