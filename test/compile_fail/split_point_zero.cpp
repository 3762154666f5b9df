// expect: dice::error::split_point_out_of_range<0, dice::remedy::keep_points_between_0_and_the_number_of_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = split<sample::network, points<0, 4>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#else
using plan = split<sample::network, points<1, 4>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
