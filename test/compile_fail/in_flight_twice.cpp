// expect: dice::error::in_flight_twice<2, 5, dice::remedy::give_the_number_of_frames_once>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<in_flight<2>, dev<0, cpu>, layers<all>, in_flight<5>>;
#else
using plan = mapping<in_flight<2>, dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
