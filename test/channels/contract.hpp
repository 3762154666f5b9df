// What every transport must do, as one rank of several; written once, run with threads and with MPI.
#pragma once

#include "dice/channels/channel.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace contract {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

inline void run(dice::channels::communicator& ranks) {
  using dice::channels::path;
  const int me = ranks.rank(), n = ranks.size();

  for (int round = 0; round < 3; ++round) {
    const auto all = ranks.all_gather(std::string(static_cast<std::size_t>(me * 1000 * round), 'x') + std::to_string(me));
    require(static_cast<int>(all.size()) == n, "all_gather: number of texts");
    for (int r = 0; r < n; ++r)
      require(all[r] == std::string(static_cast<std::size_t>(r * 1000 * round), 'x') + std::to_string(r),
              "all_gather: text");
  }
  require(std::abs(ranks.clock_offset()) < 50'000'000, "clocks of one host differ by more than 50 ms");

  // Every rank sends to every other on two paths, small and large, whose slots differ between sender and receiver.
  std::vector<path> paths;
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) {
        paths.push_back({from, to, 1, 40, 3, 2});
        paths.push_back({from, to, 2, 70000, 1 + from % 3, 1 + to % 2});
      }
  const auto end = ranks.connect(paths);
  constexpr int messages = 40;
  struct state {
    int started = 0, ended = 0;
    std::vector<std::vector<std::byte>> buffers;
  };
  std::vector<state> states(paths.size());
  for (std::size_t p = 0; p < paths.size(); ++p)
    states[p].buffers.assign(static_cast<std::size_t>(paths[p].from == me ? paths[p].send_slots : paths[p].receive_slots),
                             std::vector<std::byte>(static_cast<std::size_t>(paths[p].bytes)));
  const auto content = [](std::size_t p, int k) {
    return static_cast<std::byte>((static_cast<int>(p) * 31 + k * 7 + 1) & 255);
  };
  for (std::size_t p = 0; p < paths.size(); ++p)
    for (int k = 0; k < static_cast<int>(states[p].buffers.size()); ++k)
      require((paths[p].from != me || end->sent(static_cast<int>(p), k)) &&
                  (paths[p].to != me || end->received(static_cast<int>(p), k)),
              "an operation that was never started is done");
  for (bool busy = true; busy;) {
    busy = false;
    bool moved = false;
    for (std::size_t p = 0; p < paths.size(); ++p) {
      if (paths[p].from != me && paths[p].to != me) continue;
      const bool sends = paths[p].from == me;
      auto& s = states[p];
      const int slots = static_cast<int>(s.buffers.size()), path = static_cast<int>(p);
      while (s.ended < s.started && (sends ? end->sent(path, s.ended % slots) : end->received(path, s.ended % slots))) {
        const auto& b = s.buffers[s.ended % slots];
        if (!sends)
          for (auto byte : b) require(byte == content(p, s.ended), "content of a message");
        ++s.ended;
        moved = true;
      }
      while (s.started < messages && s.started < s.ended + slots) {
        auto& b = s.buffers[s.started % slots];
        const int slot = s.started % slots;
        if (sends) {
          std::memset(b.data(), static_cast<int>(content(p, s.started)), b.size());
          end->start_send(path, slot, b.data());
        } else {
          end->start_receive(path, slot, b.data());
        }
        ++s.started;
        moved = true;
      }
      busy |= s.ended < messages;
    }
    if (moved) end->progress();
    else if (busy) end->wait();
  }

  std::vector<float> block(100'003, static_cast<float>(me));
  const auto bytes = static_cast<std::int64_t>(block.size() * sizeof(float));
  const auto send = [&](int to) {
    ranks.send_block(to, block.data(), bytes);
    block.assign(block.size(), -1.F);  // it was taken
  };
  const auto receive = [&](int from) {
    ranks.receive_block(from, block.data(), bytes);
    require(block == std::vector<float>(block.size(), static_cast<float>(from)), "content of a block");
  };
  if (me != 0) send(0);
  for (int r = 1; me == 0 && r < n; ++r) receive(r);
  if (me != 0) receive(0);
  for (int r = 1; me == 0 && r < n; ++r) {
    block.assign(block.size(), 0.F);
    send(r);
  }
  ranks.all_gather({});
}

/// Settles while some ranks have sent more than others receive, and fewer: nothing of that is in the way of ranks that
/// connect again, with other paths, and nothing that was given up is written any more.
inline void settle(dice::channels::communicator& ranks) {
  using dice::channels::path;
  using message = std::vector<std::int64_t>;
  const int me = ranks.rank(), n = ranks.size();
  constexpr int slots = 4, posted = 2;  // messages that each rank receives of at most `slots`
  struct receive {
    message got, wanted;
  };
  std::deque<receive> received;  // of all rounds
  std::deque<message> sent;
  for (int round = 0; round < 4; ++round) {
    const std::size_t words = 5000 + static_cast<std::size_t>(round);
    std::vector<path> paths;
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to)
        if (from != to)
          paths.push_back({from, to, 1 + (round + to) % 3, 8 * static_cast<std::int64_t>(words), slots, slots});
    const auto end = ranks.connect(paths);
    for (int p = 0; p < static_cast<int>(paths.size()); ++p) {
      const auto& about = paths[p];
      const int sends = (about.from + 2 * about.to + round) % (slots + 1);
      const auto content = [&](int k) { return message(words, (round * 100 + p) * 10 + k); };
      for (int k = 0; about.from == me && k < sends; ++k)
        end->start_send(p, k, reinterpret_cast<const std::byte*>(sent.emplace_back(content(k)).data()));
      for (int k = 0; about.to == me && k < posted; ++k) {
        auto& r = received.emplace_back(receive{message(words, -1), k < sends ? content(k) : message(words, -1)});
        end->start_receive(p, k, reinterpret_cast<std::byte*>(r.got.data()));
      }
    }
    end->settle();
  }
  for (const auto& r : received) require(r.got == r.wanted, "settle: what receives got");
}

/// A wait() ends when another thread calls wake(), also if it did so before.
inline void wake(dice::channels::communicator& ranks) {
  const auto end = ranks.connect({});
  end->progress();
  end->wake();
  end->wait();
  std::atomic<bool> woken{false};
  std::thread other([&] {
    woken = true;
    end->wake();
  });
  while (!woken) end->wait();
  other.join();
  end->settle();
}

}  // namespace contract
