// Random divisions of random networks among ranks, and what their parts compute.
#pragma once

#include "real_network.hpp"

#include "dice/kernels/backends.hpp"
#include "dice/parts/algorithms.hpp"
#include "dice/parts/expand.hpp"
#include "dice/schedule/split_plan.hpp"

#include <gtest/gtest.h>
#include <cmath>

namespace test {

/// With algorithm number `variant`, or those that the backend chooses if it is negative.
inline std::vector<algorithm::choice> choices(const real_network& net, algorithm::backend by, int variant = -1) {
  std::vector<algorithm::choice> out;
  for (int l = 0; l < net.size(); ++l)
    out.push_back(parts::choice_of(by, net.operators[l], net.view().operands(l), net.shape(l), variant));
  return out;
}

/// The plan of work items on ranks 0, 1, … with these memory limits; -1: none. `used`, if not null, gets the whole layers'
/// algorithms.
inline schedule::built_split plan_of(const real_network& net, const assigned& given, const std::vector<std::int64_t>& limits,
                                     int in_flight = 1, meta::array<algorithm::choice>* used = nullptr) {
  constexpr auto by = algorithm::backend::openmp;
  std::vector<platform::device> devices;
  for (const auto limit : limits) devices.push_back({static_cast<int>(devices.size()), {}, limit});
  const auto parameters = net.parameters();
  const auto chosen = choices(net, by), smallest = choices(net, by, 0);
  algorithm::tables tables;
  tables.chosen[by] = chosen;
  tables.smallest[by] = smallest;
  schedule::detail::whole_algorithms algorithms(tables, net.view(), net.all_operators(), given.view(), devices);
  auto out =
      schedule::build_split({net.view(), net.all_operators(), given.view(), devices, {}, parameters}, algorithms, in_flight);
  if (used) *used = algorithms.chosen[by];
  return out;
}

/// The plan of a chain of layers whose first and last are on rank 0, and which `ranks` ranks divide by `how` between these;
/// `limit`: of rank 0's memory.
inline schedule::built_split shared(const real_network& net, placement::work_item how, int ranks = 2,
                                    std::int64_t limit = -1) {
  const auto n = static_cast<std::size_t>(net.size());
  assigned given{
      .owner = std::vector<int>(n), .work_of = std::vector<int>(n, 1), .run_ranks = {0}, .shares = {}, .work_items = {}};
  given.work_of.front() = given.work_of.back() = 0;
  for (int r = 0; r < ranks; ++r) given.run_ranks.push_back(r);
  how.first_rank = 1;
  how.ranks = ranks;
  given.work_items = {{.cut = placement::geometry::whole, .first_rank = 0, .ranks = 1}, how};
  std::vector<std::int64_t> limits(static_cast<std::size_t>(ranks), -1);
  limits[0] = limit;
  return plan_of(net, given, limits);
}

/// What a random division of a random network gives.
struct divided {
  random_real_network net;
  int ranks;
  assigned given;
  std::vector<platform::device> devices;
  std::vector<meta::view<graph::parameter>> parameters;
  algorithm::by_backend<std::vector<algorithm::choice>> whole;
  schedule::built_split is;

  divided(unsigned seed, int size, int most_ranks, bool sums, bool replicas = false)
      : net(seed, size),
        ranks(2 + static_cast<int>(seed) % (most_ranks - 1)),
        given(random_work_items(net, ranks, seed, sums, replicas)) {
    devices.resize(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) devices[r].rank = r;
    parameters = net.parameters();
    algorithm::tables tables;
    for (const auto b : {algorithm::backend::openmp, algorithm::backend::reference}) {
      whole[b] = choices(net, b);
      tables.chosen[b] = whole[b];
      tables.smallest[b] = whole[b];
    }
    schedule::detail::whole_algorithms algorithms(tables, net.view(), net.all_operators(), given.view(), devices);
    is = schedule::build_split({net.view(), net.all_operators(), given.view(), devices, {}, parameters}, algorithms, 2);
  }
  parts::parts_view parts() const { return is.net.view(); }

  template <class Backend> void compare(bool exact) const {
    const auto all = parts();
    std::vector<algorithm::choice> how;
    for (int l = 0; l < all.net.size(); ++l)
      how.push_back(parts::choice_of(Backend::value, all, l, whole[Backend::value][all.parts[l].layer]));
    const evaluation<Backend> expected(
        net.view(), whole[Backend::value], net.data, [&](int l) { return parameters[l]; },
        [&](int l) { return net.operators[l]; });
    const auto at = [](int l) { return static_cast<std::size_t>(l); };
    const evaluation<Backend> found(
        all.net, how, net.data,
        [&](int l) {
          if (all.restricted[at(l)] < 0) return parameters[at(all.parts[at(l)].layer)];
          return all.parameters.subview(at(all.first_parameter[at(l)]),
                                        at(all.first_parameter[at(l + 1)] - all.first_parameter[at(l)]));
        },
        [&](int l) {
          return all.restricted[at(l)] < 0 ? net.operators[at(all.parts[at(l)].layer)]
                                           : all.operators[at(all.restricted[at(l)])];
        });
    for (int l = 0; l < all.net.size(); ++l) {
      const auto& p = all.parts[at(l)];
      if (p.to > 0) continue;
      const auto& shape = net.shape(p.layer);
      const float* a = found.result(l);
      const float* b = expected.result(p.layer);
      float largest = 0;
      for (std::int64_t i = 0; i < shape.elements(); ++i) largest = std::max(largest, std::abs(b[i]));
      for (std::int64_t i = 0; i < shape.elements(); ++i) {
        std::int64_t rest = i, inner = 0, pitch = 1;
        bool inside = true;
        for (int axis = shape.rank - 1; axis >= 0; --axis) {
          const auto x = rest % shape[axis];
          rest /= shape[axis];
          inside = inside && x >= p.box.begin[axis] && x < p.box.end[axis];
          inner += (x - p.box.begin[axis]) * pitch;
          pitch *= p.box.end[axis] - p.box.begin[axis];
        }
        if (!inside) continue;
        if (exact)
          ASSERT_EQ(a[inner], b[i]) << "layer " << l << ", a part of " << p.layer << " " << all.net.layers[at(l)].op
                                    << ", element " << i;
        else ASSERT_NEAR(a[inner], b[i], 1e-5 * largest) << "layer " << l << " " << all.net.layers[at(l)].op;
      }
    }
  }
};

}  // namespace test
