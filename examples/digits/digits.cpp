// A small network that reads handwritten digits, on two ranks: most convolutions on rank 0, the rest on rank 1.
#include <dice/dice.hpp>

#include "digits.hpp"

using deployment = dice::mapping<
    dice::dev<0, dice::cpu>, dice::layers<dice::range<digits::picture, digits::pool2>>,
    dice::dev<1, dice::cpu>, dice::layers<dice::range<digits::conv3, digits::scores>>>;

int main(int argc, char** argv) { return dice::main<digits::network, deployment>(argc, argv); }
