// expect: dice::error::split_of_another_network<other::network, dice::remedy::split_the_network_passed_to_main>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = split<other::network, points<4>, dev<0, cpu>, dev<1, cpu>>;
#else
using plan = split<sample::network, points<4>, dev<0, cpu>, dev<1, cpu>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
