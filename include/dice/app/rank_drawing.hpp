// --picture in one rank.
#pragma once

#include "dice/app/decode_options.hpp"
#include "dice/app/output/decoded_results.hpp"
#include "dice/app/output/finding.hpp"
#include "dice/app/rank_inputs.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/app/results.hpp"
#include "dice/channels/channel.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/runtime/control/notes.hpp"

#ifdef DICE_WITH_PICTURES
#include "dice/app/output/drawn_pictures.hpp"
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

namespace detail {

/// A box as the part of a note, and back.
inline runtime::notes::part part_of(const decode::box& b) {
  const auto two = [](float a, float c) {
    return static_cast<std::int64_t>(std::uint64_t{std::bit_cast<std::uint32_t>(a)} << 32 | std::bit_cast<std::uint32_t>(c));
  };
  return {two(b.x, b.y), two(b.width, b.height), two(b.score, 0), b.class_index};
}
inline decode::box box_of(const runtime::notes::part& p) {
  const auto first = [](std::int64_t two) { return std::bit_cast<float>(static_cast<std::uint32_t>(two >> 32)); };
  const auto other = [](std::int64_t two) { return std::bit_cast<float>(static_cast<std::uint32_t>(two)); };
  return {first(p[0]), other(p[0]), first(p[1]), other(p[1]), first(p[2]), static_cast<int>(p[3])};
}

}  // namespace detail

#ifdef DICE_WITH_PICTURES

/// A rank that has the pictures keeps them until it hears what they show; a rank that finds it tells the other one, by
/// notes.
class rank_drawing {
 public:
  rank_drawing(const rank_view& of, rank_inputs& inputs) : of_(of), inputs_(inputs) {}

  /// Prepares it, after rank_inputs::open(). Throws files::error, std::runtime_error.
  void open() {
    const auto& o = of_.options;
    if (o.drawing.empty()) return;
    layer_ = drawn_input(of_.program.layers);
    for (const auto& d : o.decoders)
      if (d.as != decode::head::classes) finder_ = of_.program.plan.owner[d.layers[0]];
    if (!of_.here(layer_)) return;
    const auto& about = of_.layer(layer_);
    form_ = frames::form_of(about.output, "input '" + of_.name(layer_) + "'", o.picture, about.number);
    drawing_settings s{.file = [&o](std::int64_t frame) { return o.drawing_of(frame); }};
    if (s.file(0) != s.file(1)) s.how = lasting::stays;
    if (!o.labels.empty()) s.labels = read_labels(o.labels);
    for (const auto& file : inputs_.files()) s.read.insert(files::place_of(file).id);
    s.read.erase("");
    s.all = !inputs_.streams();
    if (auto* stream = inputs_.live().of(layer_)) stream->keep_bytes();
    pictures_ = std::make_unique<drawn_pictures>(std::move(s));
  }
  /// The file that this rank writes first, or "".
  std::string first_file() const { return pictures_ ? of_.options.drawing_of(0) : ""; }

  /// Where the frames come from that come from `in`; `notes` are those of this rank, which `end` wakes.
  frames::source& through(frames::source& in, runtime::notes& notes, channels::endpoint& end) {
    if (!pictures_) return in;
    const bool elsewhere = finder_ != of_.rank;
    pictures_->on_change([&end] { end.wake(); });
    if (elsewhere)
      notes.read_by([this](std::int64_t frame, const std::vector<runtime::notes::part>& parts) {
        finding found;
        for (const auto& p : parts) found.boxes.push_back(detail::box_of(p));
        pictures_->draw(frame, std::move(found));
      });
    return source_.emplace(*this, in, elsewhere ? &notes : nullptr);
  }
  /// Who hears what this rank finds; nobody if nothing is drawn.
  decoded_results::listener listener(runtime::notes& notes) {
    if (layer_ < 0) return nullptr;
    return [this, &notes](std::int64_t frame, std::vector<finding> found) {
      if (frame % of_.options.drawing_every != 0) return;
      if (pictures_) return pictures_->draw(frame, std::move(found[0]));
      std::vector<runtime::notes::part> parts;
      for (const auto& b : found[0].boxes) parts.push_back(detail::part_of(b));
      notes.put(frame, parts);
    };
  }
  /// Waits until all pictures are written. Returns a warning, or "". Throws.
  std::string finish() {
    const auto skipped = pictures_ ? pictures_->finish() : 0;
    if (skipped == 0) return {};
    return "--picture: " + text::count_text(skipped, "picture") +
           " could not be drawn and written as fast as frames came; draw fewer, with --picture-every";
  }

 private:
  /// Keeps the pictures of the frames that enter.
  class source final : public frames::source {
   public:
    source(rank_drawing& of, frames::source& from, runtime::notes* notes) : of_(of), from_(from), notes_(notes) {}
    void fill(int layer, std::int64_t frame, std::byte* to, const dice::tensor::type& as) override {
      from_.fill(layer, frame, to, as);
      if (layer != of_.layer_ || frame % of_.of_.options.drawing_every != 0) return;
      of_.pictures_->keep(frame, of_.picture_of(frame, frames::floats(to, as)));
      if (notes_) notes_->expect();
    }
    bool ready(int layer, std::int64_t frame) override {
      return (layer != of_.layer_ || of_.pictures_->ready()) && from_.ready(layer, frame);
    }
    std::int64_t total() override { return from_.total(); }
    frames::stream_counts counts() override { return from_.counts(); }
    void retired(std::int64_t frames) override { from_.retired(frames); }
    void others_have(std::int64_t frames) override { from_.others_have(frames); }
    frames::frame_stamp stamp(int layer, std::int64_t frame) override { return from_.stamp(layer, frame); }

   private:
    rank_drawing& of_;
    frames::source& from_;
    runtime::notes* const notes_;  ///< null: the findings are this rank's own
  };

  /// What makes the picture of the frame that has just entered as `numbers`: from its file, the stream's bytes, or the
  /// numbers.
  drawn_pictures::maker picture_of(std::int64_t frame, const float* numbers) {
    if (const auto path = inputs_.picture_of(layer_, frame); !path.empty()) return [path] { return read_rgb(path); };
    if (const auto* stream = inputs_.live().of(layer_);
        stream && stream->settings().pixels.format != frames::pixel_format::float32)
      return [bytes = stream->bytes(), pixels = stream->settings().pixels, form = form_] {
        const auto colours =
            frames::pixel_converter(pixels, form).colours(reinterpret_cast<const std::uint8_t*>(bytes.data()));
        rgb_picture out(pixels.width, pixels.height);
        std::memcpy(out.pixels.data(), colours.data(), colours.size());
        return out;
      };
    return
        [all = std::vector<float>(numbers, numbers + form_.elements()), form = form_] { return rgb_of(all.data(), form); };
  }

  const rank_view& of_;
  rank_inputs& inputs_;
  int layer_ = -1;   ///< the graph input whose pictures are drawn; -1: none
  int finder_ = -1;  ///< the rank that finds what they show
  frames::picture_form form_{};
  std::unique_ptr<drawn_pictures> pictures_;  ///< if the input is here
  std::optional<source> source_;
};

#else

/// Programs without stb draw nothing.
class rank_drawing {
 public:
  rank_drawing(const rank_view&, rank_inputs&) {}
  void open() {}
  std::string first_file() const { return {}; }
  frames::source& through(frames::source& in, runtime::notes&, channels::endpoint&) { return in; }
  decoded_results::listener listener(runtime::notes&) { return nullptr; }
  std::string finish() { return {}; }
};

#endif

}  // namespace dice::app
