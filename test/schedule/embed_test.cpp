// Which operands of a Concat of rows become bands of its rows, by hand.
#include "dice/schedule/embed.hpp"
#include "random_network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace dice;

/// Rows a and b, of two and three rows, are joined and convolved; a is also read by a kernel, and added in another one.
struct rows : test::network {
  enum : int { input, a, b, joined, last, reader, other, sum, view };
  std::vector<algorithm::choice> algorithms;
  meta::array<tensor::layout> layouts;
  meta::array<schedule::instance> all;
  meta::array<int> index;
  std::vector<int> own;
  int sent = -1;

  rows() {
    add("Input", {1, 16, 4, 3}, {}).is_input = true;
    add("Conv", {1, 16, 2, 3}, {input});
    add("Conv", {1, 16, 3, 3}, {input});
    add_concat({1, 16, 5, 3}, {a, b}, false).is_concat = true;
    add("Conv", {1, 16, 5, 3}, {joined});
    add("Conv", {1, 16, 2, 3}, {a});
    add("Conv", {1, 16, 2, 3}, {input}).fuses.takes_residual = true;
    add("Add", {1, 16, 2, 3}, {a, other}).fuses.is_residual = true;
    add("Input", {1, 16, 4, 3}, {}).is_input = true;
    algorithms.assign(layers.size(), {.works = algorithm::form::plain, .pitched = true});
    layouts = meta::array<tensor::layout>(size(), tensor::layout::plain);
    index = meta::array<int>(size());
    for (int l = 0; l < size(); ++l) {
      index[l] = l;
      all.push_back({.layer = l, .bytes = layers[at(l)].output.bytes()});
      own.push_back(l);
    }
    index[other] = -1;  // within a group
  }
  /// The bands, after embed().
  std::string bands() {
    meta::array<int> uses(size());
    for (const auto& e : edges) ++uses[e.from];
    const std::vector<int> owner(layers.size());
    const auto groups = schedule::fuse(network::view(), owner, algorithms, uses);
    meta::array<int> first, tensors;
    for (int l = 0; l < size(); ++l) {
      first.push_back(tensors.size());
      const auto& of = layers[at(l)];
      for (int e = of.first_edge; e < of.first_edge + of.edges; ++e) tensors.push_back(edges[at(e)].from);
    }
    first.push_back(tensors.size());
    const auto net = network::view();
    schedule::embed({net, groups, algorithms, layouts}, all, index, own, [&](int t) { return t == sent; },
                    {first.data(), tensors.data()});
    std::string out;
    for (const int l : {a, b})
      if (all[l].pitch != 0) {
        EXPECT_EQ(all[l].pitch, 5 * 3);
        EXPECT_EQ(all[l].offset, l == a ? 0 : 4 * 2 * 3);
        EXPECT_EQ(all[l].parent, joined);
        out += l == a ? 'a' : 'b';
      }
    for (const int l : {input, joined, last, reader, sum}) EXPECT_EQ(all[l].pitch, 0);
    return out;
  }
};

TEST(Embed, RowsBecomeBandsWhereAllAllowIt) {
  EXPECT_EQ(rows().bands(), "ab");
  struct change {
    const char* what;
    const char* bands;
    std::function<void(rows&)> done;
  };
  const change table[]{
      {"a Concat that lies within another", "", [](auto& r) { r.all[rows::joined].parent = rows::input; }},
      {"a Concat whose operands all lie in place", "", [](auto& r) { r.all[rows::joined].joined = true; }},
      {"a Concat that reads no bands", "", [](auto& r) { r.algorithms[rows::joined].pitched = false; }},
      {"a Concat whose result is converted", "", [](auto& r) { r.algorithms[rows::joined].works = algorithm::form::first; }},
      {"another operator", "", [](auto& r) { r.layers[rows::joined].is_concat = false; }},
      {"a Concat that is not computed here", "", [](auto& r) { r.index[rows::joined] = -1; }},
      {"more images", "", [](auto& r) { r.layers[rows::joined].output.dim[0] = 2; }},
      {"more channels", "", [](auto& r) { r.layers[rows::a].output.dim[1] = 32; }},
      {"other columns", "", [](auto& r) { r.layers[rows::b].output.dim[3] = 2; }},
      {"other rows", "", [](auto& r) { ++r.layers[rows::joined].output.dim[2]; }},
      {"one operand", "",
       [](auto& r) {
         r.layers[rows::joined].edges = 1;
         r.layers[rows::joined].output.dim[2] = 2;
       }},
      {"a received tensor", "b", [](auto& r) { r.all[rows::a].received = true; }},
      {"a tensor within another", "b", [](auto& r) { r.all[rows::a].parent = 0; }},
      {"a tensor that holds another", "b", [](auto& r) { r.all[rows::view].parent = rows::a; }},
      {"a tensor in another layout", "b", [](auto& r) { r.all[rows::a].layout = tensor::layout::blocked; }},
      {"a kernel that writes no bands", "a", [](auto& r) { r.algorithms[rows::b].pitched = false; }},
      {"a tensor that is sent", "a", [](auto& r) { r.sent = rows::b; }},
      {"a reader that reads no bands", "b", [](auto& r) { r.algorithms[rows::reader].pitched = false; }},
      {"a reader elsewhere", "ab",
       [](auto& r) {
         r.algorithms[rows::reader].pitched = false;
         r.index[rows::reader] = -1;
       }},
      {"a kernel that adds no bands", "b", [](auto& r) { r.algorithms[rows::other].works = algorithm::form::first; }}};
  for (const auto& c : table) {
    rows r;
    c.done(r);
    EXPECT_EQ(r.bands(), c.bands) << c.what;
  }
}

}  // namespace
