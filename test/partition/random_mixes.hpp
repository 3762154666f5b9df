// Small random networks of real operators on random clusters, and all mappings of a catalogue, one by one: the oracle of the
// search for mixes, with which it shares only how sections are written as a mapping, and the evaluator.
#pragma once

#include "../parts/real_network.hpp"

#include "dice/algorithm/table.hpp"
#include "dice/cost/evaluator.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/time.hpp"
#include "dice/partition/mix.hpp"
#include "dice/partition/written_sections.hpp"
#include "dice/platform/cluster.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace test {

/// A network on a cluster of unlike hosts, each with one CPU.
class random_mixing {
 public:
  random_mixing(unsigned seed, int layers, int hosts) : net_(seed, layers) {
    std::mt19937 draw(seed + 77);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    std::vector<char> read(static_cast<std::size_t>(net_.size()));
    for (const auto& e : net_.edges) read[static_cast<std::size_t>(e.from)] = 1;
    for (std::size_t l = 0; l < read.size(); ++l)  // as onnx2hpp leaves no layer without a reader
      if (!read[l] && !net_.layers[l].is_output) net_.add(ops::output{}, {static_cast<int>(l)});
    view_ = net_.view();
    operators_ = net_.all_operators();
    for (int l = 0; l < net_.size(); ++l)
      chosen_.push_back(operators_[l].visit([&](const auto& op) {
        return algorithm::choose<algorithm::method(algorithm::backend_of(platform::unit{}))>(op, view_.operands(l),
                                                                                             net_.shape(l));
      }));
    const bool alike = below(3) == 0, handles = below(2), scarce = below(2);
    std::int64_t weights = 0;
    for (const auto& l : net_.layers) weights += l.parameter_bytes + l.output.bytes();
    for (int h = 0; h < hosts; ++h) {
      names_.push_back(std::make_unique<std::string>("h" + std::to_string(h)));
      platform::processor_info p;
      if (h > 0 && alike) p = processors_[0];
      else {
        p.unit = {.what = platform::unit::kind::threads, .count = 1 + below(2)};
        p.flops = (1 + below(8)) * 1e8;
        p.bytes_per_s = (1 + below(8)) * 1e8;
        p.idle_watts = below(3);
        p.busy_watts = p.idle_watts + 1 + below(5);
        p.has_watts = true;
        p.memory = scarce ? weights / 3 + below(static_cast<int>(weights)) : std::int64_t{1} << 30;
        if (handles) {
          p.sending = {(1 + below(9)) * 1e8, below(3) * 1e-6};
          p.receiving = {(1 + below(9)) * 1e8, below(3) * 1e-6};
        }
      }
      processors_.push_back(p);
      host_of_.push_back(h);
      hosts_.push_back({*names_.back(), "board", p.memory, platform::shared_memory, h, 1, alike ? 0 : h});
    }
    const platform::link usual{(1 + below(9)) * 1e7, (1 + below(30)) * 1e-6};
    for (int a = 0; a < hosts; ++a)
      for (int b = 0; b < hosts; ++b) links_.push_back(a == b ? platform::shared_memory : usual);
    if (hosts > 2 && below(3) == 0) links_[1] = links_[static_cast<std::size_t>(hosts)] = {2e6, 1e-4};
    for (int h = 0; h < hosts; ++h) {
      std::vector<double> all;
      for (int l = 0; l < net_.size(); ++l)
        all.push_back(cost::roofline_seconds(view_, l, processors_[static_cast<std::size_t>(h)]));
      seconds_.push_back(all);
      usable_.push_back(true);
    }
    for (const auto& s : seconds_) {
      second_spans_.push_back(s);
      choice_spans_.push_back(chosen_);
    }
    on_ = {view_, {hosts_, processors_, host_of_, links_}, second_spans_, choice_spans_, {usable_.data(), usable_.size()}};
    tables_.chosen[algorithm::backend_of(platform::unit{})] = {chosen_.data(), chosen_.size()};
    parameters_ = net_.parameters();
    rate_ =
        std::make_unique<cost::evaluator>(on_, tables_, operators_, meta::view<meta::view<graph::parameter>>(parameters_));
  }
  random_mixing(const random_mixing&) = delete;
  random_mixing& operator=(const random_mixing&) = delete;

  const cost::setting& on() const { return on_; }
  cost::problem problem() const { return cost::problem_of(on_); }
  const cost::evaluator& evaluator() const { return *rate_; }
  meta::view<graph::any_operator> operators() const { return operators_; }
  const real_network& network() const { return net_; }

 private:
  // std::vector<bool> has no spans.
  struct flags {
    void push_back(bool b) { of.push_back(b); }
    const bool* data() const { return reinterpret_cast<const bool*>(of.data()); }
    std::size_t size() const { return of.size(); }
    std::vector<char> of;
  };

  random_real_network net_;
  graph::network_view view_;
  meta::view<graph::any_operator> operators_;
  std::vector<algorithm::choice> chosen_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<platform::host_info> hosts_;
  std::vector<platform::processor_info> processors_;
  std::vector<int> host_of_;
  std::vector<platform::link> links_;
  std::vector<std::vector<double>> seconds_;
  std::vector<std::span<const double>> second_spans_;
  std::vector<std::span<const algorithm::choice>> choice_spans_;
  flags usable_;
  algorithm::tables tables_;
  std::vector<meta::view<graph::parameter>> parameters_;
  cost::setting on_;
  std::unique_ptr<cost::evaluator> rate_;
};

/// The smallest value of all mappings of a catalogue within the request's limits; infinite if there is none.
struct best_of_all {
  double value = cost::infinity;
  cost::prediction expected{};
  int mappings = 0;  ///< that are right, whether or not they keep to the limits
};
inline best_of_all best_of_catalogue(const random_mixing& on, const partition::mix_request& r,
                                     const meta::array<cost::arrangement>& all) {
  best_of_all out;
  const auto p = on.problem();
  const auto& net = on.on().net;
  const auto& aim = r.wanted.aim;
  const auto may = [&](const cost::arrangement& a, int unit) {
    for (int l = 0; l < net.size(); ++l) {
      if (p.cut_unit_of[l] != unit) continue;
      const auto& layer = net.layers[l];
      const int host = p.devices[a.devices[0]].host;
      if (layer.is_input && aim.input_at >= 0 && host != aim.input_at) return false;
      if (layer.is_output && aim.output_at >= 0 && host != aim.output_at) return false;
      if (!a.is_whole() && r.whole_only.size() > 0 && r.whole_only[l]) return false;
    }
    return true;
  };
  meta::array<cost::section> sections;
  std::function<void(int)> extend = [&](int unit) {
    if (unit == p.cut_units) {
      const auto m = partition::mapping_of(p, on.on().cluster, all, sections);
      if (m.devices.size() > aim.max_devices) return;
      for (int s = 1; aim.in_order && s < sections.size(); ++s)
        for (const int a : all[sections[s - 1].arrangement].devices)
          for (const int b : all[sections[s].arrangement].devices)
            if (a >= b) return;
      const auto found = on.evaluator().rate(m.mapping.values());
      if (!found.is_right()) return;
      ++out.mappings;
      for (int rank = 0; rank < m.devices.size(); ++rank)  // each host has one processor
        if (found.frame.ranks[rank].memory > std::min(p.devices[m.devices[rank]].memory_limit, r.wanted.memory)) return;
      const auto& e = found.frame.expected;
      if (!partition::keeps(e, aim)) return;
      if (const double v = partition::value_of(aim.best, e); v < out.value) {
        out.value = v;
        out.expected = e;
      }
      return;
    }
    for (int a = 0; a < all.size(); ++a) {
      if (!may(all[a], unit)) continue;
      const bool goes_on = unit > 0 && sections[sections.size() - 1].arrangement == a;
      if (goes_on) ++sections[sections.size() - 1].last;
      else sections.push_back({a, unit, unit + 1});
      extend(unit + 1);
      if (goes_on) --sections[sections.size() - 1].last;
      else sections.truncate(sections.size() - 1);
    }
  };
  extend(0);
  return out;
}

}  // namespace test
