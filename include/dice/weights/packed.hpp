// Files of packed weights, as kernels read them in memory: a program maps such a file and has nothing to pack at start.
//
// A text header, then a section for each rank with its items in their order, then the SHA-256 of each item, and of the
// header with these. Sections begin at page boundaries of every board, items (and the parameters of an item that is not
// packed) at multiples of 64 bytes. The program determines all positions, so the file has no table that could be wrong.
#pragma once

#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/files/sha256.hpp"
#include "dice/files/writer.hpp"
#include "dice/text/foreign.hpp"
#include "dice/weights/block.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::weights {

/// Which weights were packed, and by what: names and values, short texts without line breaks.
using identity = std::vector<std::pair<std::string, std::string>>;

/// The file of packed weights that a program expects.
struct packed_layout {
  static constexpr std::int64_t header = 4096, page = 65536;  ///< bytes; no board has larger pages
  std::string text;                                           ///< beginning of the header; the rest is zeros
  std::vector<std::int64_t> sections;                         ///< where each rank's section begins, and the last one's end
  std::vector<std::int64_t> counts{};                         ///< items of each rank

  packed_layout(const identity& of, std::span<const std::vector<item>> ranks) : text(first_line) {
    for (const auto& [name, value] : of) text += name + ' ' + value + '\n';
    std::int64_t at = header;
    for (const auto& items : ranks) {
      sections.push_back(at = (at + page - 1) / page * page);
      at += stored_bytes(items);
    }
    sections.push_back(at);
    for (const auto& items : ranks) counts.push_back(static_cast<std::int64_t>(items.size()));
  }
  static constexpr const char* first_line = "dice packed weights\n";
  static constexpr std::int64_t digest = 32;  ///< bytes

  /// Where the digest of item `i` of rank `rank` is.
  std::int64_t digest_at(std::size_t rank, std::int64_t i = 0) const {
    std::int64_t before = i;
    for (std::size_t r = 0; r < rank; ++r) before += counts[r];
    return sections.back() + before * digest;
  }
  std::int64_t last_digest() const { return digest_at(counts.size()); }
  std::int64_t bytes() const { return last_digest() + digest; }
};

/// Whether a file begins as --pack writes it.
[[gnu::cold]] inline bool begins_like_packed(const files::opened& in) {
  const std::string_view first = packed_layout::first_line;
  std::string found(first.size(), '\0');
  return in.size() >= std::ssize(first) && in.read(found.data(), found.size(), 0) && found == first;
}

/// An open file of packed weights that matches the program.
class packed_file {
 public:
  /// `named`: users named the file; otherwise, it is the one beside the program. `option`: what they name the weights file
  /// with. Throws files::error, whose text names the difference and the remedy.
  [[gnu::cold]] packed_file(const std::string& path, const identity& wanted, std::span<const std::vector<item>> ranks,
                            bool named = true, const std::string& option = "--weights")
      : layout_(wanted, ranks),
        in_("packed weights", path, "name a file that --pack wrote", "; name a file that --pack wrote") {
    const std::string remedy = "; write it again with --pack " + text::shell_word(path), first = packed_layout::first_line;
    std::string found(layout_.text.size(), '\0');
    if (begins_like_weights(in_)) in_.fail("are a weights file; give it with " + option + ' ' + text::shell_word(path));
    if (!begins_like_packed(in_) || in_.size() < packed_layout::header || !in_.read(found.data(), found.size(), 0))
      in_.fail("were not written by --pack" + (named ? "; name a file that --pack wrote" : remedy));
    auto at = first.size();
    for (const auto& [name, value] : wanted) {
      const auto line = name + ' ' + value + '\n';
      if (found.compare(at, line.size(), line) != 0)
        in_.fail("belong to another build: this program has " + name + ' ' + value + ", the file has " +
                 printable(found.substr(at, found.find('\n', at) - at)) + remedy);
      at += line.size();
    }
    if (in_.size() != layout_.bytes())
      in_.fail((in_.size() < layout_.bytes() ? "are cut short: " : "are too long: ") + std::to_string(in_.size()) +
               " bytes, expected " + std::to_string(layout_.bytes()) + remedy);
    digests_.resize(static_cast<std::size_t>(layout_.bytes() - layout_.sections.back()));
    files::sha256 sum;
    sum.add(found);
    if (!in_.read(digests_.data(), digests_.size(), layout_.sections.back())) in_.fail("cannot be read" + remedy);
    const std::string_view all = digests_;
    sum.add(all.substr(0, all.size() - packed_layout::digest));
    if (!equal(sum, all.substr(all.size() - packed_layout::digest)))
      in_.fail("are damaged: the digests in the file are wrong" + remedy);
  }

  /// Reads item `i` of rank `rank`, which has `items`, and returns whether it is what --pack wrote. Throws files::error.
  [[gnu::cold]] bool holds(int rank, std::span<const item> items, std::size_t i) const {
    const auto bytes = items[i].stored_bytes();
    if (bytes == 0) return true;
    const auto begin = layout_.sections[rank] + stored_bytes(items.first(i));
    const std::byte* start = nullptr;
    const auto pages = in_.map(begin, begin + bytes, start);
    files::sha256 sum;
    sum.add(std::span(start, static_cast<std::size_t>(bytes)));
    const auto at = layout_.digest_at(rank, static_cast<std::int64_t>(i)) - layout_.sections.back();
    return equal(sum, std::string_view(digests_).substr(at, packed_layout::digest));
  }
  [[noreturn]] void fail(const std::string& why) const {
    in_.fail(why + "; write it again with --pack " + text::shell_word(in_.path()));
  }

  /// Maps the section of rank `rank`, which has `items`. Throws files::error.
  store map(int rank, std::span<const item> items) const {
    const auto begin = layout_.sections[rank];
    const auto bytes = stored_bytes(items);
    const std::byte* start = nullptr;
    files::mapped pages;
    if (bytes > 0) pages = in_.map(begin, begin + bytes, start);
    return store(std::move(pages), start, items);
  }

  /// Passes the same section to put(offset, from, bytes) in pieces and maps only one piece at a time. Throws files::error.
  template <class Put> void each_piece(int rank, std::span<const item> items, Put put) const {
    constexpr std::int64_t most = std::int64_t{32} << 20;
    const auto begin = layout_.sections[rank];
    for (std::int64_t at = 0, all = stored_bytes(items); at < all; at += most) {
      const auto bytes = std::min(most, all - at);
      const std::byte* start = nullptr;
      const auto pages = in_.map(begin + at, begin + at + bytes, start);
      put(at, start, bytes);
    }
  }

 private:
  /// At most 80 characters of an unknown file's text, made printable.
  static std::string printable(std::string text) {
    text.resize(std::min<std::size_t>(text.size(), 80));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + text + "'";
  }

  static bool equal(files::sha256& found, std::string_view expected) {
    const auto bytes = found.bytes();
    return std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0;
  }

  packed_layout layout_;
  files::opened in_;
  std::string digests_;
};

namespace detail {

/// Writes bytes to a file in whole huge pages, so that the page cache holds and maps them as huge pages.
class large_writes {
 public:
  explicit large_writes(files::writer& out) : out_(out), buffer_(size) {}
  /// `from` null: zeros.
  void put(const void* from, std::int64_t bytes) {
    for (std::int64_t done = 0, n; done < bytes; done += n) {
      n = std::min(bytes - done, size - at_ % size);
      auto* to = buffer_.data() + at_ % size;
      if (from) std::memcpy(to, static_cast<const std::byte*>(from) + done, static_cast<std::size_t>(n));
      else std::memset(to, 0, static_cast<std::size_t>(n));
      sum_.add(std::span(to, static_cast<std::size_t>(n)));
      if ((at_ += n) % size == 0) write(size);
    }
  }
  void align(std::int64_t to) { put(nullptr, (to - at_ % to) % to); }
  void end() { write(at_ % size); }
  std::int64_t at() const { return at_; }
  /// SHA-256 of what was put since the last call.
  std::array<std::byte, 32> sum() { return std::exchange(sum_, {}).bytes(); }

 private:
  static constexpr std::int64_t size = 2 << 20;
  void write(std::int64_t bytes) { out_.write(std::span<const std::byte>(buffer_.data(), static_cast<std::size_t>(bytes))); }
  files::writer& out_;
  block buffer_;
  std::int64_t at_ = 0;
  files::sha256 sum_;
};

}  // namespace detail

/// Writes the file to `out`, an item at a time, with weights from `from`; calls `done` after each with the bytes so far and
/// in total. Throws files::error, std::bad_alloc.
template <class F>
[[gnu::cold]] void write_packed(files::writer& out, const identity& of, std::span<const std::vector<item>> ranks,
                                const file& from, F done) {
  const packed_layout layout(of, ranks);
  for (const auto& items : ranks)
    for (const auto& n : items)
      if (n.packed_bytes && !n.pack)
        throw files::error(
            "this program cannot pack weights for GPU ranks, since it was built without CUDA; pack them with one that "
            "was built with it (-DDICE_CUDA=ON)");
  detail::large_writes to(out);
  to.put(layout.text.data(), static_cast<std::int64_t>(layout.text.size()));
  files::sha256 all;
  all.add(layout.text);
  std::vector<std::array<std::byte, 32>> digests;
  to.align(packed_layout::header);
  for (const auto& items : ranks) {
    to.align(packed_layout::page);
    for (const auto& n : items) {
      to.sum();
      each_stored(from, std::span(&n, 1), [&](std::int64_t, const std::byte* bytes, std::int64_t count) {
        to.put(bytes, count);
        to.align(item::alignment);
        return true;
      });
      digests.push_back(to.sum());
      done(to.at(), layout.bytes());
    }
  }
  for (const auto& d : digests) to.put(d.data(), packed_layout::digest), all.add(d);
  to.put(all.bytes().data(), packed_layout::digest);
  to.end();
}

}  // namespace dice::weights
