// The weights of a rank in memory.
#include "on_disk.hpp"

#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

using namespace dice;
using namespace on_disk;

TEST(weights_block, owns_its_memory) {
  weights::block a(10000), b;
  EXPECT_EQ(a.bytes(), 10000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(a.data()[9999], std::byte{});
  a.data()[9999] = std::byte{7};
  auto* const at = a.data();
  b = std::move(a);
  EXPECT_EQ(b.data(), at);
  const weights::block c = std::move(b);
  EXPECT_EQ(b.data(), nullptr);
  EXPECT_EQ(b.bytes(), 0);
  EXPECT_EQ(c.data()[9999], std::byte{7});
  c.touch();
  EXPECT_EQ(c.data()[9999], std::byte{});
  EXPECT_NE(weights::block(1).data(), nullptr);
  for (const int none : {0, -1}) {
    const weights::block empty(none);
    empty.touch();
    EXPECT_EQ(empty.data(), nullptr);
  }
  EXPECT_THROW(weights::block(std::numeric_limits<std::int64_t>::max() / 2), std::bad_alloc);
}

TEST(weights_item, takes_whole_lines_of_memory) {
  for (const auto& [bytes, stored] : {std::pair<int, int>{0, 0}, {1, 64}, {64, 64}, {65, 128}})
    EXPECT_EQ(weights::item::aligned(bytes), stored);
  const graph::parameter two[] = {{0, {16}}, {64, {17}}};
  const weights::item plain{two, 0, nullptr}, packed{two, 65, reverse};
  EXPECT_EQ(plain.stored_bytes(), 64 + 128);
  EXPECT_EQ(packed.stored_bytes(), 128);
  const weights::item both[]{plain, packed};
  EXPECT_EQ(weights::stored_bytes(both), 320);
}

TEST(weights_store, maps_and_packs) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  const graph::parameter plain[] = {{8192, {2, 8}}, {64, {3}}}, packed[] = {{0, {16}}, {40896, {16}}};
  const std::vector<weights::item> needs{
      {plain, 0, nullptr}, {packed, 64, reverse}, {{}, 0, nullptr}, {packed, 100, reverse}};
  const weights::store s(w, needs);
  EXPECT_EQ(plain_of(s, 0, 0)[5], 8192 / 4 + 5);
  EXPECT_EQ(plain_of(s, 0, 1)[2], 64 / 4 + 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.plain(0)[1]) % 64, 0u);
  EXPECT_EQ(s.packed(0), nullptr);
  EXPECT_EQ(s.packed(2), nullptr);
  for (int k : {1, 3}) {
    EXPECT_EQ(s.plain(k), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.packed(k)) % 64, 0u);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(reinterpret_cast<const float*>(s.packed(k))[i], static_cast<float>(15 - i + 40896 / 4 + i));
  }
}

// The tile of rows 1 and 2, columns 2 and 3 of a constant of three planes of 4 × 5 that begins at element 16: read in
// place, and packed.
TEST(weights_store, puts_together_what_lies_in_runs) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  graph::parameter tile{.offset = 4 * (16 + 5 + 2), .extents = {1, 3, 2, 2}};
  tile.is_part = true;
  tile.rows = 2;
  tile.row_pitch = 4 * 5;
  tile.planes = 3;
  tile.plane_pitch = 4 * 4 * 5;
  const graph::parameter two[] = {tile, {64, {3}}};
  const auto copy = [](const void*, std::span<const void* const> from, std::byte* to) { std::memcpy(to, from[0], 48); };
  graph::parameter shifted = tile;
  shifted.offset += 4;
  const graph::parameter three[] = {shifted, tile, {64, {3}}};
  const auto third = [](const void*, std::span<const void* const> from, std::byte* to) {
    for (const void* p : from) to = std::copy_n(static_cast<const std::byte*>(p), 12, to);
  };
  const std::vector<weights::item> needs{{two, 0, nullptr}, {two, 64, copy}, {three, 36, third}, {three, 0, nullptr}};
  const weights::store s(w, needs);
  const float expected[] = {23, 24, 28, 29, 43, 44, 48, 49, 63, 64, 68, 69};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(plain_of(s, 0, 0)[i], expected[i]) << i;
    EXPECT_EQ(reinterpret_cast<const float*>(s.packed(1))[i], expected[i]) << i;
  }
  EXPECT_EQ(plain_of(s, 0, 1)[2], 16 + 2);
  const float starts[] = {24, 25, 29, 23, 24, 28, 16, 17, 18};
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(reinterpret_cast<const float*>(s.packed(2))[i], starts[i]) << i;
    EXPECT_EQ(plain_of(s, 3, i / 3)[i % 3], starts[i]) << i;
  }
}

TEST(weights_store, maps_neighbours_together) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  // The second lies within the first, and the third reaches to the end of the file.
  const graph::parameter first[] = {{0, {4096}}}, within[] = {{64, {3}}}, last[] = {{20480, {5120}}, {20416, {2}}};
  const std::vector<weights::item> needs{{last, 0, nullptr}, {within, 0, nullptr}, {first, 0, nullptr}};
  const weights::store s(w, needs);
  EXPECT_EQ(plain_of(s, 0, 0)[5119], 10239);
  EXPECT_EQ(plain_of(s, 0, 1)[1], 20416 / 4 + 1);
  EXPECT_EQ(plain_of(s, 1, 0)[2], 18);
  EXPECT_EQ(plain_of(s, 2, 0)[4095], 4095);
  EXPECT_EQ(plain_of(s, 0, 0) - plain_of(s, 0, 1), 16);
  EXPECT_EQ(plain_of(s, 1, 0) - plain_of(s, 2, 0), 16);
}

TEST(weights_store, keeps_its_items_when_others_are_added) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  const graph::parameter plain[] = {{64, {3}}}, packed[] = {{0, {16}}, {40896, {16}}};
  graph::parameter tile{.offset = 4, .extents = {2}};
  tile.is_part = true;
  const graph::parameter copied[] = {tile};
  const weights::item one{plain, 0, nullptr}, two{packed, 64, reverse}, three{copied, 0, nullptr};
  const std::vector<weights::item> own{one, two}, more{three, two, one};
  weights::store s(w, own);
  const auto* at = plain_of(s, 0, 0);
  s.add(weights::store(w, more));
  ASSERT_EQ(s.size(), 5);
  EXPECT_EQ(plain_of(s, 0, 0), at);
  EXPECT_EQ(at[2], 18);
  EXPECT_EQ(plain_of(s, 2, 0)[1], 2);
  EXPECT_EQ(reinterpret_cast<const float*>(s.packed(3))[1], 14 + 10225);
  EXPECT_EQ(plain_of(s, 4, 0)[2], 18);
}

TEST(weights_store, refuses_what_lies_outside) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  for (const graph::parameter& p :
       {graph::parameter{40960, {1}}, {40896, {17}}, {-64, {4}}, {32, {4}}, {0, {0}}, {64, {1 << 30, 1 << 30}}}) {
    const graph::parameter one[] = {p};
    const std::vector<weights::item> needs{{one, 0, nullptr}};
    EXPECT_THROW(weights::store(w, needs), files::error);
  }
  // Runs with nothing in them, and runs that go backwards.
  for (const auto& [extent, pitch] : {std::pair<int, int>{0, 64}, {2, -4}, {2, -64}}) {
    graph::parameter p{.offset = 128, .extents = {extent}, .rows = 2, .row_pitch = pitch};
    p.is_part = true;
    const graph::parameter one[] = {p};
    const std::vector<weights::item> needs{{one, 0, nullptr}};
    EXPECT_THROW(weights::store(w, needs), files::error) << pitch;
  }
}
