// expect: dice::error::shares_do_not_fit_ranks<dice::rows<sample::conv1, dice::shares<1, 2, 3>>, 2, dice::remedy::give_one_share_for_each_device_of_the_run>
#include <prelude.hpp>

#ifdef MISTAKE
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, shares<1, 2, 3>>,
                     ranks<0>, layers<from<sample::relu1>>>;
#else
using plan = mapping<dev<0, cpu>, layers<sample::image>, ranks<0>, dev<1, cpu>, rows<sample::conv1, shares<1, 2>>, ranks<0>,
                     layers<from<sample::relu1>>>;
#endif

int main(int argc, char** argv) { return dice::main<sample::network, plan>(argc, argv); }
