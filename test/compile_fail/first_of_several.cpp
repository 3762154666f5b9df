// A backwards range, a foreign layer, a core listed twice and a missing layer: the core is named, units come before entries.
// expect: dice::error::core_listed_twice<1, dice::remedy::list_each_core_once>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cores<1, 1>>, layers<range<sample::relu1, sample::conv1>, other::conv1>>;
#else
using plan = mapping<dev<0, cores<1>>, layers<all>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
