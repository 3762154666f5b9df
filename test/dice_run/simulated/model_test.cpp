// The simulated scripts do what real ones do in a real folder: the same answers, the same files; also if they are killed at
// any command that they run.
#include "world.hpp"

#include "dice/files/sha256.hpp"
#include "scripts.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace simulated {
namespace {

namespace fs = std::filesystem;
using files = std::map<std::string, node>;

std::string digest(const std::string& text) {
  dice::files::sha256 hash;
  hash.add(text);
  return hash.text();
}

/// Without times, sizes of disks, process ids and the place of the folder.
std::string comparable(std::string text, const std::string& folder) {
  for (std::size_t at = 0; !folder.empty() && (at = text.find(folder + "/")) != std::string::npos;)
    text.erase(at, folder.size() + 1);
  for (const auto& [what, is] :
       {std::pair("\\b[0-9]{7,}\\b", "TIME"), {"uptime .*", "uptime"}, {"now .*", "now"}, {"free .*", "free"}})
    text = std::regex_replace(text, std::regex(what), is);
  return text;
}

/// What a real folder has, as file_system has it. Locks have no content.
files read(const fs::path& folder) {
  files out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto path = entry.path().lexically_relative(folder).string();
    const auto name = entry.path().filename();
    if (name == "lock" || name == "mutex" || name == "job.lock") continue;
    if (entry.is_symlink()) out[path] = {node::link, fs::read_symlink(entry.path())};
    else if (entry.is_directory()) out[path] = {node::folder, ""};
    else {
      std::ifstream in(entry.path());
      out[path] = {node::file, {std::istreambuf_iterator<char>(in), {}}};
    }
  }
  return out;
}

files comparable(files all) {
  for (auto& [path, what] : all) {
    if (path.ends_with("/owner") || path.ends_with("/owner.new")) what.text = "";
    else what.text = comparable(what.text, "");
  }
  return all;
}

std::string text_of(const files& all) {
  std::string out;
  for (const auto& [path, what] : all) out += path + (what.what == node::link ? " -> " : " ") + what.text + "\n";
  return out;
}

struct temporary_folder {
  fs::path path;
  temporary_folder() {
    auto name = (fs::temp_directory_path() / "dice-run-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  ~temporary_folder() { fs::remove_all(path); }
};

struct step {
  std::string script;
  words arguments;
  std::string token = "t1";
  long call = 0;  ///< 0: the next one
};

struct result {
  outcome said;
  files left;
};

class both {
 public:
  both() {
    fs::create_directories(real_);
    // Commands that count how many ran before them, and kill all when it is the last.
    const auto tools = folder_.path / "tools";
    fs::create_directory(tools);
    write(
        tools / "each",
        "#!/bin/sh\nPATH=/usr/bin:/bin\nn=$(cat \"$COUNT\")\n[ \"$n\" != 0 ] || { echo killed >\"$COUNT\"; kill -s KILL -- "
        "-\"$GROUP\"; }\n"
        "echo $((n - 1)) >\"$COUNT\"\nexec \"${0##*/}\" \"$@\"\n");
    for (const auto* name : {"ln", "mv", "rm", "mkdir", "cp", "chmod", "sync", "setsid"})  // those that change something
      fs::create_symlink("each", tools / name);
    write(folder_.path / "ssh", "#!/bin/sh\nexport COUNT='" + count().string() + "'\nexec setsid -w env PATH='" +
                                    tools.string() + "':\"$PATH\" sh -c 'export GROUP=$$; exec sh -s'\n");
  }

  std::map<std::string, std::map<std::string, std::string>> versions;  ///< their files

  /// On the real folder. `last`: commands that it may run before it is killed.
  result really(const step& s, int last = -1) {
    write(count(), std::to_string(last) + "\n");
    const dice_run::remote hosts({.ssh = "'" + (folder_.path / "ssh").string() + "'"});
    auto said = hosts.run("host", dice_run::scripts::prelude + text_of_script(s.script), place(s, real_.string()));
    return {said, read(real_)};
  }
  /// On `before`. `last`: the step at which it is killed.
  result simulated(const step& s, const files& before, int last = -1) {
    world w(0);
    w.jobs_begin = false;
    w.kill_after = last;
    auto& h = w.hosts["host"];
    h.name = "host";
    h.files = file_system(before);
    call c;
    c.from = std::make_shared<caller>();
    c.input_is_closed = true;
    c.result.status = 137;
    w.spawn([&] { c.result.status = run_script(w, h, c, s.script, place(s, "")); }, "host", nullptr);
    w.run();
    return {c.result, h.files.all()};
  }

  void bring(const std::string& token, const std::string& file, const std::string& text) {
    write(real_ / ".dice-run/n" / (token + ".part") / file, text);
  }
  files now() const { return read(real_); }
  void restore(const fs::path& saved) {
    fs::remove_all(real_);
    fs::copy(saved, real_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  fs::path save() const {
    const auto saved = folder_.path / "saved";
    fs::remove_all(saved);
    fs::copy(real_, saved, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    return saved;
  }
  const fs::path& folder() const { return real_; }

  /// The same on both, and then the same at each command that can be its last.
  void compare(step s) {
    SCOPED_TRACE(s.script + " " + (s.arguments.empty() ? "" : s.arguments[0]) + " of " + s.token + ", after " + last_);
    last_ = s.script;
    if (s.call == 0) s.call = ++calls_;
    const auto before = now();
    const auto saved = save();
    std::set<std::string> possible;
    for (int last = 0;; ++last) {
      const auto killed = simulated(s, before, last);
      possible.insert(text_of(comparable(killed.left)));
      if (killed.said.status != 137) break;
    }
    int last = 0;
    for (;; ++last) {
      const auto killed = really(s, last);
      if (!was_killed()) break;
      ++kills;
      EXPECT_TRUE(possible.contains(text_of(comparable(killed.left)))) << "killed at command " << last << ":\n"
                                                                       << text_of(comparable(killed.left));
      restore(saved);
    }
    restore(saved);
    const auto wanted = simulated(s, before), got = really(s);
    EXPECT_EQ(got.said.status, wanted.said.status) << got.said.err;
    EXPECT_EQ(comparable(got.said.out, real_.string()), comparable(wanted.said.out, ""));
    EXPECT_EQ(comparable(got.said.err, real_.string()), comparable(wanted.said.err, ""));
    EXPECT_EQ(text_of(comparable(got.left)), text_of(comparable(wanted.left)));
  }

  int kills = 0;

 private:
  temporary_folder folder_;
  fs::path real_ = folder_.path / "real";
  long calls_ = 0;
  std::string last_ = "nothing";

  bool was_killed() const {
    std::string word;
    std::ifstream(count()) >> word;
    return word == "killed";
  }
  fs::path count() const { return folder_.path / "count"; }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
  }
  static words place(const step& s, const std::string& folder) {
    words out{folder, "n", "dice-run-0123456789abcdef", s.token, std::to_string(s.call)};
    out.insert(out.end(), s.arguments.begin(), s.arguments.end());
    return out;
  }
};

TEST(SimulatedHosts, DoWhatRealOnesDo) {
  both b;
  const std::string first = "111111111111", second = "222222222222";
  const std::map<std::string, std::string> of_first{{"hosts", "a slots=1\nb slots=1\n"},
                                                    {"n", "program"},
                                                    {"ranks", "rank 0=b slot=*:*\nrank 1=a slot=*:*\n"},
                                                    {"run", "#!/bin/sh\nexit 0\n"}};
  auto of_second = of_first;
  of_second["n"] = "another program";
  const auto wanted = [](const std::string& version, const std::map<std::string, std::string>& all) {
    words out{version};
    for (const auto& [name, text] : all)
      out.insert(out.end(), {name, std::to_string(text.size()), digest(text), name == "run" ? "755" : "644"});
    return out;
  };
  b.compare({"survey", {}});
  b.compare({"stop", {"0"}});
  b.compare({"lock", {"process 1 on pc"}});
  b.compare({"prepare", wanted(first, of_first)});
  for (const auto& [name, text] : of_first) b.bring("t1", name, text);
  b.compare({"complete", {first, "n", digest("another"), "run", digest("another")}});
  b.bring("t1", "n", of_first.at("n"));
  b.compare(
      {"complete", {first, "hosts", digest(of_first.at("hosts")), "n", digest(of_first.at("n")), "ranks", "-", "run", "-"}});
  b.compare({"remember", {"a", "b"}});
  b.compare({"remember", {"a"}, "t1", 7});  // that call has been here
  b.compare({"switch_to", {"", "", first, ""}});
  b.compare({"switch_to", {"", "", first, ""}});
  b.compare({"switch_to", {second, "", first, ""}});
  b.compare({"survey", {}});
  b.compare({"clean", {}});
  // Another dice-run, which takes what a third has left.
  b.compare({"lock", {"process 2 on pc"}, "t3"});
  b.compare({"prepare", wanted(second, of_second), "t3"});
  b.bring("t3", "n", of_second.at("n"));
  b.compare({"lock", {"process 3 on pc"}, "t2"});
  b.compare({"prepare", wanted(second, of_second), "t3"});
  b.compare({"prepare", wanted(second, of_second), "t2"});
  b.compare({"complete", {second, "hosts", "-", "n", digest(of_second.at("n")), "ranks", "-", "run", "-"}, "t2"});
  b.compare({"switch_to", {first, "", second, ""}, "t1"});
  b.compare({"switch_to", {first, "", second, first}, "t2", 1});
  b.compare({"switch_to", {first, "", second, first}, "t2"});
  b.compare({"clean", {}, "t2"});
  // A file of the current version is damaged, and is brought again.
  const auto damaged = b.folder() / ".dice-run/n" / second / "n";
  fs::remove(damaged);
  b.compare({"prepare", wanted(second, of_second), "t2"});
  b.bring("t2", "n", of_second.at("n"));
  b.compare({"complete", {second, "n", digest(of_second.at("n"))}, "t2"});
  b.compare({"discard", {}, "t2"});
  // Jobs.
  b.compare({"announce", {"1", "a"}, "t2"});
  b.compare({"start", {"1", "3", "", second, "exit 0", "", "--x"}, "t2"});
  b.compare({"survey", {}, "t2"});
  b.compare({"bench", {"", second, "--x"}, "t2"});
  b.compare({"survey", {}, "t2"});
  b.compare({"stop", {"0"}, "t9"});
  b.compare({"start", {"2", "0", "", second, "exit 0", ""}, "t2"});
  b.compare({"bench", {"", second}, "t2"});
  b.compare({"lock", {"process 4 on pc"}, "t4"});
  b.compare({"start", {"2", "0", "", second, "exit 0", ""}, "t4"});
  b.compare({"stop", {"0"}, "t9"});
  // The host leaves.
  b.compare({"switch_to", {second, first, "", second}, "t4"});
  b.compare({"clean", {}, "t4"});
  b.compare({"survey", {}, "t4"});
  b.compare({"switch_to", {"", second, "", ""}, "t4"});
  b.compare({"clean", {"333333333333"}, "t4"});
  b.compare({"switch_to", {"", "", second, ""}, "t4"});
  EXPECT_GT(b.kills, 140);
}

}  // namespace
}  // namespace simulated
