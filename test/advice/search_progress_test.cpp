// What a terminal shows during a long search.
#include "dice/advice/search_progress.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::chrono::steady_clock::time_point now;

void tell(dice::advice::search_progress& shown, std::chrono::milliseconds later, double part) {
  now += later;
  shown.seen_by().tell(shown.seen_by().with, part);
}

/// Reports three parts, the last one right after the second.
void search(std::FILE* to) {
  using namespace std::chrono_literals;
  dice::advice::search_progress shown(to, [] { return now; });
  tell(shown, 1ms, 0.1);  // not shown yet: most searches end at once
  tell(shown, 100ms, 0.42);
  tell(shown, 1ms, 0.43);
}

/// What `terminal` shows, up to `size` bytes; waits at most ten seconds for them.
std::string read(int terminal, std::size_t size) {
  std::string text;
  for (pollfd ready{terminal, POLLIN, 0}; text.size() < size && ::poll(&ready, 1, 10'000) > 0;) {
    char bytes[100];
    const auto count = ::read(terminal, bytes, std::min(sizeof bytes, size - text.size()));
    if (count <= 0) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

TEST(search_progress, is_shown_on_terminals_now_and_then) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) || ::unlockpt(terminal)) GTEST_SKIP() << "no terminal";
  std::FILE* to = std::fopen(::ptsname(terminal), "w");
  ASSERT_NE(to, nullptr);
  search(to);
  std::fputs("end", to);
  std::fflush(to);
  const std::string expected = "\r\033[Ksearching: 42 %\r\033[Kend";
  EXPECT_EQ(read(terminal, expected.size()), expected);
  std::fclose(to);
  ::close(terminal);
}

TEST(search_progress, is_not_written_to_files) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  search(file);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
