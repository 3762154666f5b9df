// Weights files, good and bad, written byte by byte.
#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace dice;

namespace {

constexpr std::string_view digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
constexpr graph::weights_file wanted{"w.safetensors", digest, 40960};

struct file_on_disk {
  std::string path = "/tmp/dice_weights_" + std::to_string(::getpid());
  /// Header as given, padded to 64 bytes if `pad`; data[i] = i as float32.
  explicit file_on_disk(std::string header, std::int64_t bytes = wanted.bytes, bool pad = true) {
    while (pad && (header.size() + 8) % 64) header += ' ';
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
    out << header;
    for (int i = 0; i < bytes / 4; ++i) {
      const auto x = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&x), 4);
    }
  }
  ~file_on_disk() { ::unlink(path.c_str()); }
};

std::string header(std::string_view d = digest) {
  return R"({"a.\"w\"":{"dtype":"F32","shape":[1,-2.5e3,[true,null]],"x":{}},"__metadata__":{"format":"pt","dice_digest":")" +
         std::string(d) + R"(","z":"}"}, "b":[]})";
}

std::string error_of(const file_on_disk& f) {
  try {
    const weights::file w(f.path, "net", wanted);
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

void reverse(const void*, std::span<const float* const> from, std::byte* to) {
  for (int i = 0; i < 16; ++i) reinterpret_cast<float*>(to)[i] = from[0][15 - i] + from[1][i];
}

}  // namespace

TEST(weights_file, good) { EXPECT_EQ(error_of(file_on_disk(header())), ""); }

TEST(weights_file, bad_ones_are_named) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(file_on_disk(header(std::string(64, '0')))), "belongs to another model");
  has(error_of(file_on_disk(header(), wanted.bytes - 4)), "cut short");
  has(error_of(file_on_disk(header(), wanted.bytes + 4)), "too long");
  has(error_of(file_on_disk(header() + std::string(header().size() % 2 ? 2 : 1, ' '), wanted.bytes, false)), "aligned");
  has(error_of(file_on_disk("{}")), "dice_digest");
  has(error_of(file_on_disk(R"({"__metadata__":{"dice_digest":5}})")), "damaged");
  for (const char* broken : {"[]", "{", R"({"a")", R"({"a":})", R"({"a":[1,})", R"({"a":{"b":1]})", R"({"a":1}{})",
                             R"({"a":"\)", "x", R"({"__metadata__":"dice_digest"})"})
    has(error_of(file_on_disk(broken)), "damaged");
  has(error_of(file_on_disk(std::string(100000, '['))), "damaged");
  has(error_of(file_on_disk(R"({"a":)" + std::string(100000, '['))), "damaged");
  file_on_disk gone("{}");
  ::unlink(gone.path.c_str());
  has(error_of(gone), "No such file");
}

TEST(weights_store, maps_and_packs) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  const graph::parameter plain[] = {{8192, {2, 8}}, {64, {3}}}, packed[] = {{0, {16}}, {40896, {16}}};
  const std::vector<weights::item> needs{
      {plain, 0, nullptr}, {packed, 64, reverse}, {{}, 0, nullptr}, {packed, 100, reverse}};
  const weights::store s(w, needs);
  EXPECT_EQ(s.plain(0)[0][5], 8192 / 4 + 5);
  EXPECT_EQ(s.plain(0)[1][2], 64 / 4 + 2);
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

TEST(weights_store, refuses_what_lies_outside) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  for (const graph::parameter& p :
       {graph::parameter{40960, {1}}, {40896, {17}}, {-64, {4}}, {32, {4}}, {0, {0}}, {64, {1 << 30, 1 << 30}}}) {
    const graph::parameter one[] = {p};
    const std::vector<weights::item> needs{{one, 0, nullptr}};
    EXPECT_THROW(weights::store(w, needs), files::error);
  }
}

TEST(weights_packed, maps_what_was_written) {
  const file_on_disk f(header());
  const graph::parameter plain[] = {{8192, {2, 8}}, {64, {3}}}, packed[] = {{0, {16}}, {40896, {16}}};
  const std::vector<std::vector<weights::item>> ranks{
      {{plain, 0, nullptr}, {packed, 64, reverse}, {{}, 0, nullptr}}, {}, {{packed, 100, reverse}, {plain, 0, nullptr}}};
  const weights::identity identity{{"one", "1"}, {"two", "2"}};
  const auto path = f.path + ".packed";
  {
    files::writer out(path);
    std::int64_t told = 0, all = 0;
    weights::write_packed(out, identity, ranks, weights::file(f.path, "net", wanted),
                          [&](std::int64_t done, std::int64_t of) {
                            EXPECT_GE(done, told);
                            told = done, all = of;
                          });
    EXPECT_GT(told, 0);
    EXPECT_LE(told, all);
    out.commit();
  }
  const weights::packed_file file(path, identity, ranks);
  for (const int rank : {0, 2}) {
    const auto s = file.map(rank, ranks[static_cast<std::size_t>(rank)]);
    const int of_plain = rank == 0 ? 0 : 1;
    EXPECT_EQ(s.packed(of_plain), nullptr);
    EXPECT_EQ(s.plain(of_plain)[0][5], 8192 / 4 + 5);
    EXPECT_EQ(s.plain(of_plain)[1][2], 64 / 4 + 2);
    EXPECT_EQ(s.plain(1 - of_plain), nullptr);
    for (const void* at : {static_cast<const void*>(s.plain(of_plain)[1]), static_cast<const void*>(s.packed(1 - of_plain))})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(reinterpret_cast<const float*>(s.packed(1 - of_plain))[i], static_cast<float>(15 - i + 40896 / 4 + i));
  }
  // Handed over in pieces, and packed again: the same bytes.
  for (const int rank : {0, 1, 2}) {
    const auto& needs = ranks[static_cast<std::size_t>(rank)];
    std::vector<std::byte> read, packed_now(static_cast<std::size_t>(weights::stored_bytes(needs)));
    file.each_piece(rank, needs, [&](std::int64_t offset, const std::byte* from, std::int64_t bytes) {
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
  for (const auto& other : {weights::identity{{"one", "1"}, {"two", "3"}}, {{"one", "1"}, {"two", "22"}}, {{"two", "2"}}})
    EXPECT_THROW(weights::packed_file(path, other, ranks), files::error);
  ::unlink(path.c_str());
}

// What onnx2hpp writes, and files whose header or data were changed: also by somebody who adapts the digests in the file.
TEST(weights_file, verified) {
  std::string data(256, 'd');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i);
  const auto sum = [](std::string_view bytes) {
    files::sha256 out;
    out.add(bytes);
    return out.text();
  };
  const std::string path = "/tmp/dice_verified_" + std::to_string(::getpid());
  std::vector<weights::stored_tensor> tensors{{"a.w", 0, 64, ""}, {"a.b", 128, 132, ""}};
  for (auto& t : tensors) t.sha256 = sum(std::string_view(data).substr(t.begin, t.end - t.begin));
  const auto file_digest = weights::digest_of(tensors);
  const graph::weights_file known{"w", file_digest, 256};
  const graph::parameter first[] = {{0, {16}}, {128, {1}}}, second[] = {{128, {1}}}, hidden[] = {{192, {4}}};
  const auto verified = [&](meta::view<graph::parameter> needs) -> std::string {
    std::string text = R"({"__metadata__":{"dice_digest":")" + file_digest + "\"";
    for (const auto& t : tensors) text += ",\"sha256." + t.name + "\":\"" + t.sha256 + "\"";
    text += "}";
    for (const auto& t : tensors)
      text += ",\"" + t.name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" + std::to_string(t.begin) + ", " +
              std::to_string(t.end) + "]}";
    text += "}";
    while ((text.size() + 8) % 64) text += ' ';
    {
      std::ofstream out(path, std::ios::binary);
      for (int i = 0; i < 8; ++i) out.put(static_cast<char>(text.size() >> (8 * i)));
      out << text << data;
    }
    try {
      const weights::item items[] = {{needs}};
      return std::to_string(weights::verify(weights::file(path, "net", known), items).bytes);
    } catch (const files::error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(verified(first), "68");
  EXPECT_EQ(verified(second), "4");
  EXPECT_NE(verified(hidden).find("no tensor at byte 192"), std::string::npos) << verified(hidden);
  data[131] ^= 1;
  EXPECT_NE(verified(first).find("tensor 'a.b' differs"), std::string::npos) << verified(first);
  tensors[1].sha256 = sum(std::string_view(data).substr(128, 4));
  EXPECT_NE(verified(first).find("digests"), std::string::npos) << verified(first);
  ::unlink(path.c_str());
}

TEST(weights_search, looks_beside_the_program_and_lists_places) {
  EXPECT_EQ(weights::find(wanted, "given", ""), "given");
  const graph::weights_file odd{"dice_no_such.safetensors", digest, 0};
  try {
    weights::find(odd, "", "/built/there");
    FAIL();
  } catch (const files::error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(weights::program_folder() + "/dice_no_such.safetensors"), std::string::npos) << text;
    EXPECT_NE(text.find("/built/there/dice_no_such.safetensors"), std::string::npos) << text;
  }
  const auto beside = weights::program_folder() + "/dice_beside_" + std::to_string(::getpid());
  std::ofstream(beside).put('x');
  const std::string name = beside.substr(beside.rfind('/') + 1);
  EXPECT_EQ(weights::find({name, digest, 0}, "", ""), beside);
  ::unlink(beside.c_str());
}
