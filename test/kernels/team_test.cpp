// The OpenMP team: size and cores.
#include <dice/kernels/openmp/team.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace dice::kernels;

/// Runs f in a thread of its own: teams and bindings belong to threads.
template <class F> void apart(F f) { std::thread(f).join(); }

TEST(team, has_the_size_that_was_set) {
  apart([] {
    team::set_threads(3);
    EXPECT_EQ(team::available_threads(), 3);
    int seen = 0;
#pragma omp parallel reduction(+ : seen)
    ++seen;
    EXPECT_EQ(seen, 3);
    team::set_threads(0);
    EXPECT_EQ(team::available_threads(), 1);
  });
}

TEST(team, is_bound_to_the_cores_listed) {
  const auto allowed = team::allowed_cores();
  ASSERT_FALSE(allowed.empty());
  apart([&] {
    EXPECT_TRUE(team::pin(allowed));
    EXPECT_EQ(team::available_threads(), static_cast<int>(allowed.size()));
    bool there = true;
#pragma omp parallel reduction(&& : there)
    there = team::allowed_cores() == std::vector{allowed[static_cast<std::size_t>(omp_get_thread_num())]};
    EXPECT_TRUE(there);
  });
  EXPECT_EQ(team::allowed_cores(), allowed) << "another thread's binding has changed";
}

TEST(team, refuses_cores_that_do_not_exist) {
  apart([] {
    EXPECT_FALSE(team::pin({}));
    const int none[] = {-1}, far[] = {100000}, odd[] = {1023};
    EXPECT_FALSE(team::pin(none));
    EXPECT_FALSE(team::pin(far));
    EXPECT_FALSE(team::pin(odd));
  });
}

}  // namespace
