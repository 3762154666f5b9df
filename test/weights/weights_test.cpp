// Weights files, good and bad, written byte by byte.
#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace dice;

namespace {

constexpr std::string_view structure = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const std::string content(64, 'c'), other(64, 'd'), model(64, '7');
constexpr graph::weights_file wanted{"w.safetensors", structure, 40960};

struct file_on_disk {
  static inline int made = 0;
  std::string path = "/tmp/dice_weights_" + std::to_string(::getpid()) + "_" + std::to_string(made++);
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

std::string header(std::string_view s = structure, const std::string& d = content, const std::string& m = model) {
  return R"({"a.\"w\"":{"dtype":"F32","shape":[1,-2.5e3,[true,null]],"x":{}},"__metadata__":{"format":"pt","dice_structure":")" +
         std::string(s) + R"(","dice_digest":")" + d + R"(","model_sha256":")" + m + R"(","z":"}"}, "b":[]})";
}

std::string error_of(const file_on_disk& f, std::string_view pinned = {}) {
  auto of = wanted;
  of.pinned = pinned;
  try {
    const weights::file w(f.path, "net", of);
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

const float* plain_of(const weights::store& s, int item, int parameter) {
  return static_cast<const float*>(s.plain(item)[parameter]);
}
void reverse(const void*, std::span<const void* const> from, std::byte* to) {
  const auto *a = static_cast<const float*>(from[0]), *b = static_cast<const float*>(from[1]);
  for (int i = 0; i < 16; ++i) reinterpret_cast<float*>(to)[i] = a[15 - i] + b[i];
}

}  // namespace

TEST(weights_file, good) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  EXPECT_EQ(w.content(), content);
  EXPECT_EQ(w.model_digest(), model);
}

// Weights of another training are as good, unless the program is pinned to its own.
TEST(weights_file, of_another_training) {
  const file_on_disk f(header(structure, other));
  EXPECT_EQ(error_of(f), "");
  EXPECT_EQ(error_of(f, other), "");
  const auto text = error_of(f, content);
  for (const char* part : {"other weights than those to which the network net is pinned: digest dddddddddddddddd…, expected "
                           "cccccccccccccccc…",
                           "take the w.safetensors", "--pin-weights"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(weights_file, bad_ones_are_named) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(file_on_disk(header(std::string(64, '0')))),
      "belongs to another network than net: structure 0000000000000000…, expected 0011223344556677…; export the same");
  for (const auto& bad : {std::string("c"), std::string(63, 'c') + "C", std::string(65, 'c'), std::string(63, 'c') + "\n"}) {
    has(error_of(file_on_disk(header(bad))), "the dice_structure in its header is not a SHA-256");
    has(error_of(file_on_disk(header(structure, bad))), "the dice_digest in its header is not a SHA-256");
    has(error_of(file_on_disk(header(structure, content, bad))), "the model_sha256 in its header is not a SHA-256");
  }
  has(error_of(file_on_disk(R"({"__metadata__":{"dice_digest":")" + content + R"("}})")),
      "was written by an older onnx2hpp");
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
  const std::vector<weights::item> needs{{two, 0, nullptr}, {two, 64, copy}};
  const weights::store s(w, needs);
  const float expected[] = {23, 24, 28, 29, 43, 44, 48, 49, 63, 64, 68, 69};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(plain_of(s, 0, 0)[i], expected[i]) << i;
    EXPECT_EQ(reinterpret_cast<const float*>(s.packed(1))[i], expected[i]) << i;
  }
  EXPECT_EQ(plain_of(s, 0, 1)[2], 16 + 2);
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
  EXPECT_THROW(weights::packed_layout(identity, {content, model, std::vector<int>(40000, 7)}, ranks), files::error);
  ::unlink(path.c_str());
}

// Packed weights beside a program, and a weights file where the program looks for one.
TEST(weights_current, new_weights_are_not_hidden) {
  const auto folder = "/tmp/dice_current_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const std::string name = "w_" + std::to_string(::getpid()) + ".safetensors";
  auto of = wanted;
  of.file = name;
  const file_on_disk old(header()), trained(header(structure, other)), broken(header(), 64);
  const graph::parameter first[] = {{0, {16}}};
  const std::vector<std::vector<weights::item>> ranks{{{first}}};
  const weights::identity identity{{{"one", "1"}}};
  {
    files::writer out(folder + "/packed");
    weights::write_packed(out, identity, ranks, weights::file(old.path, "net", of), [](auto...) {});
    out.commit();
  }
  const weights::packed_file packed(folder + "/packed", identity, ranks);
  const auto found = [&](const std::string& file) {
    if (!file.empty())
      std::filesystem::copy_file(file, folder + "/" + name, std::filesystem::copy_options::overwrite_existing);
    return weights::require_current(packed, "net", of, folder);
  };
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found(old.path), "");
  EXPECT_THROW(found(trained.path), files::error);
  EXPECT_EQ(found(broken.path).find("reads packed weights, because weights file '" + folder), 0u);
  EXPECT_NE(found(broken.path).find("is cut short"), std::string::npos);
  std::filesystem::remove_all(folder);
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
  const graph::weights_file known{"w", structure, 256};
  const graph::parameter first[] = {{0, {16}}, {128, {1}}}, second[] = {{128, {1}}}, hidden[] = {{192, {4}}};
  const auto verified = [&](meta::view<graph::parameter> needs) -> std::string {
    std::string text = R"({"__metadata__":{"dice_structure":")" + std::string(structure) + R"(","model_sha256":")" + model +
                       R"(","dice_digest":")" + file_digest + "\"";
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
  const auto digest = std::exchange(tensors[1].sha256, sum(std::string_view(data).substr(128, 4)));
  EXPECT_NE(verified(first).find("digests"), std::string::npos) << verified(first);
  tensors[1].sha256 = digest;
  EXPECT_EQ(verified({}), "0") << "the header is right again";
  std::swap(tensors[0].name, tensors[1].name);  // reordered by another tool: seen without reading the tensors
  EXPECT_NE(verified({}).find("the digests of its tensors do not give the file's digest"), std::string::npos)
      << verified({});
  ::unlink(path.c_str());
}

TEST(weights_search, looks_beside_the_program_and_lists_places) {
  EXPECT_EQ(weights::find(wanted, "given", ""), "given");
  const graph::weights_file odd{"dice_no_such.safetensors", structure, 0};
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
  EXPECT_EQ(weights::find({name, structure, 0}, "", ""), beside);
  ::unlink(beside.c_str());
}
