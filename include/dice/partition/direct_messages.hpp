// Stages as their plans have them: a tensor goes straight to each stage that reads it.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/problem.hpp"
#include "dice/schedule/carried.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::partition {

/// Predicts stages by the messages of their plans. The searches count a tensor as relayed by the stages between, over their
/// connections (cost::predict); where these differ, that may be much faster or slower. Refers to `s`.
class direct_messages {
 public:
  constexpr direct_messages(const cost::setting& s, const problem& p)
      : s_(s), first_(p.cut_units + 1), layers_(p.cut_unit_of.size()) {
    for (const int k : p.cut_unit_of) ++first_[k + 1];
    for (int k = 0; k < p.cut_units; ++k) first_[k + 1] += first_[k];
    meta::array<int> next(first_);
    for (int l = 0; l < p.cut_unit_of.size(); ++l) layers_[next[p.cut_unit_of[l]]++] = l;
    for (const auto& e : s.net.edges) any_ = any_ || p.cut_unit_of[e.to] > p.cut_unit_of[e.from] + 1;
  }

  /// Whether a tensor may be read behind the stage that follows its own.
  constexpr bool any() const { return any_; }

  /// Like cost::predict, but for these messages; one frame passes the cut units in their order. The plan's own figures can
  /// differ a little, since its ranks may compute in another order.
  constexpr prediction figures(const problem& p, const meta::array<stage>& stages) const {
    const auto& net = s_.net;
    const int width = p.devices.size();
    meta::array<int> device_of(net.size());
    for (const auto& st : stages)
      for (int i = first_[st.first]; i < first_[st.last]; ++i) device_of[layers_[i]] = st.device;
    const auto read = readers(device_of, width);
    prediction out;
    cost::detail::wires wires(p.hosts);
    wires.begin_frame();
    meta::array<double> clock(width), busy(width), arrival(net.size() * width);
    for (const auto& st : stages) {
      const int d = st.device;
      for (int k = st.first; k < st.last; ++k) {
        for (int i = first_[k]; i < first_[k + 1]; ++i)
          for (const auto& e : net.into(layers_[i])) {
            const int at = e.from * width + d;
            if (read[at] == none) continue;
            const int m = read[at] >= 0 ? read[at] : e.from;  // the tensor that brings it
            double& came = arrival[m * width + d];
            if (came < 0) continue;
            const double t = handling(p, m, device_of[m], d, false, 1);
            busy[d] += t;
            clock[d] = std::max(clock[d] + t, came);
            came = -1;
          }
        const double t = p.time(d, k, k + 1);
        clock[d] += t;
        busy[d] += t;
        for (int i = first_[k]; i < first_[k + 1]; ++i) {
          const int l = layers_[i];
          if (net.layers[l].is_output) out.latency = std::max(out.latency, clock[d]);
          for (int to = 0; to < width; ++to) {
            if (read[l * width + to] != itself) continue;
            const auto& by = p.link(d, to);
            arrival[l * width + to] =
                wires.arrival(by, p.devices[d].host, p.devices[to].host, net.layers[l].output.bytes(), clock[d],
                              std::max(handling(p, l, d, to, true, 0), handling(p, l, d, to, false, 0)));
            const double own = handling(p, l, d, to, true, 1);
            clock[d] += own;
            busy[d] += own;
          }
        }
      }
    }
    out.period = wires.busiest();
    cost::count_devices(out, p, stages, busy);
    return out;
  }

 private:
  static constexpr int none = -2, itself = -1;

  /// By tensor and device: `itself` if the device gets it in a message, the Concat in whose message it gets it, or `none`.
  constexpr meta::array<int> readers(const meta::array<int>& device_of, int width) const {
    const auto& net = s_.net;
    meta::array<int> out(net.size() * width, none);
    for (const auto& e : net.edges)
      if (device_of[e.from] != device_of[e.to]) out[e.from * width + device_of[e.to]] = itself;
    for (int c = 0; c < net.size(); ++c)
      schedule::each_joined(net, c, [&](int t, std::int64_t) {
        for (int d = 0; d < width; ++d)
          if (out[c * width + d] == itself && out[t * width + d] == itself) out[t * width + d] = c;
      });
    return out;
  }
  /// Time in s that the bytes of tensor t, and `messages` messages, take from the device that sends or receives it.
  constexpr double handling(const problem& p, int t, int from, int to, bool sends, int messages) const {
    const auto& about = s_.cluster.processors[p.devices[sends ? from : to].processor];
    const auto& own = sends ? about.sending : about.receiving;
    return p.link(from, to).within_host || own.bytes_per_s <= 0 ? 0 : own.time(s_.net.layers[t].output.bytes(), messages);
  }

  const cost::setting& s_;
  meta::array<int> first_, layers_;  ///< by cut unit, and the end: the first of its layers below
  bool any_ = false;
};

}  // namespace dice::partition
