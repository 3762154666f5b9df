// expect: dice::error::split_point_out_of_range<12, dice::remedy::keep_points_between_0_and_the_number_of_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = split<sample::network, points<4, 12>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#else
using plan = split<sample::network, points<4, 11>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
