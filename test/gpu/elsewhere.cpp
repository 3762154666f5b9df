// A program without CUDA, for hosts with only CPU ranks in a job whose GPU ranks run programs with CUDA
// (DICE_CUDA=ELSEWHERE).
#include "networks/mappings.hpp"

#include "squeezenet_torch2_15.hpp"

using network = squeezenet_torch2_15::network;

int main(int argc, char** argv) { return dice::main<network, mappings::even<network, 2, mappings::in_turn>>(argc, argv); }
