// Files of packed weights, as kernels read them in memory: a program maps such a file and has nothing to pack at start.
//
// A text header, then a section for each rank of the file with its items in their order, then the SHA-256 of each item, and
// of the header with these. Sections begin at page boundaries of every board, items (and the parameters of an item that is
// not packed) at multiples of 64 bytes. The program determines all positions from the list of ranks in the header, so the
// file has no table that could be wrong.
#pragma once

#include "dice/files/error.hpp"
#include "dice/files/mapped.hpp"
#include "dice/files/sha256.hpp"
#include "dice/files/writer.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/number_list.hpp"
#include "dice/weights/block.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/store.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dice::weights {

/// Which program packed weights are for: names and values, short texts without line breaks.
struct identity {
  std::vector<std::pair<std::string, std::string>> lines;
  std::string pinned{};  ///< the content digest that the weights must have; empty: any
  friend bool operator==(const identity&, const identity&) = default;
};

/// Facts that only a file of packed weights knows, and no program beforehand.
struct packed_content {
  std::string content, model_digest;  ///< of the weights file, as weights::file has them
  std::vector<int> ranks;             ///< whose weights it has, ascending
};

/// Where everything lies in a file of packed weights.
struct packed_layout {
  static constexpr std::int64_t page = 65536;  ///< bytes; no board has larger pages
  std::string text;                            ///< the header; zeros follow, up to the first page
  std::vector<std::int64_t> sections;          ///< where each rank's section begins, and the last one's end
  std::vector<std::int64_t> counts{};          ///< items of each rank

  /// `ranks`: the items of all ranks of the program. Items of ranks not in held.ranks take no bytes.
  packed_layout(const identity& of, const packed_content& held, std::span<const std::vector<item>> ranks)
      : text(first_line), counts(ranks.size()) {
    for (const auto& [name, value] : of.lines) text += name + ' ' + value + '\n';
    text += "content " + held.content + "\nmodel " + held.model_digest + "\nranks " + text::number_list(held.ranks) + '\n';
    if (std::ssize(text) > page)
      throw files::error("a file of packed weights cannot name so many ranks; pack them into several files");
    std::int64_t at = page;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const bool has = std::binary_search(held.ranks.begin(), held.ranks.end(), static_cast<int>(r));
      if (has) {
        at = (at + page - 1) / page * page;
        counts[r] = std::ssize(ranks[r]);
      }
      sections.push_back(at);
      if (has) at += stored_bytes(ranks[r]);
    }
    sections.push_back(at);
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

/// An open file of packed weights that matches the program, perhaps of some of its ranks only.
class packed_file {
 public:
  /// `named`: users named the file; otherwise, it is the one beside the program. `option`: the option with which they name
  /// the weights file. Throws files::error, whose text names the difference and the remedy.
  [[gnu::cold]] packed_file(const std::string& path, const identity& wanted, std::span<const std::vector<item>> ranks,
                            bool named = true, const std::string& option = "--weights")
      : in_("packed weights", path, "name a file that --pack wrote", "; name a file that --pack wrote") {
    const std::string remedy = "; write it again with --pack " + text::shell_word(path),
                      copy = "; copy it again, or" + remedy.substr(1), first = packed_layout::first_line;
    if (begins_like_weights(in_)) in_.fail("are a weights file; give it with " + option + ' ' + text::shell_word(path));
    std::string found(static_cast<std::size_t>(std::min(in_.size(), packed_layout::page)), '\0');
    if (!begins_like_packed(in_) || !in_.read(found.data(), found.size(), 0))
      in_.fail("were not written by --pack" + (named ? "; name a file that --pack wrote" : remedy));
    found.resize(std::min(found.find('\0'), found.size()));
    auto at = first.size();
    const auto next_line = [&] {
      const auto begin = at, end = std::min(found.find('\n', at), found.size());
      at = std::min(end + 1, found.size());
      return found.substr(begin, end - begin);
    };
    for (const auto& [name, value] : wanted.lines)
      if (const auto line = next_line(); line != name + ' ' + value)
        in_.fail("belong to another build: this program has " + name + ' ' + value + ", the file has " + printable(line) +
                 remedy);
    const auto stated = [&](const std::string& name) {
      const auto line = next_line();
      return line.starts_with(name + ' ') ? line.substr(name.size() + 1) : std::string();
    };
    about_.content = stated("content");
    about_.model_digest = stated("model");
    about_.ranks = text::read_number_list(stated("ranks"), static_cast<int>(ranks.size()) - 1);
    if (!is_digest(about_.content) || !is_digest(about_.model_digest) || about_.ranks.empty() || at != found.size())
      in_.fail("are damaged: their header does not say which weights these are" + copy);
    if (!wanted.pinned.empty() && about_.content != wanted.pinned)
      in_.fail("have other weights than those to which this program is pinned: digest " + shown_digest(about_.content) +
               ", expected " + shown_digest(wanted.pinned) + remedy);
    layout_.emplace(wanted, about_, ranks);
    if (in_.size() != layout_->bytes())
      in_.fail((in_.size() < layout_->bytes() ? "are cut short: " : "are too long: ") + std::to_string(in_.size()) +
               " bytes, expected " + std::to_string(layout_->bytes()) + copy);
    digests_.resize(layout_->bytes() - layout_->sections.back());
    files::sha256 sum;
    sum.add(found);
    if (!in_.read(digests_.data(), digests_.size(), layout_->sections.back())) in_.fail("cannot be read" + copy);
    const std::string_view all = digests_;
    sum.add(all.substr(0, all.size() - packed_layout::digest));
    if (!equal(sum, all.substr(all.size() - packed_layout::digest)))
      in_.fail("are damaged: the digests in the file are wrong" + copy);
  }

  const packed_content& about() const { return about_; }
  /// "rank 1", or "ranks 0,2": whose weights the file has.
  std::string ranks_text() const {
    return (about_.ranks.size() == 1 ? "rank " : "ranks ") + text::number_list(about_.ranks);
  }
  /// Throws files::error unless the file has the weights of rank `rank`. The functions below are for such ranks.
  [[gnu::cold]] void require(int rank) const {
    if (!std::binary_search(about_.ranks.begin(), about_.ranks.end(), rank))
      in_.fail("have no weights of rank " + std::to_string(rank) + ", only of " + ranks_text() +
               "; take the package of this host, or write the file again with --pack " + text::shell_word(in_.path()));
  }
  /// Throws files::error if the weights file `plain` is of another training.
  [[gnu::cold]] void require_weights_of(const file& plain) const {
    if (plain.content() != about_.content)
      fail("have other weights than '" + plain.path() + "': digest " + shown_digest(about_.content) + ", not " +
           shown_digest(plain.content()));
  }

  /// Reads item `i` of rank `rank`, which has `items`, and returns whether it is what --pack wrote. Throws files::error.
  [[gnu::cold]] bool holds(int rank, std::span<const item> items, std::size_t i) const {
    const auto bytes = items[i].stored_bytes();
    if (bytes == 0) return true;
    const auto begin = layout_->sections[rank] + stored_bytes(items.first(i));
    const std::byte* start = nullptr;
    const auto pages = in_.map(begin, begin + bytes, start);
    files::sha256 sum;
    sum.add(std::span(start, static_cast<std::size_t>(bytes)));
    const auto at = layout_->digest_at(rank, static_cast<std::int64_t>(i)) - layout_->sections.back();
    return equal(sum, std::string_view(digests_).substr(at, packed_layout::digest));
  }
  [[noreturn]] void fail(const std::string& why) const {
    in_.fail(why + "; write it again with --pack " + text::shell_word(in_.path()));
  }

  /// Maps the section of rank `rank`, which has `items`. Throws files::error.
  store map(int rank, std::span<const item> items) const {
    const auto begin = layout_->sections[rank];
    const auto bytes = stored_bytes(items);
    const std::byte* start = nullptr;
    files::mapped pages;
    if (bytes > 0) pages = in_.map(begin, begin + bytes, start);
    return store(std::move(pages), start, items);
  }

  /// Passes the same section to put(offset, from, bytes) in chunks and maps only one chunk at a time. Throws files::error.
  template <class Put> void each_chunk(int rank, std::span<const item> items, Put put) const {
    constexpr std::int64_t most = std::int64_t{32} << 20;
    const auto begin = layout_->sections[rank];
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

  files::opened in_;
  packed_content about_;
  std::optional<packed_layout> layout_;
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

/// Writes the file to `out`, an item at a time, with weights from `from`, of the ranks `held` (ascending; empty: all); calls
/// `done` after each item with the bytes so far and in total. `ranks`: the items of all ranks. Throws files::error,
/// std::bad_alloc.
template <class F>
[[gnu::cold]] void write_packed(files::writer& out, const identity& of, std::span<const std::vector<item>> ranks,
                                const file& from, F done, std::vector<int> held = {}) {
  if (held.empty()) {
    held.resize(ranks.size());
    std::iota(held.begin(), held.end(), 0);
  }
  const packed_layout layout(of, {from.content(), from.model_digest(), held}, ranks);
  for (const int r : held)
    for (const auto& n : ranks[r])
      if (n.packed_bytes && !n.pack)
        throw files::error(
            "this program cannot pack weights for GPU ranks, since it was built without CUDA; pack them with one that "
            "was built with it (-DDICE_CUDA=ON)");
  detail::large_writes to(out);
  to.put(layout.text.data(), static_cast<std::int64_t>(layout.text.size()));
  files::sha256 all;
  all.add(layout.text);
  std::vector<std::array<std::byte, 32>> digests;
  for (const int r : held) {
    to.align(packed_layout::page);
    for (const auto& n : ranks[r]) {
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
  for (const auto& d : digests) {
    to.put(d.data(), packed_layout::digest);
    all.add(d);
  }
  to.put(all.bytes().data(), packed_layout::digest);
  to.end();
}

}  // namespace dice::weights
