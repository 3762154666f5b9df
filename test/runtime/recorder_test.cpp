#include "dice/runtime/recorder.hpp"

#include <gtest/gtest.h>

using namespace dice;

TEST(recorder, keeps_messages_whatever_else_there_is) {
  using kind = runtime::recorder::kind;
  constexpr auto most = static_cast<int>(runtime::recorder::max_events);
  runtime::recorder both(1, 1, true, false, true), explains(1, 1, false, true, true);
  for (auto* r : {&both, &explains})
    for (int f = 0; f < most; ++f)
      for (const auto is : {kind::compute, kind::wait, kind::enter, kind::send}) r->add({f, f, f, 0, is});
  EXPECT_EQ(both.events().size(), runtime::recorder::max_events);
  EXPECT_EQ(both.dropped_events(), 3 * most);
  EXPECT_TRUE(explains.events().empty());
  EXPECT_EQ(explains.dropped_events(), 0);
  for (const auto* r : {&both, &explains}) {
    EXPECT_TRUE(r->sees_messages());
    ASSERT_EQ(r->message_events().size(), runtime::recorder::max_events);
    EXPECT_EQ(r->message_events().back().frame, most - 1);
  }
  explains.add({most, most, most, 0, kind::send});
  EXPECT_EQ(explains.message_events().back().frame, most - 1);
  EXPECT_FALSE(runtime::recorder(1, 1, false, true).sees_messages());
}

TEST(recorder, keeps_for_each_option_what_it_shows) {
  using kind = runtime::recorder::kind;
  runtime::recorder traces(1, 3, true, false), explains(1, 3, false, false, true), none(1, 3, false, false);
  for (auto* r : {&traces, &explains, &none}) {
    for (const auto is : {kind::job, kind::post, kind::leave, kind::receive, kind::send}) r->add({1, 2, 3, 4, is});
    r->add_sample(0, 5);
    EXPECT_FALSE(r->profiles());
    EXPECT_TRUE(r->samples().empty());
  }
  EXPECT_TRUE(traces.sees_messages());
  EXPECT_EQ(traces.team().size(), 3u);
  EXPECT_EQ(traces.events().size(), 5u);
  EXPECT_TRUE(traces.message_events().empty());
  EXPECT_TRUE(explains.team().empty());
  ASSERT_EQ(explains.message_events().size(), 3u);
  EXPECT_EQ(explains.message_events()[0].is, kind::post);
  EXPECT_EQ(explains.message_events()[1].is, kind::receive);
  EXPECT_TRUE(none.events().empty() && none.message_events().empty());
}

TEST(recorder, adds_up_the_calls_of_a_frame) {
  runtime::recorder r(2, 1, false, true);
  for (const std::int64_t frame : {0, 1, 2})
    for (const int group : {0, 1})
      for (int call = 0; call < 1 + group; ++call) r.add_sample(group, 10 + frame, frame);
  r.add_sample(0, 5);
  r.add_sample(0, 6);
  EXPECT_EQ(r.samples()[0], (std::vector<std::int64_t>{10, 11, 12, 5, 6}));
  EXPECT_EQ(r.samples()[1], (std::vector<std::int64_t>{20, 22, 24}));
  constexpr auto most = static_cast<std::int64_t>(runtime::recorder::max_samples);
  for (std::int64_t frame = 3; frame < most + 2; ++frame) r.add_sample(1, frame, frame);
  ASSERT_EQ(r.samples()[1].size(), runtime::recorder::max_samples);
  EXPECT_EQ(r.samples()[1].back(), most - 1);
}
