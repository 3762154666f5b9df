#include <dice/dice.hpp>

#include "subject.hpp"

using deployment = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>;

int main(int argc, char** argv) { return dice::main<subject::network, deployment>(argc, argv); }
