// expect: dice::error::rank_on_two_hosts<0, dice::remedy::name_one_host>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu, on<"a">, on<"b">>, layers<all>>;
#else
using plan = mapping<dev<0, cpu, on<"b">>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
