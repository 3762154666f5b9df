// What a terminal shows of a long search.
#include "dice/app/output/progress.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void tell(const dice::app::search_progress& shown, double part) { shown.seen_by().tell(shown.seen_by().with, part); }

/// Tells of three parts, the second one right after the first.
void search(std::FILE* to) {
  dice::app::search_progress shown(to);
  tell(shown, 0.1);  // not yet: most searches are over at once
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  tell(shown, 0.42);
  tell(shown, 0.43);
}

TEST(search_progress, is_shown_on_terminals_now_and_then) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) || ::unlockpt(terminal)) GTEST_SKIP() << "no terminal";
  std::FILE* to = std::fopen(::ptsname(terminal), "w");
  ASSERT_NE(to, nullptr);
  search(to);
  std::string text(100, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(terminal, text.data(), text.size()))));
  EXPECT_EQ(text, "\r\033[Ksearching: 42 %\r\033[K");
  std::fclose(to), ::close(terminal);
}

TEST(search_progress, is_not_written_to_files) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  search(file);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
