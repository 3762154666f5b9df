#include "../sample.hpp"
#include "dice/placement/mapping.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
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
static_assert(mistake<overlapping> == place::mistake::layer_in_two_lists);
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
static_assert(mistake<split<int, points<0>, int>> == E::split_of_another_network);
static_assert(mistake<mapping<dev<0>, dev<0>, layers<>, layers<>>> == E::misplaced_entry);
static_assert(mistake<split<net, points<0>, dev<1, int>, dev<1>>> == E::rank_used_twice);
static_assert(mistake<split<net, points<0>, dev<0, int>>> == E::not_a_unit);
static_assert(mistake<mapping<dev<0, cpu, memory<0>>, layers<foreign>>> == E::memory_limit_not_positive);
static_assert(mistake<mapping<dev<0>, layers<foreign>, in_flight<0>>> == E::too_few_frames_in_flight);
static_assert(
    mistake<mapping<dev<0>, layers<range<sample::conv2, sample::conv1>>, dev<1>, layers<all>, dev<2>, layers<all>>> ==
    E::range_backwards);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<all>, dev<2>, layers<all>>> == E::empty_layer_list);
static_assert(mistake<mapping<dev<0>, layers<sample::image>, dev<1>, layers<sample::image>>> == E::layer_in_two_lists);
static_assert(mistake<mapping<>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>>> == E::misplaced_entry);
static_assert(mistake<mapping<layers<all>, dev<0>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, in_flight<2>, layers<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0, int>, layers<>, dev<0>, layers<>>> == E::rank_used_twice);
static_assert(mistake<mapping<dev<0, int>, layers<foreign>>> == E::not_a_unit);
static_assert(mistake<mapping<dev<0, cpu, int>, layers<foreign>>> == E::not_a_limit);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<range<sample::conv2, sample::conv1>, foreign>>> ==
              E::not_a_layer_of_the_network);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<range<sample::conv2, sample::conv1>>>> == E::range_backwards);
static_assert(mistake<mapping<dev<0>, layers<>, dev<1>, layers<all, all>>> == E::empty_layer_list);
static_assert(mistake<split<net, points<0>, dev<0>>> == E::split_point_out_of_range);
static_assert(mistake<split<net, points<2, 2>, dev<0>>> == E::split_points_unordered);
static_assert(mistake<split<net, points<2>, dev<0>>> == E::split_points_do_not_fit_devices);
static_assert(mistake<split<int, points<2>, dev<0>>> == E::split_of_another_network);
static_assert(mistake<mapping<dev<0>, layers<from<foreign>>>> == E::not_a_layer_of_the_network);
static_assert(mistake<mapping<dev<0>, layers<int>>> == E::not_a_layer_of_the_network);
static_assert(mistake<mapping<dev<0, gpu_at<-1>>, layers<all>>> == E::gpu_number_negative);
static_assert(mistake<mapping<dev<0>, layers<all>, in_flight<-3>>> == E::too_few_frames_in_flight);
// The number of further layers with the mistake, after the first.
static_assert(place::found<net, overlapping>.number == 0 && place::found<net, overlapping>.more == 2);
static_assert(mistake<int> == E::not_a_mapping);
static_assert(mistake<mapping<dev<-1>, layers<all>>> == E::rank_missing);

// Works: runs of devices with their layers, whole or in parts.
using parted =
    mapping<dev<1>, layers<sample::image>, in_flight<3>, ranks<1>, dev<2>, dev<0>,
            rows<range<sample::conv1, sample::relu1>, sample::conv2, shares<1, 2, 3>, exchange_every<2>>, ranks<2, 0>,
            tiles<2, 3, sample::add1, sample::relu2>, ranks<0>, tiles<1, 1, sample::pool1>, ranks<0>, ranks<1>,
            columns<sample::pool2, exchange_every<1>, shares<5, 4>>, ranks<2>, layers<from<sample::concat1>>>;
static_assert(right<parted>);
static_assert([] {
  constexpr auto& t = place::of<net, parted>;
  const auto all = t.view();
  const auto is = [&](int layer, const place::work_item& wanted, std::initializer_list<int> ranks,
                      std::initializer_list<int> shares) {
    const auto& w = all.of(layer);
    const auto same = [](auto span, auto list) { return std::equal(span.begin(), span.end(), list.begin(), list.end()); };
    return w.cut == wanted.cut && w.down == wanted.down && w.across == wanted.across &&
           w.exchange_every == wanted.exchange_every && same(all.ranks_of(w), ranks) && same(all.shares_of(w), shares) &&
           all.owner[layer] == *ranks.begin();
  };
  using enum place::geometry;
  return t.in_flight == 3 && all.splits() && t.work_items.size() == 6 && is(0, {}, {1}, {}) &&
         is(1, {.cut = rows, .exchange_every = 2}, {1, 2, 0}, {1, 2, 3}) && t.work_of[1] == t.work_of[3] &&
         is(4, {.cut = grid, .down = 2, .across = 3}, {2, 0}, {}) && is(6, {.cut = grid}, {0}, {}) &&
         is(7, {.cut = columns}, {0, 1}, {5, 4}) && is(11, {}, {2}, {});
}());
// In a split, each device has a work.
static_assert(!place::of<net, cut>.view().splits() && place::of<net, cut>.work_items.size() == 3);
static_assert(place::of<net, cut>.work_of[2] == 0 &&
              place::of<net, cut>.view().ranks_of(place::of<net, cut>.work_items[0])[0] == 2);

// The order of their mistakes.
template <class... Work> using on_two = mapping<dev<0>, dev<1>, Work..., ranks<0>, layers<all>>;
static_assert(mistake<mapping<dev<0>, ranks<>, dev<0>, layers<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, dev<1>, in_flight<2>, rows<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, in_flight<2>, dev<1>, rows<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, layers<all>, rows<all>>> == E::misplaced_entry);
static_assert(mistake<mapping<ranks<0>, layers<all>>> == E::misplaced_entry);
static_assert(mistake<split<net, points<3>, dev<0>, ranks<0>, dev<1>>> == E::misplaced_entry);
static_assert(mistake<split<net, points<3>, dev<0>, rows<all>, dev<1>>> == E::misplaced_entry);
static_assert(mistake<mapping<dev<0>, ranks<7>, dev<0>, layers<all>>> == E::rank_used_twice);
static_assert(mistake<mapping<dev<1>, ranks<7>, layers<all>>> == E::rank_missing);
static_assert(mistake<mapping<dev<0>, ranks<0, 1>, layers<all>>> == E::rank_not_declared);
static_assert(mistake<mapping<dev<0>, ranks<-1>, layers<all>>> == E::rank_not_declared);
static_assert(mistake<mapping<dev<0>, dev<1>, layers<all>, ranks<1, 0>, ranks<1>, rows<all>>> == E::rank_twice_in_run);
static_assert(mistake<mapping<dev<0>, rows<all>, dev<1>, ranks<0>, layers<all>>> == E::split_on_one_rank);
static_assert(mistake<mapping<dev<0>, dev<1, int>, layers<all>>> == E::layers_on_several_devices);
static_assert(mistake<mapping<dev<0>, columns<all>>> == E::split_on_one_rank);
static_assert(mistake<mapping<dev<0>, input_channels<all>>> == E::split_on_one_rank);
static_assert(mistake<on_two<rows<all, shares<0>, sample::conv1>, in_flight<0>>> == E::too_few_frames_in_flight);
static_assert(mistake<on_two<rows<all, shares<0>, sample::conv1>>> == E::not_a_split_option);
static_assert(mistake<on_two<rows<foreign, shares<1, 2>, shares<1, 2>>>> == E::not_a_split_option);
static_assert(mistake<on_two<tiles<0, 1, all, shares<1, 2>>>> == E::not_a_split_option);
static_assert(mistake<on_two<output_channels<all, exchange_every<1>>>> == E::not_a_split_option);
static_assert(mistake<on_two<input_channels<all, exchange_every<1>>>> == E::not_a_split_option);
static_assert(mistake<mapping<dev<0>, layers<all, exchange_every<2>>>> == E::not_a_split_option);
static_assert(mistake<mapping<dev<0>, layers<all, shares<1>>>> == E::not_a_split_option);
static_assert(place::found<net, on_two<rows<all, sample::conv1, shares<1, 2>, int>>>.index == 3);
static_assert(mistake<on_two<tiles<2, -1, all>>> == E::tile_grid_not_positive);
static_assert(mistake<on_two<tiles<1, 1, all>>> == E::tiles_fewer_than_ranks);
static_assert(mistake<on_two<tiles<1, 2, foreign>>> == E::not_a_layer_of_the_network);
static_assert(mistake<on_two<rows<all, shares<0>>>> == E::share_not_positive);
static_assert(mistake<on_two<rows<all, exchange_every<0>, shares<1>>>> == E::shares_do_not_fit_ranks);
static_assert(mistake<on_two<rows<all, shares<>>>> == E::shares_do_not_fit_ranks);
static_assert(mistake<on_two<rows<foreign, exchange_every<0>>>> == E::exchange_every_not_positive);
static_assert(mistake<on_two<rows<>>> == E::empty_layer_list);
static_assert(mistake<on_two<rows<sample::image>>> == E::layer_in_two_lists);
// The error names the first rank of each run.
constexpr auto twice = place::found<net, mapping<dev<1>, dev<0>, rows<sample::conv1>, dev<2>, layers<all>>>;
static_assert(twice.what == E::layer_in_two_lists && twice.ranks[0] == 1 && twice.ranks[1] == 2);
static_assert(mistake<mapping<dev<0>, dev<1>, rows<sample::image>>> == E::layer_without_device);
template <class... Work>
using all_on_two = mapping<dev<0>, dev<1>, Work..., ranks<0>, layers<sample::flatten1, sample::fc1, sample::scores>>;
static_assert(mistake<all_on_two<rows<to<sample::concat1>>>> == E::input_or_output_not_splittable);
template <class Work>
using one_in_parts =
    mapping<dev<0>, layers<sample::image>, ranks<0>, dev<1>, Work, ranks<0>,
            layers<range<sample::relu1, sample::concat1>, from<sample::fc1>>, ranks<0>, layers<sample::flatten1>>;
static_assert(right<one_in_parts<rows<sample::conv1>>>);
static_assert(mistake<one_in_parts<output_channels<sample::conv1>>> == E::too_few_channel_blocks);
static_assert(mistake<one_in_parts<input_channels<sample::conv1>>> == E::too_few_channel_blocks);
static_assert(mistake<one_in_parts<tiles<9, 1, sample::conv1>>> == E::too_few_rows);
static_assert(mistake<one_in_parts<tiles<1, 9, sample::conv1>>> == E::too_few_columns);
static_assert(mistake<mapping<dev<0>, layers<to<sample::concat1>>, ranks<0>, dev<1>, rows<sample::flatten1>, ranks<0>,
                              layers<from<sample::fc1>>>> == E::layer_not_splittable);
static_assert(mistake<mapping<dev<0>, layers<to<sample::flatten1>, sample::scores>, ranks<0>, dev<1>, rows<sample::fc1>>> ==
              E::layer_not_splittable);

TEST(Mapping, VerdictIsIntForARightMapping) {
  EXPECT_TRUE((std::is_same_v<decltype(place::verdict<net, united>()()), int>));
  EXPECT_FALSE((std::is_same_v<decltype(place::verdict<net, overlapping>()()), int>));
}

TEST(Mapping, EveryLayerHasItsOwnerAtRunTimeToo) {
  const auto& t = place::of<net, united>;
  for (std::size_t l = 0; l < t.owner.size(); ++l) EXPECT_EQ(t.owner[l], l <= 2 ? 0 : 1);
}

}  // namespace
