#pragma once

#include "dice/runtime/program.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dice::runtime {

/// Tells programs apart whose ranks cannot work together: FNV-1a over the layers' shapes and the plan, 16 hexadecimal
/// digits. The kernels' packed forms are left out: ranks on different boards may differ in them.
inline std::string plan_digest(const program& p) {
  std::uint64_t h = 14695981039346656037u;
  const auto add = [&](std::int64_t v) {
    for (int i = 0; i < 8; ++i) h = (h ^ (static_cast<std::uint64_t>(v) >> (8 * i) & 255)) * 1099511628211u;
  };
  const auto add_text = [&](std::string_view s) {
    add(static_cast<std::int64_t>(s.size()));
    for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  add_text(p.network);
  for (const auto& l : p.layers.layers) {
    add_text(l.op);
    add(l.output.rank);
    for (auto d : l.output.dim) add(d);
  }
  for (const auto& e : p.layers.edges) add(e.from), add(e.to);
  add(p.plan.in_flight);
  for (int rank : p.plan.owner) add(rank);
  for (const auto& m : p.plan.messages) {
    add(m.from), add(m.to), add(m.tag), add(m.layer), add(m.bytes);
    add(static_cast<std::int64_t>(m.at_sender.layout));
    for (int a = 0; a < dice::tensor::region::axes; ++a) add(m.part.begin[a]), add(m.part.end[a]);
  }
  for (const auto& r : p.plan.ranks) add(r.slots), add(r.last_segment - r.first_segment);
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[h >> shift & 15];
  return out;
}

}  // namespace dice::runtime
