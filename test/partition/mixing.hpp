// A network of real operators on a cluster as the searches see it, both as values.
#pragma once

#include "../parts/real_network.hpp"

#include "dice/algorithm/table.hpp"
#include "dice/cost/evaluator.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/time.hpp"
#include "dice/parts/algorithms.hpp"
#include "dice/platform/cluster.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A network on hosts h0, h1, … with one CPU or GPU each.
class mixing {
 public:
  mixing(real_network net, const std::vector<platform::processor_info>& processors, platform::link usual, bool alike)
      : mixing(std::move(net)) {
    on_hosts(processors, usual, alike);
  }
  mixing(const mixing&) = delete;
  mixing& operator=(const mixing&) = delete;

  const cost::setting& on() const { return on_; }
  cost::problem problem() const { return cost::problem_of(on_); }
  const cost::evaluator& evaluator() const { return *rate_; }
  meta::view<graph::any_operator> operators() const { return operators_; }
  const real_network& net() const { return net_; }

 protected:
  explicit mixing(real_network net) : net_(std::move(net)), view_(net_.view()), operators_(net_.all_operators()) {
    for (const auto by : {cpu, gpu})
      for (int l = 0; l < net_.size(); ++l)
        for (const bool direct : {false, true})
          (direct ? direct_ : chosen_)[by].push_back(
              parts::choice_of(by, operators_[l], view_.operands(l), net_.shape(l), direct && by == cpu ? 0 : -1));
  }

  void on_hosts(const std::vector<platform::processor_info>& processors, platform::link usual, bool alike) {
    const auto hosts = processors.size();
    processors_ = processors;
    for (std::size_t h = 0; h < hosts; ++h) {
      const auto id = static_cast<int>(h);
      names_.push_back(std::make_unique<std::string>("h" + std::to_string(h)));
      host_of_.push_back(id);
      hosts_.push_back({*names_.back(), "board", processors[h].memory, platform::shared_memory, id, 1, alike ? 0 : id});
      for (std::size_t other = 0; other < hosts; ++other) links_.push_back(other == h ? platform::shared_memory : usual);
      seconds_.emplace_back();
      for (int l = 0; l < net_.size(); ++l) seconds_.back().push_back(cost::roofline_seconds(view_, l, processors[h]));
    }
    usable_ = std::make_unique<bool[]>(hosts);
    for (std::size_t h = 0; h < hosts; ++h) {
      usable_[h] = true;
      second_spans_.push_back(seconds_[h]);
      choice_spans_.push_back(chosen_[algorithm::backend_of(processors[h].unit)]);
    }
    on_ = {view_, {hosts_, processors_, host_of_, links_}, second_spans_, choice_spans_, {usable_.get(), hosts}};
    for (const auto by : {cpu, gpu}) {
      tables_.chosen[by] = chosen_[by];
      tables_.direct[by] = direct_[by];
    }
    parameters_ = net_.parameters();
    rate_ =
        std::make_unique<cost::evaluator>(on_, tables_, operators_, meta::view<meta::view<graph::parameter>>(parameters_));
  }
  /// The link from host a to host b.
  platform::link& link_between(std::size_t a, std::size_t b) { return links_[a * hosts_.size() + b]; }

 private:
  static constexpr auto cpu = algorithm::backend_of({}), gpu = algorithm::backend_of({.what = platform::unit::kind::gpu});

  real_network net_;
  graph::network_view view_;
  meta::view<graph::any_operator> operators_;
  algorithm::by_backend<std::vector<algorithm::choice>> chosen_, direct_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<platform::host_info> hosts_;
  std::vector<platform::processor_info> processors_;
  std::vector<int> host_of_;
  std::vector<platform::link> links_;
  std::vector<std::vector<double>> seconds_;
  std::vector<std::span<const double>> second_spans_;
  std::vector<std::span<const algorithm::choice>> choice_spans_;
  std::unique_ptr<bool[]> usable_;
  algorithm::tables tables_;
  std::vector<meta::view<graph::parameter>> parameters_;
  cost::setting on_;
  std::unique_ptr<cost::evaluator> rate_;
};

}  // namespace test
