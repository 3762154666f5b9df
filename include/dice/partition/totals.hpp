// What partial mappings in sections have cost so far.
#pragma once

#include "dice/cost/arrangement.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/setting.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/problem.hpp"
#include "dice/platform/board.hpp"
#include "dice/platform/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::partition {

using cost::arrangement;
using cost::flow;

namespace detail {

/// Which totals of a partial mapping matter.
struct counted {
  bool latency = false, period = false, energy = false, memory = false;
};

/// Totals of partial mappings: for each device when it is free, how long it has been busy, and its memory; for each host,
/// how long its port has been busy in each direction. Only those that count. Network is a cost::arranged_network.
template <class Network> class totals {
 public:
  constexpr totals(const Network& net, const cost::setting& on, counted what)
      : net_(net),
        p_(net.devices()),
        on_(on),
        what_(what),
        devices_(p_.devices.size()),
        hosts_(p_.hosts),
        busy_(what.latency ? devices_ : 0),
        out_(busy_ + (what.period ? devices_ : 0)),
        in_(out_ + (what.period ? hosts_ : 0)),
        held_(in_ + (what.period ? hosts_ : 0)),
        live_(held_ + (what.memory ? devices_ : 0)),
        size_(live_ + (what.memory ? devices_ : 0)),
        out_free_(hosts_),
        in_free_(hosts_),
        sent_(devices_),
        mean_(devices_),
        weight_(devices_) {}

  constexpr int size() const { return size_; }

  /// Adds what flows cost to totals `t`, before a cut unit in arrangement `sink`. `ready`, if not null, is how much earlier
  /// than it is free each device can send, in s.
  constexpr void move(double* t, const flow* flows, int count, const arrangement& sink, const double* ready) {
    if (count == 0) return;
    if (what_.latency) pass(t, flows, count, sink, ready);
    for (int i = 0; i < count && (what_.period || what_.memory); ++i) {
      const auto& f = flows[i];
      const auto& link = p_.link(f.from, f.to);
      if (what_.period) {
        const double sends = handling(f, link, true, 1), receives = handling(f, link, false, 1);
        t[busy_ + f.from] += f.frames * sends;
        t[busy_ + f.to] += f.frames * receives;
        if (!link.within_host) {
          const double passes = f.frames * (held(f, link) + link.seconds);
          t[out_ + p_.devices[f.from].host] += passes;
          t[in_ + p_.devices[f.to].host] += passes;
        }
      }
      if (what_.memory) {
        t[held_ + f.from] += static_cast<double>(p_.slots * f.bytes);
        t[held_ + f.to] += static_cast<double>(p_.slots * f.bytes);
      }
    }
  }
  /// Adds a cut unit.
  constexpr void compute(double* t, int a, int cut_unit) const {
    const auto& by = net_[a];
    const auto& c = net_.of(a);
    const int n = by.devices.size(), *devices = by.devices.data();
    const double* seconds = c.seconds.data() + cut_unit * n;
    for (int i = 0; i < n; ++i) {
      const int d = devices[i];
      if (what_.latency) t[d] += seconds[i];
      if (what_.period) t[busy_ + d] += by.has_replicas() ? by.share(i) * seconds[i] : seconds[i];
      if (what_.memory) {
        t[held_ + d] += static_cast<double>(c.weights[cut_unit * n + i]);
        t[live_ + d] = std::max(t[live_ + d], static_cast<double>(c.live[cut_unit * n + i]));
      }
    }
  }

  constexpr double latency(const double* t, const arrangement& last) const {
    double out = 0;
    for (int i = 0; what_.latency && i < last.devices.size(); ++i) out = std::max(out, t[last.devices[i]]);
    return out;
  }
  constexpr double period(const double* t) const {
    double out = 0;
    for (int i = busy_; i < held_; ++i) out = std::max(out, t[i]);
    return out;
  }
  constexpr double energy(const double* t, std::uint64_t used, double period) const {
    double out = 0;
    for (int d = 0; what_.energy && d < devices_; ++d) {
      if (!(used >> d & 1)) continue;
      const auto& about = p_.devices[d];
      const double busy = t[busy_ + d];
      out += about.busy_watts * busy + about.idle_watts * (period - busy);
    }
    return out;
  }
  constexpr double memory(const double* t) const {
    double out = 0;
    for (int d = 0; what_.memory && d < devices_; ++d) out = std::max(out, t[held_ + d] + t[live_ + d]);
    return out;
  }
  constexpr bool fits(const double* t, const arrangement& by) const {
    if (!what_.memory) return true;
    for (const int d : by.devices)
      if (t[held_ + d] + t[live_ + d] > static_cast<double>(p_.devices[d].memory_limit)) return false;
    return true;
  }
  /// The weighted mean of when devices are free (`latency`), or of how long they are busy.
  constexpr double mean(const double* t, const double* weights, bool latency) const {
    double out = 0;
    for (int d = 0, at = latency ? 0 : busy_; d < devices_; ++d) out += weights[d] * t[at + d];
    return out;
  }

 private:
  constexpr const platform::processor_info& processor(int d) const {
    return on_.cluster.processors[static_cast<std::size_t>(p_.devices[d].processor)];
  }
  constexpr double handling(const flow& f, const platform::link& by, bool sends, int messages) const {
    const auto& about = processor(sends ? f.from : f.to);
    const auto& own = sends ? about.sending : about.receiving;
    return by.within_host || own.bytes_per_s <= 0 ? 0 : own.time(f.bytes, messages);
  }
  /// Time in s that a message occupies the ports: see detail::wires of cost.
  constexpr double held(const flow& f, const platform::link& by) const {
    const double passes = by.time(f.bytes, 0), ends = std::max(handling(f, by, true, 0), handling(f, by, false, 0));
    return passes > 1.1 * ends ? passes : 0;
  }
  constexpr void pass(double* t, const flow* flows, int count, const arrangement& sink, const double* ready) {
    for (auto& x : out_free_) x = 0;
    for (auto& x : in_free_) x = 0;
    for (int d = 0; d < devices_; ++d) {
      sent_[d] = t[d] - (ready ? ready[d] : 0);
      mean_[d] = weight_[d] = 0;
    }
    arrivals_.truncate(0);
    for (int i = 0; i < count; ++i) {
      const auto& f = flows[i];
      const auto& by = p_.link(f.from, f.to);
      const double handed = handling(f, by, true, 1), now = sent_[f.from];
      sent_[f.from] += handed;
      t[f.from] += handed;
      if (by.within_host) {
        arrivals_.push_back(now + by.time(f.bytes, 1));
        continue;
      }
      double &out = out_free_[p_.devices[f.from].host], &in = in_free_[p_.devices[f.to].host];
      const double passes = by.time(f.bytes, 0), holds = held(f, by), begin = std::max(out, now);
      out = begin + holds;
      in = std::max(in, begin) + holds;
      arrivals_.push_back(std::max(begin + passes, in) + by.seconds);
    }
    for (int i = 0; i < count; ++i) {
      const auto& f = flows[i];
      const double then = std::max(t[f.to] + handling(f, p_.link(f.from, f.to), false, 1), arrivals_[i]);
      double some = f.frames;  // from one of several replicas
      if (sink.has_replicas())
        for (int j = 0; j < sink.devices.size(); ++j)
          if (sink.devices[j] == f.to) some /= sink.share(j);
      if (some > 1 - 1e-9) {
        t[f.to] = then;
      } else {
        mean_[f.to] += some * then;
        weight_[f.to] += some;
      }
    }
    for (int d = 0; d < devices_; ++d)
      if (weight_[d] > 0) t[d] = mean_[d] + (1 - weight_[d]) * t[d];
  }

  const Network& net_;
  const problem& p_;
  const cost::setting& on_;
  const counted what_;
  const int devices_, hosts_;
  const int busy_, out_, in_, held_, live_, size_;  ///< where each total begins; when devices are free: at 0
  meta::array<double> out_free_, in_free_, sent_, mean_, weight_, arrivals_;
};

}  // namespace detail
}  // namespace dice::partition
