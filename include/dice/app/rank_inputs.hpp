// What enters at a rank.
#pragma once

#include "dice/app/input/files.hpp"
#include "dice/app/input/live_inputs.hpp"
#include "dice/app/input/video.hpp"
#include "dice/app/picture_sizes.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/app/stream_rules.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/frames/source.hpp"
#include "dice/job/record.hpp"
#include "dice/text/table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The frames of a rank's graph inputs: files, random frames, streams.
class rank_inputs {
 public:
  explicit rank_inputs(const rank_view& of) : of_(of) {}

  /// Opens the files, and finds what streams there are. Returns warnings, or "". Throws files::error, std::runtime_error.
  std::string open() {
    std::string warnings;
    const auto warn = [&](const std::string& more) { warnings += (warnings.empty() || more.empty() ? "" : "; ") + more; };
    for (int l = 0; l < of_.layers(); ++l) {
      const auto& about = of_.layer(l);
      if (!about.is_input || !of_.here(l)) continue;
      const auto what = "input '" + of_.name(l) + "'";
      std::vector<const named_input*> given;
      for (const auto& f : of_.options.inputs)
        if (f.layer == l) given.push_back(&f);
      if (std::any_of(given.begin(), given.end(), [](const auto* f) { return f->streams() || is_pipe(f->file); })) {
        if (given.size() > 1)
          throw files::error(what + " is a stream and cannot have other frames, too; give it one --input or --source");
        const auto settings = live_settings_of(*given[0], what);
        warn(pixels_unnamed(*given[0]));
        warn(size_unnamed(*given[0], settings.pixels));
        live_.add(l, of_.name(l), std::make_unique<live_input>(settings, of_.options, about.number));
        continue;
      }
      auto& files = files_.try_emplace(l, about.output, what, of_.options, about.number).first->second;
      for (const auto* f : given) files.add(f->file);
      if (files.frames() == 0) continue;
      source_.add(l, files.frames(), [&files](std::int64_t frame, float* to) { files.read(frame, to); });
      warn(files.warning());
    }
    return warnings;
  }
  /// Whether an input here is a stream; after open().
  bool streams() const { return !live_.empty(); }

  /// For all ranks: the name, the number of frames and the pictures of each input that has files.
  std::string counts() const {
    job::record out;
    for (const auto& [l, files] : files_) {
      if (files.frames() == 0) continue;
      job::record pictures;
      for (const auto& picture : files.pictures()) pictures.put(picture);
      out.put(of_.name(l));
      out.put(files.frames());
      out.put(pictures.text());
    }
    return out.text();
  }
  /// Of the pictures of the first input here that has some.
  picture_sizes sizes() const {
    picture_sizes out;
    const auto add = [&](int l, picture_sizes of) {
      of.layer = l;
      out.add(of.text());
    };
    for (const auto& [l, files] : files_)
      if (auto of = files.sizes(); !of.sizes.empty()) add(l, std::move(of));
    for (const auto& [l, stream] : live_.settings())
      if (const auto& p = stream->pixels; p.format != frames::pixel_format::float32)
        add(l, {.form = *stream->form, .sizes = {p.width, p.height}});
    return out;
  }
  /// Whether samples of pictures get a mean and a deviation, and are not bytes.
  bool scales_pictures() const {
    const auto scaled = [](const frames::picture_form& f) { return !f.mean.empty(); };
    return std::any_of(files_.begin(), files_.end(), [&](const auto& f) { return scaled(f.second.sizes().form); }) ||
           std::ranges::any_of(live_.settings(), [&](const auto& s) { return s.second->form && scaled(*s.second->form); });
  }
  /// The files that are read; "-": standard input.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (const int l = of_.options.standard_input(); l >= 0 && of_.here(l)) out.emplace_back("-");
    for (const auto& [l, input] : files_) out.insert(out.end(), input.files().begin(), input.files().end());
    return out;
  }

  /// Memory of the random frames of a run of `frames` frames.
  std::int64_t bytes(std::int64_t frames) const {
    std::int64_t out = 0;
    for (int l = 0; l < of_.layers(); ++l)
      if (is_random(l)) out += made_ahead(l, frames) * of_.layer(l).output.bytes();
    return out;
  }
  /// Makes them.
  void make_random(std::int64_t frames) {
    int ordinal = 0;
    for (int l = 0; l < of_.layers(); ++l) {
      const auto& about = of_.layer(l);
      if (is_random(l)) source_.add_random(l, about.output, ordinal, of_.options.random.value_or(0), made_ahead(l, frames));
      ordinal += about.is_input;
    }
  }

  /// The picture's file from which frame `frame` of input `layer` comes, or "".
  std::string picture_of(int layer, std::int64_t frame) const {
    const auto at = files_.find(layer);
    return at == files_.end() || at->second.frames() == 0 ? "" : at->second.picture(frame);
  }

  /// The frames of a run without streams.
  frames::source& source() { return source_; }
  /// The frames of a run with streams.
  live_inputs& live() { return live_; }

 private:
  bool is_random(int l) const { return of_.layer(l).is_input && of_.here(l) && !of_.options.has_input(l); }
  /// How many random frames of input `l` are made before the first of `frames` enters.
  std::int64_t made_ahead(int l, std::int64_t frames) const {
    return frames::made_ahead(of_.layer(l).output, std::max(frames, of_.options.warmup));
  }

  static bool is_pipe(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  }

  /// What a stream is. Throws files::error.
  [[gnu::cold]] live_settings live_settings_of(const named_input& given, const std::string& what) const {
    using kinds = named_input::kinds;
    const auto& o = of_.options;
    const auto& about = of_.layer(given.layer);
    live_settings out{.one = about.output,
                      .late = o.late,
                      .restarts = o.source_restarts,
                      .timeout = static_cast<std::int64_t>(o.source_timeout * 1e9)};
    for (const auto& p : o.pixels)
      if (p.layer == given.layer) out.pixels = p.pixels;
    switch (given.kind) {
      case kinds::standard:
        break;
      case kinds::video:
        out.from = video_origin(given.file, out.pixels);
        break;
      case kinds::command:
        out.from = {stream_origin::kinds::command, given.file, {}};
        break;
      case kinds::file:
        out.from = {stream_origin::kinds::pipe, given.file, {}};
    }
    if (out.late == late_rule::automatic)
      out.late = given.kind == kinds::video && is_live_video(given.file) ? late_rule::drop_oldest : late_rule::wait;
    const bool raw = out.pixels.format == frames::pixel_format::float32;
    if (raw && !o.picture.scales()) return out;
    out.form = frames::form_of(about.output, what, o.picture, about.number);
    if (raw && out.form->mean.empty()) out.form.reset();  // bytes come as they are
    if (raw) return out;
    if (out.pixels.width == 0) {
      out.pixels.width = out.form->width;
      out.pixels.height = out.form->height;
    }
    if (const auto wrong = out.pixels.mistake(); !wrong.empty())
      throw files::error(what + ": " + wrong + "; give --frames-as another size or format");
    if (out.form->fit == frames::fit_mode::none &&
        (out.pixels.width != out.form->width || out.pixels.height != out.form->height))
      throw files::error(what + " takes " + std::to_string(out.form->width) + "×" + std::to_string(out.form->height) +
                         " pixels, but the stream's pictures have " + std::to_string(out.pixels.width) + "×" +
                         std::to_string(out.pixels.height) + "; scale them with --fit crop, stretch or letterbox");
    return out;
  }

  const rank_view& of_;
  std::map<int, input_files> files_;  ///< by graph input
  frames::tensor_source source_;
  live_inputs live_{source_};
};

/// What all ranks' inputs have.
struct given_frames {
  std::int64_t frames = 0;              ///< of each input; 0: none is given
  std::vector<std::string> pictures{};  ///< of the input that has them, whichever rank it is in
  std::size_t pictures_per_frame = 1;
  std::string mistake{};  ///< if inputs differ

  picture_sizes sizes{};

  /// The pictures of frame `frame`; they repeat cyclically.
  std::span<const std::string> pictures_of(std::int64_t frame) const {
    const std::span all(pictures);
    return all.empty() ? all
                       : all.subspan(static_cast<std::size_t>(frame) * pictures_per_frame % all.size(), pictures_per_frame);
  }

  /// Adds a rank's rank_inputs::counts().
  void add(const std::string& counts) {
    for (job::record c(counts); c.more();) {
      const auto input = c.get();
      const auto n = c.get_number();
      if (frames == 0) {
        frames = n;
        first_ = input;
      }
      if (n != frames && mistake.empty())
        mistake = "input '" + first_ + "' has " + text::count_text(frames, "frame") + ", input '" + input + "' has " +
                  std::to_string(n) + "; give the same number for each";
      std::vector<std::string> names;
      for (job::record p(c.get()); p.more();) names.push_back(p.get());
      if (!pictures.empty() || names.empty()) continue;
      pictures_per_frame = names.size() / static_cast<std::size_t>(n);
      pictures = std::move(names);
    }
  }

 private:
  std::string first_;
};

}  // namespace dice::app
