#pragma once

#include "dice/app/program.hpp"
#include "dice/app/run.hpp"
#include "dice/app/verdict.hpp"

namespace dice {

/// The main function of a program that runs network Net as mapping Map says: reads the command line (see --help), runs this
/// process's rank (all ranks with --transport in-process), and returns the exit status: 0 done, 1 failed, 2 wrong usage.
/// Net is the `network` of a header made by onnx2hpp, Map a `mapping` or `split`. Errors
/// are messages on stderr, not exceptions.
template <class Net, class Map>
requires app::right<Net, Map>
int main(int argc, char** argv) { return app::run(app::program_of<Net, Map>, argc, argv); }

/// Chosen for a mapping with a mistake: naming its return type is the error that the user reads.
template <class Net, class Map>
requires(!app::right<Net, Map>) decltype(app::verdict<Net, Map>()()) main(int, char**);

}  // namespace dice
