// VGG-19 on two ranks with about the same number of multiplications each (9.3 and 10.3 of 19.6 billion).
#include <dice/dice.hpp>

#include "vgg19.hpp"

using deployment = dice::mapping<
    dice::dev<0, dice::cpu>, dice::layers<dice::to<vgg19::relu3_3>>,
    dice::dev<1, dice::cpu>, dice::layers<dice::from<vgg19::conv3_4>>>;

int main(int argc, char** argv) { return dice::main<vgg19::network, deployment>(argc, argv); }
