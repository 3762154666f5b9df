// Files of packed weights.
#include "on_disk.hpp"

#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace dice;
using namespace on_disk;

TEST(weights_packed, maps_what_was_written) {
  const file_on_disk f(header());
  const graph::parameter plain[] = {{8192, {2, 8}}, {64, {3}}}, packed[] = {{0, {16}}, {40896, {16}}};
  const std::vector<std::vector<weights::item>> ranks{
      {{plain, 0, nullptr}, {packed, 64, reverse}, {{}, 0, nullptr}}, {}, {{packed, 100, reverse}, {plain, 0, nullptr}}};
  const weights::identity identity{{{"one", "1"}, {"two", "2"}}};
  const auto path = f.path + ".packed";
  {
    files::writer out(path);
    std::int64_t told = 0, all = 0;
    weights::write_packed(out, identity, ranks, weights::file(f.path, "net", wanted),
                          [&](std::int64_t done, std::int64_t of) {
                            EXPECT_GE(done, told);
                            told = done;
                            all = of;
                          });
    EXPECT_GT(told, 0);
    EXPECT_LE(told, all);
    out.commit();
  }
  const weights::packed_file file(path, identity, ranks);
  for (const int rank : {0, 2}) {
    const auto s = file.map(rank, ranks[rank]);
    const int of_plain = rank == 0 ? 0 : 1;
    EXPECT_EQ(s.packed(of_plain), nullptr);
    EXPECT_EQ(plain_of(s, of_plain, 0)[5], 8192 / 4 + 5);
    EXPECT_EQ(plain_of(s, of_plain, 1)[2], 64 / 4 + 2);
    EXPECT_EQ(s.plain(1 - of_plain), nullptr);
    for (const void* at : {s.plain(of_plain)[1], static_cast<const void*>(s.packed(1 - of_plain))})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(reinterpret_cast<const float*>(s.packed(1 - of_plain))[i], static_cast<float>(15 - i + 40896 / 4 + i));
  }
  // Handed over in chunks, and packed again: the same bytes.
  for (const int rank : {0, 1, 2}) {
    const auto& needs = ranks[rank];
    std::vector<std::byte> read, packed_now(static_cast<std::size_t>(weights::stored_bytes(needs)));
    file.each_chunk(rank, needs, [&](std::int64_t offset, const std::byte* from, std::int64_t bytes) {
      EXPECT_EQ(offset, static_cast<std::int64_t>(read.size()));
      read.insert(read.end(), from, from + bytes);
    });
    weights::each_stored(weights::file(f.path, "net", wanted), needs,
                         [&](std::int64_t offset, const std::byte* from, std::int64_t bytes) {
                           return std::copy(from, from + bytes, packed_now.begin() + offset), true;
                         });
    EXPECT_EQ(read, packed_now);
  }
  EXPECT_NO_THROW(file.map(1, ranks[1]));
  EXPECT_TRUE(file.holds(0, ranks[0], 2)) << "an item without bytes";
  // --verify finds every byte that an item has, and the digests find damage to themselves.
  const auto name = [](std::size_t i) { return "layer" + std::to_string(i); };
  for (const int rank : {0, 1, 2}) EXPECT_NO_THROW(weights::verify(file, rank, ranks[rank], name));
  EXPECT_EQ(weights::verify(file, 2, ranks[2], name).tensors, 2);
  const auto damaged = [&](std::int64_t at) {
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(at);
    const char was = static_cast<char>(bytes.get());
    bytes.seekp(at);
    bytes.put(static_cast<char>(was ^ 1));
    bytes.close();
    std::string text;
    try {
      const weights::packed_file again(path, identity, ranks);
      for (const int rank : {0, 1, 2}) weights::verify(again, rank, ranks[rank], name);
    } catch (const files::error& e) {
      text = e.what();
    }
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(at).put(was);
    return text;
  };
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  EXPECT_NE(damaged(65536).find("'layer0' of rank 0"), std::string::npos) << damaged(65536);
  EXPECT_NE(damaged(65536 + 64 + 11).find("'layer0' of rank 0"), std::string::npos);
  EXPECT_NE(damaged(65536 + 64 * 3 - 1).find("'layer1' of rank 0"), std::string::npos);
  EXPECT_NE(damaged(2 * 65536 + 127).find("'layer0' of rank 2"), std::string::npos);
  EXPECT_NE(damaged(2 * 65536 + 128).find("'layer1' of rank 2"), std::string::npos);
  for (const auto at : {size - 1, size - 32, size - 33, size - 32 * 6})
    EXPECT_NE(damaged(at).find("digests"), std::string::npos);
  EXPECT_EQ(damaged(65536 - 1), "") << "no item has this byte";
  for (const auto& of : {weights::identity{{{"one", "1"}, {"two", "3"}}}, {{{"one", "1"}, {"two", "22"}}}, {{{"two", "2"}}}})
    EXPECT_THROW(weights::packed_file(path, of, ranks), files::error);
  ::unlink(path.c_str());
}

// Which weights a packed file has: those of a training, of some ranks. A header that says it wrongly is damaged.
TEST(weights_packed, says_what_it_holds) {
  const file_on_disk f(header());
  const graph::parameter first[] = {{0, {16}}}, second[] = {{64, {32}}};
  const std::vector<std::vector<weights::item>> ranks{{{first}}, {{second}}, {{first}, {second}}, {}};
  weights::identity identity{{{"one", "1"}}};
  const auto path = f.path + ".some";
  const weights::file plain(f.path, "net", wanted);
  const auto pack = [&](const std::vector<int>& held) {
    files::writer out(path);
    weights::write_packed(
        out, identity, ranks, plain, [](std::int64_t, std::int64_t) {}, held);
    out.commit();
    return weights::packed_file(path, identity, ranks);
  };
  const auto error = [&](auto call) -> std::string {
    try {
      call();
      return {};
    } catch (const files::error& e) {
      return e.what();
    }
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  for (const std::vector<int>& held : {std::vector{0}, {1}, {2}, {3}, {0, 2}, {1, 3}, {0, 1, 2}, {0, 1, 2, 3}}) {
    const auto file = pack(held);
    EXPECT_EQ(file.about().content, content);
    EXPECT_EQ(file.about().model_digest, model);
    EXPECT_EQ(file.about().ranks, held);
    for (int r = 0; r < 4; ++r) {
      const auto& items = ranks[r];
      if (std::find(held.begin(), held.end(), r) == held.end()) {
        has(error([&] { file.require(r); }), "have no weights of rank " + std::to_string(r) + ", only of " +
                                                 file.ranks_text() +
                                                 "; take the package of this host, or write the file again with --pack");
        continue;
      }
      EXPECT_EQ(error([&] { file.require(r); }), "");
      EXPECT_EQ(weights::verify(file, r, items, [](std::size_t) { return std::string(); }).tensors, std::ssize(items));
      const auto s = file.map(r, items);
      for (int i = 0; i < std::ssize(items); ++i)
        EXPECT_EQ(plain_of(s, i, 0)[3], static_cast<float>(items[i].parameters[0].offset / 4 + 3));
    }
  }
  EXPECT_EQ(pack({0, 1, 3}).ranks_text(), "ranks 0-1,3");
  EXPECT_EQ(pack({2}).ranks_text(), "rank 2");
  EXPECT_LT(std::filesystem::file_size(path), 2 * 65536u) << "other ranks take no bytes";

  const file_on_disk trained(header(structure, other));
  const auto file = pack({0, 2});
  has(error([&] { file.require_weights_of(weights::file(trained.path, "net", wanted)); }),
      "have other weights than '" + trained.path + "': digest cccccccccccccccc…, not dddddddddddddddd…; write it again");
  EXPECT_EQ(error([&] { file.require_weights_of(plain); }), "");
  identity.pinned = content;
  EXPECT_EQ(error([&] { weights::packed_file(path, identity, ranks); }), "");
  identity.pinned = other;
  has(error([&] { weights::packed_file(path, identity, ranks); }), "this program is pinned: digest cccc");
  identity.pinned.clear();

  std::ifstream in(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  const auto with = [&](const std::string& old, const std::string& now) {
    auto text = whole;
    text.replace(text.find(old), old.size(), now);
    std::ofstream(path, std::ios::binary) << text;
    return error([&] { weights::packed_file(path, identity, ranks); });
  };
  const std::string says = "are damaged: their header does not say which weights these are";
  for (const char* bad : {"ranks 2,0", "ranks 0,4", "ranks 0,,", "ranks -,2", "ranks 0 2", "Ranks 0,2", "ranks 0,\0"})
    has(with("ranks 0,2", std::string(bad, 9)), says);
  has(with("content c", "content C"), says);
  has(with("model 7", "model x"), says);
  has(with("ranks 0,2\n", "ranks 0,2\n1"), says);
  has(with("content c", "content d"), "are damaged: the digests in the file are wrong");
  has(with("ranks 0,2", "ranks 0-2"), "are cut short");
  has(with("one 1", "one \x1f ~\x7f"), "this program has one 1, the file has 'one ? ~?'; write it again");
  has(with("one 1", std::string(100, 'x')), "the file has '" + std::string(80, 'x') + "'; write it again");
  // Other files.
  const auto of_file = [&](const std::string& text, bool named = true) {
    std::ofstream(path, std::ios::binary) << text;
    return error([&] { weights::packed_file(path, identity, ranks, named, "--w"); });
  };
  for (const char* text : {"", "dice packed weights", "dice packed heights\n", "Dice packed weights\none 1\n"}) {
    has(of_file(text), "were not written by --pack; name a file that --pack wrote");
    has(of_file(text, false), "were not written by --pack; write it again with --pack " + path);
  }
  has(of_file("dice packed weights\n"), "belong to another build: this program has one 1, the file has ''");
  has(error([&] { weights::packed_file(f.path, identity, ranks, true, "--w"); }),
      "are a weights file; give it with --w " + f.path);
  EXPECT_THROW(weights::packed_layout(identity, {content, model, std::vector<int>(40000, 7)}, ranks), files::error);
  identity.lines[0].second.clear();
  const auto spare = 65536 - weights::packed_layout(identity, {content, model, {0}}, ranks).text.size();
  identity.lines[0].second.resize(spare, 'x');
  EXPECT_EQ(weights::packed_layout(identity, {content, model, {0}}, ranks).sections[0], 65536);
  identity.lines[0].second += 'x';
  EXPECT_THROW(weights::packed_layout(identity, {content, model, {0}}, ranks), files::error);
  ::unlink(path.c_str());
}

// More than what is mapped, and written, at once.
TEST(weights_packed, is_written_and_read_in_pieces) {
  static constexpr std::int64_t piece = 1 << 20, all = 33 * piece + 64;
  const file_on_disk f(header());
  const graph::parameter any[] = {{0, {16}}};
  const auto pack = [](const void*, std::span<const void* const>, std::byte* to) {
    for (std::int64_t at = 0; at < all; at += piece)
      std::memset(to + at, static_cast<int>(1 + at / piece), static_cast<std::size_t>(std::min(piece, all - at)));
  };
  const std::vector<std::vector<weights::item>> ranks{{{any, all, pack}}};
  const auto path = f.path + ".large";
  {
    files::writer out(path);
    weights::write_packed(out, {}, ranks, weights::file(f.path, "net", wanted), [](auto...) {});
    out.commit();
  }
  const weights::packed_file file(path, {}, ranks);
  std::vector<std::int64_t> offsets;
  file.each_chunk(0, ranks[0], [&](std::int64_t offset, const std::byte* from, std::int64_t bytes) {
    offsets.push_back(offset);
    offsets.push_back(bytes);
    for (std::int64_t at = 0; at < bytes; at += piece)
      ASSERT_EQ(from[at], static_cast<std::byte>(1 + (offset + at) / piece)) << offset + at;
  });
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 32 * piece, 32 * piece, piece + 64}));
  ::unlink(path.c_str());
}

TEST(weights_packed, needs_the_function_that_packs) {
  const file_on_disk f(header());
  const graph::parameter any[] = {{0, {16}}};
  const std::vector<std::vector<weights::item>> ranks{{{any, 64, reverse}}, {{any, 64, nullptr}}};
  files::writer out(f.path + ".none");
  std::string text;
  try {
    weights::write_packed(out, {}, ranks, weights::file(f.path, "net", wanted), [](auto...) {}, {1});
  } catch (const files::error& e) {
    text = e.what();
  }
  EXPECT_EQ(text.find("this program cannot pack weights for GPU ranks, since it was built without CUDA"), 0u) << text;
}
