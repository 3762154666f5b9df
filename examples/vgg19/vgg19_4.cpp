// VGG-19 on four ranks with about the same number of multiplications each (4.7, 4.6, 4.6 and 5.7 of 19.6 billion); the last
// one also keeps the fully connected layers, which are most of the weights.
#include <dice/dice.hpp>

#include "vgg19.hpp"

using deployment = dice::mapping<
    dice::dev<0, dice::cpu>, dice::layers<dice::range<vgg19::input, vgg19::pool2>>,
    dice::dev<1, dice::cpu>, dice::layers<dice::range<vgg19::conv3_1, vgg19::relu3_3>>,
    dice::dev<2, dice::cpu>, dice::layers<dice::range<vgg19::conv3_4, vgg19::relu4_2>>,
    dice::dev<3, dice::cpu>, dice::layers<dice::range<vgg19::conv4_3, vgg19::output>>>;

int main(int argc, char** argv) { return dice::main<vgg19::network, deployment>(argc, argv); }
