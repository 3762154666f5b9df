// Handwritten digits on three unlike boards that compute single layers together: the front by rows, the end by channels.
#include <dice/dice.hpp>

#include "digits.hpp"

using namespace dice;
using namespace dice::literals;

using slow  = board<"slow", ram<1_GiB>, processor<threads<4>, gflops<12>, gbytes_per_s<3>>>;
using quick = board<"quick", ram<4_GiB>, processor<threads<4>, gflops<48>, gbytes_per_s<10>>>;
using lab   = cluster<host<"a", quick>, host<"b", slow>, host<"c", quick>, connection<mbit_per_s<940>, us<150>>>;

using deployment = best_split<digits::network, lab, mapping<
    dev<0, cpu>,                        layers<digits::picture>,
    ranks<0>, dev<1, cpu>, dev<2, cpu>, rows<range<digits::conv1, digits::relu3>>,
    ranks<0>,                           layers<digits::pool3, digits::flatten>,
    ranks<0, 2>,                        output_channels<digits::fc1, digits::relu4>,
    ranks<0>,                           layers<from<digits::fc2>>>>;

int main(int argc, char** argv) { return dice::main<digits::network, deployment, lab>(argc, argv); }
