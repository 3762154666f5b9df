// Files of packed weights: what kernels read, as it lies in memory, so that a program maps it and has no work at start.
//
// A header of text, then for each rank a section with what each need takes, in their order. Sections begin at whole pages of
// any board, needs (and the parameters of one that packs nothing) at multiples of 64 bytes. Where all this lies follows from
// the program: the file has no table that could be wrong.
#pragma once

#include "dice/weights/error.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::weights {

/// Of what weights were packed, and by what: names and values, short texts without line breaks.
using identity = std::vector<std::pair<std::string, std::string>>;

/// A file of packed weights as a program wants it.
struct packed_layout {
  static constexpr std::int64_t header = 4096, page = 65536;  ///< bytes; no board has larger pages
  std::string text;                                           ///< that the header begins with; the rest is zeros
  std::vector<std::int64_t> sections;                         ///< where that of each rank begins, and the end

  packed_layout(const identity& of, std::span<const std::vector<need>> ranks) : text(first_line) {
    for (const auto& [name, value] : of) text += name + ' ' + value + '\n';
    std::int64_t at = header;
    for (const auto& needs : ranks) {
      sections.push_back(at = (at + page - 1) / page * page);
      for (const auto& n : needs) at += n.stored_bytes();
    }
    sections.push_back(at);
  }
  static constexpr const char* first_line = "dice packed weights\n";
};

/// An open file of packed weights that is what the program wants.
class packed_file {
 public:
  /// Throws error, whose text names the difference and the remedy.
  [[gnu::cold]] packed_file(const std::string& path, const identity& wanted, std::span<const std::vector<need>> ranks)
      : layout_(wanted, ranks), in_("packed weights", path, "name a file that --pack wrote") {
    const std::string remedy = "; write it anew with --pack " + path, first = packed_layout::first_line;
    std::string found(layout_.text.size(), '\0');
    if (in_.size() < packed_layout::header || !in_.read(found.data(), found.size(), 0) ||
        found.compare(0, first.size(), first) != 0)
      in_.fail("are no file that --pack wrote" + remedy);
    auto at = first.size();
    for (const auto& [name, value] : wanted) {
      const auto line = name + ' ' + value + '\n';
      if (found.compare(at, line.size(), line) != 0)
        in_.fail("belong to another build: this program has " + name + ' ' + value + ", the file " +
                 printable(found.substr(at, found.find('\n', at) - at)) + remedy);
      at += line.size();
    }
    if (in_.size() != layout_.sections.back())
      in_.fail((in_.size() < layout_.sections.back() ? "are cut short: " : "are too long: ") + std::to_string(in_.size()) +
               " bytes, expected " + std::to_string(layout_.sections.back()) + remedy);
  }

  /// Maps the section of rank `rank`, whose needs are `needs`. Throws error.
  store map(int rank, std::span<const need> needs) const {
    const auto begin = layout_.sections[static_cast<std::size_t>(rank)];
    std::int64_t bytes = 0;
    for (const auto& n : needs) bytes += n.stored_bytes();
    const std::byte* start = nullptr;
    mapped pages;
    if (bytes > 0) pages = in_.map(begin, begin + bytes, start);
    return store(std::move(pages), start, needs);
  }

 private:
  /// At most 80 letters of what an unknown file has.
  static std::string printable(std::string text) {
    text.resize(std::min<std::size_t>(text.size(), 80));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + text + "'";
  }

  packed_layout layout_;
  opened in_;
};

/// Writes the file to `out`, a need at a time; `done` is called after each with the bytes so far and in all. The weights
/// come from `from`. The state of `out` tells whether it went well. Throws error, std::bad_alloc.
template <class F>
[[gnu::cold]] void write_packed(std::ostream& out, const identity& of, std::span<const std::vector<need>> ranks,
                                const file& from, F done) {
  const packed_layout layout(of, ranks);
  const auto fill = [&](std::int64_t to, std::int64_t& at) {
    constexpr char zeros[4096] = {};
    for (; at < to && out; at += std::min<std::int64_t>(to - at, sizeof zeros))
      out.write(zeros, std::min<std::int64_t>(to - at, sizeof zeros));
  };
  out.write(layout.text.data(), static_cast<std::streamsize>(layout.text.size()));
  auto at = static_cast<std::int64_t>(layout.text.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    fill(layout.sections[r], at);
    for (const auto& n : ranks[r]) {
      const store one(from, std::span(&n, 1));
      const auto put = [&](const void* data, std::int64_t bytes) {
        out.write(static_cast<const char*>(data), bytes);
        at += bytes;
        fill(need::aligned(at), at);
      };
      if (one.packed(0)) put(one.packed(0), n.packed_bytes);
      else
        for (std::size_t k = 0; k < n.parameters.size(); ++k) put(one.plain(0)[k], n.parameters[k].extents.bytes());
      if (!out) return;
      done(at, layout.sections.back());
    }
  }
}

}  // namespace dice::weights
