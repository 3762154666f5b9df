#pragma once

#include "dice/runtime/program.hpp"
#include "dice/weights/packed.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dice::runtime {

/// FNV-1a over numbers and texts.
class fingerprint {
 public:
  void add(std::int64_t v) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<std::uint64_t>(v) >> (8 * i) & 255);
  }
  void add(std::string_view s) {
    add(static_cast<std::int64_t>(s.size()));
    for (char c : s) add_byte(static_cast<unsigned char>(c));
  }
  /// 16 hexadecimal digits.
  std::string text() const {
    std::string out;
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[hash_ >> shift & 15];
    return out;
  }

 private:
  void add_byte(std::uint64_t b) { hash_ = (hash_ ^ b) * 1099511628211u; }
  std::uint64_t hash_ = 14695981039346656037u;
};

/// Distinguishes programs whose ranks cannot work together: FNV-1a over the layers' shapes and the plan, 16 hexadecimal
/// digits. Leaves out the kernels' packed forms, which may differ between boards.
inline std::string plan_digest(const program& p) {
  fingerprint f;
  const auto add = [&](auto v) { f.add(v); };
  add(p.network);
  for (const auto& l : p.layers.layers) {
    add(l.op);
    add(l.output.rank);
    for (auto d : l.output.dim) add(d);
    add(static_cast<std::int64_t>(l.number));
  }
  for (const auto& e : p.layers.edges) {
    add(e.from);
    add(e.to);
  }
  add(p.plan.in_flight);
  for (int rank : p.plan.owner) add(rank);
  for (const auto& m : p.plan.messages) {
    add(m.from);
    add(m.to);
    add(m.tag);
    add(m.layer);
    add(m.bytes);
    add(static_cast<std::int64_t>(m.at_sender.layout));
  }
  for (const auto& r : p.plan.ranks) {
    add(r.slots);
    add(r.last_segment - r.first_segment);
  }
  for (const auto& set : p.plan.replicas) {
    add(set.first);
    add(set.members);
    add(set.decides);
  }
  for (const auto& m : p.plan.members) {
    add(m.rank);
    add(m.share);
  }
  return f.text();
}

/// The identity that a file of packed weights must state to fit this program, on boards of any kind: how kernels pack does
/// not depend on the instruction set. Other trainings have the same identity.
[[gnu::cold]] inline weights::identity packed_identity(const program& p) {
  fingerprint f;
  f.add(plan_digest(p));
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    f.add(p.plan.groups[g].anchor);
    f.add(p.plan.groups[g].rank);
    f.add(p.algorithm(g).variant);
    f.add(p.algorithm(g).packed_bytes);
    for (const auto& q : p.parameters[g]) {
      f.add(q.offset);
      f.add(q.extents.rank);
      for (auto d : q.extents.dim) f.add(d);
    }
  }
  return {{{"dice", std::string(p.version)},
           {"form", std::to_string(algorithm::packed_form)},
           {"structure", std::string(p.weights.structure)},
           {"plan", f.text()}},
          std::string(p.weights.pinned)};
}

}  // namespace dice::runtime
