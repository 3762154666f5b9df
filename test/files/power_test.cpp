// What is on the disk if the power fails, or the process is killed, between any two system calls of the writers; errors that
// the system reports late.
#include "dice/files/standard_streams.hpp"
#include "dice/files/writer.hpp"
#include "dice/frames/npy_stream.hpp"
#include "dice/weights/weights.hpp"
#include "error_of.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace dice;
namespace fs = std::filesystem;

namespace {

/// A system call of a writer: what it does to a file (by number), or to a name.
struct call {
  enum kinds { create, write, sync, rename, unlink, sync_names } kind;
  int file = -1;
  std::string name{}, to{};
  std::int64_t at = 0;
  std::string bytes{};
};
std::vector<call> calls;
bool records = false;
std::map<int, int> files_of;            // by descriptor; -1: a folder
std::map<int, std::int64_t> positions;  // by file
int known_files = 0;
int error_of_fsync = 0, error_of_close = 0;  // errno of calls that fail; 0: none

void write_to(int fd, const void* from, std::size_t n, std::int64_t at) {
  calls.push_back({call::write, files_of.at(fd), {}, {}, at, {static_cast<const char*>(from), n}});
}

}  // namespace

extern "C" {
int __real_open(const char*, int, ...);
ssize_t __real_write(int, const void*, size_t);
ssize_t __real_pwrite(int, const void*, size_t, off_t);
int __real_fsync(int);
int __real_close(int);
int __real_rename(const char*, const char*);
int __real_unlink(const char*);

int __wrap_open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int fd = __real_open(path, flags, flags & O_CREAT ? va_arg(more, int) : 0);
  va_end(more);
  if (records && fd >= 0 && flags & O_CREAT) {
    files_of[fd] = known_files;
    calls.push_back({call::create, known_files++, path});
  } else if (records && fd >= 0 && flags & O_DIRECTORY) {
    files_of[fd] = -1;
  }
  return fd;
}
ssize_t __wrap_write(int fd, const void* from, size_t n) {
  const auto done = __real_write(fd, from, n);
  if (records && files_of.contains(fd) && done > 0) {
    auto& at = positions[files_of[fd]];
    write_to(fd, from, static_cast<std::size_t>(done), at);
    at += done;
  }
  return done;
}
ssize_t __wrap_pwrite(int fd, const void* from, size_t n, off_t at) {
  const auto done = __real_pwrite(fd, from, n, at);
  if (records && done > 0) write_to(fd, from, static_cast<std::size_t>(done), at);
  return done;
}
int __wrap_fsync(int fd) {
  if (records && files_of.contains(fd)) calls.push_back({files_of[fd] < 0 ? call::sync_names : call::sync, files_of[fd]});
  const int done = __real_fsync(fd);
  if (error_of_fsync == 0) return done;
  errno = error_of_fsync;
  return -1;
}
int __wrap_close(int fd) {
  const int done = __real_close(fd);
  if (error_of_close == 0) return done;
  errno = error_of_close;
  return -1;
}
int __wrap_rename(const char* from, const char* to) {
  if (records) calls.push_back({call::rename, -1, from, to});
  return __real_rename(from, to);
}
int __wrap_unlink(const char* path) {
  if (records) calls.push_back({call::unlink, -1, path});
  return __real_unlink(path);
}
}

namespace {

using disk = std::map<std::string, std::string>;  // contents by name

void apply_write(std::string& to, const call& c) {
  const auto end = static_cast<std::size_t>(c.at) + c.bytes.size();
  if (to.size() < end) to.resize(end, '\0');
  to.replace(static_cast<std::size_t>(c.at), c.bytes.size(), c.bytes);
}

/// What the first `n` calls leave if the process is killed: the system still has all that was written.
disk after_kill(std::size_t n, const disk& before) {
  std::map<std::string, int> names;
  std::map<int, std::string> contents;
  disk out = before;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& c = calls[i];
    if (c.kind == call::create) names[c.name] = c.file;
    if (c.kind == call::write) apply_write(contents[c.file], c);
    if (c.kind == call::rename) {
      names[c.to] = names.at(c.name);
      names.erase(c.name);
    }
    if (c.kind == call::unlink) names.erase(c.name);
  }
  for (const auto& [name, file] : names) out[name] = contents[file];
  return out;
}

/// What the first `n` calls may leave if the power fails. A file has at least what was written before its last fsync, but
/// what came later may be lost, in part or as a whole. Changes of names up to the folder's last fsync have happened; of the
/// later ones, any number, in their order.
std::vector<disk> after_power_loss(std::size_t n, const disk& before) {
  std::vector<disk> out;
  std::size_t safe = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (calls[i].kind == call::sync_names) safe = i;
  for (std::size_t named = safe; named <= n; ++named)
    for (const bool keeps_unsynced : {false, true}) {
      std::map<std::string, int> names;
      for (std::size_t i = 0; i < named; ++i) {
        const auto& c = calls[i];
        if (c.kind == call::create) names[c.name] = c.file;
        if (c.kind == call::rename) {
          names[c.to] = names.at(c.name);
          names.erase(c.name);
        }
        if (c.kind == call::unlink) names.erase(c.name);
      }
      std::map<int, std::string> contents;
      for (const auto& [name, file] : names) {
        std::size_t synced = 0;
        for (std::size_t i = 0; i < n; ++i)
          if (calls[i].kind == call::sync && calls[i].file == file) synced = i;
        for (std::size_t i = 0; i < n; ++i) {
          if (calls[i].kind != call::write || calls[i].file != file) continue;
          if (i < synced || keeps_unsynced) apply_write(contents[file], calls[i]);
          else contents[file].resize(std::max(contents[file].size(), calls[i].bytes.size()), '\0');  // only its size
        }
      }
      disk d = before;
      for (const auto& [name, file] : names) d[name] = contents[file];
      out.push_back(std::move(d));
    }
  return out;
}

struct scratch {
  std::string path = "/tmp/dice_power_" + std::to_string(::getpid()), file = path + "/f";
  scratch() {
    fs::create_directories(path);
    calls.clear();
    files_of.clear();
    positions.clear();
    known_files = 0;
  }
  ~scratch() { fs::remove_all(path); }
  /// Runs f, and records its calls.
  template <class F> void record(F f) const {
    records = true;
    f();
    records = false;
  }
};

/// Checks that `file` holds what it held before or all of `whole`, whenever the power fails, and `whole` once all is done.
void expect_old_or_new(const std::string& file, const std::string& before, const std::string& whole) {
  const disk old{{file, before}};
  for (std::size_t n = 0; n <= calls.size(); ++n) {
    for (const auto& d : after_power_loss(n, old)) {
      const auto& found = d.at(file);
      ASSERT_TRUE(found == whole || (found == before && n < calls.size())) << "after " << n << " calls: " << found.size();
    }
    ASSERT_TRUE(after_kill(n, old).at(file) == whole || n < calls.size());
  }
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST(power, lost_while_a_text_is_written) {
  const scratch at;
  files::write_text(at.file, "what was there before");
  const std::string whole(100'000, 'x');
  at.record([&] { files::write_text(at.file, whole); });
  ASSERT_GE(calls.size(), 5u);
  expect_old_or_new(at.file, "what was there before", whole);
}

TEST(power, lost_while_results_are_written) {
  const scratch at;
  const auto all = frames::tensor::from_shape({5, 300});
  frames::write_npy(at.path + "/g", all);
  files::write_text(at.file, "old");
  at.record([&] { frames::write_npy(at.file, all); });
  expect_old_or_new(at.file, "old", text_of(at.path + "/g"));
}

// The results of a stream are readable after each frame if the process is killed, and whole after its end.
TEST(power, lost_in_a_stream) {
  const scratch at;
  const tensor::shape one{1, 3};
  std::vector<std::size_t> added;  // calls before which so many frames were added
  at.record([&] {
    frames::npy_stream out(at.file, one);
    for (int f = 0; f < 12; ++f) {
      const float x[] = {static_cast<float>(f), 1, 2};
      out.add(x);
      added.push_back(calls.size());
    }
    out.finish();
  });
  for (std::size_t n = added.front(); n <= calls.size(); ++n) {
    const auto d = after_kill(n, {});
    ASSERT_EQ(d.size(), 1u);
    const auto& [name, bytes] = *d.begin();
    EXPECT_TRUE(name == at.file + ".partial" || name == at.file) << name;
    const auto copy = at.path + "/copy";
    std::int64_t sure = 0;
    for (const auto before : added) sure += before <= n;
    // A frame that is being added may be behind those that the header states: NumPy reads as many as are stated.
    const auto header = bytes.substr(0, bytes.find('\n'));
    const auto stated = std::stoll(header.substr(header.find("'shape': (") + 10));
    EXPECT_GE(stated, sure) << n;
    const auto data = bytes.find('\n') + 1;
    ASSERT_GE(bytes.size(), data + static_cast<std::size_t>(stated) * 12) << n;
    files::write_text(copy, bytes.substr(0, data + static_cast<std::size_t>(stated) * 12));
    const auto frames = frames::read_frames(copy, one, "x");
    for (std::int64_t f = 0; f < stated; ++f) EXPECT_EQ(frames.data()[3 * f], static_cast<float>(f));
  }
  const auto whole = text_of(at.file);
  for (const auto& d : after_power_loss(calls.size(), {})) EXPECT_EQ(d.at(at.file), whole);
}

/// While it lives, a call reports that the quota is used up.
class late_error {
 public:
  explicit late_error(int& of) : of_(of) { of = EDQUOT; }
  late_error(const late_error&) = delete;
  late_error& operator=(const late_error&) = delete;
  ~late_error() { of_ = 0; }

 private:
  int& of_;
};

// As on NFS, or if a quota is used up: write() has taken all of it.
TEST(late_errors, of_files_leave_what_was_there) {
  const scratch at;
  files::write_text(at.file, "old");
  const auto why = "'" + at.file + "' cannot be written: Disk quota exceeded";
  for (int* call : {&error_of_fsync, &error_of_close}) {
    const late_error now(*call);
    EXPECT_EQ(test::error_of([&] { files::write_text(at.file, "new"); }), why);
    EXPECT_EQ(test::error_of([&] { frames::write_npy(at.file, frames::tensor{1}); }), why);
    EXPECT_EQ(text_of(at.file), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(at.path), {}), 1);
    const auto open_file = "/dev/fd/" + std::to_string(::open(at.file.c_str(), O_WRONLY | O_APPEND));
    EXPECT_NE(test::error_of([&] { files::write_text(open_file, ""); }).find("Disk quota exceeded"), std::string::npos);
    const std::string results = at.path + "/results" + (call == &error_of_close ? "1" : "0");
    frames::npy_stream stream(results, {1, 3});
    const float x[3] = {};
    stream.add(x);
    EXPECT_NE(test::error_of([&] { stream.finish(); }), "none");
    EXPECT_FALSE(fs::exists(results));
    EXPECT_EQ(fs::remove(results + ".partial"), true);  // the results of a run are never removed
  }
}

TEST(late_errors, of_the_standard_output) {
  const late_error now(error_of_close);
  EXPECT_EQ(test::error_of(files::require_stored), "the standard output cannot be written: Disk quota exceeded");
}

// A pipe has no disk. Its results wait in a file, the last of them in a buffer.
TEST(late_errors, of_results_for_a_pipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto to = "/dev/fd/" + std::to_string(ends[1]);
  const auto run = [&] {
    frames::npy_stream stream(to, {1, 3});
    const float x[3] = {};
    stream.add(x);
    stream.finish();
  };
  EXPECT_EQ(test::error_of(run), "none");
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit less{4, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  const auto said = test::error_of(run);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, before);
  EXPECT_NE(said.find("that is not possible: File too large; name a regular file"), std::string::npos) << said;
}
