#pragma once

#include "dice/app/results.hpp"
#include "dice/runtime/figures.hpp"
#include "dice/runtime/frames.hpp"
#include "dice/runtime/npy.hpp"
#include "dice/runtime/npy_spool.hpp"
#include "dice/runtime/sink.hpp"
#include "dice/tensor/shape.hpp"
#include "dice/text/print.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dice::app {

/// Handles the results of a stream, whose number of frames is known only at its end: lists and writes each when it comes,
/// and keeps only those to be compared.
class live_results final : public runtime::sink {
 public:
  /// The times at which results come go to `figures`, results to be compared go to `kept`.
  live_results(runtime::figures& figures, runtime::tensor_sink& kept) : figures_(figures), kept_(kept) {}

  /// Lists the `k` largest numbers of output `layer`, named `name` or "", with their labels.
  void list(int layer, const std::string& name, int k, const std::vector<std::string>& labels) {
    auto& out = outputs_[layer];
    out.name = name, out.top = k, out.labels = &labels;
  }
  /// Writes output `layer`, of shape `one`, to a .npy file. Throws file_error.
  void write(int layer, const std::string& path, const dice::tensor::shape& one) { outputs_[layer].file.emplace(path, one); }
  /// Keeps output `layer`, of shape `one`: at most `frames` of them.
  void keep(int layer, const dice::tensor::shape& one, std::int64_t frames) {
    outputs_[layer].kept = frames;
    kept_.add(layer, one, frames);
  }

  void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) override {
    figures_.left.resize(frame + 1);
    figures_.left.back() = runtime::now();
    auto& out = outputs_[layer];
    if (out.top > 0)
      text::print(top_line(frame, out.name, {}, from, static_cast<std::size_t>(elements), out.top, *out.labels));
    if (out.file) out.file->add(from);
    if (out.kept < 0) return;
    if (frame >= out.kept)
      throw runtime::file_error("--expect holds " + std::to_string(out.kept) + " frames, but the stream has more");
    kept_.take(layer, frame, from, elements);
  }
  /// Writes the files, after the last frame. Throws file_error.
  void finish() {
    for (auto& [layer, out] : outputs_)
      if (out.file) out.file->finish();
  }

 private:
  struct output {
    std::string name;
    int top = 0;
    const std::vector<std::string>* labels = nullptr;
    std::optional<runtime::npy_spool> file;
    std::int64_t kept = -1;
  };

  runtime::figures& figures_;
  runtime::tensor_sink& kept_;
  std::map<int, output> outputs_;
};

}  // namespace dice::app
