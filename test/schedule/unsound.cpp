// A plan in which each proof finds damage: the compiler refuses it for all of these reasons.
#include "../convolutions.hpp"
#include "dice/schedule/static_plan.hpp"

using namespace dice;
using net = convolutions::network;
using map = mapping<dev<0>, layers<convolutions::image, convolutions::features>, dev<1>, dev<2>,
                    replicas<range<convolutions::narrow, convolutions::wide>>>;

namespace damaged {

constexpr auto parts = [] {
  auto out = schedule::detail::split_network<net, map>;
  out.parts[0].layer = 1;  // twice there, and the input never
  return out;
}();
constexpr auto plan = [] {
  auto out = schedule::detail::split_plan<net, map>;
  out.segments[2].when = {};  // a replica's
  ++out.messages[0].tag;
  for (auto& s : out.steps)
    if (s.what == schedule::action::compute) --s.part.end[1];  // not all channels
  for (auto& o : out.operands) {
    o.offset += schedule::alignment;
    o.layout = o.layout == tensor::layout::plain ? tensor::layout::blocked : tensor::layout::plain;
  }
  out.buffers[0].at.offset = -schedule::alignment;
  out.buffers[0].layer = -1;  // the input has none
  out.steps[0].output.offset = std::int64_t{1} << 40;
  out.ranks[0].slots = 0;
  return out;
}();

}  // namespace damaged

namespace dice::schedule::detail {
template <> consteval plan_view view_of_plan<net, map>() { return damaged::plan.view(); }
template <> consteval parts::parts_view view_of_parts<net, map>() { return damaged::parts.view(); }
}  // namespace dice::schedule::detail

static_assert(schedule::plan_of<net, map>.in_flight > 0);
