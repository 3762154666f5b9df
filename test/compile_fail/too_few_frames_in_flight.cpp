// expect: dice::error::too_few_frames_in_flight<0, dice::remedy::let_at_least_one_frame_be_in_flight>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<all>, in_flight<0>>;
#else
using plan = mapping<dev<0, cpu>, layers<all>, in_flight<1>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
