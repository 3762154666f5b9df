// Weights files, good and bad, written byte by byte.
#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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
  } catch (const weights::error& e) {
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
    EXPECT_THROW(weights::store(w, needs), weights::error);
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
    std::ofstream out(path, std::ios::binary);
    std::int64_t told = 0, all = 0;
    weights::write_packed(out, identity, ranks, weights::file(f.path, "net", wanted),
                          [&](std::int64_t done, std::int64_t of) {
                            EXPECT_GE(done, told);
                            told = done, all = of;
                          });
    EXPECT_EQ(told, all);
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
  for (const auto& other : {weights::identity{{"one", "1"}, {"two", "3"}}, {{"one", "1"}, {"two", "22"}}, {{"two", "2"}}})
    EXPECT_THROW(weights::packed_file(path, other, ranks), weights::error);
  ::unlink(path.c_str());
}

TEST(weights_search, looks_beside_the_program_and_lists_places) {
  EXPECT_EQ(weights::find(wanted, "given", ""), "given");
  const graph::weights_file odd{"dice_no_such.safetensors", digest, 0};
  try {
    weights::find(odd, "", "/built/there");
    FAIL();
  } catch (const weights::error& e) {
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
