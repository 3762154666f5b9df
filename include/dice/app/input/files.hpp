// The files that --input names.
#pragma once

#include "dice/app/input/frame_check.hpp"
#include "dice/app/options.hpp"
#include "dice/app/picture_sizes.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/tensor.hpp"

#ifdef DICE_WITH_PICTURES
#include "dice/app/input/pictures.hpp"
#endif

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::app {

/// The frames that files give for a graph input: .npy files, JPEG and PNG pictures, and folders of them, in the order in
/// which they are added. .npy files are mapped, pictures read when their frames enter; the first 256 MiB of pictures are
/// kept for repeated frames.
class input_files {
 public:
  /// For frames of shape `one` of graph input `what` ("input 'image'"), pictures as `o` says; .npy files have float32 or the
  /// type `as`.
  input_files(const dice::tensor::shape& one, std::string what, const options& o, dice::tensor::number as = {})
      : one_(one),
        type_(as),
        what_(std::move(what)),
        options_(o),
        per_frame_(one.rank == 4 ? one[0] : 1),
        elements_(one.elements() / per_frame_),
        check_(o, as) {}

  /// Adds a file, or those of a folder in the order of their names' bytes. Throws files::error.
  [[gnu::cold]] void add(const std::string& path) {
    if (!is(S_IFDIR, path)) return add_file(path);
    dirent** entries = nullptr;
    const int n = ::scandir(path.c_str(), &entries, nullptr,
                            [](const dirent** a, const dirent** b) { return std::strcmp((*a)->d_name, (*b)->d_name); });
    if (n < 0) throw files::error("the folder '" + path + "' cannot be read: " + std::strerror(errno));
    std::vector<std::string> names;
    for (int i = 0; i < n; std::free(entries[i++]))
      if (entries[i]->d_name[0] != '.') names.emplace_back(entries[i]->d_name);
    std::free(entries);
    const auto before = samples_.size();
    std::string skipped;
    for (const auto& name : names) {
      const auto file = path + (path.back() == '/' ? "" : "/") + name;
      if (is_input(file)) add_file(file);
      else skipped += (skipped.empty() ? "'" : ", '") + name + "'";
    }
    if (samples_.size() == before) throw files::error("the folder '" + path + "' holds no .npy, JPEG or PNG file");
    if (!skipped.empty())
      warning_ += (warning_.empty() ? "" : "; ") +
                  ("skips files in the folder '" + path + "' that are not .npy, JPEG or PNG: ") + skipped;
  }

  /// Frames in all. Throws files::error if the pictures do not make a whole number of frames.
  std::int64_t frames() const {
    const auto n = static_cast<std::int64_t>(samples_.size());
    if (n % per_frame_)
      throw files::error(what_ + " takes " + std::to_string(per_frame_) + " pictures per frame, but " + std::to_string(n) +
                         " are given");
    return n / per_frame_;
  }
  /// Every file that frames come from.
  const std::vector<std::string>& files() const { return read_; }
  /// What was skipped, as a warning, or "".
  const std::string& warning() const { return warning_; }
  /// The pictures' files in the order of the samples, empty for those of .npy files; nothing if there are no pictures.
  std::vector<std::string> pictures() const {
    std::vector<std::string> out;
    for (const auto& s : samples_)
      if (form_) out.push_back(s.picture);
    return out;
  }

  /// The file of the first picture of frame `frame`, or "".
  const std::string& picture(std::int64_t frame) const {
    return samples_[static_cast<std::size_t>(frame * per_frame_) % samples_.size()].picture;
  }
  /// Their sizes, and the form of the input, if there are pictures.
  picture_sizes sizes() const {
    if (!form_) return {};
    picture_sizes out{.form = *form_, .per_frame = per_frame_};
    for (const auto& s : samples_) out.sizes.insert(out.sizes.end(), {s.width, s.height});
    return out;
  }

  /// Writes frame `frame` of frames() to `to`. Throws files::error.
  void read(std::int64_t frame, float* to) {
    for (std::int64_t i = 0; i < per_frame_; ++i, to += elements_) {
      auto& s = samples_[frame * per_frame_ + i];
      const auto bytes = elements_ * static_cast<std::int64_t>(sizeof(float));
      if (s.numbers) {
        std::memcpy(to, s.numbers, static_cast<std::size_t>(bytes));
        continue;
      }
#ifdef DICE_WITH_PICTURES
      read_picture(s.picture, *form_, to);
#endif
      if ((room_ -= bytes) < 0) continue;
      tensors_.push_back(frames::tensor::from_shape({static_cast<std::size_t>(elements_)}));
      std::memcpy(tensors_.back().data(), to, static_cast<std::size_t>(bytes));
      s.numbers = tensors_.back().data();
    }
  }

 private:
  struct sample {
    const float* numbers = nullptr;  ///< null: not read yet
    std::string picture{};           ///< its file
    int width = 0, height = 0;       ///< of the picture
  };

  /// Whether `path` is a file of this kind: S_IFREG, S_IFDIR.
  static bool is(mode_t kind, const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == kind;
  }
  static std::string beginning_of(const std::string& path) {
    char bytes[8] = {};
    std::ifstream in(path, std::ios::binary);
    in.read(bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(in.gcount())};
  }
  static bool is_npy(std::string_view beginning) { return beginning.substr(0, 6) == "\x93NUMPY"; }

  /// Whether a folder's file is to be read, judged by its content or else by its name.
  static bool is_input(const std::string& path) {
    if (!is(S_IFREG, path)) return false;
    const auto beginning = beginning_of(path);
    std::string end = path.substr(std::min(path.rfind('.'), path.size()));
    for (auto& c : end) c |= c >= 'A' && c <= 'Z' ? 32 : 0;
    return frames::is_picture(beginning) || is_npy(beginning) || end == ".npy" || end == ".jpg" || end == ".jpeg" ||
           end == ".png";
  }

  void add_file(const std::string& path) {
    read_.push_back(path);
    if (is(S_IFREG, path)) {
      const auto beginning = beginning_of(path);
      if (frames::is_picture(beginning)) return add_picture(path);
      if (!beginning.empty() && !is_npy(beginning))
        throw files::error("'" + path + "' is neither a .npy file nor a JPEG or PNG picture; write frames with numpy.save");
    }
    const auto all = mapped_.emplace_back(path, one_, what_, type_).numbers();
    for (std::size_t at = 0; at < all.size(); at += static_cast<std::size_t>(elements_))
      samples_.push_back({all.data() + at});
    // Looks at the first frames until one shows what they are, but does not read the whole file for that.
    const auto one = static_cast<std::size_t>(one_.elements()), enough = std::min(all.size(), one * most_looked_at);
    for (std::size_t at = 0; at < enough && !check_.done(); at += one)
      check_.look(all.subspan(at, std::min(one, all.size() - at)), "'" + path + "' (" + what_ + ")");
  }
  void add_picture(const std::string& path) {
#ifdef DICE_WITH_PICTURES
    if (!form_) form_ = frames::form_of(one_, what_, options_.picture, type_);
    const auto [width, height] = check_picture(path, *form_);
    samples_.push_back({nullptr, path, width, height});
#else
    throw files::error(
        "'" + path +
        "' is a picture, and this program was built without dice::pictures; install libstb-dev where it is built, "
        "or save the pictures with numpy.save");
#endif
  }

  static constexpr std::size_t most_looked_at = 100;  ///< frames of a file

  const dice::tensor::shape one_;
  const dice::tensor::number type_;
  const std::string what_;
  [[maybe_unused]] const options& options_;  ///< for pictures
  const std::int64_t per_frame_, elements_;  ///< samples of a frame, and numbers of a sample
  frame_check check_;
  std::optional<frames::picture_form> form_;  ///< if there are pictures
  std::list<frames::mapped_frames> mapped_;
  std::vector<std::string> read_;      ///< all files that were added
  std::list<frames::tensor> tensors_;  ///< of pictures
  std::vector<sample> samples_;
  std::int64_t room_ = std::int64_t{256} << 20;  ///< bytes left for keeping pictures
  std::string warning_;
};

}  // namespace dice::app
