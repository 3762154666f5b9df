// Mappings of `sample` as text, and whether they mean what their words as types mean.
#pragma once

#include "../error_of.hpp"
#include "../sample.hpp"
#include "dice/placement/mapping.hpp"
#include "dice/placement/text/mistakes.hpp"
#include "dice/placement/text/parse.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace mapping_text {

using namespace dice;
using net = sample::network;
namespace place = dice::placement;
inline constexpr auto& view = graph::view_of<net>;

/// Not a layer of the network.
struct foreign final {
  static constexpr int id = 3;
};
struct other_network final {};

inline place::text_mapping parse(std::string_view text) { return place::parse(text, net::name, view); }
/// The message for the first mistake of a text, or "none".
inline std::string told(std::string_view text) {
  return test::error_of([&] {
    const auto m = parse(text);
    if (const auto f = place::check(m.values(), view)) throw std::runtime_error(place::tell(m, f));
  });
}

struct placed {
  std::vector<int> owner;
  std::vector<platform::device> devices;
  int in_flight;
};
inline placed placed_by(const place::written_mapping& m, int layers = net::size) {
  placed out{std::vector<int>(static_cast<std::size_t>(layers)),
             std::vector<platform::device>(static_cast<std::size_t>(place::count_devices(m))), 0};
  out.in_flight = place::assign(m, layers, out.owner.data(), out.devices.data());
  return out;
}

inline void expect_same(const platform::device& a, const platform::device& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.unit.what, b.unit.what);
  EXPECT_EQ(a.unit.count, b.unit.count);
  EXPECT_EQ(a.unit.index, b.unit.index);
  EXPECT_EQ(a.unit.precision, b.unit.precision);
  EXPECT_EQ(a.unit.direct, b.unit.direct);
  EXPECT_EQ(a.memory_limit, b.memory_limit);
  EXPECT_EQ(a.host, b.host);
  EXPECT_TRUE(std::equal(a.cores.begin(), a.cores.end(), b.cores.begin(), b.cores.end()));
}

inline void expect_same(const place::assignment& a, const place::assignment& b) {
  const auto same = [](auto x, auto y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  EXPECT_TRUE(same(a.owner, b.owner));
  EXPECT_TRUE(same(a.work_of, b.work_of));
  EXPECT_TRUE(same(a.work_items, b.work_items));
  EXPECT_TRUE(same(a.run_ranks, b.run_ranks));
  EXPECT_TRUE(same(a.shares, b.shares));
}

template <class Error> std::string name_of() { return __PRETTY_FUNCTION__; }

/// Compares the meaning of a type with that of its words as text.
template <class Map> void expect_same(const char* text) {
  SCOPED_TRACE(text);
  ASSERT_EQ(test::error_of([&] { parse(text); }), "none");
  const auto m = parse(text);
  const auto f = place::check(m.values(), view);
  constexpr auto& wanted = place::found<net, Map>;
  EXPECT_EQ(f, wanted) << static_cast<int>(f.what) << " for " << static_cast<int>(wanted.what);
  if constexpr (wanted) {  // what the compiler names is what the text names
    const auto type = name_of<std::remove_pointer_t<decltype(place::verdict<net, Map>())>>();
    const auto words = place::words_of(f.what);
    std::string remedy(words.remedy);
    std::replace(remedy.begin(), remedy.end(), ' ', '_');
    if (const auto at = remedy.find("::"); at != std::string::npos) remedy.replace(at, 2, "_");
    EXPECT_NE(type.find("error::" + std::string(words.name) + "<"), std::string::npos) << type;
    EXPECT_NE(type.find("remedy::" + remedy + ">"), std::string::npos) << type;
    const auto said = place::tell(m, f);
    EXPECT_NE(said.find(std::string(words.name) + ": "), std::string::npos) << said;
    EXPECT_EQ(said.rfind("; " + std::string(words.remedy)), said.size() - words.remedy.size() - 2) << said;
    if (f.more && (f.what == place::mistake::layer_in_two_lists || f.what == place::mistake::layer_without_device)) {
      EXPECT_NE(type.find("and_others<" + std::to_string(f.more) + ">"), std::string::npos) << type;
      EXPECT_NE(said.find(std::to_string(f.more) + " other"), std::string::npos) << said;
    }
  } else {
    constexpr auto& right = place::of<net, Map>;
    const auto p = placed_by(m.values());
    EXPECT_TRUE(std::equal(right.owner.begin(), right.owner.end(), p.owner.begin(), p.owner.end()));
    ASSERT_EQ(right.devices.size(), p.devices.size());
    for (std::size_t r = 0; r < p.devices.size(); ++r) expect_same(right.devices[r], p.devices[r]);
    EXPECT_EQ(right.in_flight, p.in_flight);
    const place::owned_assignment works(m.values(), net::size);
    expect_same(right.view(), works.view());
  }
}
#define SAME(...) expect_same<__VA_ARGS__>(#__VA_ARGS__)

}  // namespace mapping_text
