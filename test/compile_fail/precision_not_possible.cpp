// expect: dice::error::precision_not_possible<0, dice::remedy::give_it_once_and_only_to_gpus>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, precision<tf32>>, layers<all>>;
#else
using plan = mapping<dev<0, cpu>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
