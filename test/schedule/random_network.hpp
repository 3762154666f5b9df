// Random networks as values: branches, skips, views, Concats that join and that do not, in-place operators, several inputs
// and outputs. They use no operator's code, so that tests of plans do not depend on it.
#pragma once

#include "dice/graph/network.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace test {

/// A network as values that grows by add().
struct network {
  std::vector<dice::graph::layer_info> layers;
  std::vector<dice::graph::edge> edges;
  dice::tensor::number element{};  ///< of all tensors
  dice::graph::network_view view() const { return {layers, edges}; }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int size() const { return static_cast<int>(layers.size()); }
  dice::graph::layer_info& add(const char* op, dice::tensor::shape shape, std::vector<int> from) {
    dice::graph::layer_info l;
    l.op = op;
    l.output = dice::tensor::type(shape, element);
    l.first_edge = static_cast<int>(edges.size());
    l.edges = static_cast<int>(from.size());
    for (int f : from) edges.push_back({f, size(), -1});
    layers.push_back(l);
    return layers.back();
  }
  /// Joins layers `from` in order; their places are given if it `joins` in place.
  dice::graph::layer_info& add_concat(dice::tensor::shape shape, const std::vector<int>& from, bool joins = true) {
    auto& l = add("Concat", shape, from);
    std::int64_t offset = 0;
    for (int k = 0; k < l.edges; ++k) {
      auto& e = edges[at(l.first_edge + k)];
      if (joins) e.joins = offset;
      offset += layers[at(e.from)].output.elements();
    }
    return l;
  }
  dice::graph::layer_info& add_view(const char* op, dice::tensor::shape shape, int from, std::int64_t offset) {
    auto& l = add(op, shape, {from});
    l.view = offset;
    return l;
  }
  void add_output(int from) { add_view("Output", layers[at(from)].output, from, 0).is_output = true; }
};

struct random_network : network {
  random_network(unsigned seed, int size, dice::tensor::number of = {}) {
    element = of;
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    constexpr int pixels = 2;
    // A few channels, or one or more blocks of them.
    const auto image = [&] { return dice::tensor::shape{1, below(2) ? 1 + below(6) : 16 + 8 * below(4), pixels, 1}; };
    const int inputs = 1 + below(2);
    for (int i = 0; i < inputs; ++i) add("Input", image(), {}).is_input = true;
    while (this->size() < size) {
      // Recent tensors are more likely to be read.
      const auto pick = [&] {
        const int n = this->size();
        return below(3) ? n - 1 - below(std::min(n, 4)) : below(n);
      };
      const int a = pick();
      const auto shape = layers[at(a)].output;
      switch (below(9)) {
        case 0:
        case 1:
          add("Conv", image(), {a}).fuses = {.takes_residual = true, .takes_activation = true};
          break;
        case 2:
          add("Relu", shape, {a});
          layers.back().fuses = {.function = {dice::graph::activation::kind::relu}, .monotonic = below(3) != 0};
          layers.back().in_place = true;
          break;
        case 3:
          add("BatchNormalization", shape, {a});
          layers.back().fuses.takes_activation = true;
          layers.back().in_place = true;
          break;
        case 4: {  // a sum with another tensor of the same shape
          std::vector<int> same;
          for (int i = 0; i < this->size(); ++i)
            if (layers[at(i)].output == shape) same.push_back(i);
          add("Add", shape, {a, same[at(below(static_cast<int>(same.size())))]});
          layers.back().fuses = {.takes_activation = true, .is_residual = true};
          break;
        }
        case 5: {  // two to four tensors joined, often a tensor twice
          std::vector<int> parts{a};
          for (int k = 1 + below(3); k > 0; --k) parts.push_back(pick());
          std::int64_t elements = 0;
          bool images = true;
          for (int p : parts) elements += layers[at(p)].output.elements(), images = images && layers[at(p)].output.rank == 4;
          if (elements > 1000) break;  // sizes double with each such layer
          add_concat(images ? dice::tensor::shape{1, elements / pixels, pixels, 1} : dice::tensor::shape{elements}, parts,
                     below(4) != 0);
          break;
        }
        case 6:
          add("MaxPool", shape, {a}), layers.back().fuses.pools_2x2 = true;
          break;
        case 7:
          add_view("Reshape", {shape.elements()}, a, 0);
          break;
        default:  // a view of some whole channels
          if (shape.rank == 4 && below(3)) {
            const int channels = static_cast<int>(shape[1]);
            const int part = channels < 16 || below(2) ? 1 + below(channels) : 16 * (1 + below(channels / 16));
            const int from = channels - part;
            add_view("Slice", {1, part, pixels, 1}, a, (below(2) ? from : from / 16 * 16) * pixels);
          } else {
            const auto half = (shape.elements() + 1) / 2, from = below(2) * (shape.elements() - half);
            add_view("Slice", {half}, a, from);
          }
      }
    }
    const int outputs = 1 + below(3);
    for (int i = 0; i < outputs; ++i) add_output(i ? below(size) : size - 1);
  }
};

}  // namespace test
