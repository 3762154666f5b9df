// The packages that dice-run reads, and those that it refuses.
#include "packages.hpp"
#include "diagnostics.hpp"
#include "remote.hpp"

#include "dice/files/sha256.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <fstream>

namespace dice_run {
namespace {

namespace fs = std::filesystem;

const std::string sum(64, 'a');

/// Packages of a deployment "n", in a folder that goes away.
struct made {
  fs::path top = fs::temp_directory_path() / fmt::format("dice_run_packages_{}", ::getpid());
  made() { fs::remove_all(top); }
  made(const made&) = delete;
  ~made() { fs::remove_all(top); }

  fs::path of(const std::string& host) const { return top / host / "n"; }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// With `ranks` lines in its file app. Returns its manifest.
  std::string add(const std::string& host, const std::string& ranks, int count,
                  const std::string& app = "-np 1 ./n\n") const {
    const auto manifest = fmt::format(
        R"({{"name": "n", "host": "{}", "board": "a pc", "ranks": [{}], "files": [{{"file": "app", "bytes": 7, "sha256": "{}"}}]}})",
        host, ranks, sum);
    write(of(host) / "manifest.json", manifest);
    std::string all;
    for (int i = 0; i < count; ++i) all += app;
    write(of(host) / "app", all);
    return manifest;
  }
  std::string refusal() const {
    try {
      read_packages(top);
      return "";
    } catch (const run_error& e) {
      return e.what();
    } catch (const usage_error& e) {
      return std::string("usage: ") + e.what();
    }
  }
};

TEST(Packages, AreInTheOrderOfTheirRanks) {
  const made all;
  std::string manifests;
  for (const auto& [host, ranks] : {std::pair("a", "2"), {"m", "1"}, {"x", ""}, {"y", ""}, {"z", "0, 3"}}) {
    const auto manifest = all.add(host, ranks, 4);
    manifests += fmt::format("{} {}\n{}", host, manifest.size(), manifest);
  }
  for (const auto* name : {"c", "f", "b", "e", "g", "d"}) all.write(all.of("z") / name, "of mine");
  const auto found = read_packages(all.top);
  EXPECT_EQ(found.hosts, (words{"z", "m", "a", "x", "y"}));
  EXPECT_EQ(found.host_of_rank, (words{"z", "m", "a", "z"}));
  EXPECT_EQ(found.name + found.folder, "n");
  dice::files::sha256 digest;
  digest.add(manifests);
  EXPECT_EQ(found.version, digest.text().substr(0, 12));  // the same with each version of dice-run
  const auto& z = found.packages[0];
  EXPECT_EQ(z.host + ", " + z.board + z.processor, "z, a pc");
  EXPECT_EQ(z.ranks, (std::vector{0, 3}));
  EXPECT_EQ(z.folder.string(), all.of("z").string());
  EXPECT_EQ(z.unlisted, (words{"b", "c", "d", "e", "f", "g"}));
  ASSERT_EQ(z.files.size(), 2u);
  EXPECT_EQ(fmt::format("{} {} {}", z.files[0].name, z.files[0].bytes, z.files[0].sha256), "app 7 " + sum);
  EXPECT_EQ(z.files[1].name, "manifest.json");
  EXPECT_EQ(static_cast<std::uintmax_t>(z.files[1].bytes), fs::file_size(all.of("z") / "manifest.json"));
  EXPECT_EQ(z.files[1].sha256.size(), 64u);
}

TEST(Packages, SayWhatTheirProgramsNeed) {
  const made all;
  auto manifest = all.add("a", "0", 1);
  EXPECT_EQ(read_packages(all.top).packages[0].glibc, "");  // an old one
  EXPECT_EQ(read_packages(all.top).packages[0].instructions, words());
  all.write(all.of("a") / "manifest.json", manifest.insert(1, R"("glibc": "2.34", "instructions": ["avx2", "sse4.1"], )"));
  EXPECT_EQ(read_packages(all.top).packages[0].glibc, "2.34");
  EXPECT_EQ(read_packages(all.top).packages[0].instructions, (words{"avx2", "sse4.1"}));
}

TEST(Packages, ManifestsThatAreWrong) {
  const made all;
  const auto manifest = all.add("a", "0", 1);
  const auto path = all.of("a") / "manifest.json";
  for (const auto& [old, with, message] : std::vector<std::array<std::string, 3>>{
           {"a pc", R"(\u007f)", R"(: "\x7f" is not a name)"},
           {"a pc", R"(\u001f)", R"(: "\x1f" is not a name)"},
           {R"("board")", R"("processor": "x\u001b", "board")", R"(: "x\x1b" is not a name)"},
           {R"("host": "a")", R"("host": "a\u001b")", R"(: "a\x1b" is not a name)"},
           {R"("board")", R"("processor": 3, "board")",
            " is damaged: 'processor' is 3, and not a text; build the packages again"},
           {R"("a pc")", "[1000000,2000000,3000000,4000000,5000000,6000000]",
            " is damaged: 'board' is [1000000,2000000,3000000,4000000,5000000, and not a text; build the packages again"},
           {R"("board")", R"("glibc": "2\u001b", "board")", R"(: "2\x1b" is not a name)"},
           {R"("board")", R"("glibc": 2.36, "board")",
            " is damaged: 'glibc' is 2.36, and not a text; build the packages again"},
           {R"("board")", R"("instructions": ["avx\u001b"], "board")", R"(: "avx\x1b" is not a name)"},
           {R"("board")", R"("instructions": "avx", "board")",
            " is damaged: 'instructions' is \"avx\", and not a list; build the packages again"},
           {R"("board")", R"("instructions": [2], "board")",
            " is damaged: 2 does not name instructions; build the packages again"},
           {"[0]", "[0, 1000001]", " is damaged: 1000001 is not a rank; build the packages again"},
           {"[0]", "[0, 0.5]", " is damaged: 0.5 is not a rank; build the packages again"},
           {"[0]", "{}", " is damaged: 'ranks' is {}, and not a list; build the packages again"},
           {R"("app")", R"("")", R"(: "" is not a file of a package)"},
           {R"("app")", R"(".")", R"(: "." is not a file of a package)"},
           {R"("app")", R"("..")", R"(: ".." is not a file of a package)"},
           {R"("app")", R"("a/b")", R"(: "a/b" is not a file of a package)"},
           {R"("app")", R"("\u007f")", R"(: "\x7f" is not a file of a package)"},
           {"\"" + sum, "\"" + sum.substr(1) + "g", R"(: "app" is not a file of a package)"},
           {"\"" + sum, "\"" + sum.substr(1) + "A", R"(: "app" is not a file of a package)"},
           {"\"" + sum, "\"" + sum.substr(1), R"(: "app" is not a file of a package)"},
           {": 7", ": 1152921504606846977",
            " is damaged: \"app\" cannot have 1152921504606846977 bytes; build the packages again"},
           {manifest, "[]", " has no 'host'; build the packages again"}}) {
    auto text = manifest;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    all.write(path, text.replace(text.find(old), old.size(), with));
    EXPECT_EQ(all.refusal(), quote(path.string()) + message);
  }
  for (const auto& [old, with] : {std::pair("app\",", "a ...\","), {": 7", ": 1152921504606846976"}, {"aaaa\"", "09af\""}}) {
    auto text = manifest;
    all.write(path, text.replace(text.find(old), std::string(old).size(), with));
    EXPECT_EQ(all.refusal(), "") << with;
  }
}

TEST(Packages, FilesThatCannotBeRead) {
  const made all;
  all.add("a", "0", 1);
  const auto app = all.of("a") / "app", manifest = all.of("a") / "manifest.json";
  fs::remove(app);
  EXPECT_EQ(all.refusal(), fmt::format("cannot read {}; build the packages again", quote(app.string())));
  fs::create_directory(app);
  EXPECT_EQ(all.refusal(), quote(app.string()) + " is a folder; build the packages again");
  fs::remove(manifest);
  fs::create_directory(manifest);
  EXPECT_EQ(all.refusal(), quote(manifest.string()) + " is a folder; build the packages again");
}

TEST(Packages, ThatAreNotOfOneDeployment) {
  const made all;
  fs::create_directories(all.top);
  EXPECT_EQ(all.refusal(), fmt::format("usage: no packages in {}; cmake --build build --target NAME-packages makes them",
                                       quote(all.top.string())));
  all.add("a", "0", 2);
  EXPECT_EQ(all.refusal(),
            fmt::format("no {} has rank 1; build the packages again", (all.top / "HOST/n/manifest.json").string()));
  all.add("a", "0, 1, 1000000", 2);
  EXPECT_EQ(all.refusal(),
            fmt::format("the packages in {} have 3 ranks, but the file app of \"a\" has 2; build the packages again",
                        quote(all.top.string())));
  all.add("a", "0", 2);
  all.add("b", "0", 2);
  EXPECT_EQ(all.refusal(), fmt::format("two packages in {} have rank 0", quote(all.top.string())));
  fs::remove_all(all.top / "b");
  fs::rename(all.of("a"), all.top / "a/m");
  EXPECT_EQ(all.refusal(),
            fmt::format("{} is the package of the host \"a\" of the deployment \"n\"; build the packages again",
                        quote((all.top / "a/m").string())));
}

TEST(Packages, TheFileAppSaysTheFolder) {
  for (const auto& [app, folder] : {std::pair("-np 1 -wdir /opt/my site/n ./n\n", "/opt/my site"),
                                    {"-np 1 -wdir /n ./n\n", ""},
                                    {"-np 1 -wdir /opt/n ./m\n", ""},
                                    {"-np 1 -wdir /opt/m ./n\n", ""},
                                    {"-np 1 /opt/n ./n\n", ""}}) {
    const made all;
    all.add("a", "0", 1, app);
    EXPECT_EQ(read_packages(all.top).folder, folder) << app;
  }
}

TEST(Packages, AreFoundInTheBuild) {
  const made all;
  const auto before = fs::current_path();
  fs::create_directories(all.top / "build");
  fs::current_path(all.top);
  const auto found = [](const std::string& given) -> std::string {
    try {
      return find_packages(given);
    } catch (const usage_error& e) {
      return e.what();
    }
  };
  for (const auto* name : {"build/.old-packages", "build/n-packages-old"}) fs::create_directory(name);
  all.write("build/file-packages", "");
  EXPECT_EQ(found(""),
            "no packages in . or ./build: cmake --build build --target NAME-packages makes them, -p FOLDER names them");
  EXPECT_EQ(found("build"), "build");
  EXPECT_EQ(found("none"), "--packages: there is no folder \"none\"; cmake --build build --target NAME-packages makes it");
  fs::create_directory("build/n-packages");
  EXPECT_EQ(found(""), "build/n-packages");
  EXPECT_EQ(found("./build"), "build/n-packages");
  EXPECT_EQ(found("build/n-packages"), "build/n-packages");
  fs::create_directory("a-packages");
  EXPECT_EQ(found(""), "several deployments: a-packages, build/n-packages; choose one by -p FOLDER");
  EXPECT_EQ(found("build"), "build/n-packages");
  fs::current_path(before);
}

}  // namespace
}  // namespace dice_run
