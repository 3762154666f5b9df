// expect: dice::error::empty_host_name<0, dice::remedy::write_the_name_of_a_host>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, on<"">>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, on<"a">>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
