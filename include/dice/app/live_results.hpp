#pragma once

#include "dice/app/ctrl_c.hpp"
#include "dice/app/results.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/npy_stream.hpp"
#include "dice/frames/sink.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/shape.hpp"
#include "dice/text/table.hpp"

#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace dice::app {

/// Handles the results of a stream, whose number of frames is known only at its end: lists and writes each as it comes, and
/// keeps only those to be compared.
class live_results final : public frames::sink {
 public:
  /// Results to be compared go to `kept`.
  explicit live_results(frames::tensor_sink& kept) : kept_(kept) {}

  /// Lists the largest numbers of output `layer`.
  void list(int layer, top_list how) { outputs_[layer].top = std::move(how); }
  /// Writes output `layer`, of shape `one`, to a .npy file in the type `as`. Throws files::error.
  void write(int layer, const std::string& path, const dice::tensor::shape& one, dice::tensor::number as) {
    outputs_[layer].file.emplace(path, one, as);
  }
  /// Keeps output `layer`, of shape `one`: at most `frames` of them.
  void keep(int layer, const dice::tensor::shape& one, std::int64_t frames) {
    outputs_[layer].kept = frames;
    kept_.add(layer, one, frames);
  }

  void take(int layer, std::int64_t frame, const std::byte* at, const dice::tensor::type& as) override {
    const float* const from = frames::floats(at, as);
    auto& out = outputs_[layer];
    if (out.file) out.file->add(from);  // first: whoever reads a line finds its frame in the file
    if (out.top) print_result(out.top->lines(frame, from, static_cast<std::size_t>(as.elements())));
    if (out.kept < 0) return;
    if (frame >= out.kept)
      throw files::error("--expect holds " + text::count_text(out.kept, "frame") + ", but the stream has more");
    kept_.take(layer, frame, at, as);
  }
  /// Writes the files, after the last frame. Throws the first files::error.
  void finish() {
    std::exception_ptr first;
    for (auto& [layer, out] : outputs_) try {
        if (out.file) out.file->finish();
      } catch (const files::error&) {
        if (!first) first = std::current_exception();
      }
    if (first) std::rethrow_exception(first);
  }

 private:
  struct output {
    std::optional<top_list> top;
    std::optional<frames::npy_stream> file;
    std::int64_t kept = -1;
  };

  frames::tensor_sink& kept_;
  std::map<int, output> outputs_;
};

}  // namespace dice::app
