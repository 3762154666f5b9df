// What predictions for plans of parts consist of.
#include "dice/cost/parts.hpp"
#include "dice/partition/partition.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
}

TEST(predicted_parts, tiles_that_are_cut_count_as_a_whole) {
  const auto layer = [](std::int64_t rows, std::int64_t macs) {
    graph::layer_info out{};
    out.output = {1, 16, rows, 14}, out.macs = macs;
    return out;
  };
  const auto part = [](std::int64_t begin, std::int64_t end) {
    return parts::part{.what = parts::part::kind::compute, .box = {{0, 0, begin, 0}, {1, 16, end, 14}}};
  };
  const auto whole = layer(14, 1400), half = layer(7, 700);
  EXPECT_DOUBLE_EQ(cost::detail::work_fraction(half, part(0, 7), whole, {1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(cost::detail::work_fraction(half, part(0, 7), whole, {4, 4}), 0.5);    // two of four tiles
  EXPECT_DOUBLE_EQ(cost::detail::work_fraction(half, part(7, 14), whole, {4, 4}), 0.75);  // of three tiles
  EXPECT_DOUBLE_EQ(cost::detail::work_fraction(layer(7, 0), part(0, 7), layer(14, 0), {1, 1}), 0.5);
}

TEST(predicted_parts, a_step_takes_as_much_as_its_region) {
  graph::layer_info layer{};
  layer.output = {1, 16, 14, 10};
  const graph::network_view one{{&layer, 1}, {}, {}};
  schedule::step step{.layer = 0, .part = tensor::whole(layer.output)};
  EXPECT_DOUBLE_EQ(cost::detail::fraction(step, one), 1);
  step.part.begin[2] = 7, step.part.end[3] = 4;
  EXPECT_DOUBLE_EQ(cost::detail::fraction(step, one), 0.2);
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
using lab = cluster<host<"a", board<"a", ram<1_GiB>, hosts_with<Us>>>, host<"b", board<"b", ram<1_GiB>, hosts_with<Us>>>,
                    connection<gbytes_per_s<0.01>, us<100>>>;

template <class Map, class Cluster> cost::parts_prediction told() {
  return cost::predict(cost::setting_of<net, Cluster>, schedule::parts_of<net, Map>, schedule::plan_of<net, Map>,
                       cost::detail::ranks<net, Map, Cluster>);
}

template <class... Rows>
using by_rows =
    mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, Rows..., ranks<0>, layers<from<sample::pool1>>>;
using together = by_rows<rows<range<sample::conv1, sample::relu2>, shares<1, 7>>>;

TEST(predicted_parts, ranks_that_wait_receive_meanwhile) {
  // Both ranks wait for all that they receive, since links are slow: a message's time includes what it takes from the core.
  EXPECT_DOUBLE_EQ((predicted<net, together, lab<0>>.latency), (predicted<net, together, lab<50>>.latency));
  EXPECT_GT((told<together, lab<50>>().ranks[1].messages), (told<together, lab<0>>().ranks[1].messages));
}

TEST(predicted_parts, layers_that_are_computed_by_themselves_take_time) {
  using apart =
      by_rows<rows<sample::conv1>, ranks<0>, layers<sample::relu1>, ranks<0, 1>, rows<range<sample::conv2, sample::relu2>>>;
  const auto found = told<apart, lab<0>>();
  constexpr auto& plan = schedule::plan_of<net, apart>;
  constexpr auto parts = schedule::parts_of<net, apart>;
  double relu = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    if (const int l = plan.groups[g].anchor; parts.is_own(l) && parts.whole(l) == sample::relu1::id)
      relu += found.groups[static_cast<int>(g)];
  EXPECT_DOUBLE_EQ(relu, 2.0 * 4 * 8 * 8 * 4 / 1e6);  // it reads and writes its tensor
}

}  // namespace
