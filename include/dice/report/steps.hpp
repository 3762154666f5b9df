// What --plan=steps prints: every rank's program for one frame, step by step, and where its tensors lie.
#pragma once

#include "dice/report/names.hpp"
#include "dice/report/plan.hpp"
#include "dice/runtime/program.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dice::report {

namespace detail {

/// "frame+2048", "scratch+0 blocked"; without "blocked" it is plain.
inline std::string address_text(const schedule::place& at) {
  return (at.where == schedule::space::frame ? "frame+" : "scratch+") + std::to_string(at.offset) +
         (at.layout == tensor::layout::blocked ? " blocked" : "");
}

/// "rank 2, tag 1, 2048 B": the other end of a message.
inline std::string message_text(const schedule::message& m, int other) {
  return "rank " + std::to_string(other) + ", tag " + std::to_string(m.tag) + ", " + text::bytes_text(m.bytes);
}

/// What the kernel of a fusion group does.
inline const char* action_text(const runtime::program& p, int anchor) {
  using kind = parts::part::kind;
  if (p.is_own(anchor)) return "compute";
  const auto what = p.parts[anchor].what;
  return what == kind::cut ? "cut" : what == kind::copy ? "copy" : what == kind::join ? "join" : "sum";
}

/// ": rows 0-3" if a step computes only these of its part of a layer, "" if it computes all.
inline std::string region_text(const runtime::program& p, const schedule::step& s) {
  const auto& all = p.layers.layers[s.layer].output;
  std::string out;
  for (const int a : {2, 3})
    if (a < all.rank && s.part.end[a] - s.part.begin[a] < all[a]) {
      const auto first = p.parts[s.layer].box.begin[a];
      out += std::string(out.empty() ? ": " : ", ") + (a == 2 ? "rows " : "columns ") +
             std::to_string(first + s.part.begin[a]) + "-" + std::to_string(first + s.part.end[a] - 1);
    }
  return out;
}

/// What a step does, to which layers, from where, to where.
[[gnu::cold]] inline std::vector<std::string> step_cells(const runtime::program& p, const schedule::step& s) {
  const auto name = [&](int l) { return layer_name(p, l); };
  using enum schedule::action;
  switch (s.what) {
    case receive: {
      const auto& m = p.plan.messages[s.message];
      return {"receive", name(s.layer), message_text(m, m.from) + frames_after(frames_text(p, m)),
              address_text(m.at_receiver)};
    }
    case enter:
      return {"enter", name(s.layer), "source", address_text(s.output)};
    case leave:
      return {"leave", name(s.layer), address_text(s.output), "sink"};
    case send: {
      const auto& m = p.plan.messages[s.message];
      return {"send", name(s.layer), address_text(m.at_sender), message_text(m, m.to) + frames_after(frames_text(p, m))};
    }
    case convert:
      return {"convert", name(s.layer), address_text(p.plan.operands[s.first_operand]), address_text(s.output)};
    case compute:
      break;
  }
  const auto& g = p.plan.groups[s.group];
  std::string layers, reads;
  for (int l : g.layers())
    if (l >= 0) layers += (layers.empty() ? "" : " + ") + name(l);
  layers += region_text(p, s);
  if (!p.parts.empty()) layers += frames_after(frames_text(p, p.parts[g.anchor].when));
  std::vector<int> operands;  // in the order of the step's places
  for (const auto& e : p.layers.into(g.anchor)) operands.push_back(e.from);
  if (g.residual >= 0) operands.push_back(p.layers.into(g.residual)[g.residual_operand].from);
  for (int i = 0; i < s.operands; ++i)
    reads += (i ? ", " : "") + name(operands[i]) + " at " + address_text(p.plan.operands[s.first_operand + i]);
  return {action_text(p, g.anchor), layers, reads, address_text(s.output)};
}

}  // namespace detail

/// For each rank its segments' steps, numbered from 1, and its buffers with the steps during which they hold a value. Places
/// are byte offsets in the frame's block or the scratch block.
[[gnu::cold]] inline std::string plan_steps(const runtime::program& p) {
  std::string out;
  for (const auto& r : p.plan.ranks) {
    out += (r.rank ? "\nrank " : "rank ") + std::to_string(r.rank) + ": arena " + text::bytes_text(r.arena_bytes) + " = " +
           std::to_string(r.slots) + (r.slots == 1 ? " frame × " : " frames × ") + text::bytes_text(r.frame_bytes) +
           " + scratch " + text::bytes_text(r.scratch_bytes) + "\n";
    std::vector<std::vector<std::string>> lines{{"  segment", "step", "action", "layers", "from", "to"}};
    for (int g = r.first_segment; g < r.last_segment; ++g) {
      const auto& segment = p.plan.segments[g];
      for (int s = segment.first_step; s < segment.last_step; ++s) {
        auto line = detail::step_cells(p, p.plan.steps[s]);
        const bool first = s == segment.first_step;
        line.insert(line.begin(),
                    {first ? "  " + std::to_string(g - r.first_segment + 1) : "", std::to_string(s - r.first_step + 1)});
        lines.push_back(line);
      }
    }
    out += text::table_text(lines, lines[0].size());
    if (r.first_buffer == r.last_buffer) continue;
    lines = {{"  buffer", "place", "size", "steps"}};
    for (int b = r.first_buffer; b < r.last_buffer; ++b) {
      const auto& buffer = p.plan.buffers[b];
      const auto first = std::to_string(buffer.first_step - r.first_step + 1),
                 last = std::to_string(buffer.last_step - r.first_step + 1);
      lines.push_back({"  " + (buffer.layer < 0 ? std::string("(kernel's memory)") : layer_name(p, buffer.layer) + (buffer.is_copy ? " (copy)" : "")),
                       detail::address_text(buffer.at), text::bytes_text(buffer.bytes),
                       first == last ? first : first + " … " + last});
    }
    out += "\n" + text::table_text(lines, lines[0].size());
  }
  return out;
}

}  // namespace dice::report
