#include "channels/contract.hpp"

#include "dice/channels/in_process/hub.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <memory>

using namespace dice::channels;

namespace {

/// Calls `part` of the contract as each rank of jobs of several sizes.
void keeps(void (*part)(communicator&)) {
  for (int n : {1, 2, 3, 5}) {
    in_process::hub hub(n);
    std::vector<std::string> errors(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
      threads.emplace_back([&, r] {
        in_process::communicator ranks(hub, r);
        try {
          part(ranks);
        } catch (const std::exception& e) {
          errors[r] = e.what();
          hub.stop(e.what());
        }
      });
    for (auto& t : threads) t.join();
    for (const auto& e : errors) EXPECT_EQ(e, "") << n << " ranks";
  }
}

}  // namespace

TEST(in_process, keeps_the_contract) { keeps(contract::run); }
TEST(in_process, settles) { keeps(contract::settle); }
TEST(in_process, wakes) { keeps(contract::wake); }

// A rank quits while another one copies a message into its memory.
TEST(in_process, quit_waits_for_copies) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  in_process::hub hub(2);
  in_process::communicator first(hub, 0), second(hub, 1);
  const path paths[] = {{1, 0, 1, bytes, 1, 1}};
  std::unique_ptr<endpoint> from;
  std::thread sender([&] { from = second.connect(paths); });
  const auto to = first.connect(paths);
  sender.join();
  const std::vector<std::byte> message(bytes, std::byte{7});
  // Fresh memory, of which the kernel says which pages were written.
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* received = static_cast<std::byte*>(memory);
  to->start_receive(0, 0, received);
  sender = std::thread([&] { from->start_send(0, 0, message.data()); });
  for (unsigned char present = 0; !(present & 1);) {
    ASSERT_EQ(::mincore(memory, 1, &present), 0);
    std::this_thread::yield();
  }
  to->quit();
  EXPECT_EQ(received[bytes - 1], std::byte{7});
  sender.join();
  ::munmap(memory, bytes);
}

void copies_nothing_after(void (*end)(in_process::hub&, endpoint& to)) {
  in_process::hub hub(2);
  in_process::communicator first(hub, 0), second(hub, 1);
  const path paths[] = {{1, 0, 1, 1, 1, 1}};
  std::unique_ptr<endpoint> from;
  std::thread sender([&] { from = second.connect(paths); });
  const auto to = first.connect(paths);
  sender.join();
  std::byte received{};
  const std::byte message{7};
  to->start_receive(0, 0, &received);
  end(hub, *to);
  from->start_send(0, 0, &message);
  EXPECT_EQ(received, std::byte{});
}
TEST(in_process, no_copy_begins_after_quit) {
  copies_nothing_after([](auto&, auto& to) { to.quit(); });
}
TEST(in_process, no_copy_begins_after_stop) {
  copies_nothing_after([](auto& hub, auto&) { hub.stop(); });
}

TEST(in_process, stop_says_why_once) {
  const auto said = [](std::initializer_list<const char*> reasons) {
    in_process::hub hub(2);
    ::testing::internal::CaptureStderr();
    for (const char* reason : reasons) hub.stop(reason);
    EXPECT_TRUE(hub.is_stopped());
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({"no memory", "stopped"}), "no memory\n");
  EXPECT_EQ(said({"", "too late"}), "");
  EXPECT_EQ(said({"a\x1b[1m"}), "a\\x1b[1m\n");
}

TEST(in_process, stop_wakes_all_who_wait) {
  in_process::hub hub(4);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  const std::vector<path> paths{{0, 1, 1, 8, 1, 1}};
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      in_process::communicator ranks(hub, r);
      const auto end = ranks.connect(paths);
      std::byte buffer[8];
      try {
        if (r == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          ranks.stop("expected: rank 0 gives up");
          end->progress();
        } else if (r == 1) {
          end->start_receive(0, 0, buffer);
          for (;;) end->wait();
        } else if (r == 2) {
          ranks.all_gather("x");
        } else {
          ranks.receive_block(2, buffer, 8);
        }
      } catch (const stopped&) {
        ++woken;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(woken, 4);
}
