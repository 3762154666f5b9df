// What enters at a rank.
#pragma once

#include "dice/app/input/files.hpp"
#include "dice/app/rank_view.hpp"
#include "dice/frames/source.hpp"
#include "dice/job/record.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The frames of a rank's graph inputs: files, random frames, or the form of a stream's.
class rank_inputs {
 public:
  explicit rank_inputs(const rank_view& of) : of_(of) {}

  /// Opens the files. Returns warnings, or "". Throws files::error, std::runtime_error.
  std::string open() {
    std::string warnings;
    for (int l = 0; l < of_.layers(); ++l) {
      const auto& about = of_.layer(l);
      if (!about.is_input || !of_.here(l)) continue;
      const auto what = "input '" + of_.name(l) + "'";
      if (l == of_.options.streamed()) {
        if (asks_for_form(of_.options)) form_ = form_of(about.output, what, of_.options, about.number);
        if (form_ && form_->mean.empty()) form_.reset();  // bytes come as they are
        continue;
      }
      auto& files = files_.try_emplace(l, about.output, what, of_.options, about.number).first->second;
      for (const auto& f : of_.options.inputs)
        if (f.layer == l) files.add(f.file);
      if (files.frames() == 0) continue;
      source_.add(l, files.frames(), [&files](std::int64_t frame, float* to) { files.read(frame, to); });
      warnings += (warnings.empty() || files.warning().empty() ? "" : "; ") + files.warning();
    }
    return warnings;
  }

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
  /// The files that are read; "-": standard input.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (const int l = of_.options.streamed(); l >= 0 && of_.here(l)) out.emplace_back("-");
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

  frames::source& source() { return source_; }
  /// Of a stream's frames; null if they are not to be normalised.
  const picture_form* form() const { return form_ ? &*form_ : nullptr; }

 private:
  bool is_random(int l) const { return of_.layer(l).is_input && of_.here(l) && !of_.options.has_input(l); }
  /// How many random frames of input `l` are made before the first of `frames` enters.
  std::int64_t made_ahead(int l, std::int64_t frames) const {
    return frames::made_ahead(of_.layer(l).output, std::max(frames, of_.options.warmup));
  }

  const rank_view& of_;
  std::map<int, input_files> files_;  ///< by graph input
  std::optional<picture_form> form_;
  frames::tensor_source source_;
};

/// What all ranks' inputs have.
struct given_frames {
  std::int64_t frames = 0;              ///< of each input; 0: none is given
  std::vector<std::string> pictures{};  ///< of the input that has them, whichever rank it is in
  std::size_t pictures_per_frame = 1;
  std::string mistake{};  ///< if inputs differ

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
