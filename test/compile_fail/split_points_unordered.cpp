// expect: dice::error::split_points_unordered<3, dice::remedy::sort_the_points_and_use_each_once>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = split<sample::network, points<4, 3>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#else
using plan = split<sample::network, points<3, 4>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
