// Predictions and best_mapping with direct_convolutions, where the backend has other algorithms.
#include "../convolutions.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/partition/partition.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

using namespace dice;
using net = convolutions::network;
using convolutions::narrow;

template <class... More> using on_two = processor<threads<2>, gflops<1>, gbytes_per_s<1000>, More...>;
template <class Processor, std::int64_t Ram = 1_GiB> using one = cluster<host<"a", board<"a", ram<Ram>, Processor>>>;
template <class Cluster> using best = best_mapping<net, Cluster>;

// The search counts the weights that the plan has.
using direct = one<on_two<direct_convolutions>>;
constexpr auto least = predicted<net, best<direct>, direct>.memory;
static_assert(least < predicted<net, best<one<on_two<>>>, one<on_two<>>>.memory);
static_assert(partition::detail::is_mapping<best<one<on_two<direct_convolutions>, least>>>);

template <class Second>
using shared = mapping<dev<0>, layers<convolutions::image>, ranks<0>, Second, rows<narrow, shares<9, 19>>, ranks<0>,
                       layers<from<convolutions::wide>>>;
using lab = cluster<host<"a", board<"a", ram<1_GiB>, on_two<>>>, host<"b", board<"b", ram<1_GiB>, on_two<>>>,
                    connection<gbytes_per_s<1>, us<1>>>;

/// Seconds in which rank 0 computes its part of `narrow`.
template <class Map> double seconds() {
  constexpr auto& plan = schedule::plan_of<net, Map>;
  constexpr auto parts = schedule::parts_of<net, Map>;
  const auto found = cost::simulate(cost::setting_of<net, lab>, parts, plan, cost::detail::ranks<net, Map, lab>);
  double out = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    if (const int l = plan.groups[g].anchor; plan.groups[g].rank == 0 && parts.is_own(l) && parts.whole(l) == narrow::id)
      out += found.groups[static_cast<int>(g)];
  return out;
}

// Direct convolutions are cut anywhere, others at whole tiles (of 4 rows).
TEST(predicted_parts, direct_convolutions_have_no_tiles) {
  constexpr double row = 2.0 * 9 * 32 * 32 * 28 / 1e9;
  EXPECT_DOUBLE_EQ((seconds<shared<dev<1, cpu, direct_convolutions>>>()), 9 * row);
  EXPECT_DOUBLE_EQ((seconds<shared<dev<1>>>()), 8 * row);
}

}  // namespace
