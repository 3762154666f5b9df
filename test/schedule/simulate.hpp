// Runs a plan on symbols: every element of every arena holds the name of its value, and each step checks that it reads the
// values that the network needs, in layouts that it supports. Ranks advance in random order under the executor's rules.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace test {

/// The value of one element: element `index` of what layer `layer` computes for frame `frame`.
struct symbol {
  int frame = -1;
  std::int64_t layer = -1, index = -1;
  friend bool operator==(const symbol&, const symbol&) = default;
};

inline dice::tensor::layout other(dice::tensor::layout l) {
  return l == dice::tensor::layout::plain ? dice::tensor::layout::blocked : dice::tensor::layout::plain;
}

class simulation {
 public:
  simulation(const dice::graph::network_view& net, const dice::schedule::plan_view& plan,
             std::span<const dice::algorithm::choice> algorithms, int frames, unsigned seed,
             dice::meta::view<dice::parts::part> parts = {}, const dice::graph::network_view& whole = {})
      : net_(net), plan_(plan), algorithms_(algorithms), parts_(parts), whole_(whole), frames_(frames), draw_(seed) {
    for (const auto& r : plan.ranks) {
      memory_.emplace_back(static_cast<std::size_t>(r.arena_bytes));
      done_.emplace_back(r.last_segment - r.first_segment, 0);
    }
    arrived_.resize(plan.messages.size());
    for (const auto& r : plan.replicas)
      for (int f = 0; f < frames; ++f)
        turn_of_.push_back(r.decides < 0 ? dice::parts::member_of(r, plan.members.data(), f)
                                         : static_cast<int>(draw_() % static_cast<unsigned>(r.members)));
  }

  /// Empty if all frames are done and every value was right; else what went wrong.
  std::string run() {
    std::vector<int> order(plan_.ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    for (bool moved = true; moved && trouble_.empty();) {
      moved = false;
      std::shuffle(order.begin(), order.end(), draw_);
      moved = deliver(false);
      for (int r : order) moved = advance(r) || moved;
      if (!moved) moved = deliver(true);
    }
    if (!trouble_.empty()) return trouble_;
    for (const auto& segments : done_)
      for (int d : segments)
        if (d != frames_) return "deadlock";
    std::size_t outputs = 0;
    for (const auto& l : net_.layers) outputs += l.is_output;
    return left_.size() == outputs ? "" : "an output never left";
  }

 private:
  static std::size_t z(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// What element i of layer l's output means, seen through views and joins: of the whole network, in a network of parts.
  symbol meaning(int l, std::int64_t i, int frame) const {
    if (parts_.empty()) return seen(net_, l, i, frame);
    const auto& part = parts_[z(l)];
    const auto& shape = net_.layers[z(l)].output;
    std::int64_t index = 0, pitch = 1, rest = i;
    for (int a = shape.rank - 1; a >= 0; --a) {
      const auto first = a < dice::tensor::region::axes ? part.box.begin[a] : 0;
      index += (first + rest % shape[a]) * pitch;
      rest /= shape[a];
      pitch *= part.of[a];
    }
    // Partial sums are values of their own.
    if (part.to > 0) return {frame, part.layer + 1'000'000 * part.to, index};
    return seen(whole_, part.layer, index, frame);
  }
  static symbol seen(const dice::graph::network_view& net, int l, std::int64_t i, int frame) {
    const auto& layer = net.layers[z(l)];
    const auto in = net.into(l);
    if (layer.view >= 0) return seen(net, in[0].from, layer.view + i, frame);
    if (layer.op == "Concat" && in[0].joins >= 0)
      for (const auto& e : in)
        if (i >= e.joins && i < e.joins + net.layers[z(e.from)].output.elements())
          return seen(net, e.from, i - e.joins, frame);
    // Rows put together, which may be computed in place.
    const auto& s = layer.output;
    std::int64_t rows = 0;
    bool joins_rows = layer.op == "Concat" && in.size() > 1 && s.rank == 4;
    for (const auto& e : in) {
      const auto& part = net.layers[z(e.from)].output;
      joins_rows = joins_rows && part[0] == s[0] && part[1] == s[1] && part[3] == s[3];
      rows += part[2];
    }
    if (joins_rows && rows == s[2]) {
      const auto plane = i / (s[2] * s[3]), row = i / s[3] % s[2];
      std::int64_t first = 0;
      for (const auto& e : in) {
        const auto n = net.layers[z(e.from)].output[2];
        if (row < first + n) return seen(net, e.from, (plane * n + row - first) * s[3] + i % s[3], frame);
        first += n;
      }
    }
    return {frame, l, i};
  }

  const dice::tensor::shape& shape_of(int l) const { return net_.layers[z(l)].output; }

  /// Where element i of a tensor of shape `s` lies at place `p`.
  static std::int64_t stored(std::int64_t i, const dice::tensor::shape& s, const dice::schedule::place& p) {
    const bool plain = p.layout == dice::tensor::layout::plain;
    if (plain && !p.pitch) return i;
    const auto pixels = s.product(2, s.rank), channel = i / pixels % s[1], image = i / pixels / s[1];
    const auto plane = p.pitch ? p.pitch : pixels * (plain ? 1 : 16);
    if (plain) return (image * s[1] + channel) * plane + i % pixels;
    return (image * ((s[1] + 15) / 16) + channel / 16) * plane + i % pixels * 16 + channel % 16;
  }
  symbol& cell(int rank, dice::schedule::place p, int frame, std::int64_t i) {
    const auto& r = plan_.ranks[z(rank)];
    const auto base = p.where == dice::schedule::space::frame ? frame % r.slots * r.frame_bytes : r.slots * r.frame_bytes;
    return memory_[z(rank)].at(z(base + p.offset + i * dice::tensor::size_of(p.element)));
  }

  /// Whether element i of a tensor of shape `s` is in a region of it.
  static bool within(const dice::tensor::region& part, std::int64_t i, const dice::tensor::shape& s) {
    for (int a = s.rank - 1; a >= 0; i /= s[a], --a)
      if (a < part.axes && (i % s[a] < part.begin[a] || i % s[a] >= part.end[a])) return false;
    return true;
  }

  void check(int rank, dice::schedule::place p, int frame, int layer, const char* what) {
    check(rank, p, frame, layer, what, dice::tensor::whole(shape_of(layer)));
  }
  void check(int rank, dice::schedule::place p, int frame, int layer, const char* what, const dice::tensor::region& part) {
    const auto& shape = shape_of(layer);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      if (!within(part, i, shape)) continue;
      const auto& held = cell(rank, p, frame, stored(i, shape, p));
      if (held == meaning(layer, i, frame) || !trouble_.empty()) continue;
      std::ostringstream s;
      s << what << " of layer " << layer << " on rank " << rank << " in frame " << frame << ": element " << i << " holds "
        << held.layer << '[' << held.index << "] of frame " << held.frame;
      trouble_ = s.str();
    }
  }
  void write(int rank, dice::schedule::place p, int frame, int layer) {
    write(rank, p, frame, layer, dice::tensor::whole(shape_of(layer)));
  }
  /// Writes lanes beyond the channels, too.
  void write(int rank, dice::schedule::place p, int frame, int layer, const dice::tensor::region& part) {
    const auto& shape = shape_of(layer);
    if (part == dice::tensor::whole(shape) && p.layout == dice::tensor::layout::blocked) {
      const auto pixels = shape.product(2, shape.rank), plane = pixels * 16;
      for (std::int64_t i = 0; i < dice::tensor::elements(shape, p.layout); ++i)
        cell(rank, p, frame, i / plane * (p.pitch ? p.pitch : plane) + i % plane) = {};
    }
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      if (within(part, i, shape)) cell(rank, p, frame, stored(i, shape, p)) = meaning(layer, i, frame);
  }
  /// Which region of operand l the kernel of layer `anchor` reads: of a cut, what it cuts out.
  dice::tensor::region read_region(int anchor, int l) const {
    if (parts_.empty() || parts_[z(anchor)].what != dice::parts::part::kind::cut) return dice::tensor::whole(shape_of(l));
    auto box = parts_[z(anchor)].box;
    for (int a = 0; a < box.axes; ++a) {
      box.begin[a] -= parts_[z(l)].box.begin[a];
      box.end[a] -= parts_[z(l)].box.begin[a];
    }
    return box;
  }
  void require(bool holds, const char* otherwise) {
    if (!holds && trouble_.empty()) trouble_ = otherwise;
  }

  /// Whether frame f is one of those.
  bool includes(const dice::parts::turn& t, int f) const {
    return t.always() || turn_of_[z(t.set * frames_ + f)] == t.member;
  }
  bool carries(int message, int f) const {
    const auto& m = plan_.messages[z(message)];
    return includes(m.made, f) && includes(m.read, f);
  }

  bool advance(int rank) {
    const auto& r = plan_.ranks[z(rank)];
    auto& done = done_[z(rank)];
    for (int g = r.last_segment - 1; g >= r.first_segment; --g) {  // the oldest frame first
      const auto& segment = plan_.segments[z(g)];
      const int f = done[z(g - r.first_segment)];
      if (f == frames_ || (g > r.first_segment && done[z(g - r.first_segment - 1)] <= f)) continue;
      if (g == r.first_segment && !slot_free(rank, f)) continue;
      bool ready = true;
      if (!includes(segment.when, f)) {
        ++done[z(g - r.first_segment)];
        return true;
      }
      for (int s = segment.first_step; s < segment.last_step; ++s) {
        const auto& step = plan_.steps[z(s)];
        if (step.what == dice::schedule::action::receive)
          ready = ready && (!carries(step.message, f) || arrived_[z(step.message)].count(f));
        if (step.what == dice::schedule::action::enter) ready = ready && f - completed() < plan_.in_flight;
      }
      if (!ready) continue;
      for (int s = segment.first_step; s < segment.last_step; ++s) execute(rank, f, plan_.steps[z(s)]);
      ++done[z(g - r.first_segment)];
      return true;
    }
    return false;
  }

  int completed() const {
    int least = frames_;
    for (std::size_t l = 0; l < net_.layers.size(); ++l)
      if (net_.layers[l].is_output) {
        const auto it = left_.find(static_cast<int>(l));
        least = std::min(least, it == left_.end() ? 0 : it->second);
      }
    return least;
  }

  void execute(int rank, int frame, const dice::schedule::step& step) {
    using dice::schedule::action;
    switch (step.what) {
      case action::receive: {
        // It may have arrived at any time since the frame's slot was free; nothing may have overwritten it since then.
        const auto& m = plan_.messages[z(step.message)];
        if (carries(step.message, frame)) check(rank, m.at_receiver, frame, m.layer, "received data");
        break;
      }
      case action::enter:
        require(step.output.layout == dice::tensor::layout::plain, "an input enters blocked");
        write(rank, step.output, frame, step.layer);
        break;
      case action::leave:
        require(step.output.layout == dice::tensor::layout::plain, "a result leaves blocked");
        check(rank, step.output, frame, step.layer, "result");
        if (left_[step.layer]++ != frame && trouble_.empty()) trouble_ = "results out of order";
        break;
      case action::send: {
        const auto& m = plan_.messages[z(step.message)];
        if (!carries(step.message, frame)) break;
        require(m.at_sender.layout == m.at_receiver.layout, "the ends of a message disagree in layout");
        require(m.bytes == dice::tensor::bytes(shape_of(m.layer), m.at_sender.stored()), "a message has another size");
        check(rank, m.at_sender, frame, m.layer, "message");
        pending_.push_back({step.message, frame});
        break;
      }
      case action::convert: {
        const auto& from = plan_.operands[z(step.first_operand)];
        require(step.operands == 1 && from.layout != step.output.layout, "a conversion that changes nothing");
        check(rank, from, frame, step.layer, "tensor to convert");
        write(rank, step.output, frame, step.layer);
        check(rank, from, frame, step.layer, "tensor being converted");
        break;
      }
      case action::compute: {
        const auto& g = plan_.groups[z(step.group)];
        std::vector<int> reads;
        for (const auto& e : net_.into(g.anchor)) reads.push_back(e.from);
        if (g.residual >= 0) reads.push_back(net_.into(g.residual)[z(g.residual_operand)].from);
        require(static_cast<int>(reads.size()) == step.operands, "operands do not fit the group");
        const auto place_of = [&](std::size_t k) { return plan_.operands[z(step.first_operand) + k]; };
        const auto& how = algorithms_[z(g.anchor)];
        const auto working = (how.scratch_bytes + 63) / 64 * 64;
        const auto held = [&](int layer, dice::schedule::place p, dice::tensor::layout as) {
          const auto& shape = shape_of(layer);
          require(p.layout == dice::tensor::layout::plain || dice::tensor::has_blocks(shape), "no such layout");
          require(!dice::algorithm::must_convert(shape, p.layout, as), "a kernel cannot read what it is given");
        };
        for (std::size_t k = 0; k < reads.size(); ++k)
          held(reads[k], place_of(k),
               k < net_.into(g.anchor).size() ? how.reads(step.output.layout) : how.writes(step.output.layout));
        held(step.layer, step.output, how.writes(step.output.layout));
        // A kernel may write its working memory at any time, and elements of its result before it has read all operands;
        // only an operator that works in place may have its result where it reads.
        const auto work = [&] {
          for (std::int64_t i = 0; i < working / 4; ++i) cell(rank, step.scratch, frame, i) = {};
        };
        work();
        for (std::size_t k = 0; k < reads.size(); ++k) {
          const auto p = place_of(k);
          const bool residual = k >= net_.into(g.anchor).size();
          require(!p.pitch || (residual ? how.adds_pitched(shape_of(reads[k]), p.layout, step.output.layout)
                                        : how.reads_pitched(shape_of(reads[k]), p.layout, step.output.layout)),
                  "a kernel cannot read a band of rows");
          check(rank, p, frame, reads[k], "operand", read_region(g.anchor, reads[k]));
        }
        require(!step.output.pitch || how.writes_pitched(shape_of(step.layer), step.output.layout),
                "a kernel cannot write a band of rows");
        write(rank, step.output, frame, step.layer, step.part);
        for (std::size_t k = 0; k < reads.size(); ++k)
          if (!(net_.layers[z(g.anchor)].in_place && place_of(k) == step.output))
            check(rank, place_of(k), frame, reads[k], "operand, while the result is written,",
                  read_region(g.anchor, reads[k]));
        work();
        check(rank, step.output, frame, step.layer, "result of a step", step.part);
        require(plan_.owner[z(step.layer)] == rank, "a layer runs on a rank that is not its own");
        break;
      }
    }
  }

  /// Whether the slot's previous frame is done: its last segment has run and all its messages have been taken over.
  bool slot_free(int rank, int f) const {
    const auto slots = plan_.ranks[z(rank)].slots;
    if (f < slots) return true;
    for (const auto& p : pending_)
      if (plan_.messages[z(p.message)].from == rank && p.frame <= f - slots) return false;
    return done_[z(rank)].back() > f - slots;
  }

  /// Takes over messages into free slots of their receivers, each at some time after its sending (`all`: now). The sender's
  /// memory must still hold the data then, and the receiver's may be written as soon as its slot is free.
  bool deliver(bool all) {
    bool any = false;
    for (std::size_t i = 0; i < pending_.size();) {
      const auto [message, frame] = pending_[i];
      const auto& m = plan_.messages[z(message)];
      if ((all || draw_() % 3 == 0) && slot_free(m.to, frame)) {
        check(m.from, m.at_sender, frame, m.layer, "message on its way");
        write(m.to, m.at_receiver, frame, m.layer);
        arrived_[z(message)].insert(frame);
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
        any = true;
      } else {
        ++i;
      }
    }
    return any;
  }

  struct parcel {
    int message, frame;
  };
  dice::graph::network_view net_;
  dice::schedule::plan_view plan_;
  std::span<const dice::algorithm::choice> algorithms_;  // of each layer as the anchor of a group
  dice::meta::view<dice::parts::part> parts_;
  dice::graph::network_view whole_;
  int frames_;
  std::mt19937 draw_;
  std::vector<std::vector<symbol>> memory_;
  std::vector<std::vector<int>> done_;  // frames completed by each segment of each rank
  std::vector<std::set<int>> arrived_;  // frames of each message that have arrived
  std::vector<parcel> pending_;
  std::vector<int> turn_of_;  // the member of each set of replicas whose turn each frame is
  std::map<int, int> left_;   // frames that left, by output
  std::string trouble_;
};

}  // namespace test
