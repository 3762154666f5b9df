// The plan as plain values: what every rank does for one frame, where its tensors lie, which messages pass.
#pragma once

#include "dice/meta/members.hpp"
#include "dice/meta/storage.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/turn.hpp"
#include "dice/tensor/tensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dice::schedule {

/// Alignment of every buffer, in bytes.
inline constexpr std::int64_t alignment = 64;

enum class action : std::uint8_t {
  receive,  ///< wait for a message
  enter,    ///< fill a graph input from the source
  compute,  ///< run a fusion group's kernel
  leave,    ///< hand a graph output to the sink
  send,     ///< start sending a message
  convert,  ///< copy a tensor into the layout that a kernel reads, or a kernel's result into the layout that the tensor has
};

/// A rank's arena is `slots` frame blocks followed by one scratch block.
enum class space : std::uint8_t {
  frame,    ///< one copy per frame slot: tensors that outlive a segment, are received or are sent
  scratch,  ///< one copy: tensors that live within one segment, and kernels' working memory
};

/// Where a tensor (or a region of it) begins, in bytes from the beginning of its space, and how it lies there
/// (tensor::storage, whose members it has itself: nested ones cost the compiler a tenth of a plan's memory).
struct place {
  space where = space::scratch;
  tensor::layout layout = tensor::layout::plain;
  tensor::number element = tensor::number::float32;
  std::int64_t offset = 0;
  std::int64_t pitch = 0;

  constexpr tensor::storage stored() const { return {layout, pitch, element}; }
  friend constexpr bool operator==(const place&, const place&) = default;
};

/// Layers computed by one kernel; ids, -1 where there is none.
struct group {
  int anchor = -1, residual = -1, activation = -1, pool = -1;
  int residual_operand = -1;  ///< which operand of `residual` is not the anchor's output
  int rank = 0;
  std::int64_t weight_bytes = 0;          ///< of its anchor, as the kernel reads them; 0: those of the file
  std::array<std::int8_t, 2> tile{1, 1};  ///< algorithm::choice::tile

  /// Its layers in order of ids, with -1 for each missing one.
  constexpr std::array<int, 4> layers() const {
    return {anchor, residual, std::min(activation, pool), std::max(activation, pool)};
  }
  constexpr int output() const {
    const int last = activation > pool ? activation : pool;
    return last >= 0 ? last : residual >= 0 ? residual : anchor;
  }
  friend constexpr bool operator==(const group&, const group&) = default;
};

/// One step of a rank's program.
struct step {
  action what = action::compute;
  int layer = -1;    ///< enter, leave: the graph input or output; compute: the group's output; else the tensor
  int group = -1;    ///< compute: index into plan_view::groups; convert: the group that reads the copy, or wrote it
  int message = -1;  ///< receive, send: index into plan_view::messages
  /// compute: its operands' places in plan_view::operands, the anchor's and then the residual's; convert: from where
  int first_operand = 0;
  int operands = 0;
  place output{};         ///< enter, compute, convert: where the result goes; leave: where it lies
  place scratch{};        ///< compute: working memory
  tensor::region part{};  ///< which region of the layer's output
  friend constexpr bool operator==(const step&, const step&) = default;
};

/// A part of a rank's program that runs without waiting once its receives (its first steps) have arrived.
struct segment {
  int first_step = 0, last_step = 0;  ///< [first, last) in plan_view::steps
  parts::turn when{};                 ///< the frames for which it runs
  friend constexpr bool operator==(const segment&, const segment&) = default;
};

/// One message per frame, or only for the frames for which replicas make or read the tensor.
struct message {
  int from = 0, to = 0;  ///< ranks
  int tag = 0;           ///< unique among the messages between the two, from 1 on
  int layer = -1;        ///< the tensor, all of it
  std::int64_t bytes = 0;
  place at_sender{}, at_receiver{};  ///< always in space::frame
  parts::turn made{}, read{};        ///< it is sent for the frames that belong to both
  friend constexpr bool operator==(const message&, const message&) = default;
};

/// A range of a rank's memory and the steps of one frame during which it holds a value; buffers_disjoint checks them.
struct buffer {
  place at{};
  std::int64_t bytes = 0;
  int first_step = 0, last_step = 0;  ///< both included, in plan_view::steps
  int layer = -1;                     ///< the tensor that owns the memory; -1: a kernel's working memory
  bool is_copy = false;               ///< a copy of the tensor in another layout, for one group
  friend constexpr bool operator==(const buffer&, const buffer&) = default;
};

/// One rank: its parts of the arrays of plan_view, and its memory.
struct rank_program {
  int rank = 0;
  int first_step = 0, last_step = 0;        ///< in plan_view::steps
  int first_segment = 0, last_segment = 0;  ///< in plan_view::segments
  int first_buffer = 0, last_buffer = 0;    ///< in plan_view::buffers, in order of their first steps
  int layers = 0;                           ///< graph inputs and outputs included
  int slots = 1;                            ///< frames whose buffers exist at once in this rank
  std::int64_t macs = 0;
  std::int64_t weight_bytes = 0;  ///< as the kernels read them
  std::int64_t frame_bytes = 0, scratch_bytes = 0;
  std::int64_t arena_bytes = 0;  ///< slots · frame_bytes + scratch_bytes
  std::int64_t peak_bytes = 0;   ///< weights and arena
  friend constexpr bool operator==(const rank_program&, const rank_program&) = default;
};

/// All ranks' programs, in lists of the kind that Storage is (meta/storage.hpp). At any time, at most `in_flight` frames are
/// between entry and last output.
template <class Storage> struct basic_plan {
  template <class T, int Number> using list = typename Storage::template list<T, Number>;

  list<rank_program, 0> ranks{};
  list<segment, 1> segments{};
  list<step, 2> steps{};
  list<place, 3> operands{};
  list<group, 4> groups{};
  list<message, 5> messages{};
  list<buffer, 6> buffers{};
  list<int, 7> owner{};  ///< rank of each layer, by id
  list<parts::replica_set, 8> replicas{};
  list<parts::replica, 9> members{};  ///< of all sets
  int in_flight = 1;
  DICE_MEMBERS(ranks, segments, steps, operands, groups, messages, buffers, owner, replicas, members)

  constexpr basic_plan<meta::in_views> view() const {
    return with_members([&](const auto&... all) { return basic_plan<meta::in_views>{all..., in_flight}; });
  }
};
using plan_view = basic_plan<meta::in_views>;
/// A plan that owns its lists. Not named `plan`: g++ would suggest that name to users whose alias it rejects.
using built_plan = basic_plan<meta::in_arrays>;
using plan_sizes = basic_plan<meta::as_sizes>;

}  // namespace dice::schedule
