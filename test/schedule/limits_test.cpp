// Memory limits between what the fastest algorithms need and the least possible.
#include "dice/schedule/limits.hpp"
#include "../convolutions.hpp"
#include "dice/schedule/schedule.hpp"
#include "random_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using net = convolutions::network;
using convolutions::narrow;
using convolutions::wide;

template <std::int64_t Bytes> using within = mapping<dev<0, cpu, memory<Bytes>>, layers<all>>;
template <class Map> constexpr auto& algorithms = schedule::detail::algorithm_table<net, Map>;
template <class Map> constexpr std::int64_t peak = schedule::plan_of<net, Map>.ranks[0].peak_bytes;
constexpr auto packed = algorithm::choices<net, algorithm::backend::openmp>;
constexpr auto smallest = algorithm::smallest_choices<net, algorithm::backend::openmp>;

using free = mapping<dev<0, cpu>, layers<all>>;
static_assert(algorithms<free>[wide::id].variant > 0 && algorithms<free>[narrow::id].variant > 0);
static_assert(smallest[wide::id].variant == 0 && smallest[wide::id].packed_bytes < packed[wide::id].packed_bytes);
// With enough room for the fastest algorithms, nothing changes.
static_assert(peak<within<peak<free>>> == peak<free> && algorithms<within<peak<free>>>[wide::id].variant > 0);
// With one byte less, the layer that saves most is replaced.
using tight = within<peak<free> - 1>;
static_assert(algorithms<tight>[wide::id].variant == 0 && algorithms<tight>[narrow::id].variant > 0);
static_assert(peak<tight> < peak<free>);
// With one byte less than that, both are.
using tighter = within<peak<tight> - 1>;
static_assert(algorithms<tighter>[wide::id].variant == 0 && algorithms<tighter>[narrow::id].variant == 0);
// A limit that cannot be met is an error, which names the smallest possible one.
using none = within<1>;
static_assert(peak<none> == peak<tighter> && peak<tighter> < peak<tight>);
static_assert(std::is_same_v<decltype(schedule::verdict<net, tighter>()()), int>);
static_assert(std::is_same_v<decltype(schedule::verdict<net, none>()()),
                             error::memory_limit_less_than_plan<0, peak<tighter>,
                                                                remedy::raise_the_limit_or_move_layers_to_another_device>>);

// Only layers of the rank over its limit are replaced.
using two = mapping<dev<0, cpu>, layers<to<narrow>>, dev<1, cpu, memory<600000>>, layers<from<wide>>>;
static_assert(algorithms<two>[narrow::id].variant > 0 && algorithms<two>[wide::id].variant == 0);

// A device with direct_convolutions has them, whatever room there is, and others have the fastest algorithms.
template <class... Limits> using direct = mapping<dev<0, cpu, direct_convolutions, Limits...>, layers<all>>;
static_assert(algorithms<direct<>>[wide::id].variant == 0 && algorithms<direct<>>[narrow::id].variant == 0);
static_assert(algorithms<direct<>>[wide::id].packed_bytes == smallest[wide::id].packed_bytes);
static_assert(peak<direct<>> == peak<tighter> && peak<direct<memory<peak<direct<>>>>> == peak<direct<>>);
static_assert(!std::is_same_v<decltype(schedule::verdict<net, direct<memory<peak<direct<>> - 1>>>()()), int>);
using mixed = mapping<dev<0, cpu, direct_convolutions>, layers<to<narrow>>, dev<1>, layers<from<wide>>>;
static_assert(algorithms<mixed>[narrow::id].variant == 0 && algorithms<mixed>[wide::id].variant > 0);

// All parts of a layer are computed in one way: directly, if one of its devices computes so.
template <class Map> constexpr bool is_direct(int layer) {
  constexpr auto& parts = schedule::parts_of<net, Map>;
  int direct = 0, all = 0;
  for (int l = 0; l < parts.net.size(); ++l)
    if (parts.is_own(l) && parts.whole(l) == layer) {
      ++all;
      direct += algorithms<Map>[l].variant == 0;
    }
  return direct == all ? true : direct == 0 ? false : throw "parts differ";
}
template <class First, class Second>
using halves = mapping<First, layers<convolutions::image>, ranks<0>, Second, rows<narrow>, ranks<1>, replicas<wide>,
                       ranks<0>, layers<convolutions::features>>;
using slow = dev<1, cpu, direct_convolutions>;
static_assert(!is_direct<halves<dev<0>, dev<1>>>(narrow::id) && !is_direct<halves<dev<0>, dev<1>>>(wide::id));
static_assert(is_direct<halves<dev<0>, slow>>(narrow::id) && is_direct<halves<dev<0>, slow>>(wide::id));
static_assert(is_direct<halves<dev<0, cpu, direct_convolutions>, dev<1>>>(narrow::id));
static_assert(!is_direct<halves<dev<0, cpu, direct_convolutions>, dev<1>>>(wide::id));
// Limits leave it so.
static_assert(is_direct<halves<dev<0, cpu, memory<1_GiB>>, slow>>(narrow::id));

// A direct convolution can need more scratch than it saves of the weights: then the plan stays the smaller one.
TEST(Limits, NothingIsReplacedInVain) {
  const auto view = graph::view_of<net>;
  const std::vector<int> owner(view.layers.size(), 0);
  const std::vector<platform::device> devices{{0, {}, 100}};
  std::vector<algorithm::choice> fast(view.layers.size()), small = fast;
  fast[wide::id].packed_bytes = 2000;
  small[wide::id] = {.packed_bytes = 1000, .scratch_bytes = 1 << 20};
  auto chosen = fast;
  const schedule::plan_input w{view, owner, devices, chosen, 1};
  const auto p = schedule::build_within_limits(w, chosen, small);
  EXPECT_EQ(chosen[wide::id].packed_bytes, 2000);
  EXPECT_EQ(p.ranks[0].peak_bytes, schedule::build({view, owner, devices, fast, 1}).ranks[0].peak_bytes);
}

// If no weights can be saved, working memory is reduced: the largest first, and no more than needed.
TEST(Limits, WorkingMemoryIsGivenUp) {
  const auto view = graph::view_of<net>;
  const std::vector<int> owner(view.layers.size(), 0);
  const std::vector<algorithm::choice> small(view.layers.size());
  auto fast = small;
  fast[wide::id].scratch_bytes = 8 << 20;
  fast[narrow::id].scratch_bytes = 1 << 20;
  const auto within = [&](std::int64_t limit, std::vector<algorithm::choice>& chosen) {
    const std::vector<platform::device> devices{{0, {}, limit}};
    chosen = fast;
    return schedule::build_within_limits({view, owner, devices, chosen, 1}, chosen, small).ranks[0].peak_bytes;
  };
  std::vector<algorithm::choice> chosen;
  const auto all = within(std::int64_t{1} << 30, chosen);
  EXPECT_EQ(chosen[wide::id].scratch_bytes, 8 << 20);
  const auto less = within(all - 1, chosen);
  EXPECT_LT(less, all);
  EXPECT_EQ(chosen[wide::id].scratch_bytes, 0);
  EXPECT_EQ(chosen[narrow::id].scratch_bytes, 1 << 20);
  EXPECT_LT(within(less - 1, chosen), less);
  EXPECT_EQ(chosen[narrow::id].scratch_bytes, 0);
}

// Layers that saved algorithms replace: as few as needed, whether one rank computes them or several do.
struct replaced {
  std::vector<algorithm::choice> fast, small, chosen;
  std::vector<platform::device> devices{{.rank = 0}, {.rank = 1}, {.rank = 2}};

  replaced() : fast(net::size), small(net::size) {
    for (auto& a : fast) a.variant = 1;
  }
  /// The peak of rank 0 with this limit: it computes all layers.
  std::int64_t alone(std::int64_t limit) {
    chosen = fast;
    const std::vector<int> owner(net::size, 0);
    const std::vector<platform::device> one{{.rank = 0, .memory_limit = limit}};
    return schedule::build_within_limits({graph::view_of<net>, owner, one, chosen, 1}, chosen, small).ranks[0].peak_bytes;
  }
  /// The peak of rank `rank` with this limit: ranks 1 and 2 compute the convolutions in turn, and rank 0 the rest.
  std::int64_t in_turn(std::int64_t limit, int rank = 1) {
    using turns =
        mapping<dev<0>, layers<convolutions::image, convolutions::features>, dev<1>, dev<2>, replicas<range<narrow, wide>>>;
    constexpr auto& where = placement::of<net, turns>;
    const auto by = algorithm::method_of({});
    algorithm::tables tables;
    tables.chosen[by] = fast;
    tables.smallest[by] = small;
    auto limited = devices;
    limited[static_cast<std::size_t>(rank)].memory_limit = limit;
    const meta::view<graph::any_operator> operators{schedule::detail::operators_of<net>.data(), net::size};
    schedule::detail::whole_algorithms whole(tables, graph::view_of<net>, operators, where.view(), limited);
    const auto out = schedule::build_split(
        {graph::view_of<net>, operators, where.view(), limited, {}, graph::parameters_of<net>}, whole, 1);
    chosen.assign(whole.chosen[by].begin(), whole.chosen[by].end());
    return out.plan.ranks[rank].peak_bytes;
  }
  /// Those with the small algorithm.
  std::string which() const {
    return std::string(chosen[wide::id].variant == 0 ? "wide " : "") + (chosen[narrow::id].variant == 0 ? "narrow" : "");
  }
};

TEST(Limits, WeightsAreGivenUpByTheByte) {
  replaced r;
  r.fast[wide::id].packed_bytes = 4000, r.small[wide::id].packed_bytes = 1000;
  r.fast[narrow::id].packed_bytes = 2500, r.small[narrow::id].packed_bytes = 1000;
  const auto check = [&](auto peak) {
    const auto all = peak(-1);
    for (const auto& [less, saved, which] :
         {std::tuple{0, 0, ""}, {1, 3000, "wide "}, {3000, 3000, "wide "}, {3001, 4500, "wide narrow"}}) {
      EXPECT_EQ(peak(all - less), all - saved) << less;
      EXPECT_EQ(r.which(), which) << less;
    }
  };
  check([&](std::int64_t limit) { return r.alone(limit); });
  check([&](std::int64_t limit) { return r.in_turn(limit); });
  check([&](std::int64_t limit) { return r.in_turn(limit, 2); });
  r.in_turn(1, 0);  // the other ranks' layers do not help
  EXPECT_EQ(r.which(), "");
}

// Layers with more than half of the largest working memory are replaced at once.
TEST(Limits, WorkingMemoryIsGivenUpByHalves) {
  replaced r;
  r.fast[wide::id].scratch_bytes = 8 << 20;
  const auto check = [&](auto peak) {
    for (const auto& [other, which] : {std::pair{4 << 20, "wide "}, {(4 << 20) + 1, "wide narrow"}}) {
      r.fast[narrow::id].scratch_bytes = other;
      const auto all = peak(-1), less = peak(all - 1);
      EXPECT_LT(less, all);
      EXPECT_EQ(r.which(), which);
      EXPECT_EQ(peak(all), all);
      EXPECT_EQ(r.which(), "");
      EXPECT_LE(peak(less - 1), less);
      EXPECT_EQ(r.which(), "wide narrow");
    }
  };
  check([&](std::int64_t limit) { return r.alone(limit); });
  check([&](std::int64_t limit) { return r.in_turn(limit); });
}

// Small algorithms that need more memory are taken back.
TEST(Limits, NothingIsReplacedInVainInTurn) {
  replaced r;
  r.fast[wide::id].packed_bytes = 2000;
  r.small[wide::id] = {.packed_bytes = 1000, .scratch_bytes = 1 << 20};
  const auto all = r.in_turn(-1);
  EXPECT_EQ(r.in_turn(100), all);
  EXPECT_EQ(r.which(), "");
  EXPECT_EQ(r.in_turn(all), all);
}

// A rank that takes its fastest algorithms back, because others gain nothing, leaves those of other ranks.
TEST(Limits, OtherRanksKeepTheirAlgorithms) {
  const auto view = graph::view_of<net>;
  std::vector<int> owner(view.layers.size(), 0);
  owner[narrow::id] = 1;
  std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
  std::vector<algorithm::choice> fast(view.layers.size()), small = fast;
  fast[wide::id].packed_bytes = fast[narrow::id].packed_bytes = 2000;
  small[narrow::id].packed_bytes = 1000;
  small[wide::id] = {.packed_bytes = 1000, .scratch_bytes = 1 << 20};  // in vain
  devices[0].memory_limit = 100;
  devices[1].memory_limit = schedule::build({view, owner, devices, fast, 1}).ranks[1].peak_bytes - 1;
  auto chosen = fast;
  schedule::build_within_limits({view, owner, devices, chosen, 1}, chosen, small);
  EXPECT_EQ(chosen[wide::id].packed_bytes, 2000);
  EXPECT_EQ(chosen[narrow::id].packed_bytes, 1000);
}

// Random networks on two ranks under random limits: limits are met where possible, and `chosen` matches the plan.
TEST(Limits, RandomPlansKeepTheirLimits) {
  int kept = 0, failed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 draw(seed);
    const test::random_network network(seed, 30);
    const auto view = network.view();
    std::vector<int> owner(view.layers.size());
    for (auto& o : owner) o = static_cast<int>(draw() % 2);
    owner[0] = 0;
    owner[1] = 1;
    std::vector<algorithm::choice> fast(view.layers.size()), small = fast;
    for (std::size_t l = 0; l < fast.size(); ++l) {
      small[l].packed_bytes = 1 + static_cast<std::int64_t>(draw() % 1000);
      fast[l].packed_bytes = small[l].packed_bytes * (1 + static_cast<std::int64_t>(draw() % 4));
    }
    std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
    const auto most = schedule::build({view, owner, devices, fast, 2}),
               least = schedule::build({view, owner, devices, small, 2});
    const auto low = least.ranks[0].peak_bytes, high = most.ranks[0].peak_bytes;
    devices[0].memory_limit = low - low / 10 + static_cast<std::int64_t>(draw()) % (high - low);
    auto chosen = fast;
    const auto p = schedule::build_within_limits({view, owner, devices, chosen, 2}, chosen, small);
    EXPECT_EQ(p.ranks[0].peak_bytes <= devices[0].memory_limit, low <= devices[0].memory_limit) << seed;
    EXPECT_EQ(p.ranks[1].peak_bytes, most.ranks[1].peak_bytes) << seed;
    const auto again = schedule::build({view, owner, devices, chosen, 2});
    EXPECT_EQ(p.ranks[0].peak_bytes, again.ranks[0].peak_bytes) << seed;
    (p.ranks[0].peak_bytes <= devices[0].memory_limit ? kept : failed) += 1;
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(failed, 10);
}

}  // namespace
