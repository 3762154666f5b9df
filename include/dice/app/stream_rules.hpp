// What goes together with frames that come as a stream.
#pragma once

#include "dice/app/options.hpp"

#include <algorithm>
#include <string>

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

/// The same of a run without streams.
[[gnu::cold]] inline std::string no_stream_mistake(const options& o) {
  const char* option = !o.pixels.empty()                ? "--frames-as"
                       : o.late != late_rule::automatic ? "--when-late"
                       : o.source_restarts > 0          ? "--restart-source"
                       : o.source_timeout > 0           ? "--source-timeout"
                                                        : nullptr;
  return option ? std::string(option) + " is for streams (--source, --input - or a named pipe), but no input is one" : "";
}

}  // namespace dice::app
