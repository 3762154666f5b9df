// A detector of balls, boxes and triangles, on two ranks: pictures come to rank 0, and boxes leave rank 1.
#include <dice/dice.hpp>

#include "detector.hpp"
#include "plan.hpp"

int main(int argc, char** argv) { return dice::main<detector::network, deployment>(argc, argv); }
