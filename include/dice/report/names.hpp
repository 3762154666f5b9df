// How reports name units, layers and groups of layers.
#pragma once

#include "dice/placement/text/write.hpp"
#include "dice/runtime/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace dice::report {

/// "cpu", "cores<0, 1>", "threads<4>", "gpu", "gpu_at<1>", "gpu, precision<fp16>", "cpu, direct_convolutions".
inline std::string unit_text(const runtime::program& p, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const auto u = r < p.units.size() ? p.units[r] : platform::unit{};
  const auto in = placement::precision_text(u.precision);
  return placement::unit_text(u, r < p.cores.size() ? p.cores[r] : std::span<const int>(), "") +
         (in.empty() ? "" : ", precision<" + std::string(in) + ">") + (u.direct ? ", direct_convolutions" : "");
}

/// "rows 0-3, columns 4-7": what layer `l` of the plan is of the network's layer; empty: all of it. A partial sum also has
/// the input channels that it sums.
[[gnu::cold]] inline std::string part_text(const runtime::program& p, int l) {
  if (p.parts.empty()) return {};
  const auto& part = p.parts[l];
  const auto& whole = part.of;
  std::string out;
  const auto add = [&](const char* one, const char* several, std::int64_t begin, std::int64_t end, std::int64_t all) {
    if (begin == 0 && end == all) return;
    out += (out.empty() ? "" : ", ") + std::string(end - begin == 1 ? one : several) + " " + std::to_string(begin);
    if (end - begin > 1) out += "-" + std::to_string(end - 1);
  };
  const bool flat = whole.rank < 4;
  for (int a = 1; a < whole.rank && a < tensor::region::axes; ++a)
    add(a == 1            ? "channel"
        : a == 2 && !flat ? "row"
                          : "column",
        a == 1            ? "channels"
        : a == 2 && !flat ? "rows"
                          : "columns",
        part.box.begin[a], part.box.end[a], whole[a]);
  if (part.to > 0) add("input channel", "input channels", part.from, part.to, 0);
  return out;
}

/// "conv1", or "conv1 (rows 0-3)" for a part of it.
[[gnu::cold]] inline std::string layer_name(const runtime::program& p, int l) {
  const auto part = part_text(p, l);
  return std::string(p.layers.layers[l].name) + (part.empty() ? "" : " (" + part + ")");
}

/// The operator of layer `l` of the plan, "Conv", or what it does in place of one: "pick".
inline std::string operator_text(const runtime::program& p, int l) {
  const bool picks = !p.parts.empty() && p.parts[l].what == parts::part::kind::pick;
  return picks ? "pick" : std::string(p.layers.layers[l].op);
}

/// "conv1+add1+relu1", perhaps followed by " (rows 0-3)": the layers of fusion group `g`, and which part of the last one it
/// computes.
inline std::string group_text(const runtime::program& p, std::size_t g) {
  const auto& group = p.plan.groups[g];
  std::string out;
  for (int l : group.layers())
    if (l >= 0) out += (out.empty() ? "" : "+") + std::string(p.layers.layers[l].name);
  const auto part = part_text(p, group.output());
  return out + (part.empty() ? "" : " (" + part + ")");
}

/// "2 of 3": how many of how many frames the replica of turn `t` computes; "when free" if that is decided when they come; ""
/// if it computes all.
[[gnu::cold]] inline std::string frames_text(const runtime::program& p, const parts::turn& t) {
  if (t.always()) return "";
  const auto& set = p.plan.replicas[t.set];
  if (set.decides >= 0) return "when free";
  const auto own = static_cast<std::size_t>(set.first + t.member);
  std::int64_t all = 0;
  int common = 0;
  for (const auto& m : p.plan.members.subview(set.first, set.members)) {
    all += m.share;
    common = std::gcd(common, m.share);
  }
  return std::to_string(p.plan.members[own].share / common) + " of " + std::to_string(all / common);
}
/// The same of a message: the frames for which it is sent.
[[gnu::cold]] inline std::string frames_text(const runtime::program& p, const schedule::message& m) {
  const auto made = frames_text(p, m.made), read = m.read == m.made ? "" : frames_text(p, m.read);
  return made.empty() && read.empty() ? "all" : made.empty() || read.empty() ? made + read : made + ", " + read;
}

/// ", 2 of 3 frames", ", when free"; "" for all frames.
inline std::string frames_after(const std::string& frames) {
  return frames.empty() || frames == "all" ? "" : ", " + frames + (frames == "when free" ? "" : " frames");
}

/// Ids in the network of the layers that `rank` computes, whole or in part, ascending.
inline std::vector<int> layers_of(const runtime::program& p, int rank) {
  std::vector<int> out;
  for (std::size_t l = 0; l < p.plan.owner.size(); ++l)
    if (p.plan.owner[l] == rank && p.is_own(static_cast<int>(l))) out.push_back(p.whole(static_cast<int>(l)));
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// "conv1 … pool3, fc1": runs of ids that follow each other.
[[gnu::cold]] inline std::string runs_text(const runtime::program& p, const std::vector<int>& ids) {
  const auto name = [&](int l) { return std::string(p.network_layers().layers[l].name); };
  constexpr int most = 6;
  std::string out;
  int runs = 0;
  for (std::size_t i = 0, j; i < ids.size(); i = j) {
    for (j = i + 1; j < ids.size() && ids[j] == ids[j - 1] + 1;) ++j;
    if (++runs > most) return out + ", …";
    out += (out.empty() ? "" : ", ") + name(ids[i]);
    if (j - i > 1) out += (j - i > 2 ? " … " : ", ") + name(ids[j - 1]);
  }
  return out;
}

}  // namespace dice::report
