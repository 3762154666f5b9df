// The program as one would write it without dice's runtime and channels: each rank calls its kernels one after another,
// sends its result by MPI_Isend and receives the next input by MPI_Irecv, with two buffers of each in turn. Kernels, packed
// weights and the places of tensors within a frame's buffer are those of the plan, so that only the execution differs.
#pragma once

#include <dice/assembly/program_of.hpp>
#include <dice/frames/npy.hpp>
#include <dice/frames/source.hpp>
#include <dice/runtime/executor.hpp>
#include <dice/weights/search.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace by_hand {

using namespace dice;

/// One rank of a pipeline: at most one message comes in, at most one goes out.
class stage {
 public:
  stage(const runtime::program& p, int rank) : me_(p.plan.ranks[rank]), memory_(2 * me_.frame_bytes + me_.scratch_bytes) {
    memory_.touch();
    const runtime::needed_weights needed(p, rank);
    weights_ = weights::store(weights::file(weights::find(p.weights, "", p.weights_folder), p.network, p.weights),
                              needed.items());
    for (int s = me_.first_step; s < me_.last_step; ++s)
      for (int slot : {0, 1}) add(p, p.plan.steps[s], slot, needed.of_plan(0));
  }

  /// Runs `frames` frames; `pictures` enter in turn. Returns seconds from the first frame's entry to the last result.
  double run(int frames, const std::vector<frames::tensor>& pictures, frames::tensor& result) {
    std::array<MPI_Request, 2> sending{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, receiving = sending;
    for (int f = 0; f < 2 && f < frames; ++f) receive(f, receiving);
    std::int64_t begin = runtime::now();
    for (int f = 0; f < frames; ++f) {
      const auto slot = static_cast<std::size_t>(f % 2);
      MPI_Wait(&sending[slot], MPI_STATUS_IGNORE);
      MPI_Wait(&receiving[slot], MPI_STATUS_IGNORE);
      if (input_[slot]) {
        const auto& picture = pictures[static_cast<std::size_t>(f) % pictures.size()];
        std::memcpy(input_[slot], picture.data(), picture.size() * sizeof(float));
      }
      for (const auto& [kernel, at, converts] : calls_[slot])
        if (kernel) kernel->run(at);
        else kernels::openmp::convert(converts, at.inputs[0], at.output);
      if (out_) MPI_Isend(sent_[slot], static_cast<int>(out_->bytes), MPI_BYTE, out_->to, 0, MPI_COMM_WORLD, &sending[slot]);
      if (output_[slot]) std::memcpy(result.data(), output_[slot], result.size() * sizeof(float));
      if (f + 2 < frames) receive(f + 2, receiving);
    }
    std::int64_t end = runtime::now();
    MPI_Waitall(2, sending.data(), MPI_STATUSES_IGNORE);
    // All ranks are on one host and share a clock.
    MPI_Allreduce(MPI_IN_PLACE, &begin, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return static_cast<double>(end - begin) * 1e-9;
  }

 private:
  struct kernel_call {
    const kernels::entry* kernel;  ///< null: a conversion
    kernels::buffers at;
    kernels::conversion converts{};
  };

  std::byte* address(const schedule::place& p, int slot) const {
    return memory_.data() + (p.where == schedule::space::frame ? slot : 2) * me_.frame_bytes + p.offset;
  }

  void add(const runtime::program& p, const schedule::step& s, int slot, std::span<const int> groups) {
    const auto i = static_cast<std::size_t>(slot);
    switch (s.what) {
      case schedule::action::enter:
        input_[i] = address(s.output, slot);
        break;
      case schedule::action::leave:
        output_[i] = address(s.output, slot);
        break;
      case schedule::action::receive:
        in_ = &p.plan.messages[s.message];
        received_[i] = address(in_->at_receiver, slot);
        break;
      case schedule::action::send:
        out_ = &p.plan.messages[s.message];
        sent_[i] = address(out_->at_sender, slot);
        break;
      case schedule::action::convert: {
        const auto& from = p.plan.operands[static_cast<std::size_t>(s.first_operand)];
        auto& inputs = operands_.emplace_back();
        inputs[0] = address(from, slot);
        calls_[i].push_back({nullptr,
                             {inputs.data(), address(s.output, slot), nullptr, nullptr, nullptr},
                             {p.layers.layers[s.layer].output, from.stored(), s.output.stored()}});
        break;
      }
      case schedule::action::compute: {
        auto& inputs = operands_.emplace_back();
        for (std::size_t k = 0; k < static_cast<std::size_t>(s.operands); ++k) {
          const auto& at = p.plan.operands[static_cast<std::size_t>(s.first_operand) + k];
          inputs[k] = address(at, slot);
        }
        const int need = groups[s.group];  // which item the group has
        calls_[i].push_back({&p.kernels[s.group],
                             {inputs.data(), address(s.output, slot), weights_.plain(need), weights_.packed(need),
                              address(s.scratch, slot)}});
      }
    }
  }

  void receive(int frame, std::array<MPI_Request, 2>& receiving) {
    const auto slot = static_cast<std::size_t>(frame % 2);
    if (in_)
      MPI_Irecv(received_[slot], static_cast<int>(in_->bytes), MPI_BYTE, in_->from, 0, MPI_COMM_WORLD, &receiving[slot]);
  }

  const schedule::rank_program& me_;
  weights::block memory_;  ///< two frames, then the kernels' scratch
  weights::store weights_;
  const schedule::message *in_ = nullptr, *out_ = nullptr;
  std::array<std::byte*, 2> input_{}, output_{}, received_{}, sent_{};  ///< by slot; null where the rank has none
  std::deque<std::array<const void*, 2>> operands_;
  std::array<std::vector<kernel_call>, 2> calls_;
};

/// PROGRAM by-hand FRAMES WARMUP [RESULT.npy]: prints seconds, as JSON.
inline int main(const runtime::program& p, int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int frames = std::stoi(argv[2]), warmup = std::stoi(argv[3]);
  assembly::start_team(1, {});
  std::vector<frames::tensor> pictures;
  frames::tensor result;
  for (const auto& layer : p.layers.layers) {
    const auto shape = frames::stacked(layer.output, 1);
    if (layer.is_output) result = frames::tensor::from_shape(shape);
    for (int f = 0; f < frames && layer.is_input; ++f) {
      pictures.push_back(frames::tensor::from_shape(shape));
      frames::random_frame(0, 0, f, pictures.back().data(), layer.output.elements());
    }
  }
  stage mine(p, rank);
  mine.run(warmup, pictures, result);
  const double seconds = mine.run(frames, pictures, result);
  if (rank == 0) std::printf("{\"frames\": %d, \"seconds\": %.9f}\n", frames, seconds);
  if (argc > 4 && rank == p.ranks() - 1) frames::write_npy(argv[4], result);
  return MPI_Finalize();
}

}  // namespace by_hand
