// The values of options, as text.
#pragma once

#include "dice/app/input/video.hpp"
#include "dice/app/options.hpp"
#include "dice/app/results.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/meta/nearest.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/usage_error.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace dice::app::detail {

/// What the functions of the table may use: the program, the options so far, and the option's name as it was given.
struct parsing {
  const runtime::program& program;
  options& out;
  std::string_view name;

  [[noreturn]] void fail(const std::string& what) const { throw runtime::usage_error(std::string(name) + ": " + what); }

  template <class T> T number(std::string_view text, T least, T most, const char* kind, std::string_view whole = {}) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
      fail("'" + std::string(whole.empty() ? text : whole) + "' is not " + kind);
    return value;
  }

  /// One number, or three with commas between them: pictures have 1 or 3 channels.
  [[gnu::cold]] std::vector<float> numbers(std::string_view text, float least, const char* kind) const {
    std::vector<float> all;
    for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
      end = text.find(',', at);
      all.push_back(number(text.substr(at, end - at), least, std::numeric_limits<float>::max(), kind, text));
    }
    if (all.size() != 1 && all.size() != 3) fail("'" + std::string(text) + "' is not " + kind);
    return all;
  }

  /// The graph inputs or outputs, for messages.
  std::string list(bool inputs) const {
    std::string all;
    for (int l : ends(inputs)) all += (all.empty() ? "" : ", ") + std::string(program.layers.layers[l].onnx_name);
    return all;
  }
  /// The ids of the graph inputs or outputs.
  std::vector<int> ends(bool inputs) const {
    std::vector<int> ids;
    for (int l = 0; l < program.layers.size(); ++l)
      if (const auto& layer = program.layers.layers[l]; inputs ? layer.is_input : layer.is_output) ids.push_back(l);
    return ids;
  }
  /// That of `ids` with this name, an ONNX name or else an identifier; -1 if there is none.
  int named(std::span<const int> ids, std::string_view wanted) const {
    for (const bool by_identifier : {false, true})
      for (int l : ids)
        if (const auto& layer = program.layers.layers[l]; (by_identifier ? layer.name : layer.onnx_name) == wanted) return l;
    return -1;
  }
  /// `whole` is NAME=…, but no input or output has that name.
  [[noreturn, gnu::cold]] void fail_unknown(const std::string& whole, std::size_t at, bool inputs,
                                            const std::string& more = {}) const {
    const auto ids = ends(inputs);
    const std::string kind = inputs ? "input" : "output";
    meta::nearest meant(std::string_view(whole).substr(0, at));
    for (int l : ids)
      for (const auto known : {program.layers.layers[l].onnx_name, program.layers.layers[l].name}) meant.look_at(known);
    fail("'" + whole + "': the network has no " + kind + " '" + whole.substr(0, at) + "'; " +
         (meant.best().empty() ? "" : "did you mean " + std::string(meant.best()) + whole.substr(at) + "? ") + "its " +
         kind + (ids.size() == 1 ? " is " : "s are ") + list(inputs) + more);
  }

  /// [NAME=]VALUE, such as [NAME=]FILE. The value may hold '='; NAME may hold '=' as well.
  [[gnu::cold]] named_file file(std::string_view text, bool inputs, const std::string& value = "FILE") const {
    const char* kind = inputs ? "input" : "output";
    const auto ids = ends(inputs);
    for (auto at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1))
      if (const int l = named(ids, text.substr(0, at)); l >= 0) return checked({l, std::string(text.substr(at + 1))});
    if (ids.empty()) fail(std::string("the network has no ") + kind);
    const bool one = ids.size() == 1;
    const std::string whole(text);
    const auto at = text.find('=');
    if (at > 0 && at < text.find_first_of("/ ") && ::access(whole.c_str(), F_OK) != 0)
      fail_unknown(whole, at, inputs, one && value == "FILE" ? "; for a file of this name write ./" + whole : "");
    if (one) return checked({ids[0], whole});
    fail("'" + whole + "' must be NAME=" + value + ", since the network has several " + kind + "s: " + list(inputs));
  }
  named_file checked(named_file f) const {
    if (f.file.empty()) fail("what follows NAME= is missing");
    return f;
  }
  /// Where the frames of an input come from: `text` is [NAME=]FILE, or a command.
  named_input input(std::string_view text, bool is_command) const {
    using kinds = named_input::kinds;
    named_input in{file(text, true, is_command ? "COMMAND" : "FILE")};
    in.kind = is_command          ? kinds::command
              : in.file == "-"    ? kinds::standard
              : is_video(in.file) ? kinds::video
                                  : kinds::file;
    return in;
  }
  /// [NAME=]FORMAT[:WIDTHxHEIGHT].
  [[gnu::cold]] named_pixels pixels(std::string_view text) const {
    const auto [layer, value] = file(text, true, "FORMAT");
    const std::string_view all = value, word = all.substr(0, all.find(':')),
                           size = all.substr(std::min(word.size() + 1, all.size()));
    const auto found = std::find(frames::pixel_words.begin(), frames::pixel_words.end(), word);
    if (found == frames::pixel_words.end())
      fail("'" + std::string(word) +
           "' is not a format; dice reads float32, rgb24, bgr24, gray8, nv12, yuv420p and yuyv422");
    named_pixels as{layer, {static_cast<frames::pixel_format>(found - frames::pixel_words.begin()), 0, 0}};
    if (all.size() == word.size()) return as;
    const auto kind = "a size such as 640x480, each side from 1 to 65535";
    const auto x = size.find('x');
    if (x == std::string_view::npos) fail("'" + std::string(size) + "' is not " + kind);
    as.pixels.width = number<int>(size.substr(0, x), 1, 65535, kind, size);
    as.pixels.height = number<int>(size.substr(x + 1), 1, 65535, kind, size);
    if (as.pixels.format == frames::pixel_format::float32) fail("float32 frames have the input's shape; omit the size");
    if (const auto wrong = as.pixels.mistake(); !wrong.empty()) fail(wrong);
    return as;
  }
  /// Adds the file of an output, which has only one.
  void add_once(std::vector<named_file>& to, std::string_view text) const {
    auto f = file(text, false);
    for (const auto& other : to)
      if (other.layer == f.layer)
        fail("output " + std::string(program.layers.layers[f.layer].onnx_name) + " has two files, '" + other.file +
             "' and '" + f.file + "'; give one");
    to.push_back(std::move(f));
  }
  /// [NAME=]COMMAND.
  void add_sink(std::string_view text) const {
    auto f = file(text, false, "COMMAND");
    for (const auto& other : out.sinks)
      if (other.layer == f.layer)
        fail("output " + std::string(program.layers.layers[f.layer].onnx_name) +
             " has two sinks; give one (tee writes to two)");
    out.sinks.push_back({f.layer, result_sink::kinds::command, std::move(f.file), result_form::automatic});
  }
  /// [NAME=]FORM; without a name, for all outputs that have no form of their own.
  void add_form(std::string_view text) const {
    const auto found = [](std::string_view word) { return std::find(result_words.begin() + 1, result_words.end(), word); };
    named_form form{-1, static_cast<result_form>(found(text) - result_words.begin())};
    if (found(text) == result_words.end()) {
      const auto f = file(text, false, "FORM");
      const auto at = found(f.file);
      if (at == result_words.end()) fail("'" + f.file + "' is not top, json, raw or npy");
      form = {f.layer, static_cast<result_form>(at - result_words.begin())};
    }
    for (const auto& other : out.forms)
      if (other.layer == form.layer)
        fail("given twice" + std::string(form.layer < 0 ? "" : " for one output") + "; give it once");
    out.forms.push_back(form);
  }
  /// [NAME=]K. NAME may hold '='.
  [[gnu::cold]] void add_top(std::string_view text) const {
    const auto outputs = ends(false);
    const auto at = text.rfind('=');
    const bool one = at != std::string_view::npos;
    const int layer = one ? named(outputs, text.substr(0, at)) : -1;
    if (one && layer < 0) fail_unknown(std::string(text), at, false);
    const int k = number<int>(text.substr(one ? at + 1 : 0), 1, std::numeric_limits<int>::max(),
                              "a whole number from 1 to 2147483647", text);
    std::int64_t longest = 0;
    for (const int l : outputs)
      if (!one || l == layer) longest = std::max(longest, numbers_of_row(program.layers, l));
    if (k > longest)
      fail("'" + std::string(text) + "' is more than the numbers of a result, " + std::to_string(longest) +
           "; ask for at most " + std::to_string(longest));
    for (const auto& other : out.top)
      if (other.layer == layer)
        fail((one ? "output " + std::string(program.layers.layers[layer].onnx_name) + " has" : "all outputs have") +
             " two numbers, " + std::to_string(other.k) + " and " + std::to_string(k) + "; give one");
    out.top.push_back({layer, k});
  }
};

enum class takes : unsigned char { nothing, value, perhaps };

/// An option of the command line.
struct option {
  std::string_view name;
  takes how;
  std::string_view value;  ///< its name in the help
  bool repeatable;
  std::string_view help;
  void (*apply)(parsing&, std::string_view);
};

}  // namespace dice::app::detail
