// Random networks as values: branches, skips, views, Concats that join and that do not, in-place operators, several inputs
// and outputs. Made without any operator's code, so that what they show of a plan owes nothing to it.
#pragma once

#include "dice/model/network.hpp"

#include <random>
#include <string>
#include <vector>

namespace test {

struct random_network {
  std::vector<dice::graph::layer_info> layers;
  std::vector<dice::graph::edge> edges;
  dice::graph::network_view view() const { return {layers, edges}; }

  explicit random_network(unsigned seed, int size) {
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const int inputs = 1 + below(2);
    for (int i = 0; i < inputs; ++i) add("Input", {1, 1 + below(4), 2, 2}, {}).is_input = true;
    while (static_cast<int>(layers.size()) < size) {
      // Recent tensors are likelier to be read.
      const auto pick = [&] {
        const int n = static_cast<int>(layers.size());
        return below(3) ? n - 1 - below(std::min(n, 4)) : below(n);
      };
      const int a = pick();
      const auto shape = layers[at(a)].output;
      switch (below(8)) {
        case 0:
        case 1:
          add("Conv", {1, 1 + below(6), 2, 2}, {a}).fuses = {.takes_residual = true, .takes_activation = true};
          break;
        case 2:
          add("Relu", shape, {a}), layers.back().fuses.is_activation = true, layers.back().in_place = true;
          break;
        case 3:
          add("BatchNormalization", shape, {a}), layers.back().fuses.takes_activation = true, layers.back().in_place = true;
          break;
        case 4: {  // a sum with some tensor of the same shape
          std::vector<int> same;
          for (int i = 0; i < static_cast<int>(layers.size()); ++i)
            if (layers[at(i)].output == shape) same.push_back(i);
          add("Add", shape, {a, same[at(below(static_cast<int>(same.size())))]});
          layers.back().fuses = {.takes_activation = true, .is_residual = true};
          break;
        }
        case 5: {  // two to four tensors joined, often a tensor twice
          std::vector<int> parts{a};
          for (int k = 1 + below(3); k > 0; --k) parts.push_back(pick());
          std::int64_t elements = 0;
          for (int p : parts) elements += layers[at(p)].output.elements();
          add("Concat", {elements}, parts);
          std::int64_t offset = 0;
          const bool joins = below(4) != 0;
          for (std::size_t k = 0; k < parts.size(); ++k) {
            edges[edges.size() - parts.size() + k].joins = joins ? offset : -1;
            offset += layers[at(parts[k])].output.elements();
          }
          break;
        }
        case 6:
          add("Reshape", {shape.elements()}, {a}), layers.back().view = 0;
          break;
        default: {  // some whole channels, seen in place
          const auto half = (shape.elements() + 1) / 2, from = below(2) * (shape.elements() - half);
          add("Slice", {half}, {a}), layers.back().view = from;
        }
      }
    }
    const int outputs = 1 + below(3);
    for (int i = 0; i < outputs; ++i) {
      const int a = i ? below(size) : size - 1;
      add("Output", layers[at(a)].output, {a}), layers.back().view = 0, layers.back().is_output = true;
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  dice::graph::layer_info& add(const char* op, dice::tensor::shape shape, std::vector<int> from) {
    dice::graph::layer_info l;
    l.op = op, l.output = shape;
    l.first_edge = static_cast<int>(edges.size());
    l.edges = static_cast<int>(from.size());
    for (int f : from) edges.push_back({f, static_cast<int>(layers.size()), -1});
    layers.push_back(l);
    return layers.back();
  }
};

}  // namespace test
