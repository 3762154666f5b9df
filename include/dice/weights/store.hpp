#pragma once

#include "dice/graph/network.hpp"
#include "dice/weights/block.hpp"
#include "dice/weights/file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::weights {

/// The data of one kernel in the weights file: its parameters in their order, and whether they are packed.
struct item {
  meta::view<graph::parameter> parameters;
  std::int64_t packed_bytes = 0;  ///< 0: the parameters stay where they lie in the file
  void (*pack)(const void* kernel, std::span<const void* const> from, std::byte* to) = nullptr;
  const void* kernel = nullptr;  ///< passed to pack(): determines the packed form

  /// Bytes in a file of packed weights: of the packed form or of the parameters, each rounded up to a multiple of 64.
  constexpr std::int64_t stored_bytes() const {
    if (packed_bytes) return aligned(packed_bytes);
    std::int64_t out = 0;
    for (const auto& p : parameters) out += aligned(p.bytes());
    return out;
  }
  static constexpr std::int64_t alignment = 64;
  static constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
};

/// Sum of stored_bytes() of all items.
constexpr std::int64_t stored_bytes(std::span<const item> items) {
  std::int64_t out = 0;
  for (const auto& n : items) out += n.stored_bytes();
  return out;
}

/// A rank's weights: those read in place are mapped read-only, the others are packed in one block or mapped from a file of
/// packed weights. Nothing else is mapped. Items are numbered in the order in which they came.
class store {
 public:
  store() = default;
  /// Maps and packs `items`. Throws files::error, std::bad_alloc.
  store(const file& from, std::span<const item> items) : kept_(items.size()) {
    std::int64_t packed = 0;
    for (const auto& n : items) {
      for (const auto& p : n.parameters) check(from, p);
      packed += item::aligned(n.packed_bytes);
    }
    blocks_.push_back(block(packed));
    std::byte* at = blocks_.back().data();
    map_plain(from, items);
    gather_plain(from, items);
    std::vector<const void*> plain;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].packed_bytes) continue;
      // One item at a time, unmapped immediately: the plain pages of packed weights never pile up.
      std::vector<files::mapped> pages;
      std::vector<block> gathered;
      plain.clear();
      for (const auto& p : items[i].parameters) {
        const std::byte* start = nullptr;
        if (p.in_place()) {
          pages.push_back(from.map(p.offset, p.end(), start));
        } else {
          gathered.push_back(block(p.bytes()));
          gather(from, p, gathered.back().data());
          start = gathered.back().data();
        }
        plain.push_back(start);
      }
      kept_[i].packed = at;
      if (items[i].pack) items[i].pack(items[i].kernel, plain, at);
      at += item::aligned(items[i].packed_bytes);
    }
  }

  /// `items` lie one after the other from `at` on, with the sizes of stored_bytes(), in `pages` or, if that is empty, in
  /// other memory.
  store(files::mapped pages, const std::byte* at, std::span<const item> items) : kept_(items.size()) {
    mappings_.push_back(std::move(pages));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& n = items[i];
      if (n.packed_bytes) {
        kept_[i].packed = at;
        at += item::aligned(n.packed_bytes);
        continue;
      }
      for (const auto& p : n.parameters) {
        kept_[i].plain.push_back(at);
        at += item::aligned(p.bytes());
      }
    }
  }

  /// Adds the items of another store after its own, whose addresses stay the same.
  void add(store&& more) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(kept_, more.kept_);
    append(mappings_, more.mappings_);
    append(blocks_, more.blocks_);
  }

  int size() const { return static_cast<int>(kept_.size()); }
  /// The parameters of item `i`, in place; null if it is packed or has none.
  const void* const* plain(int i) const { return kept_[i].plain.empty() ? nullptr : kept_[i].plain.data(); }
  /// The packed weights of item `i`, or null.
  const std::byte* packed(int i) const { return kept_[i].packed; }

 private:
  struct kept {
    std::vector<const void*> plain;
    const std::byte* packed = nullptr;
  };

  static void check(const file& from, const graph::parameter& p) {
    const auto bytes = p.bytes();
    if (p.offset < 0 || p.offset % (p.is_part ? 4 : 64) || bytes <= 0 || p.end() <= p.offset || p.end() > from.data_bytes())
      throw files::error("the generated header is damaged: a parameter at " + std::to_string(p.offset) + " with " +
                         std::to_string(bytes) + " bytes does not lie in '" + from.path() + "' (" +
                         std::to_string(from.data_bytes()) + " bytes of data)");
  }

  /// Copies the runs of a parameter from the file.
  static void gather(const file& from, const graph::parameter& p, std::byte* to) {
    const std::byte* start = nullptr;
    const auto pages = from.map(p.offset, p.end(), start);
    for (std::int64_t y = 0; y < p.planes; ++y)
      for (std::int64_t x = 0; x < p.rows; ++x, to += p.run_bytes())
        std::memcpy(to, start + y * p.plane_pitch + x * p.row_pitch, static_cast<std::size_t>(p.run_bytes()));
  }
  /// Copies of the parameters that kernels read plain, but not where they lie.
  void gather_plain(const file& from, std::span<const item> items) {
    for (std::size_t i = 0; i < items.size(); ++i)
      for (std::size_t k = 0; !items[i].packed_bytes && k < items[i].parameters.size(); ++k) {
        const auto& p = items[i].parameters[k];
        if (p.in_place()) continue;
        blocks_.push_back(block(p.bytes()));
        gather(from, p, blocks_.back().data());
        kept_[i].plain[k] = blocks_.back().data();
      }
  }

  /// Maps the parameters that are read in place; neighbours in the file share a mapping.
  void map_plain(const file& from, std::span<const item> items) {
    struct part {
      std::int64_t begin, end;
      const void** pointer;
    };
    std::vector<part> parts;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!items[i].packed_bytes) {
        kept_[i].plain.resize(items[i].parameters.size());
        for (std::size_t k = 0; k < items[i].parameters.size(); ++k) {
          const auto& p = items[i].parameters[k];
          if (p.in_place()) parts.push_back({p.offset, p.end(), &kept_[i].plain[k]});
        }
      }
    std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.begin < b.begin; });
    constexpr std::int64_t near = 4096;
    for (std::size_t i = 0, j; i < parts.size(); i = j) {
      std::int64_t end = parts[i].end;
      for (j = i + 1; j < parts.size() && parts[j].begin <= end + near; ++j) end = std::max(end, parts[j].end);
      const std::byte* start = nullptr;
      mappings_.push_back(from.map(parts[i].begin, end, start));
      for (auto k = i; k < j; ++k) *parts[k].pointer = start + (parts[k].begin - parts[i].begin);
    }
  }

  std::vector<kept> kept_;
  std::vector<files::mapped> mappings_;
  std::vector<block> blocks_;
};

/// Packs `items` one by one and passes them to put(offset, from, bytes), with offsets by stored_bytes(), until a call
/// returns false. Throws files::error, std::bad_alloc.
template <class Put> [[gnu::cold]] void each_stored(const file& from, std::span<const item> items, Put put) {
  std::int64_t begin = 0;
  for (const auto& n : items) {
    const store one(from, std::span(&n, 1));
    auto at = begin;
    if (one.packed(0) && !put(at, one.packed(0), n.packed_bytes)) return;
    for (std::size_t k = 0; !one.packed(0) && k < n.parameters.size(); ++k) {
      const auto bytes = n.parameters[k].bytes();
      if (!put(at, reinterpret_cast<const std::byte*>(one.plain(0)[k]), bytes)) return;
      at += item::aligned(bytes);
    }
    begin += n.stored_bytes();
  }
}

}  // namespace dice::weights
