// What a run says about a frame that takes too long.
#pragma once

#include "dice/files/last_words.hpp"
#include "dice/files/unfinished.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/runtime/control/frame_watch.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/foreign.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace dice::job {

namespace detail {

inline std::string limit_text(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%g s (--frame-timeout)", seconds);
  return text;
}

/// The segment of a rank, counted from its first, that sends message `m`.
inline std::int64_t sending_segment(const schedule::plan_view& plan, int m) {
  const auto& from = plan.ranks[plan.messages[m].from];
  for (int g = from.first_segment; g < from.last_segment; ++g) {
    const auto& segment = plan.segments[g];
    for (int s = segment.first_step; s < segment.last_step; ++s)
      if (const auto& step = plan.steps[s]; step.what == schedule::action::send && step.message == m)
        return g - from.first_segment;
  }
  return -1;
}

}  // namespace detail

/// Where a frame is that has taken more than `limit` seconds: first what holds it up, then how far it has come in each
/// rank. `rank_text` names a rank.
[[gnu::cold]] inline std::string late_text(const runtime::program& p, const runtime::late_frame& late, double limit,
                                           const std::function<std::string(int rank)>& rank_text) {
  using at = runtime::standing::at;
  const auto& messages = p.plan.messages;
  const auto name = [&](std::int64_t l) { return std::string(p.layers.layers[l].onnx_name); };
  const auto layer = [&](std::int64_t l) { return "layer '" + name(l) + "'"; };
  const auto message = [&](std::int64_t m) { return messages[m]; };
  std::string silent, holds, link, all;
  const auto add = [](std::string& to, const std::string& text, const char* between) {
    to += (to.empty() ? "" : between) + text;
  };
  for (std::size_t r = 0; r < late.ranks.size(); ++r) {
    const auto& s = late.ranks[r];
    const auto who = rank_text(static_cast<int>(r));
    std::string does;
    switch (s.is) {
      case at::no_answer:
        add(silent, who, " and ");
        does = "does not answer";
        break;
      case at::turn:
        does = "has yet to begin a part of it";
        break;
      case at::message: {
        const auto m = message(s.what);
        const auto& sender = late.ranks[m.from];
        const auto from = rank_text(m.from);
        does = "waits for " + layer(m.layer) + " from " + from;
        if (sender.is != at::no_answer && sender.before > detail::sending_segment(p.plan, static_cast<int>(s.what)))
          add(link,
              "the message with " + layer(m.layer) + " (" + std::to_string(m.bytes) + " bytes) has left " + from +
                  " and not reached " + who,
              "; ");
        break;
      }
      case at::input:
        add(holds, who + " waits for the numbers of input '" + name(s.what) + "'", "; ");
        does = "waits for its input";
        break;
      case at::output:
        add(holds, who + " waits until the result '" + name(s.what) + "' is taken", "; ");
        does = "waits for its output";
        break;
      case at::kernels:
        add(holds, who + " has not finished the kernels from " + layer(s.what) + " on", "; ");
        does = "computes";
        break;
      case at::sending:
        does = "is sending " + layer(message(s.what).layer) + " to " + rank_text(message(s.what).to);
        break;
      case at::done:
        does = "is done with it";
        break;
    }
    add(all, who + " " + does, "; ");
  }
  const auto time = detail::limit_text(limit);
  const auto what = late.frame < 0 ? "no frame has come for " + time
                                   : "frame " + std::to_string(late.frame) + " has taken more than " + time;
  if (!silent.empty())
    return what + ", and " + silent + (silent.find(" and ") == std::string::npos ? " does" : " do") +
           " not answer: a program that hangs, a host that is down or a lost connection; all ranks: " + all;
  const auto why = !holds.empty() ? holds : !link.empty() ? link : "nothing hangs, the ranks are slow; allow more time";
  return what + ": " + why + (late.ranks.size() > 1 ? "; all ranks: " + all : "");
}

/// The limit of `seconds` (0: none) for each frame. A rank that hangs ends its program with an error.
inline runtime::frame_limit limit_of(const runtime::program& p, const rank_session& me, double seconds) {
  runtime::frame_limit out;
  out.time = static_cast<std::int64_t>(seconds * 1e9);
  out.stuck = [&p, &me, seconds](std::int64_t frame, int layer) {
    files::remove_unfinished();
    files::say_last(text::shown("dice: error: " + me.where_text() + ", frame " + std::to_string(frame) +
                                (layer < 0 ? "" : ", layer '" + std::string(p.layers.layers[layer].onnx_name) + "'") +
                                ": hangs: it has not come back for " + detail::limit_text(seconds)) +
                    "\n");
    ::_exit(1);
  };
  return out;
}

}  // namespace dice::job
