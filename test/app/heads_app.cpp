// A network with the results of all heads (heads/make_model.py), on one rank.
#include <dice/dice.hpp>

#include "heads.hpp"

using one = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>;

int main(int argc, char** argv) { return dice::main<heads::network, one>(argc, argv); }
