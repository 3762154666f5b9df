#include <dice/dice.hpp>

#include "subject.hpp"

using deployment = dice::split<subject::network, dice::points<subject::network::size / 2>, dice::dev<0, dice::cpu>,
                               dice::dev<1, dice::threads<1>>>;

int main(int argc, char** argv) { return dice::main<subject::network, deployment>(argc, argv); }
