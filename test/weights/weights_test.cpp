// The identity of a weights file, and where programs look for it.
#include "on_disk.hpp"

#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace dice;
using namespace on_disk;

namespace {

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

}  // namespace

TEST(weights_file, good) {
  const file_on_disk f(header());
  const weights::file w(f.path, "net", wanted);
  EXPECT_EQ(w.content(), content);
  EXPECT_EQ(w.model_digest(), model);
  EXPECT_EQ(w.data_bytes(), 40960);
  const std::byte* start = nullptr;
  const auto pages = w.map(64, 40960, start);
  EXPECT_EQ(reinterpret_cast<const float*>(start)[0], 16);
  EXPECT_EQ(reinterpret_cast<const float*>(start)[10223], 10239);
}

// Of a header, tensors that have bytes in the data, and a digest.
TEST(weights_file, lists_its_tensors) {
  std::string text = header();
  text.erase(text.size() - 1);
  text.insert(text.find("\"z\""), R"("sha256.a":"1","sha256.b":"2","sha256.empty":"3","sha256.long":"4",)");
  text += R"(,"a":{"data_offsets":[0,4]},"none":{"data_offsets":[4,8]},"empty":{"data_offsets":[8,8]},)"
          R"("b":{"data_offsets":[8,40960]},"long":{"data_offsets":[8,40961]}})";
  // What the digest is of, as other programs compute it: 'a 0 4 1\nb 8 40960 2\n'.
  const std::string digest = "fe9d2181f8b35595901ad585d8075003c131bebd99b358ad1daf630962f7231d";
  text.replace(text.find(content), 64, digest);
  const file_on_disk f(text);
  const weights::file w(f.path, "net", wanted);
  const auto& all = w.tensors();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].name == "a" && all[0].begin == 0 && all[0].end == 4 && all[0].sha256 == "1");
  EXPECT_TRUE(all[1].name == "b" && all[1].begin == 8 && all[1].end == 40960 && all[1].sha256 == "2");
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
  // The length of the header, in the first eight bytes.
  has(error_of(file_on_disk("{", 0, false)), "is not a safetensors file: it has 9 bytes;");
  has(error_of(file_on_disk("{}", 0, false)), "its header has no dice_digest");
  const auto with_length = [](std::int64_t bytes) {
    const file_on_disk f("{}", 40, false);
    std::fstream out(f.path, std::ios::in | std::ios::out | std::ios::binary);
    for (int i = 0; i < 8; ++i) out.put(static_cast<char>(bytes >> (8 * i)));
    out.close();
    return error_of(f);
  };
  has(with_length(1), "is not a safetensors file: its header would have 1 bytes;");
  has(with_length((256 << 20) + 1), "is not a safetensors file: its header would have 268435457 bytes;");
  for (const int length : {43, 256 << 20})
    has(with_length(length), "is cut short, or is not a safetensors file: its header should have " + std::to_string(length) +
                                 " bytes, the file has 50; copy it again, or take the one that onnx2hpp wrote");
  has(with_length(42), "is not a safetensors file: its header is damaged");
  file_on_disk gone("{}");
  ::unlink(gone.path.c_str());
  has(error_of(gone), "No such file");
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

TEST(weights_search, looks_in_the_working_directory) {
  const auto was = std::filesystem::current_path();
  const std::string name = "dice_here_" + std::to_string(::getpid()), folder = std::filesystem::canonical("/tmp");
  const graph::weights_file w{name, structure, 0};
  const auto looked = [&](const std::string& build_folder) {
    std::string out;
    const auto found = weights::find_plain(w, build_folder, out);
    return found + ": " + out;
  };
  const auto beside = weights::program_folder() + "/" + name, here = folder + "/" + name;
  std::filesystem::current_path(folder);
  EXPECT_EQ(looked(""), ": " + beside + ", " + here);
  EXPECT_EQ(looked("/b"), ": " + beside + ", " + here + ", /b/" + name);
  std::ofstream(here).put('x');
  EXPECT_EQ(looked("/b"), here + ": " + beside + ", " + here);
  std::filesystem::current_path(weights::program_folder());
  EXPECT_EQ(looked(folder), here + ": " + beside + ", " + here) << "each place once";
  std::filesystem::current_path(was);
  ::unlink(here.c_str());
}

TEST(weights_search, finds_packed_weights_beside_the_program) {
  const auto path = weights::program_path() + ".packed";
  EXPECT_EQ(weights::packed_beside(), "");
  std::ofstream(path).put('x');
  EXPECT_EQ(weights::packed_beside(), path);
  ::unlink(path.c_str());
}
