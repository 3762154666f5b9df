// expect: dice::error::first_free_after_replicas<sample::concat1, dice::remedy::give_it_shares_or_put_a_layer_between>
#include <prelude.hpp>

#ifdef MISTAKE
using last = replicas<sample::concat1, first_free>;
#else
using last = replicas<sample::concat1, shares<2, 1>>;
#endif
using plan = mapping<dev<0, cpu>, layers<to<sample::relu2>, from<sample::flatten1>>, ranks<0>, dev<1, cpu>,
                     replicas<sample::pool1, sample::pool2, first_free>, ranks<1, 0>, last>;

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
