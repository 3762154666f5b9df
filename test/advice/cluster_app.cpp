// A program with a cluster, for test_cluster_app.py.
#include <dice/dice.hpp>

#include "sample.hpp"

#include <cstdlib>

using namespace dice;
using slow = board<"slow", ram<1_GiB>, processor<cores<0, 1, 2, 3>, gflops<1>, gbytes_per_s<1>, watts<3, 1>>>;
using quick = board<"quick", ram<1_GiB>, processor<threads<2>, gflops<3>, gbytes_per_s<2>, watts<8, 2>>>;
using lab = cluster<host<"s", slow>, host<"q", quick>, connection<gbytes_per_s<0.5>, us<1>>>;
using unknown =
    board<"unknown",
          processor<cpu, direct_convolutions, gflops<5>, gbytes_per_s<4>, ram<1_GiB>, sending<us<3>, gbytes_per_s<2>>>,
          connection<gbytes_per_s<6>, us<7>>>;
using unmetered = cluster<host<"s", slow>, host<"u", unknown>, connection<gbytes_per_s<0.5>, us<1>>>;
/// Some pairs of these hosts have a bad connection.
template <int Speed> using fast = board<"fast", ram<1_GiB>, processor<cpu, gflops<8 * Speed>, gbytes_per_s<Speed>>>;
template <meta::fixed_string A, meta::fixed_string B> using bad = connection<between<A, B>, mbit_per_s<5>, us<200>>;
using distant = cluster<host<"a", fast<4>>, host<"b", fast<1>>, host<"c", fast<8>>, host<"d", fast<2>>,
                        connection<gbytes_per_s<10>, us<0.1>>, bad<"a", "c">, bad<"b", "c">, bad<"a", "d">>;
using plan = best_mapping<sample::network, lab, throughput, whole_layers>;
// A mapping with in_flight<…>, which best_mapping does not write.
struct slower : mapping<dev<0, threads<2>, on<"q">>, layers<all>, in_flight<3>> {};

int main(int argc, char** argv) {
  if (std::getenv("UNMETERED"))
    return dice::main<sample::network, best_mapping<sample::network, unmetered, throughput, whole_layers>, unmetered>(argc, argv);
  if (std::getenv("DISTANT"))
    return dice::main<sample::network, mapping<dev<0, cpu, on<"c">>, layers<all>>, distant>(argc, argv);
  if (std::getenv("SLOWER")) return dice::main<sample::network, slower, lab>(argc, argv);
  return dice::main<sample::network, plan, lab>(argc, argv);
}
