// expect: dice::error::not_a_network<other::network, dice::remedy::pass_the_network_struct_of_a_header_made_by_onnx2hpp>
#include <prelude.hpp>

#ifdef MISTAKE
using net = other::network;
#else
using net = sample::network;
#endif
using plan = mapping<dev<0, cpu>, layers<all>>;

int main(int argc, char** argv) { return dice::main<net, plan>(argc, argv); }
