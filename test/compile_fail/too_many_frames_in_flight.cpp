// expect: dice::error::too_many_frames_in_flight<1000001, dice::remedy::let_at_most_1000000_frames_be_in_flight>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<all>, in_flight<1000001>>;
#else
using plan = mapping<dev<0, cpu>, layers<all>, in_flight<1000000>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
