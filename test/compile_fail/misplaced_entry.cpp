// expect: dice::error::misplaced_entry<1, dice::remedy::write_devices_followed_by_their_work>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, in_flight<2>, layers<all>>;
#else
using plan = mapping<in_flight<2>, dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
