// Six small layers on three ranks, so that the data come back to every rank that they have left.
#include <dice/dice.hpp>

#include "back_and_forth.hpp"

using namespace back_and_forth;

using deployment = dice::mapping<
    dice::dev<0, dice::cpu>, dice::layers<features, MaxPool1, Relu1>,
    dice::dev<1, dice::cpu>, dice::layers<Conv1, Flatten1, FC1, scores>,
    dice::dev<2, dice::cpu>, dice::layers<Add1>>;

int main(int argc, char** argv) { return dice::main<network, deployment>(argc, argv); }
