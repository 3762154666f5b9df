// ResNet-18 on RANKS ranks: with dice::main, or, if the first argument is `by-hand`, with by_hand::main.
#include "by_hand.hpp"

#include <dice/dice.hpp>

#include "bench_resnet18.hpp"

#include <string_view>

namespace net = bench_resnet18;
using namespace dice;

#if RANKS == 1
using plan = mapping<dev<0, cpu>, layers<all>>;
#elif RANKS == 2
using plan = mapping<dev<0, cpu>, layers<to<net::block2_1_relu>>, dev<1, cpu>, layers<from<net::block2_2_a>>>;
#elif RANKS == 4
using plan = mapping<dev<0, cpu>, layers<to<net::block1_1_relu>>,                      //
                     dev<1, cpu>, layers<range<net::block1_2_a, net::block2_1_relu>>,  //
                     dev<2, cpu>, layers<range<net::block2_2_a, net::block3_1_relu>>,  //
                     dev<3, cpu>, layers<from<net::block3_2_a>>>;
#endif

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "by-hand")
    return by_hand::main(assembly::program_of<net::network, plan>, argc, argv);
  return dice::main<net::network, plan>(argc, argv);
}
