// expect: dice::error::split_points_do_not_fit_devices<1, 3, dice::remedy::give_one_point_fewer_than_devices>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = split<sample::network, points<4>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#else
using plan = split<sample::network, points<4, 6>, dev<0, cpu>, dev<1, cpu>, dev<2, cpu>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
