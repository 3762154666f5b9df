// Which file a path names, and files written whole or not at all.
#include "dice/files/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace dice;
namespace fs = std::filesystem;

namespace {

struct folder {
  fs::path path = "/tmp/dice_files_" + std::to_string(::getpid());
  folder() { fs::create_directories(path / "in"); }
  ~folder() { fs::remove_all(path); }
  std::string operator()(const std::string& name) const { return (path / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
  std::string text(const std::string& name) const {
    std::ifstream in(path / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {})); }
};

std::string conflict(std::initializer_list<files::use> all) { return files::conflict(std::vector<files::use>(all)); }

template <class F> std::string error_of(F f) {
  try {
    f();
    return {};
  } catch (const files::error& e) {
    return e.what();
  }
}

}  // namespace

TEST(places, are_found_by_any_name) {
  const folder at;
  at.write("a", "x");
  fs::create_symlink("a", at.path / "link");
  fs::create_symlink("../a", at.path / "in/up");
  fs::create_hard_link(at.path / "a", at.path / "hard");
  fs::create_symlink("new", at.path / "dangling");
  fs::create_directory_symlink("in", at.path / "also_in");
  const auto id = [&](const std::string& name) { return files::place_of(at(name)).id; };
  for (const char* same : {"./a", "link", "in/../a", "in/up", "hard", "also_in/up"}) EXPECT_EQ(id(same), id("a")) << same;
  for (const char* same : {"./new", "in/../new", "dangling"}) EXPECT_EQ(id(same), id("new")) << same;
  EXPECT_EQ(id("in/new"), id("also_in/new"));
  EXPECT_NE(id("in/new"), id("new"));
  EXPECT_NE(id("a"), id("new"));
  EXPECT_EQ(files::place_of(at("in")).kind, files::place::kinds::folder);
  EXPECT_EQ(files::place_of("/dev/null").kind, files::place::kinds::special);
  EXPECT_EQ(files::place_of("/dev/null").id, "");
  fs::create_symlink("round", at.path / "round");
  EXPECT_NE(error_of([&] { files::place_of(at("round")); }).find("circle"), std::string::npos);
}

TEST(places, of_open_files) {
  const folder at;
  at.write("a", "x");
  std::FILE* const file = std::fopen(at("a").c_str(), "r+");
  const auto n = std::to_string(::fileno(file));
  for (const auto& path : {"/dev/fd/" + n, "/proc/self/fd/" + n, "/proc/" + std::to_string(::getpid()) + "/fd/" + n}) {
    const auto found = files::place_of(path);
    EXPECT_EQ(found.kind, files::place::kinds::special) << path;
    EXPECT_EQ(found.descriptor, ::fileno(file)) << path;
    EXPECT_EQ(found.id, files::place_of(at("a")).id) << path;
  }
  std::fclose(file);
}

TEST(uses, that_contradict) {
  const folder at;
  at.write("a", "x");
  fs::create_symlink("a", at.path / "link");
  using files::reads, files::writes;
  EXPECT_EQ(conflict({reads(at("a")), reads(at("link")), writes(at("b")), writes(at("c"))}), "");
  EXPECT_NE(conflict({reads(at("a")), writes(at("link"))}).find("would be overwritten"), std::string::npos);
  EXPECT_NE(conflict({reads(at("a")), writes(at("link"))}).find("is read by this run (as '" + at("a") + "')"),
            std::string::npos);
  EXPECT_NE(conflict({writes(at("new")), reads(at("a")), writes(at("in/../new"))}).find("written twice"), std::string::npos);
  EXPECT_EQ(conflict({writes("/dev/null"), writes("/dev/null"), reads("/dev/null")}), "");
}

TEST(uses, of_the_standard_input) {
  const folder at;
  at.write("a", "x");
  fs::create_symlink("a", at.path / "link");
  const int before = ::dup(STDIN_FILENO);
  const auto with = [&](const std::string& file) {
    const int given = ::open(file.c_str(), O_RDONLY);
    ::dup2(given, STDIN_FILENO);
    ::close(given);
    return files::reads_standard_input(false);
  };
  EXPECT_EQ(conflict({with(at("a")), files::writes(at("link"))}),
            "'" + at("link") + "' is read by this run (as the standard input) and would be overwritten; name another file");
  EXPECT_EQ(conflict({with(at("a")), files::writes(at("b"))}), "");
  EXPECT_EQ(conflict({with(at("a")), files::writes("-")}), "");  // a file of this name
  EXPECT_EQ(conflict({with("/dev/null"), files::writes("/dev/null")}), "");
  ::dup2(before, STDIN_FILENO);
  ::close(before);
}

TEST(writer, writes_whole_files) {
  const folder at;
  at.write("a", "before");
  fs::permissions(at.path / "a", fs::perms::owner_read | fs::perms::owner_write);
  {
    files::writer out(at("a"));
    out.write("hello world");
    out.overwrite(6, "W");
    EXPECT_EQ(at.text("a"), "before");
    out.commit();
  }
  EXPECT_EQ(at.text("a"), "hello World");
  EXPECT_EQ(fs::status(at.path / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  { files::writer(at("a")).write("lost"); }
  EXPECT_EQ(at.text("a"), "hello World");
  EXPECT_EQ(at.entries(), 2u);
  const std::string longest(255, 'x');
  files::write_text(at(longest), "x");
  EXPECT_EQ(at.text(longest), "x");
}

TEST(writer, replaces_files_without_waiting_for_the_disk) {
  const folder at;
  const auto entries = at.entries();
  for (const char* text : {"one", "another"}) {
    at.write("a", "before");
    files::writer out(at("a"));
    out.write(text);
    EXPECT_EQ(at.text("a"), "before");
    out.replace();
    EXPECT_EQ(at.text("a"), text);
  }
  EXPECT_EQ(at.entries(), entries + 1);
}

TEST(writer, follows_links) {
  const folder at;
  at.write("a", "before");
  fs::create_symlink("../a", at.path / "in/link");
  fs::create_symlink("new", at.path / "dangling");
  files::write_text(at("in/link"), "after");
  files::write_text(at("dangling"), "made");
  EXPECT_EQ(at.text("a"), "after");
  EXPECT_EQ(at.text("new"), "made");
  EXPECT_TRUE(fs::is_symlink(at.path / "in/link") && fs::is_symlink(at.path / "dangling"));
  EXPECT_FALSE(fs::is_symlink(at.path / "a") || fs::is_symlink(at.path / "new"));
}

TEST(writer, writes_open_files_directly) {
  const folder at;
  at.write("a", "");
  std::FILE* const file = std::fopen(at("a").c_str(), "a");
  std::fputs("one ", file);
  std::fflush(file);
  files::write_text("/dev/fd/" + std::to_string(::fileno(file)), "two ");
  std::fputs("three", file);
  std::fclose(file);
  EXPECT_EQ(at.text("a"), "one two three");
  EXPECT_EQ(at.entries(), 2u);
}

// Nobody can plant a file or a link at the temporary name: it is random, and must not exist yet.
TEST(writer, does_not_share_a_temporary_file) {
  const folder at;
  files::writer a(at("a")), b(at("a"));
  EXPECT_NE(a.temporary(), b.temporary());
  a.write("first");
  b.write("the second");
  b.commit();
  EXPECT_EQ(at.text("a"), "the second");
  a.commit();
  EXPECT_EQ(at.text("a"), "first");
  at.write("target", "safe");
  fs::create_symlink("target", at.path / "s.partial");
  EXPECT_NE(error_of([&] { files::writer(at("s"), files::writer::keeps::partial); }).find("exists already"),
            std::string::npos);
  EXPECT_EQ(at.text("target"), "safe");
}

TEST(writer, of_two_threads_leaves_one_whole_file) {
  const folder at;
  const std::array texts{std::string(100'000, 'a'), std::string(50'000, 'b')};
  std::vector<std::thread> threads;
  for (const auto& text : texts)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) files::write_text(at("f"), text);
    });
  for (auto& t : threads) t.join();
  EXPECT_TRUE(at.text("f") == texts[0] || at.text("f") == texts[1]);
  EXPECT_EQ(at.entries(), 2u);
}

TEST(writer, keeps_what_was_there_when_it_fails) {
  const folder at;
  at.write("a", "before");
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit less{1000, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  const auto text = error_of([&] { files::write_text(at("a"), std::string(1001, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, before);
  EXPECT_EQ(text, "'" + at("a") + "' cannot be written: File too large");
  EXPECT_EQ(at.text("a"), "before");
  EXPECT_EQ(at.entries(), 2u);
  EXPECT_NE(error_of([&] { files::writer(at("in")); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(error_of([&] { files::writer(at("no/such/a")); }).find("No such file"), std::string::npos);
}

TEST(writer, refuses_early_what_cannot_be_replaced) {
  const folder at;
  const auto refusal = [&](const std::string& name) {
    const auto text = error_of([&] { files::require_writable(name); });
    EXPECT_EQ(error_of([&] { files::writer out(name); }), text);
    return text;
  };
  EXPECT_NE(refusal(at(std::string(256, 'n'))).find("File name too long"), std::string::npos);
  EXPECT_NE(refusal(at("no/such/a")).find("No such file"), std::string::npos);
  EXPECT_NE(refusal(at("in")).find("Is a directory"), std::string::npos);
  at.write("a", "text");
  const int readable = ::open(at("a").c_str(), O_RDONLY);
  EXPECT_NE(refusal("/dev/fd/" + std::to_string(readable)).find("it is open for reading only"), std::string::npos);
  ::close(readable);
  EXPECT_EQ(refusal(at("a")), "");
  ::chmod(at("a").c_str(), 0444);
  EXPECT_EQ(refusal(at("a")), "");
  // These need privileges, and a file system that can do it.
  if (const int file = ::open(at("a").c_str(), O_RDONLY); file >= 0) {
    int flags = FS_IMMUTABLE_FL;
    if (::ioctl(file, FS_IOC_SETFLAGS, &flags) == 0) {
      EXPECT_NE(refusal(at("a")).find("Operation not permitted"), std::string::npos);
      flags = 0;
      ::ioctl(file, FS_IOC_SETFLAGS, &flags);
    }
    ::close(file);
  }
  at.write("b", "");
  if (::mount(at("a").c_str(), at("b").c_str(), nullptr, MS_BIND, nullptr) == 0) {
    EXPECT_NE(refusal(at("b")).find("it is a mount point"), std::string::npos);
    ::umount(at("b").c_str());
  }
}

TEST(writer, of_files_that_belong_together_leaves_all_or_none) {
  const folder at;
  at.write("c", "before");
  std::vector<std::unique_ptr<files::writer>> all;
  for (const char* name : {"a", "c", "b"}) all.push_back(std::make_unique<files::writer>(at(name)));
  for (const auto& file : all) file->write("text");
  fs::create_directory(at.path / "b");
  EXPECT_NE(error_of([&] { files::commit_all(all); }).find("Is a directory"), std::string::npos);
  EXPECT_FALSE(fs::exists(at.path / "a"));
  EXPECT_EQ(at.text("c"), "text");
}

TEST(writer, keeps_partial_files) {
  const folder at;
  { files::writer(at("a"), files::writer::keeps::partial).write("some"); }
  EXPECT_EQ(at.text("a.partial"), "some");
  EXPECT_FALSE(fs::exists(at.path / "a"));
  fs::remove(at.path / "a.partial");
  files::writer out(at("a"), files::writer::keeps::partial);
  out.write("all");
  out.commit();
  EXPECT_EQ(at.text("a"), "all");
  EXPECT_FALSE(fs::exists(at.path / "a.partial"));
}

// FIPS 180-4's examples and each length around a block's end, whole and in chunks.
TEST(sha256, of_known_texts) {
  const auto sum = [](std::string_view text, std::size_t chunk = 1000) {
    files::sha256 out;
    for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size()))) out.add(text.substr(0, chunk));
    return out.text();
  };
  EXPECT_EQ(sum(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (std::size_t n = 50; n < 140; ++n)
    for (const std::size_t chunk : {1, 7, 64}) EXPECT_EQ(sum(std::string(n, 'q'), chunk), sum(std::string(n, 'q'))) << n;
}

TEST(host_lock, is_held_by_one) {
  const auto name = "test " + std::to_string(::getpid());
  int inside = 0, most = 0, count = 0;
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) {
      const files::host_lock held(name);
      most = std::max(most, ++inside);
      ++count;
      --inside;
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(count, 10);
}
