// The fixed ways in which other systems divide networks, on networks and hosts like their authors', beside what the search
// finds.
#include "dice/partition/mix.hpp"

#include "mixing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using namespace dice::partition;

/// A network that grows layer by layer, without weights.
struct shaped : test::real_network {
  explicit shaped(int size) {
    has_data = false;
    last = add(ops::input{.extents = {1, 3, size, size}}, {});
  }
  int last;

  std::int64_t channels() const { return shape(last)[1]; }
  int conv(std::int64_t to, int kernel, int stride, int pad, std::int64_t group = 1) {
    last = add(ops::conv{.channels = to,
                         .kernel = {kernel, kernel},
                         .strides = {stride, stride},
                         .pads = {pad, pad, pad, pad},
                         .group = group,
                         .bias = true},
               {last}, {{to, channels() / group, kernel, kernel}, {to}});
    return last;
  }
  void relu() { last = add(ops::relu{}, {last}); }
  void pool(int kernel, int stride, int pad = 0) {
    last = add(ops::max_pool{.kernel = {kernel, kernel}, .strides = {stride, stride}, .pads = {pad, pad, pad, pad}}, {last});
  }
  void flat(bool mean) {
    if (mean) last = add(ops::global_average_pool{}, {last});
    last = add(ops::flatten{}, {last});
  }
  void dense(std::int64_t to) {
    last = add(ops::gemm{.columns = to, .depth = channels(), .bias = true}, {last}, {{to, channels()}, {to}});
  }
  void end() { add(ops::output{}, {last}); }
};

shaped alexnet() {
  shaped n(224);
  n.conv(64, 11, 4, 2), n.relu(), n.pool(3, 2);
  n.conv(192, 5, 1, 2), n.relu(), n.pool(3, 2);
  for (const int to : {384, 256, 256}) n.conv(to, 3, 1, 1), n.relu();
  n.pool(3, 2), n.flat(false);
  for (int i = 0; i < 2; ++i) n.dense(4096), n.relu();
  n.dense(1000), n.end();
  return n;
}
shaped vgg16() {
  shaped n(224);
  for (const auto& [to, count] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < count; ++i) n.conv(to, 3, 1, 1), n.relu();
    n.pool(2, 2);
  }
  n.flat(false);
  for (int i = 0; i < 2; ++i) n.dense(4096), n.relu();
  n.dense(1000), n.end();
  return n;
}
shaped mobilenet() {
  shaped n(224);
  n.conv(32, 3, 2, 1), n.relu();
  for (const auto& [to, stride] : {std::pair{64, 1},
                                   {128, 2},
                                   {128, 1},
                                   {256, 2},
                                   {256, 1},
                                   {512, 2},
                                   {512, 1},
                                   {512, 1},
                                   {512, 1},
                                   {512, 1},
                                   {512, 1},
                                   {1024, 2},
                                   {1024, 1}}) {
    n.conv(n.channels(), 3, stride, 1, n.channels()), n.relu();
    n.conv(to, 1, 1, 0), n.relu();
  }
  n.flat(true), n.dense(1000), n.end();
  return n;
}
shaped resnet18() {
  shaped n(224);
  n.conv(64, 7, 2, 3), n.relu(), n.pool(3, 2, 1);
  for (const int to : {64, 128, 256, 512})
    for (int block = 0; block < 2; ++block) {
      const int from = n.last, stride = to > 64 && block == 0 ? 2 : 1;
      n.conv(to, 3, stride, 1), n.relu();
      const int body = n.conv(to, 3, 1, 1);
      n.last = from;
      const int beside = stride == 2 ? n.conv(to, 1, 2, 0) : from;
      n.last = n.add(ops::add{}, {body, beside});
      n.relu();
    }
  n.flat(true), n.dense(1000), n.end();
  return n;
}

/// Hosts whose arithmetic is as fast as stated, each of one core; a message of 1 MB costs its processor 1 ms.
std::vector<platform::processor_info> hosts(const std::vector<double>& gflops) {
  std::vector<platform::processor_info> out;
  for (const double g : gflops)
    out.push_back({.unit = {.what = platform::unit::kind::threads, .count = 1},
                   .flops = g * 1e9,
                   .bytes_per_s = g * 1e9 / 3,
                   .sending = {1e9, 20e-6},
                   .receiving = {1e9, 20e-6},
                   .memory = std::int64_t{4} << 30});
  return out;
}

/// Arrangements, and mappings of them.
struct schemes {
  const test::mixing& of;
  problem p = of.problem();
  meta::array<arrangement> all;

  explicit schemes(const test::mixing& on) : of(on) {
    for (int d = 0; d < p.devices.size(); ++d) {
      all.push_back({});
      all[d].devices.push_back(d);
    }
  }
  int add(std::string_view word, int first, int last, const std::vector<int>& shares = {}, int exchange_every = 1) {
    arrangement a;
    a.word = placement::word_number(word);
    a.exchange_every = exchange_every;
    for (int d = first; d < last; ++d) a.devices.push_back(d);
    for (const int s : shares) a.shares.push_back(s);
    all.push_back(a);
    return all.size() - 1;
  }
  int add_grid(int down, int across) {
    const int a = add("tiles", 0, down * across);
    all[a].down = down;
    all[a].across = across;
    return a;
  }

  /// The figures of the mapping in which cut unit k is in the first possible one of arrangements for_unit(k).
  template <class F> prediction rate(const F& for_unit) const {
    const cost::arranged_network arranged(of.on(), p, of.operators(), all, {}, -1, -1);
    meta::array<section> sections;
    for (int k = 0; k < p.cut_units; ++k) {
      const auto choices = for_unit(k);
      const int by = *std::find_if(choices.begin(), choices.end(), [&](int a) { return arranged.possible(a, k); });
      if (sections.empty() || sections[sections.size() - 1].arrangement != by) sections.push_back({by, k, k});
      sections[sections.size() - 1].last = k + 1;
    }
    const auto found = of.evaluator().rate(mapping_of(p, of.on().cluster, all, sections).mapping.values());
    EXPECT_TRUE(found.is_right());
    return found.frame.expected;
  }
  prediction rate_all(int a) const {
    return rate([&](int) { return std::array{a, all[a].devices[0]}; });
  }
};

/// The figures of what the search finds, with the input and the results on the first host.
prediction found_for(const test::mixing& of, objective best) {
  mix_request r;
  r.wanted.aim.best = best;
  r.wanted.aim.input_at = r.wanted.aim.output_at = 0;
  const auto p = of.problem();
  const auto out = find_mix(of.on(), p, of.evaluator(), of.operators(), r, mix_of(find_best(of.on(), p, r.wanted).stages));
  EXPECT_FALSE(out.sections.empty());
  EXPECT_LE(out.bound, value_of(best, out.expected));
  return out.expected;
}

/// One frame in one dimension on 3 or 4 equal hosts: what Zhang et al. (FlexPie, arXiv 2502.15312) compare with. They are
/// 1.08 to 2.39 times as fast as these, at 0.5 to 5 Gbit/s.
TEST(schemes, of_flexpie_are_not_better) {
  for (const auto& [name, make] : {std::pair{"MobileNet", &mobilenet}, {"ResNet-18", &resnet18}})
    for (const int count : {3, 4})
      for (const double gbit : {0.5, 5.0}) {
        const test::mixing of(make(), hosts(std::vector<double>(static_cast<std::size_t>(count), 10)),
                              {gbit / 8 * 1e9, 1e-4}, true);
        schemes s(of);
        std::vector<int> fixed;
        for (const char* word : {"rows", "columns", "output_channels"}) fixed.push_back(s.add(word, 0, count));
        if (count == 4) fixed.push_back(s.add_grid(2, 2));
        double best = infinity;
        for (const int a : fixed) best = std::min(best, s.rate_all(a).latency);
        const double found = found_for(of, objective::latency).latency;
        EXPECT_LT(found * 1.02, best) << name << ", " << count << " hosts, " << gbit << " Gbit/s";
      }
}

/// Rows of all layers in the same shares, in proportion to speed and to what remains beside receiving the input; fully
/// connected layers on the first host: CoEdge (Zeng et al., ToN 2021).
TEST(schemes, of_coedge_are_not_better) {
  const std::vector<double> gflops{5, 30, 60};  // a Raspberry Pi, a Jetson and a PC
  for (const auto& [name, make] : {std::pair{"AlexNet", &alexnet}, {"MobileNet", &mobilenet}})
    for (const double mbit : {100.0, 1000.0}) {
      const test::mixing of(make(), hosts(gflops), {mbit / 8 * 1e6, 5e-4}, false);
      schemes s(of);
      double best = infinity;
      for (const bool bandwidth : {false, true}) {
        std::vector<int> shares;
        for (int d = 0; d < 3; ++d) {
          const double input = d > 0 && bandwidth ? 4.0 * 3 * 224 * 224 / (mbit / 8 * 1e6) : 0;
          shares.push_back(std::max(1, static_cast<int>(std::lround(1 / (s.p.time(d, 0, s.p.cut_units) + input)))));
        }
        for (const int every : {1, 2}) best = std::min(best, s.rate_all(s.add("rows", 0, 3, shares, every)).latency);
      }
      const double found = found_for(of, objective::latency).latency;
      EXPECT_LT(found * 1.02, best) << name << ", " << mbit << " Mbit/s";
    }
}

/// Rows of each convolution and channels of each fully connected layer, everything between them on the first host, which
/// gathers and scatters: MoDNN (Mao et al., DATE 2017), VGG-16 on up to four phones on Wi-Fi.
TEST(schemes, of_modnn_are_not_better) {
  for (const int count : {2, 4}) {
    const test::mixing of(vgg16(), hosts(std::vector<double>(static_cast<std::size_t>(count), 3)), {150e6 / 8, 2e-3}, true);
    schemes s(of);
    const int rows = s.add("rows", 0, count), channels = s.add("output_channels", 0, count);
    // With a pool on the first host after each group of convolutions, everything is gathered there.
    const double theirs =
        s.rate([&](int k) {
           const auto has = [&](std::string_view op) {
             for (int l = 0; l < of.net().size(); ++l)
               if (s.p.cut_unit_of[l] == k && of.net().layers[static_cast<std::size_t>(l)].op == op) return true;
             return false;
           };
           return has("Conv") ? std::array{rows, 0} : has("Gemm") ? std::array{channels, 0} : std::array{0, 0};
         }).latency;
    const double found = found_for(of, objective::latency).latency;
    EXPECT_LT(found * 1.1, theirs) << count;
  }
}

/// Stages of some hosts each, which divide rows and exchange none within a stage: PICO (Yang et al., arXiv 2206.08662),
/// VGG-16 on 2 to 8 Raspberry Pis on Wi-Fi. Its throughput is 1.8 to 6.8 times that of one.
TEST(schemes, of_pico_are_not_better) {
  for (const int count : {2, 4, 8}) {
    const test::mixing of(vgg16(), hosts(std::vector<double>(static_cast<std::size_t>(count), 3)), {50e6 / 8, 2e-3}, true);
    schemes s(of);
    double theirs = 0;
    for (int stages = 1; stages <= count; stages *= 2) {
      const int each = count / stages;
      std::vector<int> first_unit{0};  // equal work
      for (int k = 1; k < s.p.cut_units; ++k)
        if (s.p.time(0, 0, k) >= static_cast<double>(first_unit.size()) / stages * s.p.time(0, 0, s.p.cut_units) &&
            static_cast<int>(first_unit.size()) < stages)
          first_unit.push_back(k);
      std::vector<int> by;
      for (int i = 0; i < stages; ++i) by.push_back(each == 1 ? i : s.add("rows", i * each, (i + 1) * each, {}, 16));
      theirs = std::max(theirs, s.rate([&](int k) {
                                   const auto at =
                                       std::upper_bound(first_unit.begin(), first_unit.end(), k) - first_unit.begin();
                                   const int a = by[static_cast<std::size_t>(at - 1)];
                                   return std::array{a, s.all[a].devices[0]};
                                 }).throughput);
    }
    const double found = found_for(of, objective::throughput).throughput;
    EXPECT_GT(found, theirs * 1.1) << count;
    EXPECT_GT(found, s.rate_all(0).throughput * count * 0.95);
  }
}

}  // namespace
