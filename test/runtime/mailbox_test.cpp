// Letters over endpoints whose messages move when the test says so, and between threads.
#include "dice/runtime/control/mailbox.hpp"

#include "manual_endpoint.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/paths.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// Allocations by this thread. Clang's sanitizers define `new` themselves; then none are counted.
thread_local std::int64_t allocations = 0;

}  // namespace

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* out = std::malloc(bytes)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
#endif

namespace {

using namespace dice;
using runtime::letter, runtime::letter_path, runtime::mailbox;
using kind = letter::kind;

/// Credits, notices and turns from rank 0 to rank 1, and the same number back.
std::vector<letter_path> two_ranks(int credits, int notices, int turns) {
  std::vector<letter_path> out{{0, 1}, {1, 0}};
  for (auto& p : out) {
    p.add(kind::credit, credits, credits);
    p.add(kind::notice, notices, notices);
    p.add(kind::turn, turns, turns);
  }
  return out;
}

/// Rank 0's end; letters from rank 1 have path 1. Keeps what is read.
struct rank_0 {
  std::vector<letter_path> paths = two_ranks(2, 1, 3);
  test::manual end;
  mailbox box{paths, 0, 0, end};
  mailbox::reader behind = [](int, const letter::words&) { return true; };  // where box would look for one of kind `kinds`
  std::vector<std::pair<kind, std::int64_t>> said;
  bool reads_turns = true;

  rank_0() {
    for (const auto k : {kind::credit, kind::notice, kind::turn})
      box.set_reader(k, [this, k](int from, const letter::words& says) {
        EXPECT_EQ(from, 1);
        if (k == kind::turn && !reads_turns) return false;
        said.emplace_back(k, says[0]);
        return true;
      });
    box.advance();
  }
};
using reading = std::vector<std::pair<kind, std::int64_t>>;

TEST(mailbox, sends_at_once_what_has_room) {
  rank_0 r;
  ASSERT_TRUE(r.box.has_room(kind::turn, 1));
  r.box.send(kind::turn, 1, {4, 5, 6, 7});
  r.box.send(kind::credit, 1, {8});
  ASSERT_EQ(r.end.sends.size(), 2u);
  const auto first = r.end.take(), second = r.end.take();
  EXPECT_TRUE(first.number == 0 && first.is == kind::turn && first.says == (letter::words{4, 5, 6, 7}));
  EXPECT_TRUE(second.number == 1 && second.is == kind::credit && second.says == (letter::words{8}));
}

TEST(mailbox, a_kind_without_room_does_not_stop_another) {
  rank_0 r;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(r.box.has_room(kind::turn, 1));
    r.box.send(kind::turn, 1, {i});
  }
  EXPECT_FALSE(r.box.has_room(kind::turn, 1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(r.box.has_room(kind::credit, 1));
    r.box.send(kind::credit, 1, {i});
  }
  EXPECT_FALSE(r.box.has_room(kind::credit, 1));
  ASSERT_TRUE(r.box.has_room(kind::notice, 1));
  r.box.send(kind::notice, 1, {});
  EXPECT_FALSE(r.box.has_room(kind::notice, 1));
  EXPECT_EQ(r.end.sends.size(), 6u);
  r.end.take();
  EXPECT_TRUE(r.box.has_room(kind::turn, 1));
  EXPECT_FALSE(r.box.has_room(kind::credit, 1));
  EXPECT_FALSE(r.box.has_room(kind::question, 1)) << "no such letters go there";
}

// A path's slots are used in turn.
TEST(mailbox, what_is_sent_early_has_no_room_before_what_came_first) {
  rank_0 r;
  r.box.send(kind::turn, 1, {});
  r.box.send(kind::notice, 1, {});
  EXPECT_EQ(r.end.take(1).is, kind::notice);
  EXPECT_TRUE(r.box.all_sent(kind::notice) && !r.box.all_sent(kind::turn));
  EXPECT_FALSE(r.box.has_room(kind::notice, 1));
  r.end.take();
  EXPECT_TRUE(r.box.has_room(kind::notice, 1) && r.box.all_sent(kind::turn));
}

TEST(mailbox, each_letter_is_read_once_and_a_kind_in_order) {
  rank_0 r;
  EXPECT_EQ(r.end.receives.size(), 6u);
  r.end.give(1, kind::turn, {1});
  r.end.give(1, kind::credit, {2});
  r.end.give(1, kind::turn, {3});
  r.box.advance();
  r.box.advance();
  EXPECT_EQ(r.said, (reading{{kind::turn, 1}, {kind::credit, 2}, {kind::turn, 3}}));
  EXPECT_EQ(r.end.receives.size(), 6u) << "the same number waits for letters again";
}

TEST(mailbox, what_has_no_room_is_read_later) {
  rank_0 r;
  r.reads_turns = false;
  r.end.give(1, kind::credit, {1});
  r.end.give(1, kind::turn, {2});
  r.end.give(1, kind::credit, {3});
  for (int i = 0; i < 2; ++i) {
    r.box.advance();
    EXPECT_EQ(r.said, (reading{{kind::credit, 1}}));
    EXPECT_EQ(r.end.receives.size(), 4u);
  }
  r.reads_turns = true;
  r.box.advance();
  EXPECT_EQ(r.said, (reading{{kind::credit, 1}, {kind::turn, 2}, {kind::credit, 3}}));
  EXPECT_EQ(r.end.receives.size(), 6u);
}

TEST(mailbox, lost_and_foreign_letters_are_noticed) {
  const auto refuses = [](const std::vector<letter>& all) {
    rank_0 r;
    for (const auto& l : all) r.end.give(1, l);
    EXPECT_THROW(r.box.advance(), std::runtime_error);
  };
  refuses({{1, kind::turn}});                        // the first one is lost
  refuses({{0, kind::turn}, {0, kind::turn}});       // comes twice
  refuses({{0, kind::turn}, {2, kind::credit}});     // of another kind, but the numbers are the path's
  refuses({{0, static_cast<kind>(letter::kinds)}});  // no such kind
  refuses({{0, static_cast<kind>(-1)}});
  refuses({{0, kind::answer}});  // nobody reads it
}

TEST(mailbox, knows_who_sends_and_receives) {
  const std::vector<letter_path> paths{test::letters(1, 2, kind::credit, 1, 1), test::letters(1, 0, kind::credit, 1, 1),
                                       test::letters(0, 1, kind::turn, 1, 1)};
  test::manual end;
  const mailbox one(paths, 0, 1, end), none({}, 0, 1, end);
  EXPECT_EQ(one.receivers(kind::credit), (std::vector<int>{0, 2}));
  EXPECT_EQ(one.senders(kind::turn), std::vector<int>{0});
  EXPECT_TRUE(one.senders(kind::credit).empty() && one.receivers(kind::turn).empty());
  EXPECT_TRUE(none.receivers(kind::credit).empty() && none.all_sent(kind::credit));
  letter_path several{0, 1};
  several.add(kind::turn, 1, 2);
  several.add(kind::turn, 3, 5);
  several.add(kind::time, 10, 20);
  EXPECT_EQ(several.sends(), 14);
  EXPECT_EQ(several.receives(), 27);
}

/// A link on which each message takes some time, and is then copied. Keeps its operations in arrays.
struct slow_link {
  struct end final : channels::endpoint {
    slow_link& link;
    int rank;
    end(slow_link& l, int r) : link(l), rank(r) {}
    void start_send(int path, int slot, const std::byte* from) override {
      auto& p = link.paths[path];
      if (!sent(path, slot)) throw std::logic_error("the slot is in use");
      p.from[slot] = from;
      p.order[p.sends++ % most] = slot;
    }
    void start_receive(int path, int slot, std::byte* to) override {
      auto& p = link.paths[path];
      if (!received(path, slot)) throw std::logic_error("the slot is in use");
      p.to[slot] = to;
      p.ready[p.receives++ % most] = slot;
    }
    bool sent(int path, int slot) const override { return !link.paths[path].from[slot]; }
    bool received(int path, int slot) const override { return !link.paths[path].to[slot]; }
    void progress() override {}
    void wait() override {}
    void wake() override {}
    void settle() override {}
    void quit() override {}
  };
  static constexpr std::size_t most = 16;
  struct operations {
    std::array<const std::byte*, most> from{};
    std::array<std::byte*, most> to{};
    std::array<int, most> order{}, ready{};
    std::size_t sends = 0, receives = 0, moved = 0;
  };
  std::array<operations, 2> paths;

  /// Moves the next message of a path, if its receive is posted.
  void move(int path) {
    auto& p = paths[path];
    if (p.moved == p.sends || p.moved == p.receives) return;
    const int s = p.order[p.moved % most], r = p.ready[p.moved % most];
    std::memcpy(p.to[r], p.from[s], sizeof(letter));
    p.from[s] = nullptr;
    p.to[r] = nullptr;
    ++p.moved;
  }
  int under_way(int path, kind k) const {
    int out = 0;
    for (const auto* from : paths[path].from)
      if (from && reinterpret_cast<const letter*>(from)->is == k) ++out;
    return out;
  }
};

// Two ranks say and read what they can; messages move one by one. Rank 1 often has no room for turns.
TEST(mailbox, bounds_and_order_hold_on_a_slow_link) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::minstd_rand random(seed + 1);
    const auto paths = two_ranks(1 + seed % 3, 1, 1 + seed % 4);
    slow_link link;
    slow_link::end ends[2]{{link, 0}, {link, 1}};
    mailbox first(paths, 0, 0, ends[0]), second(paths, 0, 1, ends[1]);
    mailbox* boxes[2]{&first, &second};
    std::array<std::array<std::int64_t, letter::kinds>, 2> said{}, read{};
    for (int r = 0; r < 2; ++r)
      for (const auto k : {kind::credit, kind::notice, kind::turn})
        boxes[r]->set_reader(k, [&, r, k](int, const letter::words& says) {
          if (k == kind::turn && random() % 4 != 0) return false;
          EXPECT_EQ(says[0], read[r][static_cast<std::size_t>(k)]++);
          return true;
        });
    const auto before = allocations;
    for (int step = 0; step < 20'000; ++step) {
      const int r = static_cast<int>(random() % 2);
      if (random() % 3 == 0) boxes[r]->advance();
      if (random() % 2 == 0) link.move(r);
      for (const auto k : {kind::credit, kind::notice, kind::turn})
        if (random() % 3 == 0 && boxes[r]->has_room(k, 1 - r))
          boxes[r]->send(k, 1 - r, {said[r][static_cast<std::size_t>(k)]++});
      for (int path = 0; path < 2; ++path)
        for (const auto k : {kind::credit, kind::notice, kind::turn})
          ASSERT_LE(link.under_way(path, k), paths[path].send_slots[static_cast<std::size_t>(k)]);
    }
    EXPECT_EQ(allocations, before);
    for (int r = 0; r < 2; ++r)
      for (const auto k : {kind::credit, kind::notice, kind::turn})
        EXPECT_GT(read[r][static_cast<std::size_t>(k)], 100) << "seed " << seed;
  }
}

// As on the slow link, with ranks that are threads.
TEST(mailbox, threads_write_to_each_other) {
  constexpr std::int64_t each = 2000;
  const auto letters = two_ranks(2, 1, 3);
  std::vector<channels::path> paths;
  for (const auto& p : letters) paths.push_back({p.from, p.to, 0, sizeof(letter), p.sends(), p.receives()});
  channels::in_process::hub hub(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator ranks(hub, r);
      const auto end = ranks.connect(paths);
      mailbox box(letters, 0, r, *end);
      std::array<std::int64_t, letter::kinds> said{}, read{};
      for (const auto k : {kind::credit, kind::notice, kind::turn})
        box.set_reader(k, [&, k](int, const letter::words& says) {
          EXPECT_EQ(says[0], read[static_cast<std::size_t>(k)]++);
          return true;
        });
      const auto done = [&](kind k) {
        const auto i = static_cast<std::size_t>(k);
        return said[i] == each && read[i] == each && box.all_sent(k);
      };
      for (;;) {
        bool some = false;
        end->progress();
        box.advance();
        for (const auto k : {kind::credit, kind::notice, kind::turn})
          if (auto& n = said[static_cast<std::size_t>(k)]; n < each && box.has_room(k, 1 - r)) {
            box.send(k, 1 - r, {n++});
            some = true;
          }
        if (done(kind::credit) && done(kind::notice) && done(kind::turn)) break;
        if (!some) end->wait();
      }
      end->settle();
    });
  for (auto& t : threads) t.join();
}

}  // namespace
