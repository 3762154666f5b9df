#include "../sample.hpp"
#include "dice/placement/mapping.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace {

using namespace dice;
using net = sample::network;
namespace place = dice::placement;

template <class Map> constexpr auto mistake = place::found<net, Map>.what;
template <class Map> constexpr bool right = mistake<Map> == place::mistake::none;

// A list is the union of its entries; a layer listed twice counts once.
using overlapping = mapping<dev<0>, layers<range<sample::image, sample::relu1>, sample::conv1, to<sample::relu1>>, dev<1>,
                            layers<from<sample::conv2>, all, sample::conv2>>;
static_assert(mistake<overlapping> == place::mistake::two_devices);
using united = mapping<dev<0>, layers<range<sample::image, sample::relu1>, sample::conv1, to<sample::relu1>>, dev<1>,
                       layers<from<sample::conv2>, sample::conv2>>;
static_assert(right<united>);
static_assert(place::of<net, united>.owner[2] == 0 && place::of<net, united>.owner[3] == 1);

// Ranks in any order.
using reversed =
    mapping<dev<1, threads<2>>, layers<to<sample::relu1>>, dev<0, cores<3, 1>, memory<1_GiB>>, layers<from<sample::conv2>>>;
static_assert(right<reversed>);
static_assert(place::of<net, reversed>.owner[0] == 1 && place::of<net, reversed>.owner[11] == 0);
static_assert(place::of<net, reversed>.devices[0].unit.count == 2 &&
              place::of<net, reversed>.devices[0].memory_limit == 1 << 30);
static_assert(place::of<net, reversed>.devices[1].unit.what == platform::unit::kind::threads);

// Without in_flight<…>.
static_assert(place::default_in_flight(1) == 1 && place::default_in_flight(2) == 4 && place::default_in_flight(7) == 14 &&
              place::default_in_flight(8) == 16 && place::default_in_flight(40) == 16);

// Split points: layers with id < p1 go to the first device listed, and so on; ranks may be in any order here, too.
using cut = split<net, points<3, 5>, dev<2>, dev<0>, dev<1>>;
static_assert(right<cut>);
static_assert(place::of<net, cut>.owner[2] == 2 && place::of<net, cut>.owner[3] == 0 && place::of<net, cut>.owner[4] == 0 &&
              place::of<net, cut>.owner[5] == 1);

// Frames in flight: as stated, or two for each rank.
static_assert(place::of<net, mapping<dev<0>, layers<all>>>.in_flight == 1);
static_assert(place::of<net, cut>.in_flight == 6);
static_assert(place::of<net, split<net, points<3>, dev<0>, dev<1>, in_flight<7>>>.in_flight == 7);
static_assert(place::of<net, mapping<in_flight<5>, dev<0>, layers<all>>>.in_flight == 5);

// A user's own name for a mapping.
struct mine : mapping<dev<0>, layers<all>> {};
static_assert(right<mine>);

// Of several limits, the smallest counts.
static_assert(place::of<net, mapping<dev<0, cpu, memory<2_MiB>, memory<1_MiB>>, layers<all>>>.devices[0].memory_limit ==
              1 << 20);
static_assert(3_KiB == 3072);

// The order in which mistakes are reported: network or mapping, ranks, units and limits, entries, layers on two devices,
// layers without a device.
struct foreign final {
  static constexpr int id = 3;
};
using E = place::mistake;
static_assert(place::found<int, int>.what == E::not_a_network);
static_assert(mistake<split<int, points<0>, int>> == E::other_split);
static_assert(mistake<mapping<dev<0>, dev<0>, layers<>>> == E::misplaced_entry);
static_assert(mistake<split<net, points<0>, dev<1, int>, dev<1>>> == E::rank_twice);
static_assert(mistake<split<net, points<0>, dev<0, int>>> == E::not_a_unit);
static_assert(mistake<mapping<dev<0, cpu, memory<0>>, layers<foreign>>> == E::memory_not_positive);
static_assert(mistake<mapping<dev<0>, layers<foreign>, in_flight<0>>> == E::in_flight);
static_assert(
    mistake<mapping<dev<0>, layers<range<sample::conv2, sample::conv1>>, dev<1>, layers<all>, dev<2>, layers<all>>> ==
    E::backwards);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<all>, dev<2>, layers<all>>> == E::empty_list);
static_assert(mistake<mapping<dev<0>, layers<sample::image>, dev<1>, layers<sample::image>>> == E::two_devices);
static_assert(mistake<mapping<>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>>> == E::misplaced_entry);
static_assert(mistake<mapping<layers<all>, dev<0>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, in_flight<2>, layers<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0, int>, layers<>, dev<0>, layers<>>> == E::rank_twice);
static_assert(mistake<mapping<dev<0, int>, layers<foreign>>> == E::not_a_unit);
static_assert(mistake<mapping<dev<0, cpu, int>, layers<foreign>>> == E::not_a_limit);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<range<sample::conv2, sample::conv1>, foreign>>> ==
              E::foreign);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<range<sample::conv2, sample::conv1>>>> == E::backwards);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<all, all>>> == E::empty_list);
static_assert(mistake<split<net, points<0>, dev<0>>> == E::point_outside);
static_assert(mistake<split<net, points<2, 2>, dev<0>>> == E::points_unordered);
static_assert(mistake<split<net, points<2>, dev<0>>> == E::points_count);
static_assert(mistake<split<int, points<2>, dev<0>>> == E::other_split);
static_assert(mistake<mapping<dev<0>, layers<from<foreign>>>> == E::foreign);
static_assert(mistake<mapping<dev<0>, layers<int>>> == E::foreign);
static_assert(mistake<mapping<dev<0, gpu_at<-1>>, layers<all>>> == E::gpu_negative);
static_assert(mistake<mapping<dev<0>, layers<all>, in_flight<-3>>> == E::in_flight);
// The number of further layers with the mistake, after the first.
static_assert(place::found<net, overlapping>.number == 0 && place::found<net, overlapping>.more == 2);
static_assert(mistake<int> == E::not_a_mapping);
static_assert(mistake<mapping<dev<-1>, layers<all>>> == E::rank_missing);

TEST(Mapping, VerdictIsIntForARightMapping) {
  EXPECT_TRUE((std::is_same_v<decltype(place::verdict<net, united>()()), int>));
  EXPECT_FALSE((std::is_same_v<decltype(place::verdict<net, overlapping>()()), int>));
}

TEST(Mapping, EveryLayerHasItsOwnerAtRunTimeToo) {
  const auto& t = place::of<net, united>;
  for (std::size_t l = 0; l < t.owner.size(); ++l) EXPECT_EQ(t.owner[l], l <= 2 ? 0 : 1);
}

}  // namespace
