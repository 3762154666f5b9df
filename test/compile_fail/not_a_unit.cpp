// expect: dice::error::not_a_unit<int, dice::remedy::write_cpu_or_cores_or_threads_or_gpu>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, int>, layers<all>>;
#else
using plan = mapping<dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
