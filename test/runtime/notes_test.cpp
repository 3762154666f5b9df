// Notes over an endpoint whose messages move when the test says so, and in a run of two ranks.
#include "dice/runtime/control/notes.hpp"

#include "manual_endpoint.hpp"
#include "toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/frames/ends.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using part = runtime::notes::part;
using kind = runtime::letter::kind;

/// Rank 1 tells rank 0, with two letters under way.
const std::vector<runtime::letter_path> note_paths{test::letters(1, 0, kind::note, 2, 2)};

struct noting_rank {
  test::manual end;
  runtime::mailbox box;
  runtime::notes notes;
  std::vector<std::pair<std::int64_t, std::vector<part>>> read;

  explicit noting_rank(int rank) : box(note_paths, 0, rank, end), notes(box) {
    notes.read_by([this](std::int64_t frame, std::vector<part> parts) { read.emplace_back(frame, std::move(parts)); });
    box.advance();
  }
};

/// Numbers of frames as frames, which are expected to be noted.
struct numbered final : frames::source {
  runtime::notes& notes;
  explicit numbered(runtime::notes& n) : notes(n) {}
  void fill(int, std::int64_t frame, std::byte* to, const tensor::type& as) override {
    frames::floats(to, as)[0] = static_cast<float>(frame);
    notes.expect();
  }
};
/// Says of each frame as many parts as its number.
struct telling final : frames::sink {
  runtime::notes& notes;
  explicit telling(runtime::notes& n) : notes(n) {}
  void take(int, std::int64_t frame, const std::byte*, const tensor::type&) override {
    std::vector<part> parts;
    for (std::int64_t i = 0; i < frame; ++i) parts.push_back({frame, i, -i, 7});
    notes.put(frame, parts);
  }
};

}  // namespace

TEST(notes, are_sent_as_there_is_room) {
  noting_rank r(1);
  r.notes.put(5, {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}});
  r.notes.put(6, {});
  EXPECT_TRUE(r.notes.waits());
  ASSERT_EQ(r.end.sends.size(), 2u);
  const auto first = r.end.take();
  EXPECT_EQ(first.is, kind::note);
  EXPECT_EQ(first.says, (runtime::letter::words{5, 3, 1, 2, 3, 4}));
  EXPECT_EQ(r.end.take().says, (runtime::letter::words{5, 2, 5, 6, 7, 8}));
  r.notes.advance();
  EXPECT_FALSE(r.notes.waits());
  EXPECT_FALSE(r.notes.idle()) << "two are under way";
  EXPECT_EQ(r.end.take().says, (runtime::letter::words{5, 1, 9, 10, 11, 12}));
  EXPECT_EQ(r.end.take().says, (runtime::letter::words{6}));
  EXPECT_TRUE(r.notes.idle());
}

TEST(notes, are_read_when_their_last_part_has_come) {
  noting_rank r(0);
  EXPECT_TRUE(r.notes.idle());
  for (int i = 0; i < 3; ++i) r.notes.expect();
  const auto give = [&](const runtime::letter::words& says) {
    r.end.give(0, kind::note, says);
    r.box.advance();
  };
  give({5, 2, 1, 2, 3, 4});
  EXPECT_TRUE(r.read.empty());
  give({5, 1, 5, 6, 7, 8});
  give({6, 0, 0, 0, 0, 0});
  ASSERT_EQ(r.read.size(), 2u);
  EXPECT_EQ(r.read[0], (std::pair{std::int64_t{5}, std::vector<part>{{1, 2, 3, 4}, {5, 6, 7, 8}}}));
  EXPECT_EQ(r.read[1], (std::pair{std::int64_t{6}, std::vector<part>{}}));
  EXPECT_FALSE(r.notes.idle()) << "one more is expected";
  give({7, 1, 1, 1, 1, 1});
  EXPECT_EQ(r.read[2].second.size(), 1u);
  EXPECT_TRUE(r.notes.idle());
}

TEST(notes, of_a_run) {
  toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3);
  const auto p = toy.view();
  const std::string file = "/tmp/dice_notes_" + std::to_string(::getpid()) + ".safetensors";
  toy.write_weights(file);
  channels::in_process::hub hub(p.ranks());
  std::vector<std::int64_t> parts;  // of each frame
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator ranks(hub, r);
      const weights::file w(file, p.network, p.weights);
      const runtime::needed_weights needed(p, r);
      const weights::store store(w, needed.items());
      const auto end = ranks.connect(runtime::paths_of(p.plan, 3));
      runtime::executor e(p, r, {store, needed.of_plan(0)}, *end, 3);
      numbered in(e.notes());
      telling out(e.notes());
      if (r == 0)
        e.notes().read_by([&](std::int64_t frame, const std::vector<part>& all) {
          EXPECT_EQ(frame, static_cast<std::int64_t>(parts.size()));
          parts.push_back(static_cast<std::int64_t>(all.size()));
          for (std::int64_t i = 0; i < parts.back(); ++i)
            EXPECT_EQ(all[static_cast<std::size_t>(i)], (part{frame, i, -i, 7}));
        });
      runtime::figures f;
      e.run(40, &in, r == 1 ? &out : nullptr, f);
      if (r == 0) {
        EXPECT_EQ(parts.size(), 40u) << "the run does not end before";
      }
      end->settle();
    });
  for (auto& t : threads) t.join();
  ::unlink(file.c_str());
  ASSERT_EQ(parts.size(), 40u);
  for (std::int64_t f = 0; f < 40; ++f) EXPECT_EQ(parts[static_cast<std::size_t>(f)], f);
}
