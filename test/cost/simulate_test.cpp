// What predictions for plans of parts consist of.
#include "dice/cost/simulate.hpp"
#include "dice/partition/partition.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using namespace dice;
using net = sample::network;

TEST(predicted_parts, hosts_have_one_port) {
  const platform::link by{.bytes_per_s = 1000, .seconds = 0.5},
      inside{.bytes_per_s = 1000, .seconds = 0.5, .within_host = true};
  cost::detail::wires wires(4);
  // From one host to two: one after the other.
  EXPECT_DOUBLE_EQ(wires.arrival(by, 0, 1, 1000, 0, 0), 1.5);
  EXPECT_DOUBLE_EQ(wires.arrival(by, 0, 2, 1000, 0, 0), 2.5);
  // Two other hosts at the same time; then the second host, which is still receiving.
  EXPECT_DOUBLE_EQ(wires.arrival(by, 1, 3, 1000, 0, 0), 1.5);
  EXPECT_DOUBLE_EQ(wires.arrival(by, 3, 2, 1000, 0.5, 0), 3.5);
  EXPECT_DOUBLE_EQ(wires.arrival(inside, 0, 0, 1000, 0, 0), 1.5);
  EXPECT_DOUBLE_EQ(wires.busiest(), 3.0);
  // If the ends limit a message, the ports carry another one at the same time.
  EXPECT_DOUBLE_EQ(wires.arrival(by, 1, 0, 1000, 3, 1), 4.5);
  EXPECT_DOUBLE_EQ(wires.arrival(by, 3, 0, 1000, 3, 1), 4.5);
  wires.begin_frame();
  EXPECT_DOUBLE_EQ(wires.arrival(by, 0, 2, 1000, 0, 0), 1.5);
  cost::detail::wires nearly(2);  // measured times differ by some percent
  nearly.arrival(by, 0, 1, 1000, 0, 0.95);
  EXPECT_DOUBLE_EQ(nearly.busiest(), 0.5);
  // The busiest port is one that sends, or one that receives.
  for (const bool sends : {true, false}) {
    cost::detail::wires one(3);
    for (const int other : {1, 2}) sends ? one.arrival(by, 0, other, 1000, 0, 0) : one.arrival(by, other, 0, 1000, 0, 0);
    EXPECT_DOUBLE_EQ(one.busiest(), 3.0);
  }
}

TEST(predicted_parts, tiles_that_are_cut_count_as_a_whole) {
  const auto layer = [](std::int64_t macs) {
    graph::layer_info out{};
    out.output = {1, 16, 14, 14};
    out.macs = macs;
    return out;
  };
  const auto fraction = [&](const graph::layer_info& of, double share, std::array<std::int64_t, 4> box, std::int8_t tile) {
    const cost::detail::part_of_layer part{
        .box = {{0, 0, box[0], box[2]}, {1, 16, box[1], box[3]}}, .share = share, .tile = {tile, tile}};
    return cost::detail::time_fraction(part, of, {}, {});
  };
  const auto whole = layer(1400);
  EXPECT_DOUBLE_EQ(fraction(whole, 0.5, {0, 7, 0, 14}, 1), 0.5);
  EXPECT_DOUBLE_EQ(fraction(whole, 0.5, {0, 7, 0, 14}, 4), 0.5);       // two of four tiles
  EXPECT_DOUBLE_EQ(fraction(whole, 0.5, {7, 14, 0, 14}, 4), 0.75);     // of three tiles
  EXPECT_DOUBLE_EQ(fraction(whole, 6.0 / 14, {0, 14, 0, 6}, 4), 0.5);  // two of four tiles, and six of 14 columns
  EXPECT_DOUBLE_EQ(fraction(whole, 6.0 / 14, {0, 14, 8, 14}, 4), 0.5);
  EXPECT_DOUBLE_EQ(fraction(layer(0), 0.5, {0, 7, 0, 14}, 1), 0.5);
  EXPECT_EQ(fraction(whole, 0, {7, 7, 0, 14}, 4), 0);  // of a rank without a part
}

/// A part reads all weights, however few results it has.
TEST(predicted_parts, large_weights_are_read_by_each_part) {
  graph::layer_info layer{};
  layer.output = {1, 512, 14, 14};
  layer.macs = std::int64_t{512} * 512 * 9 * 196;
  layer.parameter_bytes = std::int64_t{512} * 512 * 9 * 4;
  const platform::processor_info on{.flops = 32e9, .bytes_per_s = 8e9};  // 8 products while it reads a weight
  EXPECT_DOUBLE_EQ(cost::detail::load_of(on), 8);
  EXPECT_DOUBLE_EQ(cost::detail::load_of({.flops = 1e12, .bytes_per_s = 1e9}), algorithm::winograd::load);
  EXPECT_DOUBLE_EQ(cost::detail::load_of({.flops = 32e9, .bytes_per_s = 8e9, .profiled = true}), 12);
  const algorithm::choice direct{.packed_bytes = layer.parameter_bytes},
      winograd{.packed_bytes = 4 * layer.parameter_bytes, .tile = {4, 4}};
  const auto fraction = [&](const algorithm::choice& part, const algorithm::choice& whole, std::int64_t rows,
                            std::int64_t columns, std::int64_t channels = 512) {
    const double share = static_cast<double>(rows * columns * channels) / (512 * 196);
    return cost::detail::time_fraction({.box = {{0, 0, 0, 0}, {1, channels, rows, columns}},
                                        .share = share,
                                        .weight_bytes = part.packed_bytes * channels / 512,
                                        .tile = part.tile},
                                       layer, whole, on);
  };
  EXPECT_DOUBLE_EQ(fraction(direct, direct, 7, 14), 0.5);
  EXPECT_DOUBLE_EQ(fraction(direct, direct, 2, 2), 8.0 / 196);  // not 4 / 196
  EXPECT_DOUBLE_EQ(fraction(winograd, winograd, 14, 14), 1);
  EXPECT_DOUBLE_EQ(fraction(winograd, winograd, 8, 14), 0.5);
  EXPECT_DOUBLE_EQ(fraction(winograd, winograd, 4, 8), 8.0 / 16);  // for two of 16 tiles
  EXPECT_DOUBLE_EQ(fraction(direct, winograd, 4, 8), 32.0 / 4 / 16);
  EXPECT_DOUBLE_EQ(fraction({.packed_bytes = 1}, winograd, 4, 8), 2.0 / 16);  // not less than these tiles of the whole
  EXPECT_DOUBLE_EQ(fraction(winograd, winograd, 14, 14, 128), 0.25);          // parts of channels read their weights only
  layer.parameter_bytes = 4;                                                  // in a cache
  EXPECT_DOUBLE_EQ(fraction({.packed_bytes = 1}, {.packed_bytes = 1}, 2, 2), 4.0 / 196);
}

TEST(predicted_parts, a_step_takes_as_much_as_its_region) {
  graph::layer_info layer{};
  layer.output = {1, 16, 14, 10};
  const graph::network_view one{{&layer, 1}, {}, {}};
  schedule::step step{.layer = 0, .part = tensor::whole(layer.output)};
  EXPECT_DOUBLE_EQ(cost::detail::fraction(step, one), 1);
  step.part.begin[2] = 7;
  step.part.end[3] = 4;
  EXPECT_DOUBLE_EQ(cost::detail::fraction(step, one), 0.2);
}

/// Of 2 and 6 rows that are joined, those are copied that do not lie there already.
TEST(predicted_parts, what_lies_in_place_is_not_copied) {
  const auto layer = [](std::int64_t rows, int first_edge, int edges) {
    graph::layer_info out{};
    out.output = {1, 4, rows, 3};
    out.first_edge = first_edge;
    out.edges = edges;
    return out;
  };
  const graph::layer_info layers[]{layer(2, 0, 0), layer(6, 0, 0), layer(8, 0, 2), layer(4, 2, 1)};
  const graph::edge edges[]{{0, 2, -1}, {1, 2, -1}, {2, 3, -1}};
  const graph::network_view joined{layers, edges, {}};
  constexpr std::int64_t begin = 1024, all = 4 * 4 * 8 * 3;
  const schedule::place at{.where = schedule::space::frame, .offset = begin};
  const auto copied = [&](schedule::place first, schedule::place second, int layer_id = 2, int fewer = 0) {
    const schedule::place operands[]{{}, first, second};
    schedule::plan_view plan{};
    plan.operands = operands;
    schedule::step step{.layer = layer_id, .output = at};
    step.first_operand = 1;
    step.operands = layers[layer_id].edges - fewer;
    return cost::detail::copied_bytes(joined, plan, step, layer_id);
  };
  const auto moved = [&](std::int64_t by) {
    auto out = at;
    out.offset += by;
    return out;
  };
  auto elsewhere = at;
  elsewhere.where = schedule::space::scratch;
  EXPECT_EQ(copied(moved(0), moved(4 * 2 * 3)), 0);
  EXPECT_EQ(copied(moved(0), elsewhere), 4 * 4 * 6 * 3);
  EXPECT_EQ(copied(elsewhere, moved(4 * 2 * 3)), 4 * 4 * 2 * 3);
  EXPECT_EQ(copied(moved(-4), moved(all - 4)), 4 * 4 * 2 * 3);
  EXPECT_EQ(copied(moved(0), moved(all)), 4 * 4 * 6 * 3);
  EXPECT_EQ(copied(elsewhere, elsewhere), all);
  EXPECT_EQ(copied(at, at, 3), 4 * 4 * 4 * 3);  // a cut copies what it cuts out
  EXPECT_EQ(copied(at, at, 2, 1), all);         // nothing is joined in place
}

/// Copies read and write. A profile may lack their speed.
TEST(predicted_parts, copies_take_time) {
  EXPECT_DOUBLE_EQ(cost::detail::copy_seconds({.bytes_per_s = 1000}, 500), 1);
  EXPECT_DOUBLE_EQ(cost::detail::copy_seconds({}, 5'000'000'000), 2);
}

/// Replicas that take frames when they are free: a rank that takes 2 s of each frame for other layers, and 1 s for a frame
/// of its own, and one that takes 4.5 s, all in two groups. Alone, the first would take four frames before the second is as
/// quick.
TEST(predicted_parts, a_replica_with_other_layers_takes_fewer_frames) {
  const auto members = [](double other) {
    const parts::part parts[]{{.layer = 0}, {.layer = 1, .when = {0, 0}}, {.layer = 1, .when = {0, 1}}};
    const schedule::group groups[]{{.anchor = 0, .rank = 0}, {.anchor = 0, .rank = 0}, {.anchor = 1, .rank = 0},
                                   {.anchor = 1, .rank = 0}, {.anchor = 2, .rank = 1}, {.anchor = 2, .rank = 1}};
    const schedule::rank_program ranks[]{{.rank = 0}, {.rank = 1}};
    const parts::replica_set sets[]{{.first = 0, .members = 2, .decides = 0}};
    const parts::replica of_sets[]{{0, 1}, {1, 1}};
    parts::parts_view p{};
    p.parts = parts;
    schedule::plan_view plan{};
    plan.groups = groups;
    plan.ranks = ranks;
    plan.replicas = sets;
    plan.members = of_sets;
    meta::array<double> seconds;
    for (const double t : {other, 1.0, 4.5})
      for (const double of : {0.75, 0.25}) seconds.push_back(t * of);
    cost::detail::expected_turns turns(p, plan, seconds);
    EXPECT_EQ(turns.frames(), 16);
    std::vector<int> out;
    for (int frame = 0; frame < 6; ++frame) {
      turns.begin(frame);
      out.push_back(turns.includes({0, 1}));
      EXPECT_NE(turns.includes({0, 0}), turns.includes({0, 1}));
      EXPECT_TRUE(turns.includes({}));
    }
    return out;
  };
  EXPECT_EQ(members(2), (std::vector<int>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(members(0), (std::vector<int>{0, 0, 0, 0, 1, 0}));
}

/// All turns come about in as many frames as the shares are, but no more than 64 are simulated.
TEST(predicted_parts, some_frames_stand_for_all) {
  const auto frames = [](int share) {
    const parts::replica_set sets[]{{.first = 0, .members = 2}, {.first = 2, .members = 2}};
    const parts::replica of_sets[]{{0, 1}, {1, 1}, {2, 3}, {3, share}};
    schedule::plan_view plan{};
    plan.replicas = sets;
    plan.members = of_sets;
    const schedule::rank_program ranks[4]{};
    plan.ranks = ranks;
    return cost::detail::expected_turns({}, plan, {}).frames();
  };
  EXPECT_EQ(frames(4), 7);
  EXPECT_EQ(frames(1000), 128);
  EXPECT_EQ(cost::detail::expected_turns({}, schedule::plan_view{}, {}).frames(), 1);
}

template <std::int64_t Us> struct measured {
  static constexpr std::string_view digest = net::weights.structure;
  using memory = gbytes_per_s<0.001>;
  using receiving = dice::receiving<us<Us>, gbytes_per_s<1>>;
  static constexpr std::array<double, net::size> ms{0, 8, 0, 8, 0, 0,
                                                    1, 1, 0, 0, 1, 0};  // relu1, add1, relu2: with convolutions
};
template <std::int64_t Us> using hosts_with = processor<threads<1>, profile<measured<Us>>>;
template <std::int64_t Us>
using lab_of = cluster<host<"a", board<"a", ram<1_GiB>, hosts_with<Us>>>, host<"b", board<"b", ram<1_GiB>, hosts_with<Us>>>,
                       connection<gbytes_per_s<0.01>, us<100>>>;

template <class Map, class Cluster> cost::simulated told() {
  return cost::simulate(cost::setting_of<net, Cluster>, schedule::parts_of<net, Map>, schedule::plan_of<net, Map>,
                        cost::detail::ranks<net, Map, Cluster>);
}

template <class... Rows>
using by_rows =
    mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, Rows..., ranks<0>, layers<from<sample::pool1>>>;
using together = by_rows<rows<range<sample::conv1, sample::relu2>, shares<1, 7>>>;

/// As borders, which other ranks need first, and the rest.
TEST(predicted_parts, several_steps_of_a_part_take_as_long_as_one) {
  constexpr auto& plan = schedule::plan_of<net, together>;
  constexpr auto parts = schedule::parts_of<net, together>;
  std::vector<schedule::step> steps(plan.steps.begin(), plan.steps.end());
  std::vector<schedule::rank_program> ranks(plan.ranks.begin(), plan.ranks.end());
  const auto border = std::find_if(steps.begin() + ranks[1].first_step, steps.end(), [&](const schedule::step& s) {
    return s.what == schedule::action::compute && parts.whole(s.layer) == sample::relu1::id && parts.is_own(s.layer);
  });
  ASSERT_NE(border, steps.end());
  EXPECT_EQ(border->part.end[2], 7);
  auto rest = *border;
  border->part.end[2] = rest.part.begin[2] = 2;
  steps.insert(border + 1, rest);
  ++ranks[1].last_step;
  schedule::plan_view several = plan;
  several.steps = steps;
  several.ranks = ranks;
  const auto one = told<together, lab_of<0>>();
  const auto found =
      cost::simulate(cost::setting_of<net, lab_of<0>>, parts, several, cost::detail::ranks<net, together, lab_of<0>>);
  EXPECT_DOUBLE_EQ(one.groups[rest.group], 8e-3 * 7 / 8);
  EXPECT_DOUBLE_EQ(found.groups[rest.group], one.groups[rest.group]);
  EXPECT_DOUBLE_EQ(found.ranks[1].computing, one.ranks[1].computing);
}

TEST(predicted_parts, ranks_that_wait_receive_meanwhile) {
  // Both ranks wait for all that they receive, since links are slow: a message's time includes what it takes from the core.
  EXPECT_DOUBLE_EQ((predicted<net, together, lab_of<0>>.latency), (predicted<net, together, lab_of<50>>.latency));
  EXPECT_GT((told<together, lab_of<50>>().ranks[1].messages), (told<together, lab_of<0>>().ranks[1].messages));
}

/// A rank may still be busy with what it has sent when the last result has left elsewhere.
TEST(predicted_parts, a_frame_ends_when_its_last_result_leaves) {
  using sender = processor<threads<1>, profile<measured<0>>, sending<ms<100>, gbytes_per_s<1>>>;
  using pair = cluster<host<"a", board<"a", ram<1_GiB>, sender>>, host<"b", board<"b", ram<1_GiB>, hosts_with<0>>>,
                       connection<gbytes_per_s<0.01>, us<100>>>;
  using cut = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
  constexpr auto found = predicted<net, cut, pair>;
  EXPECT_NEAR(found.latency, 19e-3 + 1024 / 1e7 + 100e-6, 1e-3);
  EXPECT_GT(found.throughput * 0.108, 0.99);
}

/// A message that one end handles no faster than the network carries it leaves room for others there.
TEST(predicted_parts, ports_are_free_while_an_end_is_slow) {
  using cut = mapping<dev<0, cpu>, layers<to<sample::relu1>>, dev<1, cpu>, layers<from<sample::conv2>>>;
  using slow = gbytes_per_s<0.00001>;
  const auto period = []<class A, class B>(A, B) {
    return predicted<net, cut, cluster<host<"a", A>, host<"b", B>, connection<slow, ms<50>>>>.throughput;
  };
  using quick = board<"q", ram<1_GiB>, hosts_with<0>>;
  using sends = board<"s", ram<1_GiB>, processor<threads<1>, profile<measured<0>>, sending<slow>>>;
  using receives = board<"r", ram<1_GiB>, processor<threads<1>, profile<measured<0>>, receiving<slow>>>;
  const double message = 1024 / 1e4;
  EXPECT_NEAR(1 / period(sends{}, quick{}), message + 8e-3, 1e-9);
  EXPECT_NEAR(1 / period(quick{}, receives{}), message + 11e-3, 1e-9);
  EXPECT_NEAR(1 / period(quick{}, quick{}), message + 50e-3, 1e-9);
  // A sender that is slow before the first byte, but quick with all, leaves no room.
  using begins = board<"l", ram<1_GiB>, processor<threads<1>, profile<measured<0>>, sending<ms<120>, gbytes_per_s<1>>>>;
  EXPECT_NEAR(1 / period(begins{}, quick{}), message + 50e-3, 1e-9);
}

/// Of two frames, each replica computes one, in 19 ms, and rank 1 gets its image, of 768 bytes, and rank 0 its 10 results.
TEST(predicted_parts, replicas_take_the_mean_of_their_frames) {
  using in_turns = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>,
                           replicas<range<sample::conv1, sample::fc1>>, ranks<0>, layers<sample::scores>>;
  const auto found = told<in_turns, lab_of<50>>();
  for (const auto& r : found.ranks) EXPECT_DOUBLE_EQ(r.computing, (8 + 8 + 1 + 1 + 1) * 1e-3 / 2);
  EXPECT_DOUBLE_EQ(found.ranks[0].messages, (50e-6 + 40e-9) / 2);
  EXPECT_DOUBLE_EQ(found.ranks[1].messages, (50e-6 + 768e-9) / 2);
  EXPECT_DOUBLE_EQ(found.expected.period, found.ranks[1].busy());
  EXPECT_NEAR(found.expected.latency, 19e-3 + ((768 + 40) / 1e7 + 2 * 100e-6) / 2, 1e-12);
  // Where the network is slow, the port from which images leave is the busiest.
  using far = cluster<host<"a", board<"a", ram<1_GiB>, hosts_with<50>>>, host<"b", board<"b", ram<1_GiB>, hosts_with<50>>>,
                      connection<gbytes_per_s<0.00001>, us<100>>>;
  EXPECT_NEAR((told<in_turns, far>().expected.period), (768 / 1e4 + 100e-6) / 2, 1e-12);
  // Within a host, messages take nothing from the cores.
  using one = cluster<host<"a", board<"a", ram<1_GiB>, hosts_with<50>>>>;
  EXPECT_EQ((told<in_turns, one>().ranks[1].messages), 0);
}

struct late : measured<0> {
  static constexpr std::array<double, net::size> ms{0, 8, 0, 8, 0, 0, 10, 1, 0, 0, 1, 0};
};

/// Rank 2, which ends first, sends first: its message is not behind that of rank 1 at rank 0's port.
TEST(predicted_parts, messages_are_sent_in_the_order_of_time) {
  using apart =
      mapping<dev<0, cpu>, layers<sample::image, range<sample::relu1, sample::relu2>, from<sample::concat1>>, ranks<0>,
              tiles<2, 1, sample::conv1>, dev<1, cpu>, layers<sample::pool1>, dev<2, cpu>, layers<sample::pool2>>;
  using late_host = processor<threads<1>, profile<late>>;
  using three = cluster<host<"a", board<"a", ram<1_GiB>, hosts_with<0>>>, host<"b", board<"b", ram<1_GiB>, late_host>>,
                        host<"c", board<"c", ram<1_GiB>, hosts_with<0>>>, connection<gbytes_per_s<0.01>, us<100>>>;
  const auto found = told<apart, three>();
  constexpr auto& plan = schedule::plan_of<net, apart>;
  constexpr auto all = schedule::parts_of<net, apart>;
  double before = 0, behind = 0;  // what rank 0 does before it sends, and when it has both results
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    if (plan.groups[g].rank == 0)
      (all.whole(plan.groups[g].anchor) < sample::concat1::id ? before : behind) += found.groups[static_cast<int>(g)];
  EXPECT_GE(before, 16e-3);
  EXPECT_GE(behind, 1e-3);
  const double there = 1024 / 1e7 + 100e-6, back = 256 / 1e7 + 100e-6;
  const double handled = 256 / 1e9;  // rank 0 takes what came first, from rank 2, after what it has waited for
  EXPECT_NEAR(found.expected.latency, before + there + 10e-3 + back + handled + behind, 1e-9);
}

/// Of a host with two processors, those of the other one cost nothing.
TEST(predicted_parts, a_rank_uses_the_power_of_its_processor) {
  using pair = board<"pair", ram<1_GiB>, processor<cores<0>, gflops<1>, gbytes_per_s<1>, watts<3, 1>>,
                     processor<cores<1>, gflops<1>, gbytes_per_s<1>, watts<8, 2>>>;
  const auto watts = []<class Unit>(Unit) {
    constexpr auto found = predicted<net, mapping<dev<0, Unit>, layers<all>>, cluster<host<"a", pair>>>;
    return found.energy / found.latency;
  };
  EXPECT_DOUBLE_EQ(watts(cores<0>{}), 3);
  EXPECT_DOUBLE_EQ(watts(cores<1>{}), 8);
}

/// Two of four cores, whatever their numbers, if the host has no other processor; of two processors, those that are listed.
TEST(predicted_parts, a_rank_has_its_share_of_a_processor) {
  using four = processor<cores<0, 1, 2, 3>, gflops<1>, gbytes_per_s<1>>;
  using two = processor<cores<4, 5>, gflops<1>, gbytes_per_s<1>>;
  const auto share = []<class Cluster>(Cluster, std::size_t of, std::vector<int> cores) {
    const cost::placed_rank rank{{.count = static_cast<int>(cores.size())}, cores, 0};
    return cost::share_of(platform::cluster_values<Cluster>::view, of, rank);
  };
  using alone = cluster<host<"a", board<"a", ram<1_GiB>, four>>>;
  using both = cluster<host<"a", board<"a", ram<1_GiB>, four, two>>>;
  EXPECT_DOUBLE_EQ(share(alone{}, 0, {1, 2}), 0.5);
  EXPECT_DOUBLE_EQ(share(alone{}, 0, {8, 9}), 0.5);
  EXPECT_DOUBLE_EQ(share(both{}, 0, {3, 4}), 0.25);
  EXPECT_DOUBLE_EQ(share(both{}, 1, {3, 4}), 0.5);
  EXPECT_DOUBLE_EQ(share(both{}, 0, {4, 5}), 0);
}

TEST(predicted_parts, layers_that_are_computed_by_themselves_take_time) {
  using apart =
      by_rows<rows<sample::conv1>, ranks<0>, layers<sample::relu1>, ranks<0, 1>, rows<range<sample::conv2, sample::relu2>>>;
  const auto found = told<apart, lab_of<0>>();
  constexpr auto& plan = schedule::plan_of<net, apart>;
  constexpr auto parts = schedule::parts_of<net, apart>;
  double relu = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    if (const int l = plan.groups[g].anchor; parts.is_own(l) && parts.whole(l) == sample::relu1::id)
      relu += found.groups[static_cast<int>(g)];
  EXPECT_DOUBLE_EQ(relu, 2.0 * 4 * 8 * 8 * 4 / 1e6);  // it reads and writes its tensor
}

}  // namespace
