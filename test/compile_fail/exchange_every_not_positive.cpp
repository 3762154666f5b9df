// expect: dice::error::exchange_every_not_positive<dice::rows<sample::conv1, dice::exchange_every<0>>, dice::remedy::give_a_positive_number_of_layers>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, exchange_every<0>>,
                     ranks<0>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, exchange_every<1>>,
                     ranks<0>, layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
