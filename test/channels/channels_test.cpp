#include "channels/contract.hpp"

#include "dice/channels/in_process/hub.hpp"

#include <gtest/gtest.h>

#include <atomic>

using namespace dice::channels;

TEST(in_process, keeps_the_contract) {
  for (int n : {1, 2, 3, 5}) {
    in_process::hub hub(n);
    std::vector<std::string> errors(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int r = 0; r < n; ++r)
      threads.emplace_back([&, r] {
        in_process::communicator ranks(hub, r);
        try {
          contract::run(ranks);
        } catch (const std::exception& e) {
          errors[static_cast<std::size_t>(r)] = e.what();
          hub.stop(e.what());
        }
      });
    for (auto& t : threads) t.join();
    for (const auto& e : errors) EXPECT_EQ(e, "") << n << " ranks";
  }
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
